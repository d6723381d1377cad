"""Codes of grades: their numbers among the levels of all queries, or of their own query."""

import numpy as np

from gapboost._data.recall_base import RecallBase, grade_counts
from gapboost._kernels import Array
from gapboost._kernels.order.short import ranking

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
