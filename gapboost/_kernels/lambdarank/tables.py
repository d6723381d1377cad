"""What the swap of two documents changes: the part known at the upper rank, and the part known at the lower one.

The two parts, and the prefix sums C and E in them, are defined in `gapboost._kernels.lambdarank`. A document has one row over all
numbered grades in each table. Lanes beyond the query's own grades hold finite numbers that nobody reads.
"""

from typing import Any, NamedTuple

from gapboost._kernels.jit import kernel
from gapboost._kernels.lambdarank.form import Form
from gapboost._kernels.simd import LANES, Pointer, counting, load8, store


class Tables(NamedTuple):
    """Rows of ``upper`` and ``lower`` by document."""

    upper: Any
    lower: Any


@kernel
def fill_tables(n: int, grade: Pointer, discount: Pointer, form: Form, prefix: Pointer, tables: Tables) -> None:
    """Rows of the ``n`` documents whose grades and discounts these are; carries ``prefix`` (C, then E) along.

    As chi and phi differ by the discount times a constant, lower = discount bend - upper.
    """
    width = form.width
    for i in range(0, width, LANES):
        own = load8(form.own, i)
        c = load8(prefix, i)
        e = load8(prefix, width + i)
        for r in range(n):
            row = grade[r] * width + i
            given = discount[r] * load8(form.transposed, row)
            store(tables.upper, r * width + i, discount[r] * (own + c) - e - given)
            c += load8(form.pair, row)
            e += given
        store(prefix, i, c)
        store(prefix, width + i, e)
    for r in range(n):
        a = grade[r]
        here = r * width
        phi_a = tables.upper[here + a]
        for i in range(0, width, LANES):
            sign = (counting(i) < a) - (counting(i) > a)
            upper = sign * (load8(tables.upper, here + i) - phi_a)
            store(tables.upper, here + i, upper)
            store(tables.lower, here + i, discount[r] * load8(form.bend, a * width + i) - upper)
