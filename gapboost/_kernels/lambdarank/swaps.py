"""The two parts of the change of a measure when two documents are swapped.

One part is known at the upper rank, the other at the lower one; `gapboost._kernels.lambdarank`
defines both, and the prefix sums C and E in them. A document has one row over all numbered grades
in each table. Lanes beyond the query's own grades hold finite numbers that are not read.
"""

from gapboost._kernels.jit import kernel
from gapboost._kernels.lambdarank.form import EQUAL, Form
from gapboost._kernels.simd import LANES, Pointer, counting, load8, store


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
    if form.kind == EQUAL:
        for r in range(n):
            for i in range(0, width, LANES):
                store(upper, r * width + i, (counting(i) == grade[r]) - 1.0)
                store(lower, r * width + i, counting(i) * 0.0)
        return
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
