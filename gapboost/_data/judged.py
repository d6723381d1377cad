"""Grades, query ids and weights, checked and brought together, query by query."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np

from gapboost._data.grades import GradeLimit, check_known, checked_grades, graded
from gapboost._data.judgments import as_mapping, judgments_of
from gapboost._data.labels import Column, Label, check_label_columns, column_name, label_columns
from gapboost._data.levels import MOST_LEVELS, codes_and_base
from gapboost._data.queries import Queries, grouped_rows
from gapboost._data.recall_base import RecallBase, grade_counts
from gapboost._data.summary import DataSummary
from gapboost._data.weights import query_weights
from gapboost._kernels import Array


@dataclass(frozen=True, eq=False)
class Judged:
    """Queries with the grades of their documents, query by query.

    Attributes
    ----------
    queries : Queries
    codes : int32 ndarray of shape (N,)
        The number of each document's grade among the levels of the recall base, in grouped order.
    base : RecallBase
        Of the rows, unless one was given.
    weights : float64 ndarray of shape (Q,)
    factors : float64 ndarray of shape (N,) or None
        As in `Weights`.
    labels : mapping {column: Label}
        The labels, if documents have several; `codes` and `base` are then those of the first.
        `of_label` returns the data with one of them.
    """

    queries: Queries
    codes: Array
    base: RecallBase
    weights: Array
    factors: Array | None = None
    labels: Mapping[Column, Label] = field(default_factory=dict)

    def of_label(self, column: Column) -> Self:
        """Return the data with one of several labels.

        Raises
        ------
        ValueError
            If there is no such label.
        """
        if column not in self.labels:
            raise ValueError(
                f"the labels have the columns {list(self.labels)}; expected a column {column!r} too"
            )
        label = self.labels[column]
        return replace(self, codes=label.codes, base=label.base, labels={})

    @property
    def grades(self) -> Array:
        """Grade of each document, in grouped order: int32 of shape (N,), float64 for fractions.

        Several labels have shape (N, L).
        """
        if self.labels:
            return np.column_stack([self.of_label(column).grades for column in self.labels])
        return self.base.grades_of(self.codes, self.queries.sizes)

    @property
    def mean_size(self) -> float:
        """Mean number of documents per query."""
        return float(self.queries.sizes.mean())

    @property
    def weighted_size(self) -> float:
        """Mean number of documents per query, weighted by the weights of the queries."""
        return float(self.weights @ self.queries.sizes / self.weights.sum())

    @property
    def row_weights(self) -> Array:
        """The weight of each document, float64 of shape (N,), in grouped order."""
        by_row = np.repeat(self.weights, self.queries.sizes)
        return by_row if self.factors is None else by_row * self.factors

    @property
    def occurring(self) -> Any:
        """Distinct grades of the recall base, ascending.

        With several labels ``{column: grades}``.
        """
        if self.labels:
            return {column: label.base.occurring for column, label in self.labels.items()}
        return self.base.occurring

    @property
    def graded(self) -> Any:
        """`graded` of the grades that occur; ``{column: grades}`` of several labels."""
        if self.labels:
            return {column: graded(grades) for column, grades in self.occurring.items()}
        return graded(self.occurring)

    @property
    def n_contrasts(self) -> int:
        """Number of queries with documents of two different grades by some label.

        The others teach no order.
        """
        begins = self.queries.offsets[:-1]
        differ = np.zeros(len(self.queries), dtype=bool)
        for codes in [label.codes for label in self.labels.values()] or [self.codes]:
            differ |= np.minimum.reduceat(codes, begins) != np.maximum.reduceat(codes, begins)
        return int(np.count_nonzero(differ))

    def check_known(self, name: str, limit: GradeLimit) -> None:
        """Raise if the measures are not defined for the grades of the argument `name`."""
        check_label_columns(tuple(self.labels), limit, name)
        for column in self.labels:
            check_known(
                self.of_label(column).grades, column_name(name, column), limit.of_column(column)
            )
        if not self.labels:
            check_known(self.grades, name, limit)

    @property
    def summary(self) -> DataSummary:
        """Counts and grades, for a fit."""
        return DataSummary(
            n_rows=self.queries.n_rows,
            n_queries=len(self.queries),
            n_contrasts=self.n_contrasts,
            weighted_size=self.weighted_size,
            grades=tuple(self.base.occurring.tolist()),
        )

    def subset(self, queries: Array) -> Self:
        """Return some of the queries, with their documents, weights and recall base.

        The levels stay, including those that no longer occur.

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
            factors=None if self.factors is None else self.factors[rows],
            labels={column: label.subset(kept, rows) for column, label in self.labels.items()},
        )

    def up_to_grade(self, top: int | None) -> Self:
        """Return the data with the recall base of its rows, with grades up to `top` at least.

        Data with fractional grades are returned as they are.
        """
        if not self.base.has_integer_grades:
            return self
        highest = max(int(self.codes.max()), min(top or 0, MOST_LEVELS - 1))
        counts = grade_counts(self.codes, self.queries.offsets, highest)
        return replace(self, base=RecallBase.of_integer_grades(counts))


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
    y_true : array-like of shape (N,), or (N, L)
        Grades of any numeric dtype: whole numbers ``0..c``, unless they may be `real`. Several
        labels need a `limit` of measures that say which of them they read.
    qid : array-like of shape (N,), GroupSizes or None
        One id a row; None makes all rows one query.
    sample_weight : array-like of shape (Q,) or (N,), optional
        Weights of the queries, in the order in which the queries first occur, or of the rows.
    recall_base : mapping, data frame of pandas or array-like of shape (Q, c + 1), optional
        Grade counts of the queries where judged documents are missing from the rows. A mapping
        goes from query ids to counts, or to mappings from grades to numbers of documents; a data
        frame has query ids as its index, and grades as the names of its columns.
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
    limit = limit or GradeLimit()
    recall_base = as_mapping(recall_base)
    columns = label_columns(y_true, names[0]) if limit.of_one_label or limit.of_labels else {}
    check_label_columns(tuple(columns), limit, names[0])
    if columns and recall_base is not None:
        raise ValueError(
            f"recall_base counts documents by one label, but {names[0]} has {len(columns)}; "
            "expected None, or one label at a time"
        )
    parts = [
        (column_name(names[0], column), values, limit.of_column(column))
        for column, values in columns.items()
    ] or [(names[0], y_true, limit)]
    grades = [checked_grades(values, name, of_label, real) for name, values, of_label in parts]
    queries = grouped_rows(qid, len(grades[0]), names[1], names[0])
    weights = query_weights(sample_weight, queries, names[2])
    labels = []
    for (name, _, of_label), column in zip(parts, grades, strict=True):
        judgments = None
        if recall_base is not None:
            judgments = judgments_of(recall_base, queries.ids, names[1], of_label, real)
        grouped = np.ascontiguousarray(queries.grouped(column))
        labels.append(Label(*codes_and_base(grouped, queries, judgments, of_label.highest, name)))
    return Judged(
        queries,
        labels[0].codes,
        labels[0].base,
        weights.by_query,
        factors=weights.factors,
        labels=dict(zip(columns, labels, strict=False)),
    )
