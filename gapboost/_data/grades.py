"""Grades: numbers from 0 on, most often integers."""

import math
from typing import Any, NamedTuple

import numpy as np

from gapboost._data.columns import check_finite, first_row, numeric_column
from gapboost._kernels import Array

# The tables of a measure hold one number for every pair of integer grades: 0..255 costs 0.5 MB a
# query at worst.
MAX_GRADE = 255


class GradeLimit(NamedTuple):
    """Grades for which the caller's measures are defined.

    Attributes
    ----------
    highest : float
        Infinite where they know any.
    measure : Measure
        The one that sets it.
    of_one_label : Measure or None
        One that reads no column of several labels; None if all of them read one.
    of_labels : tuple of (column, GradeLimit)
        The grades that measures of several labels know, for each column that they read.
    """

    highest: float = math.inf
    measure: Any = None
    of_one_label: Any = None
    of_labels: "tuple[tuple[int | str, GradeLimit], ...]" = ()

    def of_column(self, column: int | str) -> "GradeLimit":
        """Return the limit for one column of several labels."""
        return dict(self.of_labels).get(column, GradeLimit())


def checked_grades(
    y_true: Any, name: str, limit: GradeLimit | None = None, real: bool = False
) -> Array:
    """Return grades as int32, or as float64 if they may be `real` and some are fractional.

    Raises
    ------
    ValueError
        If they are no grades.
    """
    expected = "grades >= 0" if real else "integer grades 0..c"
    grades = numeric_column(y_true, name, expected)
    if grades.size == 0:
        raise ValueError(f"{name} is empty; expected at least one document")
    check_finite(grades, name, expected)
    if grades.min() < 0:
        raise ValueError(
            f"{name} holds the negative grade {grades.min():g}, {first_row(grades < 0)}; expected "
            f"{expected}"
        )
    fractions = grades[grades != np.floor(grades)]
    if len(fractions) and not real:
        raise ValueError(f"{name} holds the fractional value {fractions[0]}; expected {expected}")
    check_known(grades, name, limit)
    return grades.astype(np.float64 if len(fractions) else np.int32)


def at_least(grades: Any, threshold: float) -> Array:
    """Return True for each of `grades` that is `threshold` or more, compared as float32.

    Boosters keep labels as float32, so that a grade of 0.7 comes back as 0.69999999. It still
    reaches a threshold of 0.7. Grade 0 reaches no threshold.
    """
    # float32 ends below the largest thresholds, which no grade reaches anyway.
    least = np.float32(min(threshold, 2.0 * MAX_GRADE))
    reached: Array = (np.asarray(grades, np.float32) >= least) & (np.asarray(grades) > 0)
    return reached


def graded(occurring: Array) -> Array:
    """Return the grades that occur, or grade 1 alone if no document is relevant.

    All g give the same values then.
    """
    return occurring if occurring[-1] > 0 else np.array([1])


def check_known(grades: Array, name: str, limit: GradeLimit | None) -> None:
    """Raise for grades for which the measure is not defined, and for grades above `MAX_GRADE`."""
    highest = grades.max()
    if limit is not None and highest > limit.highest and not at_least(limit.highest, highest):
        raise ValueError(
            f"{name} holds the grade {highest:g}, but {limit.measure} is defined for the grades "
            f"0..{limit.highest:g}; expected a vector with one entry for each positive grade, or "
            "lower grades"
        )
    if highest > MAX_GRADE:
        raise ValueError(
            f"{name} holds the grade {highest:g}; expected grades up to {MAX_GRADE}: divide all of "
            "them by one number, or map them to a few ordered grades"
        )
