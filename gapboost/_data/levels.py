"""Codes of grades: their numbers among the levels of all queries, or of their own query."""

import math

import numpy as np

from gapboost._data.judgments import Judgments
from gapboost._data.queries import Queries
from gapboost._data.recall_base import RecallBase, grade_counts
from gapboost._kernels import Array
from gapboost._kernels.order import ranking

# A measure has a number for every pair of levels. Up to LEVELS_OF_ALL different grades have the
# same codes in all queries.
LEVELS_OF_ALL, MOST_LEVELS = 16, 64


def codes_by_query(grades: Array, offsets: Array, name: str) -> tuple[Array, RecallBase]:
    """Return the code of each grade in its query, int32 of shape (N,), and the recall base.

    Raises
    ------
    ValueError
        If a query has more than `MOST_LEVELS` different grades.
    """
    sizes = np.diff(offsets)
    order = np.repeat(offsets[:-1], sizes) + ranking(-grades, offsets)
    ordered = grades[order]
    new = np.append(True, ordered[1:] != ordered[:-1])
    new[offsets[:-1][sizes > 0]] = True
    first = np.flatnonzero(new)
    starts = np.searchsorted(first, offsets)
    codes = np.empty(len(grades), dtype=np.int32)
    codes[order] = np.cumsum(new) - 1 - np.repeat(starts[:-1], sizes)
    widths = np.diff(starts)[:, None]
    if widths.max() > MOST_LEVELS:
        raise ValueError(
            f"{name} holds {widths.max()} different grades in one query; expected at most "
            f"{MOST_LEVELS}: round them to levels, such as numpy.round({name}, 1)"
        )
    level = np.arange(widths.max())
    at = starts[:-1, None] + np.minimum(level, widths - 1)
    counts = np.where(level < widths, np.diff(np.append(first, len(grades)))[at], 0)
    return codes, RecallBase(counts, ordered[first][at])


def codes_of_all(grades: Array, offsets: Array, levels: Array) -> tuple[Array, RecallBase]:
    """Like `codes_by_query`, with the same `levels`, ascending, for all queries."""
    codes = np.searchsorted(levels, grades).astype(np.int32)
    return codes, RecallBase(grade_counts(codes, offsets, len(levels) - 1), levels)


def codes_among(
    grades: Array, offsets: Array, judged: Judgments, ids: Array, name: str
) -> tuple[Array, RecallBase]:
    """Return the codes of grades among the judged ones of their query, and the recall base.

    Raises
    ------
    ValueError
        If more documents of a grade above 0 are listed than judged, or as `codes_by_query`.
    """
    query = np.concatenate((np.repeat(np.arange(len(ids)), np.diff(offsets)), judged.query))
    order = np.argsort(query, kind="stable")
    ends = np.concatenate(([0], np.cumsum(np.bincount(query, minlength=len(ids)))))
    codes = np.empty(len(query), dtype=np.int32)
    # The rows and the recall base may come with different float types.
    every = merged_in_float32(np.concatenate((grades, judged.grade)))
    codes[order], base = codes_by_query(every[order], ends, name)
    listed, counts = np.zeros_like(base.counts), np.zeros_like(base.counts)
    n = len(grades)
    np.add.at(listed, (query[:n], codes[:n]), 1)
    np.add.at(counts, (query[n:], codes[n:]), judged.documents)
    check_listed(counts, listed, base.levels, ids)
    return codes[:n], RecallBase(np.maximum(counts, listed), base.levels)


def check_listed(counts: Array, listed: Array, levels: Array, ids: Array) -> None:
    """Raise ValueError if more documents of a grade above 0 are listed than counted."""
    short = (counts < listed) & (levels > 0)
    if short.any():
        q, level = np.argwhere(short)[0]
        grade = np.broadcast_to(levels, counts.shape)[q, level]
        raise ValueError(
            f"recall_base counts {counts[q, level]} documents of grade {grade:g} for query "
            f"{ids[q]!r}, but {listed[q, level]} are listed; expected at least the listed ones of "
            "each grade above 0"
        )


def merged_in_float32(grades: Array) -> Array:
    """Replace grades that are the same float32 by the highest of them."""
    values, number = np.unique(grades.astype(np.float32), return_inverse=True)
    highest = np.zeros(len(values))
    np.maximum.at(highest, number, grades)
    return highest[number]


def codes_and_base(
    grades: Array, queries: Queries, judgments: Judgments | None, known: float, name: str
) -> tuple[Array, RecallBase]:
    """Return the codes of grades, int32 of shape (N,), and the recall base.

    Parameters
    ----------
    grades : int32 or float64 ndarray of shape (N,)
        In grouped order.
    queries : Queries
    judgments : Judgments or None
        None counts the rows.
    known : float
        The highest grade of the caller's measures: integer grades up to it are levels.
    name : str
        The caller's name of the grades.

    Raises
    ------
    ValueError
        If a query has too many levels, or more documents than its recall base.
    """
    offsets = queries.offsets
    if grades.dtype.kind != "f" and (judgments is None or judgments.integer):
        top = max(int(grades.max()), int(min(known, MOST_LEVELS - 1)) if known < math.inf else 0)
        counts = grade_counts(grades, offsets, top)
        if judgments is not None:
            listed, counts = counts, judgments.counts(len(queries), top + 1)
            listed = np.pad(listed, ((0, 0), (0, counts.shape[1] - listed.shape[1])))
            check_listed(counts, listed, np.arange(counts.shape[1]), queries.ids)
        if counts.shape[1] <= MOST_LEVELS:
            return grades, RecallBase.of_integer_grades(counts)
    grades = grades.astype(np.float64)
    if judgments is not None:
        return codes_among(grades, offsets, judgments, queries.ids, name)
    levels = np.unique(grades)
    if len(levels) <= LEVELS_OF_ALL:
        return codes_of_all(grades, offsets, levels)
    return codes_by_query(grades, offsets, name)
