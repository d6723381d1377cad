"""The two parts of the change of a measure when two documents are swapped.

One part is known at the upper rank, the other at the lower one; `gapboost._kernels.lambdarank`
defines both, and the prefix sums C and E in them. A document has one row over all numbered grades
in each table. Rows are a multiple of 8 long; numbers beyond the query's own grades are not read.
"""

from typing import Any, NamedTuple

from gapboost._kernels import Array
from gapboost._kernels.jit import kernel
from gapboost._kernels.vectors import EIGHT, Pointer, load, pointer, store


class Form(NamedTuple):
    """The quadratic form of one query by numbered grades, in rows; see the package's docstring."""

    pair: Any
    transposed: Any
    bend: Any
    own: Any


def padded(n: int) -> int:
    """Return `n` rounded up to whole vectors."""
    return -(-n // len(EIGHT)) * len(EIGHT)


@kernel
def read_form(
    n_levels: int, width: int, levels: Pointer, pair: Pointer, n_grades: int, memory: Array
) -> Form:
    """Return the rows of the grades that occur in a query, from the worth of all grades."""
    square = width * width
    form = Form(
        pair=pointer(memory, width), transposed=pointer(memory, width + square),
        bend=pointer(memory, width + 2 * square), own=pointer(memory, 0),
    )  # fmt: skip
    for a in range(n_levels):
        g = levels[a] * n_grades
        for i in range(n_levels):
            h = levels[i] * n_grades
            worth, mirrored = pair[g + levels[i]], pair[h + levels[a]]
            form.pair[a * width + i] = worth
            form.transposed[a * width + i] = mirrored
            bend = pair[g + levels[a]] + pair[h + levels[i]] - worth - mirrored
            form.bend[a * width + i] = bend
    return form


@kernel
def fill_swaps(
    n: int,
    width: int,
    grade: Pointer,
    discount: Pointer,
    form: Form,
    upper: Pointer,
    lower: Pointer,
) -> None:
    """Write the rows of ``n`` documents."""
    for i in range(0, width, len(EIGHT)):
        own = load(form.own, i, EIGHT)
        c = e = 0.0 * own
        for r in range(n):
            row = grade[r] * width + i
            here = discount[r] * load(form.transposed, row, EIGHT)
            store(upper, r * width + i, discount[r] * (own + c) - e - here)
            c = c + load(form.pair, row, EIGHT)
            e = e + here
    for r in range(n):
        a = grade[r]
        of_its_own = upper[r * width + a]
        for i in range(0, width, len(EIGHT)):
            part = -of_its_own + load(upper, r * width + i, EIGHT)
            store(upper, r * width + i, part)
            bend = load(form.bend, a * width + i, EIGHT)
            store(lower, r * width + i, part - discount[r] * bend)


@kernel
def fill_equal_swaps(
    n: int, width: int, grade: Pointer, n_levels: int, upper: Pointer, lower: Pointer
) -> None:
    """Write the rows for a measure that every swap out of the right order lowers by 1."""
    for r in range(n):
        for i in range(n_levels):
            upper[r * width + i] = (i > grade[r]) - (i < grade[r])
            lower[r * width + i] = 0.0
