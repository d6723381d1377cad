"""Grades: numbers from 0 on, most often integers; one label of each document, or several."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from gapboost._kernels import Array, ArrayLike
from gapboost.data.features import check_distinct_names, column_names
from gapboost.validation import check_range, numeric_column, short_repr

# The tables of a measure hold one number for every pair of integer grades: 0..255 costs 0.5 MB a
# query at worst.
MAX_GRADE = 255

# With exponential gains. The boosters refuse higher grades too: of two grades in percent, say, one
# alone would count.
HIGHEST_OF_EXPONENTIAL = 31

# So many different grades look like scores, so few different scores like grades.
MANY, FEW = 20, 10
SWAPPED = (
    "{0} has numbers like scores, and {1} has few whole numbers, like grades; expected {0} before "
    "{1}: are they swapped?"
)

# A column of labels: its name in a data frame, its number from 0 on in an array.
Column = int | str

# The highest grade that measures know and the measure that sets it.
Highest = tuple[float, object]

# By the column of several labels that they read; by None if they read one label.
GradeLimit = Mapping[Column | None, Highest]


def checked_grades(
    y_true: ArrayLike, name: str, limit: Highest | None = None, real: bool = False
) -> Array:
    """Return grades as int32, or as float64 if they may be `real` and some are fractional.

    `limit` is the highest grade that a measure knows, and the measure.

    Raises
    ------
    ValueError
        If they are no grades.
    """
    expected = f"{'' if real else 'integer '}grades from 0 to {MAX_GRADE}"
    column = numeric_column(y_true, name, f"{expected}: map words to 0, 1, 2 ... in their order")
    if np.isnan(column).any() or column.min(initial=0) < 0:
        hint = "leave out rows without a judgment, often NaN or -1 (drop_unlabelled=True of "
        hint += "load_letor), or give them grade 0"
    else:
        hint = "divide all of them by one number, or map them to a few ordered grades"
    check_range(column, name, f"{expected}: {hint}", 0, MAX_GRADE, whole=not real)
    if column.size == 0:
        raise ValueError(f"{name} is empty; expected at least one document")
    known, measure = limit or (np.inf, None)
    highest = column.max()
    if highest > known and not at_least(known, highest):
        raise ValueError(
            f"{name} holds the grade {highest:g}, but {measure} is defined for the grades "
            f"0..{known:g}; expected lower grades, or an entry of the measure for each of them"
        )
    return column.astype(np.float64 if (column != np.floor(column)).any() else np.int32)


def at_least(grades: ArrayLike, threshold: float) -> Array:
    """Return True for each of `grades` that is `threshold` or more, compared as float32.

    Boosters keep labels as float32, so that a grade of 0.7 comes back as 0.69999999. It still
    reaches a threshold of 0.7. Grade 0 reaches no threshold.
    """
    # float32 ends below the largest thresholds, which no grade reaches anyway.
    lowest = np.float32(min(threshold, 2.0 * MAX_GRADE))
    return (np.asarray(grades, np.float32) >= lowest) & (np.asarray(grades) > 0)


def graded(occurring: Array) -> Array:
    """Return the grades that occur, or grade 1 alone if no document is relevant.

    All g give the same values then.
    """
    return occurring if occurring[-1] > 0 else np.array([1])


def label_columns(y: Any, name: str = "y") -> dict[Column, Any]:
    """Return the columns of a table of two labels or more; nothing for one label."""
    if len(column_names(y)) > 1:
        check_distinct_names(column_names(y), name)
        return {column: y[column] for column in column_names(y)}
    with suppress(ValueError):  # rows of different lengths are refused as one label
        y = y if hasattr(y, "shape") else np.asarray(y)
    several = isinstance(y, np.ndarray) and y.ndim == 2 and y.shape[1] > 1
    return {column: y[:, column] for column in range(y.shape[1])} if several else {}


def check_label_columns(columns: Sequence[Column], limit: GradeLimit, name: str) -> None:
    """Check that measures read columns that occur.

    Parameters
    ----------
    columns : sequence of int or str
        Columns of the labels; none for one label.
    limit : GradeLimit
        Of the measures.
    name : str
        The caller's name of the labels.

    Raises
    ------
    ValueError
        If a measure reads another column, or none of several.
    """
    found = f"the labels {short_repr(list(columns)).strip('[]')}" if columns else "one label a row"
    wrong = [
        f"{measure} reads {column!r} of several"
        for column, (_, measure) in limit.items()
        if column is not None and column not in columns
    ]
    if columns and None in limit:
        wrong.append(f"{limit[None][1]} does not say which of them it reads")
    if wrong:
        lists = f". If each row is the list of a query, flatten {name} and pass qid"
        raise ValueError(
            f"{name} has {found}, but {wrong[0]}; expected a column for every OfLabel, and one "
            "value a row, shape (n_rows,), for measures without OfLabel"
            f"{lists if columns else ''}"
        )


def look_swapped(grades: object, scores: object) -> bool:
    """Return True for a few whole numbers as scores beside grades that no judge gives.

    Such grades are many, or fractions outside of the range of grades.
    """
    try:
        grades, scores = (np.asarray(values, np.float64) for values in (grades, scores))
    except (TypeError, ValueError):
        return False
    # Most scores are fractions: the quickest test comes first.
    if not (scores == np.floor(scores)).all() or not 1 < len(np.unique(scores)) <= FEW:
        return False
    outside = (grades != np.floor(grades)) & ((grades < 0) | (grades > MAX_GRADE))
    return bool(outside.any()) or len(np.unique(grades)) >= MANY
