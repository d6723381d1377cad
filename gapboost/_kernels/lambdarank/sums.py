"""lam and eta of every document of every list, pair by pair or by running sums.

What the swap of two documents changes has a part that is known at the upper rank, and one that is
known at the lower one. The two parts, and the prefix sums C and E in them, are defined in
`gapboost._kernels.lambdarank`. A document has one row over all numbered grades in each table. Lanes
beyond the query's own grades hold finite numbers that are not read.
"""

from typing import Any

from gapboost._kernels import Array
from gapboost._kernels.jit import kernel
from gapboost._kernels.lambdarank.exponents import exponentials
from gapboost._kernels.lambdarank.form import Form, make_form
from gapboost._kernels.lambdarank.lists import (
    BLOCK,
    Arriving,
    ListMemory,
    Lists,
    pointers,
    set_zero,
)
from gapboost._kernels.lambdarank.moments import (
    LENGTH,
    DocumentBlock,
    Way,
    carry,
    collect,
    moments_at,
)
from gapboost._kernels.lambdarank.pairs import sum_pairs
from gapboost._kernels.simd import LANES, Pointer, counting, load8, pointer, store


@kernel
def fill_swaps(
    n: int,
    grade: Pointer,
    discount: Pointer,
    form: Form,
    prefix: Pointer,
    upper: Pointer,
    lower: Pointer,
) -> None:
    """Write rows of the ``n`` documents with these grades and discounts; carry ``prefix``.

    The prefix is C, then E.

    Both parts have the sign that they have in D: sign(a - g) upper[p, g] and sign(g - b) lower[q,
    g].
    """
    width = form.width
    for i in range(0, width, LANES):
        own = load8(form.own, i)
        c = load8(prefix, i)
        e = load8(prefix, width + i)
        for r in range(n):
            row = grade[r] * width + i
            here = discount[r] * load8(form.transposed, row)
            store(upper, r * width + i, discount[r] * (own + c) - e - here)
            c += load8(form.pair, row)
            e += here
        store(prefix, i, c)
        store(prefix, width + i, e)
    for r in range(n):
        a = grade[r]
        row = r * width
        of_its_own = upper[row + a]
        for i in range(0, width, LANES):
            sign = (counting(i) < a) - (counting(i) > a)
            signed = sign * (load8(upper, row + i) - of_its_own)
            store(upper, row + i, signed)
            store(lower, row + i, discount[r] * load8(form.bend, a * width + i) - signed)


@kernel
def copy(n: int, source: Pointer, target: Pointer) -> None:
    """Copy ``n`` elements, a multiple of 8."""
    for i in range(0, n, LANES):
        store(target, i, load8(source, i))


@kernel
def sum_moments(
    n: int,
    receive: bool,
    s: Pointer,
    grade: Pointer,
    form: Form,
    memory: ListMemory,
    lam: Pointer,
    eta: Pointer,
) -> Any:
    """Visit the list downwards and upwards, block by block; return the last anchor.

    The first row of ``memory.prefixes`` is the prefix above the list, ``memory.above`` and
    ``memory.below`` are the moments of the documents above it, at its first anchor, and below it,
    at its last. Moments are carried to the other end. Unless ``receive`` no document receives from
    them on the way.
    """
    width = form.width
    anchor = exponentials(n, s, memory.fall, memory.rise, memory.jump)
    above, below = moments_at(memory.above, width), moments_at(memory.below, width)
    down, up = ways(memory)
    blocks = (n + BLOCK - 1) // BLOCK
    if not receive and anchor == s[0]:
        collect_moments(blocks, n, grade, form, memory)
        return anchor
    for k in range(blocks):
        lo = k * BLOCK
        hi = min(n, lo + BLOCK)
        prefix = memory.prefixes + k * 2 * width
        copy(2 * width, prefix, prefix + 2 * width)
        fill_swaps(
            hi - lo,
            grade + lo,
            form.discount + lo,
            form,
            prefix + 2 * width,
            memory.upper,
            memory.lower,
        )
        block = DocumentBlock(
            lo=lo,
            hi=hi,
            receivers_end=n if receive else 0,
            givers_end=form.deep,
            grade=grade,
            jump=memory.jump,
        )
        carry(down, block, form, above, lam, eta)
    for k in range(blocks - 1, -1, -1):
        lo = k * BLOCK
        hi = min(n, lo + BLOCK)
        if k < blocks - 1:
            prefix = memory.prefixes + k * 2 * width
            fill_swaps(
                hi - lo, grade + lo, form.discount + lo, form, prefix, memory.upper, memory.lower
            )
        block = DocumentBlock(
            lo=lo,
            hi=hi,
            receivers_end=form.deep if receive else 0,
            givers_end=n,
            grade=grade,
            jump=memory.jump,
        )
        carry(up, block, form, below, lam, eta)
    return anchor


