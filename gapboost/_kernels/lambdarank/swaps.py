"""The two parts of the change of a measure when two documents are swapped.

One part is known at the upper rank, the other at the lower one; `gapboost._kernels.lambdarank`
defines both, and the prefix sums C and E in them. A document has one row over all numbered grades
in each table. Rows are a multiple of 8 long; numbers beyond the query's own grades are not read.
"""

from typing import NamedTuple

from gapboost._kernels.jit import inner_kernel
from gapboost._kernels.lambdarank.memory import Memory, Shape
from gapboost._kernels.vectors import EIGHT, Pointer, load, pointer, store


class Form(NamedTuple):
    """The quadratic form of one query by numbered grades, in rows; see the package's docstring."""

    pair: Pointer
    transposed: Pointer
    cross_term: Pointer
    own: Pointer


@inner_kernel
def read_form(shape: Shape, pair: Pointer, own: Pointer, n_grades: int, m: Memory) -> Form:
    """Return the rows of the grades that occur in a query, from the worth of all grades."""
    n_levels, width, levels = shape.n_levels, shape.width, m.levels
    square = width * width
    form = Form(
        pair=pointer(m.form, width), transposed=pointer(m.form, width + square),
        cross_term=pointer(m.form, width + 2 * square), own=m.form,
    )  # fmt: skip
    for a in range(n_levels):
        form.own[a] = own[levels[a]]
        g = levels[a] * n_grades
        for i in range(n_levels):
            h = levels[i] * n_grades
            worth, mirrored = pair[g + levels[i]], pair[h + levels[a]]
            form.pair[a * width + i] = worth
            form.transposed[a * width + i] = mirrored
            cross_term = pair[g + levels[a]] + pair[h + levels[i]] - worth - mirrored
            form.cross_term[a * width + i] = cross_term
    return form


@inner_kernel
def fill_swaps(shape: Shape, discount: Pointer, form: Form, m: Memory) -> None:
    """Write the rows of all documents."""
    width, grade, upper = shape.width, m.grade, m.upper
    for i in range(0, width, len(EIGHT)):
        own = load(form.own, i, EIGHT)
        c = e = 0.0 * own
        for r in range(shape.n):
            row = grade[r] * width + i
            here = discount[r] * load(form.transposed, row, EIGHT)
            store(upper, r * width + i, discount[r] * (own + c) - e - here)
            c = c + load(form.pair, row, EIGHT)
            e = e + here
    for r in range(shape.n):
        a = grade[r]
        of_its_own = upper[r * width + a]
        for i in range(0, width, len(EIGHT)):
            part = -of_its_own + load(upper, r * width + i, EIGHT)
            store(upper, r * width + i, part)
            cross_term = load(form.cross_term, a * width + i, EIGHT)
            store(m.lower, r * width + i, part - discount[r] * cross_term)


@inner_kernel
def fill_equal_swaps(shape: Shape, m: Memory) -> None:
    """Write the rows for a measure that every swap out of the right order lowers by 1."""
    for r in range(shape.n):
        for i in range(shape.n_levels):
            # Uncompiled, these are numpy's booleans, which cannot be subtracted.
            m.upper[r * shape.width + i] = int(i > m.grade[r]) - int(i < m.grade[r])
            m.lower[r * shape.width + i] = 0.0
