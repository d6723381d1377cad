"""The recall base of queries: documents of each grade, from the rows or given by the caller."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any, Self

import numpy as np

from gapboost._data.arguments import ordered, shown
from gapboost._data.columns import numeric_column
from gapboost._data.grades import GradeLimit, at_least, checked_grades
from gapboost._data.queries import Queries, as_array, plain_value
from gapboost._kernels import Array

# A measure has a number for every pair of levels. Up to LEVELS_OF_ALL different grades have the
# same codes in all queries.
LEVELS_OF_ALL, MOST_LEVELS = 16, 64

# Documents of a grade in a query: many times what any collection has, and their sums are exact.
MOST_DOCUMENTS = 2**31 - 1


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
        """Return the recall base of some queries, by a slice."""
        levels = self.levels if self.levels.ndim == 1 else self.levels[queries]
        return type(self)(self.counts[queries], levels)

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

    def grades_of(self, codes: Array, sizes: Array) -> Array:
        """Return the grades of documents of queries of these sizes, int32 or float64.

        They are int32 if all are whole.
        """
        if self.has_integer_grades:
            return codes
        if self.levels.ndim == 1:
            return self.levels[codes]
        grades: Array = self.levels[np.repeat(np.arange(len(self)), sizes), codes]
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


# Number of the query, grade (int32 if all are whole, else float64) and documents of each judgment.
Judgments = tuple[Array, Array, Array]


def as_mapping(recall_base: Any) -> Any:
    """Return a data frame of pandas as ``{id: {grade: documents}}``, and others unchanged."""
    is_frame = hasattr(recall_base, "iloc") and hasattr(recall_base, "columns")
    return recall_base.to_dict("index") if is_frame else recall_base


def key_of(recall_base: Mapping[Any, Any], query: Any) -> Any:
    """Return the key of a query id in a mapping, None if it has none."""
    plain = plain_value(query)
    return next((key for key in (query, plain) if key in recall_base), None)


def judgments_of(
    recall_base: Any, ids: Array, qid_name: str, limit: GradeLimit, real: bool
) -> Judgments:
    """Check a recall base and return its judgments, without grades that no document has.

    Parameters
    ----------
    recall_base : mapping or array-like of shape (Q, c + 1)
        As in `gapboost._data.judged.judged`.
    ids : ndarray of shape (Q,)
    qid_name : str
        The caller's name of the ids.
    limit : GradeLimit
    real : bool
        True if grades may be fractional.

    Raises
    ------
    ValueError
        If a query is missing, or a grade or a number of documents is invalid.
    """
    entries = _entries(recall_base, ids, qid_name)
    query = np.repeat(np.arange(len(ids)), list(map(len, entries)))
    grades = list(chain.from_iterable(entries))
    amounts = list(chain.from_iterable(entry.values() for entry in entries))
    grade = numeric_column(grades, "recall_base", "grades")
    documents = numeric_column(amounts, "recall_base", "numbers of documents by grade")
    wrong = ~((documents >= 0) & (documents <= MOST_DOCUMENTS) & (documents == np.floor(documents)))
    if wrong.any():
        raise ValueError(
            f"recall_base holds {documents[wrong][0]:g} documents of a grade of query "
            f"{ids[query[wrong][0]]!r}; expected integers from 0 to {MOST_DOCUMENTS}"
        )
    there = documents > 0
    grade = grade[there]
    if len(grade):
        grade = checked_grades(grade, "recall_base", limit, real)
    return query[there], grade, documents[there].astype(np.int64)


def _entries(recall_base: Any, ids: Array, qid_name: str) -> list[Mapping[Any, Any]]:
    """Return ``{grade: documents}`` of each query."""
    if isinstance(recall_base, Mapping):
        keys = [key_of(recall_base, query) for query in ids]
        if None in keys:
            raise ValueError(
                f"recall_base lacks query {ids[keys.index(None)]!s} of {qid_name}; expected grade "
                "counts of every query"
            )
        rows = [recall_base[key] for key in keys]
    else:
        rows = list(recall_base) if ordered(recall_base) else []
        if len(rows) != len(ids):
            raise ValueError(
                f"recall_base is {shown(recall_base)}; expected numbers of shape ({len(ids)}, "
                "number of grades): how many documents of each query have grade 0, 1, ..., in the "
                f"order in which the ids of {qid_name} first occur"
            )
    wrong = [row for row in rows if not isinstance(row, Mapping) and not ordered(row)]
    if wrong:
        raise ValueError(
            f"recall_base holds {shown(wrong[0])}; expected numbers of documents by grade"
        )
    return [row if isinstance(row, Mapping) else dict(enumerate(row)) for row in rows]


def codes_and_base(
    grades: Array, queries: Queries, judgments: Judgments | None, known: float, name: str
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
    known : float
        The highest grade of the caller's measures: integer grades up to it are levels.
    name : str
        The caller's name of the grades.

    Raises
    ------
    ValueError
        If a query has too many levels, or more documents than its recall base.
    """
    numbers, every = queries.numbers, grades
    if judgments is not None:
        query, grade, documents = judgments
        numbers, every = np.concatenate((numbers, query)), np.concatenate((grades, grade))
    codes, levels = _codes_and_levels(every, numbers, len(queries), known, name)
    shape, n_rows = (len(queries), levels.shape[-1]), len(grades)
    counts = _level_counts(numbers[:n_rows], codes[:n_rows], shape)
    if judgments is not None:
        listed = counts
        counts = _level_counts(numbers[n_rows:], codes[n_rows:], shape, documents)
        short = (counts < listed) & (levels > 0)
        if short.any():
            q, level = np.argwhere(short)[0]
            least = np.broadcast_to(levels, shape)[q, level]
            raise ValueError(
                f"recall_base counts {counts[q, level]} documents of grade {least:g} for query "
                f"{queries.ids[q]!r}, but {listed[q, level]} are listed; expected at least the "
                "listed ones of each grade above 0"
            )
        counts = np.maximum(counts, listed)
    return codes[:n_rows], RecallBase(counts, levels)


