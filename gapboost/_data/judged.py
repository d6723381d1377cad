"""Grades, query ids and weights, checked and brought together, query by query."""

import math
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from gapboost._data.grades import GradeLimit, checked_grades, graded, warn_of_many
from gapboost._data.judgements import Judgements, judgements_of, numbered_among
from gapboost._data.levels import ManyLevels, numbered_alike, numbered_by_query
from gapboost._data.queries import Queries, grouped_rows
from gapboost._data.recall_base import RecallBase, checked_recall_base, grade_counts
from gapboost._data.summary import DataSummary
from gapboost._data.weights import query_weights
from gapboost._kernels import Array

# Fractional grades get the same numbers in all queries up to so many different ones, and beyond by query. Up to so many in a
# query a measure has tables, with one number for every pair of them; beyond, documents are compared one by one.
LEVELS_OF_ALL, MOST_LEVELS = 16, 64


@dataclass(frozen=True, eq=False)
class Whole:
    """The data set that some queries are a part of, where each worker of a cluster holds a part.

    Attributes
    ----------
    begins : int64 ndarray of shape (Q,)
        Where the documents of each query of the part begin in the whole, in its grouped order.
    summary : DataSummary
    """

    begins: Array
    summary: DataSummary


@dataclass(frozen=True, eq=False)
class Judged:
    """Queries with the grades of their documents, query by query.

    Attributes
    ----------
    queries : Queries
    codes : int32 ndarray of shape (N,)
        The number of each document's grade among the levels of the recall base, in grouped order.
    base : RecallBase or ManyLevels
        Of the rows, unless one was given.
    weights : float64 ndarray of shape (Q,)
    whole : Whole or None
        Where these queries are a part of a data set: gradients are those of the whole, however it is cut up.
    factors : float64 ndarray of shape (N,) or None
        As in `Weights`.
    """

    queries: Queries
    codes: Array
    base: RecallBase | ManyLevels
    weights: Array
    whole: Whole | None = None
    factors: Array | None = None

    @property
    def grades(self) -> Array:
        """Grade of each document, in grouped order: int32 of shape (N,), or float64 if some are fractional."""
        return self.base.grades_of(self.codes, self.queries.sizes)

    @property
    def mean_size(self) -> float:
        """Mean number of documents a query in the whole data set."""
        if self.whole is not None:
            return self.whole.summary.mean_size
        return float(self.queries.sizes.mean())

    @property
    def weighted_size(self) -> float:
        """Mean number of documents a query in the whole data set, by the weights of the queries."""
        if self.whole is not None:
            return self.whole.summary.weighted_size
        return float(self.weights @ self.queries.sizes / self.weights.sum())

    @property
    def row_weights(self) -> Array:
        """The weight of each document, float64 of shape (N,), in grouped order."""
        by_row = np.repeat(self.weights, self.queries.sizes)
        return by_row if self.factors is None else by_row * self.factors

    @property
    def occurring(self) -> Array:
        """The distinct grades of the recall base, ascending."""
        return self.base.occurring

    @property
    def graded(self) -> Array:
        """`graded` of the grades that occur."""
        return graded(self.occurring)

    @property
    def n_contrasts(self) -> int:
        """Number of queries that hold documents of two different grades: the others cannot teach an order."""
        begins = self.queries.offsets[:-1]
        lowest = np.minimum.reduceat(self.codes, begins)
        highest = np.maximum.reduceat(self.codes, begins)
        return int(np.count_nonzero(lowest != highest))

    @property
    def summary(self) -> DataSummary:
        """Counts and grades, for a fit."""
        occurring = self.occurring
        return DataSummary(
            n_rows=self.queries.n_rows,
            n_queries=len(self.queries),
            n_contrasts=self.n_contrasts,
            weighted_size=self.weighted_size,
            grades=tuple(occurring.tolist()),
            n_grades=len(occurring),
        )

    def subset(self, queries: Array) -> Self:
        """Return some of the queries, with their documents, weights and recall base.

        The levels stay, including those that no longer occur. A part of a data set remains a part of it.

        Parameters
        ----------
        queries : ndarray
            As in `Queries.mask`.
        """
        kept = self.queries.mask(queries)
        rows = np.repeat(kept, self.queries.sizes)
        return replace(
            self,
            queries=self.queries.subset(kept),
            codes=self.codes[rows],
            base=self.base.subset(kept),
            weights=self.weights[kept],
            whole=None if self.whole is None else replace(self.whole, begins=self.whole.begins[kept]),
            factors=None if self.factors is None else self.factors[rows],
        )

    def up_to_grade(self, top: int | None) -> Self:
        """Return the data with the recall base of its rows, with grades up to `top` at least.

        Data with fractional grades are returned as they are.
        """
        if not self.base.is_whole:
            return self
        highest = max(int(self.codes.max()), top or 0)
        counts = grade_counts(self.codes, self.queries.offsets, highest)
        return replace(self, base=RecallBase.of_whole_grades(counts))


