"""Fractional grades, numbered among those of their query or of all queries."""

from dataclasses import dataclass

import numpy as np

from gapboost._data.recall_base import RecallBase, grade_counts
from gapboost._kernels import Array
from gapboost._kernels.order.short import ranking
from gapboost._kernels.parallel.chunks import ranges_within

# Numbers by query and level that are at work at a time, where a query alone has not more.
CELLS_IN_RANGE = 1 << 18


@dataclass(frozen=True, eq=False)
class ManyLevels:
    """Recall base of queries of which some have many grades; a slice of it is a `RecallBase`.

    Attributes
    ----------
    counts : int64 ndarray of shape (M,)
        Documents of each grade of each query, query after query.
    levels : float64 ndarray of shape (M,)
        These grades, ascending in each query.
    starts : int64 ndarray of shape (Q + 1,)
        Where those of each query begin.
    """

    counts: Array
    levels: Array
    starts: Array

    is_whole = False
    many_levels = True

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __getitem__(self, queries: slice) -> RecallBase:
        first, last, _ = queries.indices(len(self))
        starts = self.starts[first:last]
        sizes = self.starts[first + 1 : last + 1] - starts
        level = np.arange(int(sizes.max()))
        at = starts[:, None] + np.minimum(level, sizes[:, None] - 1)
        counts = np.where(level < sizes[:, None], self.counts[at], 0)
        return RecallBase(counts, self.levels[at], many_levels=True)

    def subset(self, queries: Array) -> "ManyLevels":
        """Return the recall base of the queries in a bool mask of shape (Q,)."""
        sizes = np.diff(self.starts)
        kept = np.repeat(queries, sizes)
        return ManyLevels(
            self.counts[kept], self.levels[kept], np.append(0, np.cumsum(sizes[queries]))
        )

    @property
    def n_levels(self) -> int:
        """Largest number of grades in a query."""
        return int(np.diff(self.starts).max())

    @property
    def occurring(self) -> Array:
        """The distinct grades, ascending."""
        return np.unique(self.levels)

    def grades_of(self, numbers: Array, sizes: Array) -> Array:
        """The grades of these numbers of documents, by queries of these sizes."""
        grades: Array = self.levels[np.repeat(self.starts[:-1], sizes) + numbers]
        return grades

    def ranges(self) -> list[tuple[int, int]]:
        """Return ranges with up to `CELLS_IN_RANGE` numbers by query and level, or of one query."""
        return list(ranges_within(np.diff(self.starts), CELLS_IN_RANGE))


def numbered_by_query(grades: Array, offsets: Array) -> tuple[Array, ManyLevels]:
    """Return the number of each document's grade in its query, and the recall base of the rows.

    The numbers are int32 of shape (N,).
    """
    sizes = np.diff(offsets)
    order = np.repeat(offsets[:-1], sizes) + ranking(-grades, offsets)
    ordered = grades[order]
    new = np.append(True, ordered[1:] != ordered[:-1])
    new[offsets[:-1][sizes > 0]] = True
    at = np.cumsum(new) - 1
    first = np.flatnonzero(new)
    starts = np.searchsorted(first, offsets)
    codes = np.empty(len(grades), dtype=np.int32)
    codes[order] = at - np.repeat(starts[:-1], sizes)
    counts = np.diff(np.append(first, len(grades)))
    return codes, ManyLevels(counts, ordered[first], starts)


def numbered_alike(grades: Array, offsets: Array, levels: Array) -> tuple[Array, RecallBase]:
    """Return what `numbered_by_query` does, with the same `levels`, ascending, for all queries."""
    codes = np.searchsorted(levels, grades).astype(np.int32)
    return codes, RecallBase(grade_counts(codes, offsets, len(levels) - 1), levels)
