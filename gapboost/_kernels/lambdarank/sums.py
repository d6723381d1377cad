"""lam and eta of every document of every list: pair by pair, or by running sums down and up the list."""

from typing import Any

from gapboost._kernels import Array
from gapboost._kernels.jit import kernel
from gapboost._kernels.lambdarank.exponents import exponentials
from gapboost._kernels.lambdarank.form import Form, make_form
from gapboost._kernels.lambdarank.lists import BLOCK, Arriving, Lists, Work, clear, pointers
from gapboost._kernels.lambdarank.moments import LENGTH, Block, Way, carry, collect, moments_at
from gapboost._kernels.lambdarank.pairs import sum_pairs
from gapboost._kernels.lambdarank.tables import Tables, fill_tables
from gapboost._kernels.simd import LANES, Pointer, load8, pointer, store


@kernel
def copy(n: int, source: Pointer, target: Pointer) -> None:
    """Copy ``n`` elements, a multiple of 8."""
    for i in range(0, n, LANES):
        store(target, i, load8(source, i))


@kernel
def sum_moments(
    n: int, wanted: bool, s: Pointer, grade: Pointer, form: Form, work: Work, lam: Pointer, eta: Pointer
) -> Any:
    """Down the list and up again, block by block; returns the last anchor.

    The first row of ``work.prefixes`` is the prefix above the list, ``work.above`` and ``work.below`` are the moments
    of the documents above it, at its first anchor, and below it, at its last. Moments are carried to the other end.
    Unless ``wanted`` nothing is received on the way.
    """
    width = form.width
    anchor = exponentials(n, s, work.fall, work.rise, work.jump)
    above, below = moments_at(work.above, width), moments_at(work.below, width)
    tables = Tables(work.upper, work.lower)
    down, up = ways(work)
    blocks = (n + BLOCK - 1) // BLOCK
    if not wanted and anchor == s[0]:
        collect_moments(blocks, n, grade, form, work)
        return anchor
    for k in range(blocks):
        lo = k * BLOCK
        block = Block(lo, min(n, lo + BLOCK), n if wanted else 0, form.deep, grade, work.jump)
        prefix = work.prefixes + k * 2 * width
        copy(2 * width, prefix, prefix + 2 * width)
        fill_tables(block.hi - lo, grade + lo, form.discount + lo, form, prefix + 2 * width, tables)
        carry(down, block, form, above, lam, eta)
    for k in range(blocks - 1, -1, -1):
        lo = k * BLOCK
        block = Block(lo, min(n, lo + BLOCK), form.deep if wanted else 0, n, grade, work.jump)
        if k < blocks - 1:
            fill_tables(block.hi - lo, grade + lo, form.discount + lo, form, work.prefixes + k * 2 * width, tables)
        carry(up, block, form, below, lam, eta)
    return anchor


@kernel
def collect_moments(blocks: int, n: int, grade: Pointer, form: Form, work: Work) -> None:
    """What `sum_moments` leaves for the next list, of a list with one anchor where nobody receives."""
    above, below = moments_at(work.above, form.width), moments_at(work.below, form.width)
    tables = Tables(work.upper, work.lower)
    down, up = ways(work)
    for k in range(blocks):
        lo = k * BLOCK
        hi = min(n, lo + BLOCK)
        fill_tables(hi - lo, grade + lo, form.discount + lo, form, work.prefixes, tables)
        collect(down, Block(lo, hi, 0, form.deep, grade, work.jump), form, work.powers, above)
        collect(up, Block(lo, hi, 0, n, grade, work.jump), form, work.powers, below)


@kernel
def ways(work: Work) -> tuple[Way, Way]:
    """Down and up a list."""
    return Way(1, work.fall, work.rise, work.lower, work.upper), Way(-1, work.rise, work.fall, work.upper, work.lower)


@kernel
def sum_lists(
    lists: Lists,
    discount: Array,
    pair: Array,
    own: Array,
    reached: int,
    wanted: bool,
    arriving: Arriving,
    memory: Work,
    lam: Array,
    eta: Array,
) -> None:
    """Set ``lam`` and ``eta`` of all documents; only pairs whose upper document is among the first ``reached`` count."""
    work = pointers(memory)
    n_grades = own.shape[1]
    for j in range(len(lists.starts) - 1):
        begin = lists.starts[j]
        n = lists.starts[j + 1] - begin
        above, query, size = lists.above[j], lists.query[j], lists.sizes[j]
        lam_here, eta_here = pointer(lam) + begin, pointer(eta) + begin
        # not in whole vectors: other threads may be at work on the documents behind
        for r in range(n):
            lam_here[r] = 0.0
            eta_here[r] = 0.0
        if size < 2:
            continue
        s, grade = pointer(lists.s) + begin, pointer(lists.grade) + begin
        form = make_form(
            pointer(pair) + query * n_grades * n_grades, pointer(own) + query * n_grades, n_grades,
            pointer(lists.grade_of) + j * n_grades, size, work.form, pointer(discount) + lists.weighed[j],
            min(max(reached - above, 0), n),
        )  # fmt: skip
        width = form.width
        moments = LENGTH * width
        if lists.by_pairs[j]:
            clear(2 * width, work.prefixes)
            fill_tables(n, grade, form.discount, form, work.prefixes, Tables(work.upper, work.lower))
            sum_pairs(n, s, grade, form, work, lam_here, eta_here)
        elif len(arriving.anchor) == 0:
            clear(2 * width, work.prefixes)
            clear(moments, work.above)
            clear(moments, work.below)
            sum_moments(n, wanted, s, grade, form, work, lam_here, eta_here)
        else:
            above_here, below_here = pointer(arriving.above) + j * moments, pointer(arriving.below) + j * moments
            copy(2 * width, pointer(arriving.prefix) + j * 2 * width, work.prefixes)
            copy(moments, above_here, work.above)
            copy(moments, below_here, work.below)
            arriving.anchor[j] = sum_moments(n, wanted, s, grade, form, work, lam_here, eta_here)
            copy(moments, work.above, above_here)
            copy(moments, work.below, below_here)
