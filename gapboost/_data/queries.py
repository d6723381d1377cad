"""From rows to queries: any query ids, or sizes of groups, in any order of rows."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from gapboost._data.columns import numeric_column, one_dimensional
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

    @cached_property
    def n_rows(self) -> int:
        """Number of documents."""
        return int(self.offsets[-1])

    @cached_property
    def sizes(self) -> Array:
        """Number of documents of each query, int64 of shape (Q,)."""
        return np.diff(self.offsets)

    @property
    def numbers(self) -> Array:
        """Number of the query of each document, in grouped order, int64 of shape (N,)."""
        return np.repeat(np.arange(len(self)), self.sizes)

    @property
    def codes(self) -> Array:
        """Number of the query of each row, in the order of the rows, int64 of shape (N,)."""
        return self.ungrouped(self.numbers)

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
        expected = "whole numbers >= 1, the documents of each query"
        sizes = numeric_column(self.sizes, self.name, expected, expected)
        unusable = ~((sizes >= 1) & (sizes == np.floor(sizes)))
        if unusable.any():
            raise ValueError(
                f"{self.name} holds the size {sizes[unusable][0]:g}; expected {expected}"
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

    Raises
    ------
    ValueError
        If there is not one id a row, an id is missing, or ids could be confused.
    """
    if qid is None:
        return Queries(np.zeros(1, dtype=np.int64), np.array([0, n_rows], dtype=np.int64), None)
    if isinstance(qid, GroupSizes):
        return qid.queries(n_rows, rows_of)
    # An array of numpy would make strings of all ids of a list with a string.
    is_list = isinstance(qid, Sequence) and not isinstance(qid, str | bytes)
    ids = objects(qid) if is_list else one_dimensional(qid, name)
    if len(ids) != n_rows:
        raise ValueError(
            f"{name} has {len(ids)} rows but {rows_of} has {n_rows}; expected one {what} a row"
        )
    # Rows where runs of equal ids begin.
    if ids.dtype == object:
        starts = np.arange(n_rows)
        keys = list(map(plain_value, ids))
    else:
        starts = np.concatenate(([0], np.flatnonzero(ids[1:] != ids[:-1]) + 1))
        keys = ids[starts].tolist()
    code = _codes(keys, name)
    highest = np.maximum.accumulate(code)
    first = starts[np.flatnonzero(np.diff(highest, prepend=-1))]
    may_be_missing = ids.dtype.kind not in "biuSU"
    if may_be_missing and any(_is_missing(plain_value(query)) for query in ids[first]):
        raise ValueError(
            f"{name} holds missing values (None, NaN, NaT); expected a {what} in every row"
        )
    _check_kinds(keys, ids.dtype, name)
    distinct = as_array(list(dict.fromkeys(keys))) if is_list else ids[first]
    if (code == highest).all():
        return Queries(distinct, np.append(first, n_rows), None)
    code = np.repeat(code, np.diff(starts, append=n_rows))
    offsets = np.concatenate(([0], np.cumsum(np.bincount(code)))).astype(np.int64)
    return Queries(distinct, offsets, np.argsort(code, kind="stable"))


def objects(values: Any) -> Array:
    """Return the values of a sequence, tuples too, as an object ndarray of shape (n,)."""
    return np.fromiter(values, dtype=object, count=len(values))


def plain_value(value: Any) -> Any:
    """Return a scalar of numpy or Arrow as a value of Python; anything else unchanged."""
    if hasattr(value, "as_py"):
        return value.as_py()
    return value.item() if isinstance(value, np.generic) else value


def _codes(keys: list[Any], name: str) -> Array:
    """Return the number of each id among the distinct ones, by first occurrence, int64."""
    try:
        code_of = {key: code for code, key in enumerate(dict.fromkeys(keys))}
    except TypeError as error:
        raise ValueError(
            f"{name} holds an id that has no hash ({error}); expected numbers, strings or tuples "
            "of them, one a row"
        ) from None
    return np.fromiter(map(code_of.__getitem__, keys), dtype=np.int64, count=len(keys))


def _is_missing(value: Any) -> bool:
    """Return True for None, NaN, NaT and NA, and for tuples that hold one of them."""
    if isinstance(value, tuple):
        return any(map(_is_missing, value))
    try:
        return value is None or bool(value != value)
    except TypeError:
        return True  # pandas.NA has no truth value


def _check_kinds(keys: list[Any], dtype: Any, name: str) -> None:
    """Raise ValueError for ids that are equal or different by accident."""
    kinds = set(map(type, keys))
    # True, 1 and 1.0 are equal; the hash of a tensor knows nothing of its value.
    if len(kinds) > 1 or any(hasattr(kind, "__array__") for kind in kinds):
        found = ", ".join(sorted(kind.__name__ for kind in kinds))
        raise ValueError(
            f"{name} holds ids of the types {found}; expected numbers, strings or tuples, all of "
            "one type"
        )
    limit = 2.0 ** (np.finfo(dtype if dtype.kind == "f" else np.float64).nmant + 1)
    if kinds == {float} and max(map(abs, keys)) >= limit:
        raise ValueError(
            f"{name} holds the float {max(keys, key=abs)}, which stands for several integers; "
            "expected integers or strings"
        )


def as_array(distinct: list[Any]) -> Array:
    """Return ids as numpy's array if this keeps values and type, else as objects."""
    with suppress(ValueError, OverflowError):
        array = np.asarray(distinct)
        values = array.tolist()
        if values == distinct and type(values[0]) is type(distinct[0]):
            return array
    return objects(distinct)