@kernel
def collect_moments(blocks: int, n: int, grade: Pointer, form: Form, memory: ListMemory) -> None:
    """Add the documents of a list to the moments above and below it, where no document receives.

    The list has a single anchor. The result is that of `sum_moments`, in fewer steps.
    """
    above, below = moments_at(memory.above, form.width), moments_at(memory.below, form.width)
    down, up = ways(memory)
    for k in range(blocks):
        lo = k * BLOCK
        hi = min(n, lo + BLOCK)
        fill_swaps(
            hi - lo,
            grade + lo,
            form.discount + lo,
            form,
            memory.prefixes,
            memory.upper,
            memory.lower,
        )
        for_below = DocumentBlock(
            lo=lo, hi=hi, receivers_end=0, givers_end=form.deep, grade=grade, jump=memory.jump
        )
        for_above = DocumentBlock(
            lo=lo, hi=hi, receivers_end=0, givers_end=n, grade=grade, jump=memory.jump
        )
        collect(down, for_below, form, memory.powers, above)
        collect(up, for_above, form, memory.powers, below)


@kernel
def ways(memory: ListMemory) -> tuple[Way, Way]:
    """Down and up a list."""
    fall, rise, upper, lower = memory.fall, memory.rise, memory.upper, memory.lower
    down = Way(step=1, at_receiver=fall, at_giver=rise, receiver_tables=lower, giver_tables=upper)
    return down, Way(
        step=-1, at_receiver=rise, at_giver=fall, receiver_tables=upper, giver_tables=lower
    )


@kernel
def sum_lists(
    lists: Lists,
    discount: Array,
    pair: Array,
    own: Array,
    receive: bool,
    arriving: Arriving,
    arrays: ListMemory,
) -> None:
    """Set ``lam`` and ``eta`` of all documents; ``pair[j]`` and ``own[j]`` are list j's."""
    memory = pointers(arrays)
    n_grades = own.shape[1]
    for j in range(len(lists.starts) - 1):
        begin = lists.starts[j]
        n = lists.starts[j + 1] - begin
        size = lists.n_codes[j]
        s, grade = pointer(lists.s) + begin, pointer(lists.grade) + begin
        lam, eta = pointer(lists.lam) + begin, pointer(lists.eta) + begin
        # not in whole vectors: other threads may be at work on the documents behind
        for r in range(n):
            lam[r] = 0.0
            eta[r] = 0.0
        if size < 2:
            continue
        form = make_form(
            pointer(pair) + j * n_grades * n_grades, pointer(own) + j * n_grades, n_grades,
            pointer(lists.grade_of) + j * n_grades, size, memory.form,
            pointer(discount) + lists.begins[j], lists.deep[j],
        )  # fmt: skip
        prefix, moments = 2 * form.width, LENGTH * form.width
        if lists.by_pairs[j]:
            set_zero(prefix, memory.prefixes)
            fill_swaps(n, grade, form.discount, form, memory.prefixes, memory.upper, memory.lower)
            sum_pairs(n, s, grade, form, memory, lam, eta)
        elif len(arriving.anchor) == 0:
            set_zero(prefix, memory.prefixes)
            set_zero(moments, memory.above)
            set_zero(moments, memory.below)
            sum_moments(n, receive, s, grade, form, memory, lam, eta)
        else:
            above, below = (
                pointer(arriving.above) + j * moments,
                pointer(arriving.below) + j * moments,
            )
            copy(prefix, pointer(arriving.prefix) + j * prefix, memory.prefixes)
            copy(moments, above, memory.above)
            copy(moments, below, memory.below)
            arriving.anchor[j] = sum_moments(n, receive, s, grade, form, memory, lam, eta)
            copy(moments, memory.above, above)
            copy(moments, memory.below, below)
