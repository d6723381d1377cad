"""Grades, query ids and weights, checked and brought together, query by query."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np

from gapboost._kernels import Array, ArrayLike
from gapboost.data.grades import (
    Column,
    GradeLimit,
    check_label_columns,
    checked_grades,
    graded,
    label_columns,
)
from gapboost.data.queries import Queries, QueryIds, grouped_rows, plain_value
from gapboost.data.recall_base import RecallBase, by_query, codes_and_base, judgments_of
from gapboost.validation import check_row_order, finite_column, short_repr

# What weights sum to. Boosters keep gradients and gains as float32 and take no split that gains
# less than some constant: beyond these limits they train on noise, or not at all.
LEAST_WEIGHT, MOST_WEIGHT = 1e-5, 1e15


class DataSummary(NamedTuple):
    """Counts and grades of a data set, or of all its partitions.

    Attributes
    ----------
    n_rows, n_queries : int
    n_mixed_grades : int
        Queries that hold two different grades.
    weighted_size : float
        Mean number of documents per query, weighted by the weights of the queries.
    weight : float
        Sum of the weights of the queries.
    grades : tuple of float
        The grades that occur, ascending; those of the first of several labels.
    """

    n_rows: int
    n_queries: int
    n_mixed_grades: int
    weighted_size: float
    weight: float
    grades: tuple[float, ...]

    @classmethod
    def of_parts(cls, parts: Sequence["DataSummary"], name: str = "sample_weight") -> Self:
        """Return the summary of a data set from those of its parts.

        Raises
        ------
        ValueError
            If the weights of all parts have an unusable sum; `name` is the caller's name of them.
        """
        sizes, weights = zip(*((part.weighted_size, part.weight) for part in parts), strict=True)
        check_total(weights, name)
        return cls(
            n_rows=sum(part.n_rows for part in parts),
            n_queries=sum(part.n_queries for part in parts),
            n_mixed_grades=sum(part.n_mixed_grades for part in parts),
            weighted_size=float(np.average(sizes, weights=weights)),
            weight=sum(weights),
            grades=tuple(sorted({grade for part in parts for grade in part.grades})),
        )

    @property
    def occurring(self) -> Array:
        """The grades that occur, ascending."""
        return np.array(self.grades)

    def check_mixed_grades(self, name: str) -> None:
        """Raise ValueError if no query holds two different grades: there is no order to learn."""
        if not self.n_mixed_grades:
            has_one_row = self.n_queries == self.n_rows > 1  # each query
            why = "; qid is another in each row" if has_one_row else ": there is nothing to learn"
            raise ValueError(
                f"{name} holds no query with two different grades ({self.n_queries} queries, "
                f"n_samples = {self.n_rows}, grades {short_repr(self.grades)}); expected at least "
                f"one{why}"
            )


@dataclass(frozen=True, eq=False)
class QueryData:
    """Queries with the grades of their documents, query by query.

    Attributes
    ----------
    queries : Queries
    codes : int32 ndarray of shape (N,)
        The number of each document's grade among the levels of the recall base, in grouped order.
    base : RecallBase
        Of the rows, unless one was given.
    weights : float64 ndarray of shape (Q,)
        Weights of the queries; of documents whose weights differ within a query, the mean.
    row_factors : float64 ndarray of shape (N,) or None
        Weight of each document over that of its query, in grouped order. None where all are 1.
    labels : mapping {column: QueryData}
        The same queries with each of several labels. `codes` and `base` are those of the first;
        `of_label` returns the data with another.

    Examples
    --------
    >>> data = group_by_query([2, 0, 1], ["b", "a", "b"])
    >>> data.queries.ids.tolist(), data.queries.sizes.tolist(), data.grades.tolist()
    (['b', 'a'], [2, 1], [2, 1, 0])
    """

    queries: Queries
    codes: Array
    base: RecallBase
    weights: Array
    row_factors: Array | None = None
    labels: Mapping[Column, "QueryData"] = field(default_factory=dict)

    def of_label(self, column: Column) -> Self:
        """Return the data with one of several labels."""
        label = self.labels[column]
        return replace(self, codes=label.codes, base=label.base, labels={})

    def take(self, rows: Array, numbers: Array | None = None) -> Self:
        """Return the data with other documents.

        Parameters
        ----------
        rows : int ndarray of shape (M,)
            Their places in grouped order, query by query.
        numbers : int ndarray, optional
            Ascending numbers of the queries that they belong to; all by default.
        """
        if numbers is None:
            numbers = np.arange(len(self.queries))
        offsets = np.concatenate(([0], np.cumsum(self.queries.sizes[numbers])))
        return replace(
            self,
            queries=Queries(self.queries.ids[numbers], offsets, None),
            codes=self.codes[rows],
            base=self.base[numbers],
            weights=self.weights[numbers],
            row_factors=None if self.row_factors is None else self.row_factors[rows],
            labels={column: data.take(rows, numbers) for column, data in self.labels.items()},
        )

    @cached_property
    def first_label(self) -> Array:
        """Grade of each document by the first label, in grouped order.

        An int32 array of shape (N,), float64 for fractions.
        """
        levels = self.base.levels
        if levels.ndim == 2:
            return np.asarray(levels[self.queries.numbers, self.codes])
        are_codes = np.array_equal(levels, np.arange(len(levels)))
        return self.codes if are_codes else np.asarray(levels[self.codes])

    @property
    def grades(self) -> Array:
        """`first_label`; or the grades by several labels, of shape (N, L)."""
        if self.labels:
            return np.column_stack([data.first_label for data in self.labels.values()])
        return self.first_label

    @property
    def weighted_size(self) -> float:
        """Mean number of documents per query, weighted by the weights of the queries."""
        total = self.weights.sum()  # 0 on a worker whose rows weigh nothing
        return float(self.weights @ self.queries.sizes / total) if total else 0.0

    @property
    def row_weights(self) -> Array:
        """The weight of each document, float64 of shape (N,), in grouped order."""
        by_row = np.repeat(self.weights, self.queries.sizes)
        return by_row if self.row_factors is None else by_row * self.row_factors

    @property
    def occurring(self) -> Any:
        """Distinct grades of the recall base, ascending; ``{column: grades}`` of several labels.

        If no document is relevant by a label, this is grade 1 alone, see `graded`.
        """
        if self.labels:
            return {column: data.occurring for column, data in self.labels.items()}
        return graded(self.base.occurring)

    @property
    def has_mixed_grades(self) -> Array:
        """True for each query with documents of two different grades, by some label.

        The others teach no order.
        """
        begins = self.queries.offsets[:-1]
        lowest = np.minimum.reduceat(self.codes, begins)
        highest = np.maximum.reduceat(self.codes, begins)
        mixed: Array = lowest != highest
        for label in self.labels.values():
            mixed |= label.has_mixed_grades
        return mixed

    @cached_property
    def summary(self) -> DataSummary:
        """Counts and grades, for a fit."""
        return DataSummary(
            n_rows=self.queries.n_rows,
            n_queries=len(self.queries),
            n_mixed_grades=int(np.count_nonzero(self.has_mixed_grades)),
            weighted_size=self.weighted_size,
            weight=float(self.weights.sum()),
            grades=tuple(self.base.occurring.tolist()),
        )


def group_by_query(
    y_true: ArrayLike,
    qid: QueryIds,
    *,
    sample_weight: ArrayLike | None = None,
    recall_base: object = None,
    limit: GradeLimit | None = None,
    names: tuple[str, str, str] = ("y_true", "qid", "sample_weight"),
    real: bool = False,
    every_query: bool = False,
    partial: bool = False,
    beside: Mapping[str, object] | None = None,
) -> QueryData:
    """Check grades, query ids and weights and bring them together, query by query.

    Parameters
    ----------
    y_true : array-like of shape (N,), or (N, L)
        Grades of any numeric dtype: whole numbers ``0..c``, unless they may be `real`. Several
        labels need a `limit` of measures that say which of them they read.
    qid : array-like of shape (N,) or None
        One id a row; None makes all rows one query.
    sample_weight : array-like of shape (Q,) or (N,), optional
        Weights of the queries, in the order in which the queries first occur, or of the rows.
        pandas' weights are aligned by the index if it has exactly the query ids.
    recall_base : mapping, pandas or array-like of shape (Q, c + 1), optional
        Grade counts of the queries where judged documents are missing from the rows. A mapping
        goes from query ids to counts, or to mappings from grades to numbers of documents; a data
        frame has query ids as its index, and grades as the names of its columns; a Series has
        query ids and grades as its index.
    limit : GradeLimit, optional
    names : tuple of str
        What the caller calls `y_true`, `qid` and `sample_weight`: errors name them so.
    real : bool
        Whether grades may be fractional.
    every_query : bool
        Whether queries of a mapping `recall_base` that have no rows follow the others.
    partial : bool
        True for the rows of one of several workers: their weights may sum to 0, since
        `DataSummary.of_parts` checks those of all workers.
    beside : mapping {name: values}, optional
        Other values of the rows: those of pandas must have the same order of row labels.

    Raises
    ------
    ValueError
        Naming the argument, what was found and what is expected.

    Examples
    --------
    >>> group_by_query([2, 0, 1], ["b", "a", "b"], sample_weight=[1, 3]).row_weights.tolist()
    [1.0, 1.0, 3.0]
    """
    limit = limit or {}
    columns: dict[Any, Any] = label_columns(y_true, names[0]) if limit else {}
    check_label_columns(tuple(columns), limit, names[0])
    if columns and recall_base is not None:
        raise ValueError(
            f"recall_base counts documents by one label, but {names[0]} has {len(columns)}; "
            "expected None, or one label at a time"
        )
    grades = {}
    for column, values in (columns or {None: y_true}).items():
        name = names[0]
        if column is not None:
            name += f"[{column!r}]" if isinstance(column, str) else f"[:, {column}]"
        grades[name] = checked_grades(values, name, limit.get(column), real)
    n_rows = len(next(iter(grades.values())))
    queries = grouped_rows(qid, n_rows, names[1], names[0])
    of_rows: dict[str, object] = {**(beside or {}), names[0]: y_true, names[1]: qid}
    if len(queries) < n_rows:  # else weights may be those of the queries, by their ids
        of_rows[names[2]] = sample_weight
    check_row_order(of_rows)
    weights, factors = _query_weights(sample_weight, queries, names[2])
    if not partial:
        check_total(weights, names[2])
    judgments = None
    if recall_base is not None:
        recall_base = by_query(recall_base, queries.ids)
        if every_query:
            listed = set(map(plain_value, queries.ids))
            queries = queries.with_empty([query for query in recall_base if query not in listed])
            weights = np.ones(len(queries))
        judgments = judgments_of(recall_base, queries.ids, limit.get(None), real)
    found = []
    for name, by_row in grades.items():
        grouped = np.ascontiguousarray(queries.grouped(by_row))
        codes, base = codes_and_base(grouped, queries, judgments, name)
        found.append(QueryData(queries, codes, base, weights, factors))
    return replace(found[0], labels=dict(zip(columns, found, strict=True))) if columns else found[0]


def _query_weights(sample_weight: Any, queries: Queries, name: str) -> tuple[Array, Array | None]:
    """Return `weights` and `factors` of `QueryData` from weights of the queries or of the rows.

    Raises
    ------
    ValueError
        If there is neither one for each query nor one for each row, a query is missing in the
        index, or a weight is negative, NaN or infinite.
    """
    if sample_weight is None:
        return np.ones(len(queries)), None
    expected = "finite weights >= 0, one a query or one a row"
    if isinstance(sample_weight, Mapping):
        expected += f", or those of the query ids as pandas.Series({name})"
    weights = finite_column(sample_weight, name, expected, low=0).astype(np.float64)
    of_pandas = hasattr(sample_weight, "reindex")
    if len(weights) not in (queries.n_rows, len(queries)):
        by_id = ", in an index that has exactly the query ids, or as qid.map(...) of weights by id"
        raise ValueError(
            f"{name} has {len(weights)} values; expected one a query ({len(queries)}) or one a row "
            f"({queries.n_rows}){by_id if of_pandas else ''}"
        )
    if of_pandas and len(weights) == len(queries):
        weights = weights[_places(sample_weight.index, queries, name)]
    factors = None
    if len(weights) == queries.n_rows:
        begins, by_row = queries.offsets[:-1], queries.grouped(weights)
        weights = by_row[begins]
        if not np.array_equal(np.repeat(weights, queries.sizes), by_row):
            weights = np.add.reduceat(by_row, begins) / queries.sizes
            means = np.repeat(weights, queries.sizes)
            factors = np.divide(by_row, means, out=np.ones(len(by_row)), where=means > 0)
    return weights, factors


def check_total(weights: ArrayLike, name: str) -> None:
    """Raise ValueError if the weights have a sum with which no booster trains."""
    with np.errstate(over="ignore"):
        total = np.sum(weights)
    if not LEAST_WEIGHT <= total <= MOST_WEIGHT:
        raise ValueError(
            f"{name} has the sum {total:g} over the queries; expected weights that are not all "
            f"zero, with a sum from {LEAST_WEIGHT:g} to {MOST_WEIGHT:g}"
        )


def _places(index: Any, queries: Queries, name: str) -> Array:
    """Return the places of the queries in the index of their weights.

    If each query has one row and the index has other labels, the weights are those of the rows.

    Raises
    ------
    ValueError
        If a query is not in the index.
    """
    places: Array = index.unique().get_indexer(queries.ids)
    # pandas rounds integer ids to compare them with an index of floats.
    if (places >= 0).all() and len(np.unique(places)) == len(places):
        return places
    # Labels of rows may be numbers as ids are.
    rows = places.max() < 0 or index.dtype.kind in "iu"
    if rows and len(queries) == queries.n_rows:
        return np.arange(len(queries))
    missing = plain_value(queries.ids[np.argmin(places)])
    raise ValueError(
        f"{name} has no weight of query {missing!r} in its index; expected "
        "the ids of all queries as the index, or an array in the order in which they first occur"
    )