def judged(
    y_true: Any,
    qid: Any,
    *,
    sample_weight: Any = None,
    recall_base: Any = None,
    limit: GradeLimit | None = None,
    names: tuple[str, str, str] = ("y_true", "qid", "sample_weight"),
    real: bool = False,
) -> Judged:
    """Check grades, query ids and weights and bring them together, query by query.

    Parameters
    ----------
    y_true : array-like of shape (N,)
        Grades of any numeric dtype: whole numbers ``0..c``, unless they may be `real`.
    qid : array-like of shape (N,), GroupSizes or None
        One id a row; None makes all rows one query.
    sample_weight : array-like of shape (Q,) or (N,), optional
        Weights of the queries, in the order in which the queries first occur, or of the rows.
    recall_base : mapping from query id, or array-like of shape (Q, c + 1), optional
        Grade counts of the queries where judged documents are missing from the rows; entries of a mapping may be mappings
        from grades to numbers of documents.
    limit : GradeLimit, optional
    names : tuple of str
        What the caller calls `y_true`, `qid` and `sample_weight`: errors name them so.
    real : bool
        Whether grades may be fractional.

    Raises
    ------
    ValueError
        Naming the argument, what was found and what is expected.
    """
    grades = checked_grades(y_true, names[0], limit, real)
    queries = grouped_rows(qid, len(grades), names[1], names[0])
    weights = query_weights(sample_weight, queries, names[2])
    grades = np.ascontiguousarray(queries.grouped(grades))
    judgements = judgements_of(recall_base, queries.ids, names[1], limit) if real else None
    if grades.dtype.kind == "f" or (judgements is not None and not judgements.whole):
        if recall_base is not None and judgements is None:
            raise ValueError(
                f"recall_base counts whole grades, but {names[0]} holds fractional ones; expected "
                "{query: {grade: documents}}, such as {'a': {0.5: 3, 1.0: 1}}"
            )
        levels = np.unique(grades)
        warn_of_many(len(levels), levels[-1], names[0], limit)
        codes, base = numbered(grades.astype(np.float64), levels, queries, judgements)
    else:
        if judgements is not None:
            recall_base = judgements.counts(len(queries))
        known = limit.highest if limit is not None and limit.highest < math.inf else 0
        counts = grade_counts(grades, queries.offsets, max(int(grades.max()), int(known)))
        if recall_base is not None:
            counts = checked_recall_base(recall_base, counts, queries.ids, names[1], limit)
        codes, base = grades, RecallBase.of_whole_grades(counts)
    return Judged(queries, codes, base, weights.by_query, factors=weights.factors)


def numbered(
    grades: Array, levels: Array, queries: Queries, judgements: Judgements | None
) -> tuple[Array, RecallBase | ManyLevels]:
    """The numbers of fractional grades, in grouped order, among the levels of a recall base; `levels` are all that occur."""
    if judgements is not None:
        codes, base = numbered_among(grades, queries.offsets, judgements, queries.ids)
    elif len(levels) <= LEVELS_OF_ALL:
        return numbered_alike(grades, queries.offsets, levels)
    else:
        codes, base = numbered_by_query(grades, queries.offsets)
    if base.n_levels > MOST_LEVELS:
        return codes, base
    return codes, replace(base[:], many_levels=False)
