"""The recall base of queries: documents of each grade, from the rows or given by the caller."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any, Self

import numpy as np

from gapboost._kernels import Array, ArrayLike
from gapboost.data.features import column_names
from gapboost.data.grades import HIGHEST_OF_EXPONENTIAL, Highest, at_least, checked_grades
from gapboost.data.queries import Queries, plain_value
from gapboost.validation import finite_column, ordered, short_repr

# A measure has a number for every pair of levels. Up to LEVELS_OF_ALL different grades have the
# same codes in all queries.
LEVELS_OF_ALL, MOST_LEVELS = 16, 64

# Documents of a grade in a query: many times what any collection has, and their sums are exact.
MOST_DOCUMENTS = 2**31 - 1


def sums_of(amounts: Array, worth: Array) -> Array:
    """Return sums over levels of ``amounts`` (Q, L) times ``worth`` (L,) or (Q, L)."""
    return amounts @ worth if worth.ndim == 1 else np.einsum("ql,ql->q", amounts, worth)


def lesser(amount: Array) -> Array:
    """Return ``[..., i, j]``: the lesser of the amounts of levels i and j."""
    return np.minimum(amount[..., :, None], amount[..., None, :])


def reciprocal(values: Array) -> Array:
    """``1 / values``, and 0 where the value is 0."""
    return np.divide(1.0, values, out=np.zeros(values.shape), where=values > 0)


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

    def __getitem__(self, queries: slice | Array) -> Self:
        """Return the recall base of some queries, by a slice or their numbers."""
        levels = self.levels if self.levels.ndim == 1 else self.levels[queries]
        return type(self)(self.counts[queries], levels)

    @property
    def n_levels(self) -> int:
        """Number of grades, L."""
        return int(self.levels.shape[-1])

    @cached_property
    def occurring(self) -> Array:
        """The distinct grades, ascending."""
        if self.levels.ndim == 1:
            return self.levels[self.counts.any(axis=0)]
        return np.unique(self.levels[self.counts > 0])

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


# {query id: {grade: documents}}
GradeCounts = Mapping[Any, Mapping[Any, Any]]
# By the ids of the queries, or an array or data frame: see `gapboost.evaluate`.
CountsLike = Mapping[Any, Any] | ArrayLike | Sequence[ArrayLike] | None

# Number of the query, grade (int32 if all are whole, else float64) and documents of each judgment.
Judgments = tuple[Array, Array, Array]


def by_query(recall_base: Any, ids: Array) -> GradeCounts:
    """Return a recall base as ``{id: {grade: documents}}``.

    Parameters
    ----------
    recall_base : mapping, data frame or Series of pandas, or array-like of shape (Q, c + 1)
        See `gapboost.evaluate`.
    ids : ndarray of shape (Q,)
        Queries that it must have.

    Raises
    ------
    ValueError
        If it is anything else, or a query is missing or occurs twice.
    """
    keys = list(map(plain_value, ids))
    recall_base = without_tables(recall_base)
    if ordered(recall_base) and len(recall_base) == len(keys):
        recall_base = dict(zip(keys, recall_base, strict=True))
    rows: list[Any] = list(recall_base.values()) if isinstance(recall_base, Mapping) else [None]
    if not all(isinstance(row, Mapping) or ordered(row) for row in rows):
        raise ValueError(
            f"recall_base is {short_repr(recall_base)}; expected numbers of documents by grade: a "
            f"mapping from query ids, groupby([query, grade]).size() of pandas, or an array of "
            f"shape ({len(keys)}, number of grades) in the order in which the queries first occur"
        )
    entries = [row if isinstance(row, Mapping) else dict(enumerate(row)) for row in rows]
    found = dict(zip(map(plain_value, recall_base), entries, strict=True))
    missing = [query for query in keys if query not in found]
    if missing:
        raise ValueError(
            f"recall_base lacks query {missing[0]!r}; expected grade counts of every query"
        )
    return found


def without_tables(table: Any) -> Any:
    """Return a data frame of counts, or a Series by query and grade, as a mapping.

    Anything that is no table is returned unchanged.

    Raises
    ------
    ValueError
        If a query or a grade occurs twice, or the table is not one of pandas.
    """
    if not hasattr(table, "iloc"):
        if column_names(table):
            raise ValueError(
                f"recall_base is a {type(table).__name__}; expected a data frame of pandas, whose "
                "index holds the query ids, or a mapping"
            )
        return table
    for axis in table.axes:
        if not axis.is_unique:
            twice = plain_value(axis[axis.duplicated()][0])
            raise ValueError(
                f"recall_base has the label {twice!r} twice; expected one row a query and one "
                "column a grade"
            )
    if table.ndim == 1 and table.index.nlevels > 1 and table.dtype.kind in "iuf":
        table = table.unstack(fill_value=0)
    return table.to_dict("index") if table.ndim == 2 else table.to_dict()


def judgments_of(
    recall_base: GradeCounts, ids: Array, limit: Highest | None, real: bool
) -> Judgments:
    """Return the judgments of some queries from a recall base of `by_query`.

    Grades that no document has are left out.

    Raises
    ------
    ValueError
        If a grade is invalid by `checked_grades`, or a number of documents is.
    """
    entries = [recall_base[plain_value(query)] for query in ids]
    query = np.repeat(np.arange(len(ids)), list(map(len, entries)))
    grade = finite_column(list(chain.from_iterable(entries)), "recall_base", "grades")
    amounts = list(chain.from_iterable(entry.values() for entry in entries))
    expected = f"numbers of documents by grade, integers from 0 to {MOST_DOCUMENTS}"
    documents = finite_column(amounts, "recall_base", expected, 0, MOST_DOCUMENTS, whole=True)
    there = documents > 0
    grade = grade[there]
    if len(grade):
        grade = checked_grades(grade, "recall_base", limit, real)
    return query[there], grade, documents[there].astype(np.int64)


def codes_and_base(
    grades: Array, queries: Queries, judgments: Judgments | None, name: str
) -> tuple[Array, RecallBase]:
    """Return the codes of grades, int32 of shape (N,), and the recall base.

    The code of a grade is its number among the levels of all queries, or of its own query.

    Parameters
    ----------
    grades : int32 or float64 ndarray of shape (N,)
        In grouped order.
    queries : Queries
    judgments : Judgments or None
        None counts the rows.
    name : str
        The caller's name of the grades.

    Raises
    ------
    ValueError
        If a query has too many levels, or more documents than its recall base.
    """
    numbers, all_grades = queries.numbers, grades
    if judgments is not None:
        query, grade, documents = judgments
        numbers, all_grades = np.concatenate((numbers, query)), np.concatenate((grades, grade))
    n_queries, n_rows = len(queries), len(grades)
    codes, levels = _codes_and_levels(all_grades, numbers, n_queries, name)
    shape = n_queries, levels.shape[-1]
    counts = _level_counts(numbers[:n_rows], codes[:n_rows], shape)
    if judgments is not None:
        listed = counts
        counts = _level_counts(numbers[n_rows:], codes[n_rows:], shape, documents)
        short = (counts < listed) & (levels > 0)
        if short.any():
            q, level = np.argwhere(short)[0]
            lowest = np.broadcast_to(levels, shape)[q, level]
            raise ValueError(
                f"recall_base counts {counts[q, level]} documents of grade {lowest:g} for query "
                f"{queries.ids[q]!r}, but {listed[q, level]} are listed; expected at least the "
                "listed ones of each grade above 0"
            )
        counts = np.maximum(counts, listed)
    return codes[:n_rows], RecallBase(counts, levels)


def _level_counts(
    numbers: Array, codes: Array, shape: tuple[int, int], documents: Array | None = None
) -> Array:
    """Return the documents of each level in each query, int64 of `shape` (Q, L)."""
    places = numbers * shape[1] + codes
    counts = np.bincount(places, documents, minlength=math.prod(shape))
    return counts.astype(np.int64, copy=False).reshape(shape)


def _codes_and_levels(
    grades: Array, numbers: Array, n_queries: int, name: str
) -> tuple[Array, Array]:
    """Return codes, int32 of shape (N,), and levels of shape (L,) or (Q, L)."""
    if grades.dtype.kind != "f":
        top = int(grades.max(initial=0))
        if top < MOST_LEVELS:
            return grades, np.arange(top + 1.0)
    levels = np.unique(grades.astype(np.float64))
    if len(levels) <= LEVELS_OF_ALL:
        return np.searchsorted(levels, grades).astype(np.int32), levels
    # Complex numbers are sorted by the real part first: by query, then by grade.
    pairs, codes = np.unique(numbers + 1j * grades, return_inverse=True)
    starts = np.searchsorted(pairs.real, np.arange(n_queries + 1))
    widths = np.diff(starts)[:, None]
    if widths.max() > MOST_LEVELS:
        raise ValueError(
            f"{name} holds {widths.max()} different grades in one query; expected at most "
            f"{MOST_LEVELS}: divide them into levels of equal width, such as "
            f"numpy.floor(numpy.divide({name}, numpy.max({name})) * {HIGHEST_OF_EXPONENTIAL})"
        )
    level = np.minimum(np.arange(widths.max()), widths - 1)
    return (codes - starts[numbers]).astype(np.int32), pairs.imag[starts[:-1, None] + level]
