"""From rows to queries: any query ids, or sizes of groups, in any order of rows."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from gapboost._data.columns import numeric_column
from gapboost._data.ids import (
    as_array,
    codes_of,
    is_missing,
    plain_value,
    query_ids,
    run_starts,
)
from gapboost._kernels import Array


@dataclass(frozen=True, eq=False)
class Queries:
    """Rows of each query, and query ids.

    Attributes
    ----------
    ids : ndarray of shape (Q,)
        The distinct query ids in the order in which they first occur.
    offsets : int64 ndarray of shape (Q + 1,)
        After grouping, rows ``offsets[q]:offsets[q + 1]`` are the documents of query ``q``.
    rows : int64 ndarray of shape (N,) or None
        Row numbers, query by query, in their given order within each query; None where the rows
        already are so.
    """

    ids: Array
    offsets: Array
    rows: Array | None

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def n_rows(self) -> int:
        """Number of documents."""
        return int(self.offsets[-1])

    @property
    def sizes(self) -> Array:
        """Number of documents of each query, int64 of shape (Q,)."""
        return np.diff(self.offsets)

    @property
    def codes(self) -> Array:
        """Number of the query of each row, in the order of the rows, int64 of shape (N,)."""
        return self.ungrouped(np.repeat(np.arange(len(self)), self.sizes))

    def mask(self, queries: Array) -> Array:
        """Return True for each of the chosen queries, bool of shape (Q,).

        Parameters
        ----------
        queries : ndarray
            Such a mask, or the numbers of the queries in any order.
        """
        chosen = np.zeros(len(self), dtype=bool)
        chosen[queries] = True
        return chosen

    def subset(self, queries: Array) -> "Queries":
        """Return the queries of `mask`; their documents in grouped order are the rows."""
        chosen = self.mask(queries)
        return Queries(self.ids[chosen], np.append(0, np.cumsum(self.sizes[chosen])), None)

    def grouped(self, values: Array) -> Array:
        """Return rows of `values` query by query; the array itself if they already are."""
        return values if self.rows is None else values[self.rows]

    def ungrouped(self, values: Array) -> Array:
        """Undo `grouped`."""
        if self.rows is None:
            return values
        original = np.empty_like(values)
        original[self.rows] = values
        return original


@dataclass(frozen=True, eq=False)
class GroupSizes:
    """Sizes of the queries, instead of query ids, if the rows come query by query.

    Attributes
    ----------
    sizes : array-like of shape (Q,)
    name : str
        What the caller calls them.
    """

    sizes: Any
    name: str

    def queries(self, n_rows: int, rows_of: str) -> Queries:
        """The queries, whose ids are their numbers.

        Raises
        ------
        ValueError
            If the sizes are not whole numbers from 1 on whose sum is `n_rows`, the rows of
            `rows_of`.
        """
        sizes = numeric_column(
            self.sizes, self.name, "whole numbers >= 1", "one size a query, shape (n_queries,)"
        )
        unusable = ~((sizes >= 1) & (sizes == np.floor(sizes)))
        if unusable.any():
            raise ValueError(
                f"{self.name} holds the size {sizes[unusable][0]:g}; expected whole numbers >= 1, "
                "the documents of each query"
            )
        total = sizes.sum(dtype=np.float64)
        if total != n_rows:
            raise ValueError(
                f"{self.name} has the sum {total:.15g} but {rows_of} has {n_rows} rows; expected "
                "the sizes of all queries, in the order of their rows (an id a row is a qid)"
            )
        offsets = np.concatenate(([0], np.cumsum(sizes, dtype=np.int64)))
        return Queries(np.arange(len(sizes)), offsets, None)


def grouped_rows(
    qid: Any, n_rows: int, name: str = "qid", rows_of: str = "y_true", what: str = "query id"
) -> Queries:
    """Group rows, in any order, by query id or `GroupSizes`; `what` is for messages.

    Ids are equal where Python says so and their type is the same; scalars of numpy and Arrow count
    as the values of Python that they stand for.

    Raises
    ------
    ValueError
        If there is not one id a row, an id is missing, or one has no hash.
    """
    if qid is None:
        return Queries(np.zeros(1, dtype=np.int64), np.array([0, n_rows], dtype=np.int64), None)
    if isinstance(qid, GroupSizes):
        return qid.queries(n_rows, rows_of)
    ids = query_ids(qid, name)
    if len(ids) != n_rows:
        raise ValueError(
            f"{name} has {len(ids)} rows but {rows_of} has {n_rows}; expected one {what} a row"
        )
    starts = run_starts(ids)
    code = codes_of(ids[starts], name)
    highest = np.maximum.accumulate(code)
    first = starts[np.flatnonzero(np.diff(highest, prepend=-1))]
    distinct = ids[first]
    if ids.dtype.kind in "OfcmM" and any(is_missing(plain_value(i)) for i in distinct):
        raise ValueError(
            f"{name} holds missing values (None, NaN, NaT); expected a {what} in every row"
        )
    if ids.dtype == object and not hasattr(qid, "dtype"):
        distinct = as_array([plain_value(i) for i in distinct])
    if (code == highest).all():
        return Queries(distinct, np.append(first, n_rows), None)
    code = np.repeat(code, np.diff(starts, append=n_rows))
    offsets = np.concatenate(([0], np.cumsum(np.bincount(code)))).astype(np.int64)
    return Queries(distinct, offsets, np.argsort(code, kind="stable"))
