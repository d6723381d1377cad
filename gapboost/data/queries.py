"""From rows to queries: any query ids, or sizes of groups, in any order of rows."""

from collections.abc import Hashable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np

from gapboost._kernels import Array, ArrayLike
from gapboost.validation import finite_column, one_dimensional

# One id a row, of any hashable type. None: the rows of one query.
QueryIds = ArrayLike | Sequence[Hashable] | None


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
        return np.repeat(np.arange(len(self.ids)), self.sizes)

    @property
    def codes(self) -> Array:
        """Number of the query of each row, in the order of the rows, int64 of shape (N,)."""
        return self.ungrouped(self.numbers)

    def with_empty(self, ids: Sequence[Hashable]) -> Self:
        """Return these queries, followed by others that have no documents."""
        offsets = np.append(self.offsets, np.full(len(ids), self.n_rows))
        return type(self)(array_of([*map(plain_value, self.ids), *ids]), offsets, self.rows)

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


def ids_of_groups(sizes: ArrayLike, n_rows: int, name: str = "group", rows_of: str = "X") -> Array:
    """Return a query id for each row, the number of its query, from the sizes of the queries.

    Raises
    ------
    ValueError
        If the sizes are not whole numbers from 1 on whose sum is `n_rows`, the rows of `rows_of`.
    """
    expected = "whole numbers >= 1, the documents of each query"
    found = finite_column(sizes, name, expected, 1, whole=True)
    total = found.sum(dtype=np.float64)
    if total != n_rows:
        raise ValueError(
            f"{name} has the sum {total:.15g} but {rows_of} has {n_rows} rows; expected the sizes "
            "of all queries, in the order of their rows (an id a row is a qid)"
        )
    return np.repeat(np.arange(len(found)), found.astype(np.int64))


def grouped_rows(
    qid: QueryIds, n_rows: int, name: str = "qid", rows_of: str = "y_true", of: str = "query id"
) -> Queries:
    """Group rows, in any order, by query id; `of` says in errors what a value is.

    Raises
    ------
    ValueError
        If there is not one id a row, an id is missing, or ids could be confused.
    """
    if qid is None:
        return Queries(np.zeros(1, dtype=np.int64), np.array([0, n_rows], dtype=np.int64), None)
    # numpy would make strings of all ids of a list with a string.
    if isinstance(qid, list | tuple):
        ids = np.fromiter(qid, dtype=object, count=len(qid))
    else:
        is_name = isinstance(qid, str)
        such = f"X[{qid!r}], and X without that column" if is_name else "a list or an array"
        shape: Any = getattr(qid, "shape", ())
        if len(shape) == 2 and shape[1] > 1:
            such = "list(zip(user, day)) of two columns"
        ids = one_dimensional(qid, name, f"one {of} a row, shape (n_rows,), such as {such}")
    if len(ids) != n_rows:
        hint = ""
        if np.asarray(qid).dtype.kind in "iu" and ids.sum() == n_rows:
            hint = f": np.repeat(np.arange(len({name})), {name}) makes ids of sizes"
        raise ValueError(
            f"{name} has {len(ids)} rows but {rows_of} has {n_rows}; expected one {of} a row{hint}"
        )
    if not n_rows:
        raise ValueError(f"{name} is empty; expected at least one row of {rows_of}")
    # Rows where runs of equal ids begin.
    starts = np.arange(n_rows)
    if ids.dtype != object:
        starts = np.concatenate(([0], np.flatnonzero(ids[1:] != ids[:-1]) + 1))
    keys = ids[starts].tolist()
    if ids.dtype == object:
        _check_exact(keys, name)
        keys = list(map(plain_value, keys))
    elif ids.dtype.kind == "f":
        _check_exact([np.abs(ids).max(initial=0)], name)
    expected = "numbers, strings or tuples of them, all of one type, one in every row"
    # True, 1 and 1.0 are equal; the hash of a tensor knows nothing of its value.
    kinds = set(map(type, keys))
    if len(kinds) > 1 and any(map(is_missing, keys)):
        raise ValueError(f"{name} holds missing values (None, NaN, NaT); expected {expected}")
    if len(kinds) > 1 or hasattr(type(keys[0]), "__array__"):
        found = ", ".join(sorted(kind.__name__ for kind in kinds))
        raise ValueError(f"{name} holds ids of the types {found}; expected {expected}")
    code_of: dict[Any, int] = {}
    try:
        codes = np.array([code_of.setdefault(key, len(code_of)) for key in keys])
    except TypeError as error:
        raise ValueError(f"{name} holds unusable ids ({error}); expected {expected}") from None
    if ids.dtype.kind not in "biuSU" and any(map(is_missing, code_of)):
        raise ValueError(f"{name} holds missing values (None, NaN, NaT); expected {expected}")
    fractions = kinds == {float} and not all(map(float.is_integer, keys))
    if of == "query id" and (fractions or kinds == {bool}):
        # Weights by position, or a mask.
        what = "fractions" if fractions else "booleans"
        raise ValueError(
            f"{name} holds {what}; expected ids of queries; weights are passed as sample_weight=..."
        )
    lengths = np.diff(starts, append=n_rows)
    offsets = np.append(0, np.cumsum(np.bincount(codes, lengths))).astype(np.int64)
    in_order = (np.diff(codes) >= 0).all()
    rows = None if in_order else np.argsort(np.repeat(codes, lengths), kind="stable")
    first = offsets[:-1] if rows is None else rows[offsets[:-1]]
    distinct = array_of(list(code_of)) if ids.dtype == object else ids[first]
    return Queries(distinct, offsets, rows)


def _check_exact(ids: Sequence[object], name: str) -> None:
    """Raise ValueError for floats that stand for several whole numbers: queries would merge."""
    for value in ids:
        if isinstance(value, tuple):
            _check_exact([*value], name)
        elif isinstance(value, float | np.floating):
            limit = 2.0 ** (np.finfo(type(value)).nmant + 1)
            if abs(float(value)) >= limit:
                raise ValueError(
                    f"{name} holds the float {value:.0f}: floats of its type stand for several "
                    f"whole numbers from {limit:.0f} on; expected ids that are integers or strings"
                )


def plain_value(value: object) -> Any:
    """Return a scalar of numpy as a value of Python; anything else unchanged."""
    if isinstance(value, np.datetime64 | np.timedelta64) and value.dtype.str.endswith("[ns]"):
        # Of nanoseconds numpy makes a whole number, which equals no date.
        short = value.astype(f"{value.dtype.kind}8[us]")
        value = short if short == value else value
    return value.item() if isinstance(value, np.generic) else value


def array_of(values: Sequence[object]) -> Array:
    """Return values of Python as numpy's array if this keeps values and types, else as objects."""
    with suppress(ValueError, OverflowError):
        array = np.asarray(values)
        kept = array.tolist()
        if array.ndim == 1 and kept == values and set(map(type, kept)) == set(map(type, values)):
            return array
    return np.fromiter(values, dtype=object, count=len(values))


def is_missing(value: object) -> bool:
    """Return True for None, NaN, NaT and NA, and for tuples that hold one of them."""
    if isinstance(value, tuple):
        return any(map(is_missing, value))
    try:
        return value is None or bool(value != value)
    except TypeError:
        return True  # pandas.NA has no truth value
