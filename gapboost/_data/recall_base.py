"""The recall base of queries: the number of documents of each grade, and the grades."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from gapboost._data.grades import at_least
from gapboost._kernels import Array
from gapboost._kernels.expected_value import count_grades


def sums_of(amounts: Array, worth: Array) -> Array:
    """Return sums over levels of ``amounts`` (Q, L) times ``worth`` (L,) or (Q, L)."""
    products: Array = amounts @ worth if worth.ndim == 1 else np.einsum("ql,ql->q", amounts, worth)
    return products


@dataclass(frozen=True, eq=False)
class RecallBase:
    """Documents of each grade in some queries.

    Attributes
    ----------
    counts : int64 ndarray of shape (Q, L)
        How many documents of the query have each of L grades.
    levels : float64 ndarray of shape (L,), or (Q, L)
        These grades, ascending: the same for all queries, or of each. Where a query has fewer, its
        highest is repeated.
    """

    counts: Array
    levels: Array

    @classmethod
    def of_integer_grades(cls, counts: Array) -> Self:
        """Return a recall base from the documents of grade 0, 1, ..., int64 of shape (Q, c + 1)."""
        return cls(counts, np.arange(float(counts.shape[1])))

    def __len__(self) -> int:
        return len(self.counts)

    def __getitem__(self, queries: Any) -> Self:
        """Return the recall base of some queries, by a slice or an array of query numbers."""
        levels = self.levels if self.levels.ndim == 1 else self.levels[queries]
        return type(self)(self.counts[queries], levels)

    def subset(self, queries: Array) -> Self:
        """Return the recall base of the queries in a bool mask of shape (Q,)."""
        return self[queries]

    @property
    def n_levels(self) -> int:
        """Number of grades, L."""
        return int(self.levels.shape[-1])

    @property
    def has_integer_grades(self) -> bool:
        """True if the grades are 0, 1, 2, ..., the same for all queries."""
        return self.levels.ndim == 1 and np.array_equal(self.levels, np.arange(self.n_levels))

    @property
    def occurring(self) -> Array:
        """The distinct grades, ascending."""
        if self.levels.ndim == 1:
            return self.levels[self.counts.any(axis=0)]
        return np.unique(self.levels[self.counts > 0])

    def grades_of(self, numbers: Array, sizes: Array) -> Array:
        """Return the grades of these numbers by queries of these sizes, int32 or float64.

        They are int32 if all are whole.
        """
        if self.has_integer_grades:
            return numbers
        if self.levels.ndim == 1:
            return self.levels[numbers]
        grades: Array = self.levels[np.repeat(np.arange(len(self)), sizes), numbers]
        return grades

    def total(self, worth: Array) -> Array:
        """Return the sum of ``worth`` over the documents of each query, float64 of shape (Q,).

        ``worth`` has the shape of `levels`.
        """
        return sums_of(self.counts, worth)

    @property
    def at_or_above(self) -> Array:
        """``[q, i]``: documents of query q with grade i or higher, int64 of shape (Q, L)."""
        return np.cumsum(self.counts[:, ::-1], axis=1)[:, ::-1]

    def relevant(self, rel: float) -> Array:
        """Documents of each query with a grade of at least `rel`, int64 of shape (Q,)."""
        relevant: Array = np.where(at_least(self.levels, rel), self.counts, 0).sum(axis=1)
        return relevant


def grade_counts(grades: Array, offsets: Array, top: int) -> Array:
    """Documents of each grade ``0..top`` in each query, int64 of shape (Q, top + 1)."""
    counts = np.zeros((len(offsets) - 1, top + 1), dtype=np.int64)
    count_grades(grades, offsets, counts)
    return counts
