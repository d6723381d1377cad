"""The quadratic form of one query, by the grades that occur in it."""

from typing import Any, NamedTuple

from gapboost._kernels.jit import kernel
from gapboost._kernels.simd import LANES, Pointer, every8, store

# Kinds of pairs: those of a quadratic form; pairs that all change the measure by 1 (RankNet); and
# those of a cascade (ERR, RR).
FORM, EQUAL, CASCADE = 0, 1, 2


class Form(NamedTuple):
    """The quadratic form of one query, in rows by numbered grade.

    Rows are ``width`` long, a multiple of 8, with any finite numbers beyond ``size``.

    ``pair[a, i]``, its transpose, and ``bend[a, i]`` with its sign (see
    `gapboost._kernels.lambdarank`); ``own[i]``. ``discount`` begins at the first document of the
    list, and swaps change nothing unless the upper document is among its first ``deep``. Of a
    cascade only ``own`` is used, the probability to stop; without a form, none of these.
    """

    kind: Any
    size: Any
    width: Any
    pair: Any
    transposed: Any
    bend: Any
    own: Any
    discount: Any
    deep: Any


@kernel
def number_grades(
    n: int, grades: Pointer, n_grades: int, code_of: Pointer, grade_of: Pointer
) -> int:
    """Number the grades that occur, ascending, both ways; returns how many they are."""
    for i in range(n_grades):
        code_of[i] = 0
    for i in range(n):
        code_of[grades[i]] = 1
    size = 0
    for i in range(n_grades):
        occurs = code_of[i]
        code_of[i] = size
        grade_of[size] = i
        size += occurs
    return size


@kernel
def make_form(
    kind: int,
    pair: Pointer,
    own: Pointer,
    n_grades: int,
    grade_of: Pointer,
    size: int,
    memory: Pointer,
    discount: Pointer,
    deep: int,
) -> Form:
    """Return the form of a query, from the worth of all its grades."""
    width = (size + LANES - 1) // LANES * LANES
    square = width * width
    form = Form(
        kind=kind, size=size, width=width, pair=memory, transposed=memory + square,
        bend=memory + 2 * square, own=memory + 3 * square, discount=discount, deep=deep,
    )  # fmt: skip
    for a in range(size):
        form.own[a] = own[grade_of[a]]
    if kind != FORM:
        return form
    for a in range(size):
        for i in range(size):
            worth = pair[grade_of[a] * n_grades + grade_of[i]]
            form.pair[a * width + i] = worth
            form.transposed[i * width + a] = worth
    for a in range(size):
        for i in range(size):
            bend = (
                form.pair[a * width + a]
                + form.pair[i * width + i]
                - form.pair[a * width + i]
                - form.transposed[a * width + i]
            )
            form.bend[a * width + i] = bend if a > i else -bend
    return form


@kernel
def set_zero(n: int, values: Pointer) -> None:
    """Set the first ``n`` elements, rounded up to whole vectors, to zero."""
    for i in range(0, n, LANES):
        store(values, i, every8(0.0))