def base_without_rows(recall_base: Mapping[Any, Any], limit: GradeLimit) -> RecallBase:
    """Return the recall base of all queries of a mapping, in its order."""
    ids = as_array(list(recall_base))
    queries = Queries(ids, np.zeros(len(ids) + 1, dtype=np.int64), None)
    judgments = judgments_of(recall_base, ids, "recall_base", limit, real=True)
    nothing = np.zeros(0, dtype=np.int32)
    return codes_and_base(nothing, queries, judgments, limit.highest, "recall_base")[1]


def _level_counts(
    numbers: Array, codes: Array, shape: tuple[int, int], documents: Array | None = None
) -> Array:
    """Return the documents of each level in each query, int64 of `shape` (Q, L)."""
    places = numbers * shape[1] + codes
    counts = np.bincount(places, documents, minlength=math.prod(shape))
    return counts.astype(np.int64, copy=False).reshape(shape)


def _codes_and_levels(
    grades: Array, numbers: Array, n_queries: int, known: float, name: str
) -> tuple[Array, Array]:
    """Return codes, int32 of shape (N,), and levels of shape (L,) or (Q, L)."""
    if grades.dtype.kind != "f":
        top = max(
            int(grades.max(initial=0)), int(min(known, MOST_LEVELS - 1)) if known < math.inf else 0
        )
        if top < MOST_LEVELS:
            return grades, np.arange(top + 1.0)
    levels = np.unique(grades.astype(np.float64))
    if len(levels) <= LEVELS_OF_ALL:
        return np.searchsorted(levels, grades).astype(np.int32), levels
    order = np.lexsort((grades, numbers))
    queries, ascending = numbers[order], grades[order].astype(np.float64)
    is_new = np.append(True, (np.diff(ascending) > 0) | (np.diff(queries) > 0))
    first = np.flatnonzero(is_new)
    starts = np.searchsorted(queries[first], np.arange(n_queries + 1))
    widths = np.diff(starts)[:, None]
    if widths.max() > MOST_LEVELS:
        raise ValueError(
            f"{name} holds {widths.max()} different grades in one query; expected at most "
            f"{MOST_LEVELS}: round them to levels, such as numpy.round({name}, 1)"
        )
    codes = np.empty(len(grades), dtype=np.int32)
    codes[order] = np.cumsum(is_new) - 1 - starts[queries]
    level = np.minimum(np.arange(widths.max()), widths - 1)
    return codes, ascending[first[starts[:-1, None] + level]]
