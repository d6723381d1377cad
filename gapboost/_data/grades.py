"""Grades: whole numbers from 0 on."""

from typing import Any, NamedTuple

import numpy as np

from gapboost._data.columns import numeric_column
from gapboost._kernels import Array

# The tables of a measure hold one number for every pair of grades, so grades are labels of an ordered scale,
# not real-valued gains: 0..255 costs 0.5 MB a query at worst.
MAX_GRADE = 255


class GradeLimit(NamedTuple):
    """The highest grade that the caller's measures know.

    Attributes
    ----------
    highest : int
    measure : str
        How the measure that sets it prints.
    """

    highest: int
    measure: str


def checked_grades(y_true: Any, name: str, limit: GradeLimit | None = None) -> Array:
    """Grades as int32, or a ValueError that says what is wrong with them."""
    grades = numeric_column(y_true, name, "integer grades 0..c")
    if grades.size == 0:
        raise ValueError(f"{name} is empty; expected at least one document")
    if grades.dtype.kind == "f":
        broken = ~np.isfinite(grades)
        if broken.any():
            raise ValueError(f"{name} holds {int(broken.sum())} NaN or infinite values; expected integer grades 0..c")
        fractional = grades != np.floor(grades)
        if fractional.any():
            raise ValueError(f"{name} holds the fractional value {grades[fractional][0]}; expected integer grades 0..c")
    lowest, highest = grades.min(), grades.max()
    if lowest < 0:
        raise ValueError(f"{name} holds the negative grade {lowest:g}; expected integer grades 0..c")
    check_highest(highest, name, limit)
    return grades.astype(np.int32)


def check_highest(highest: Any, name: str, limit: GradeLimit | None) -> None:
    """Refuse grades that the measure does not know, or that nobody can hold tables for."""
    if limit is not None and highest > limit.highest:
        raise ValueError(
            f"{name} holds the grade {highest:g}, but {limit.measure} knows the grades 0..{limit.highest}; expected a vector "
            "with one entry for each positive grade, or lower grades"
        )
    if highest > MAX_GRADE:
        raise ValueError(
            f"{name} holds the grade {highest:g}; expected grades up to {MAX_GRADE}: map gains or clicks to a few "
            "ordered grades first"
        )
