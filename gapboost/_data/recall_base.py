"""The recall base of queries: the number of documents of each grade, and the grades."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from gapboost._data.arguments import shown
from gapboost._data.columns import numeric_column
from gapboost._data.grades import GradeLimit, at_least, check_highest
from gapboost._data.ids import keys_of
from gapboost._kernels import Array
from gapboost._kernels.expected_value import count_grades

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
    def of_whole_grades(cls, counts: Array) -> Self:
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
    def is_whole(self) -> bool:
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
        if self.is_whole:
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


def checked_recall_base(
    recall_base: Any,
    counts: Array,
    ids: Array,
    qid_name: str = "qid",
    limit: GradeLimit | None = None,
) -> Array:
    """Return the grade counts of every query, int64 of shape (Q, c + 1).

    They are at least as large as those of the rows from grade 1 on.
    """
    if isinstance(recall_base, Mapping):
        rows = by_query(recall_base, ids, qid_name)
        given = [
            numeric_column(row, f"recall_base[{i!r}]", "numbers of documents by grade")
            for i, row in rows
        ]
        base = np.zeros((len(ids), max(len(row) for row in given)))
        for q, row in enumerate(given):
            base[q, : len(row)] = row
    else:
        try:
            base = np.asarray(recall_base)
        except ValueError:
            raise ValueError(
                "recall_base holds rows of different lengths; expected as many grade counts for "
                "every query"
            ) from None
        if base.ndim != 2 or len(base) != len(counts) or base.dtype.kind not in "iuf":
            raise ValueError(
                f"recall_base has shape {base.shape} and dtype {base.dtype}; expected numbers of "
                f"shape ({len(counts)}, number of grades): how many documents of each query have "
                "grade 0, 1, ..."
            )
    if not np.isfinite(base).all() or (base < 0).any() or (base != np.floor(base)).any():
        raise ValueError(
            "recall_base holds a negative, fractional or NaN count; expected numbers of documents"
        )
    if (base > MOST_DOCUMENTS).any():
        raise ValueError(
            f"recall_base holds the count {base.max():g}; expected numbers of documents up to "
            f"{MOST_DOCUMENTS}"
        )
    check_highest(int(np.flatnonzero(base.any(axis=0)).max(initial=0)), "recall_base", limit)
    width = max(base.shape[1], counts.shape[1])
    whole = np.zeros((len(counts), width), dtype=np.int64)
    whole[:, : base.shape[1]] = base
    listed = np.zeros_like(whole)
    listed[:, : counts.shape[1]] = counts
    short = (whole < listed)[:, 1:].any(axis=1)
    if short.any():
        q = int(np.argmax(short))
        raise ValueError(
            f"recall_base counts {whole[q].tolist()} documents by grade for query {ids[q]!r}, but "
            f"{listed[q].tolist()} are listed; expected at least the listed ones from grade 1 on"
        )
    return whole


def by_query(recall_base: Mapping[Any, Any], ids: Array, qid_name: str) -> list[tuple[Any, Any]]:
    """Return ``(id, entry)`` of every query, in the order of `ids`.

    Raises
    ------
    ValueError
        If one is missing.
    """
    names = ids.tolist()
    if len(set(names)) < len(names):
        raise ValueError(
            f"recall_base is a mapping, but {qid_name} holds ids that are equal and of different "
            "types; expected an array, or ids of one type"
        )
    keys = keys_of(recall_base, ids)
    for name, key in zip(names, keys, strict=True):
        if key is None:
            raise ValueError(
                f"recall_base lacks query {name!r} of {qid_name}; expected grade counts of every "
                "query"
            )
    return [(name, recall_base[key]) for name, key in zip(names, keys, strict=True)]


def without_rows(recall_base: Any, ids: Array) -> dict[Any, Any]:
    """Return the entries of a mapping whose queries are not among `ids`; of an array nothing."""
    if not isinstance(recall_base, Mapping):
        return {}
    listed = set(keys_of(recall_base, ids))
    return {key: entry for key, entry in recall_base.items() if key not in listed}


def as_mapping(recall_base: Any) -> Any:
    """Return a data frame of pandas as ``{id: {grade: documents}}``, and others unchanged.

    Raises
    ------
    ValueError
        If its columns are not grades.
    """
    if not hasattr(recall_base, "iloc") or not hasattr(recall_base, "columns"):
        return recall_base
    grades = recall_base.columns.tolist()
    if not all(isinstance(grade, int | float) for grade in grades):
        raise ValueError(
            f"recall_base has the columns {shown(grades)}; expected grades as the names of columns "
            "and query ids as the index, or an array: recall_base.to_numpy()"
        )
    if not recall_base.index.is_unique:
        raise ValueError("recall_base has several rows of one query; expected one row a query")
    counts = recall_base.to_numpy()
    return {
        query: dict(zip(grades, row, strict=True))
        for query, row in zip(recall_base.index.tolist(), counts.tolist(), strict=True)
    }
