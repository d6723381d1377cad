"""The recall base of queries as judgments: how many documents of which grade, whole or not."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from gapboost._data.grades import GradeLimit, checked_grades, merged_in_float32
from gapboost._data.levels import codes_by_query
from gapboost._data.recall_base import MOST_DOCUMENTS, RecallBase, by_query
from gapboost._kernels import Array


class Judgments(NamedTuple):
    """Numbers of judged documents, listed or not; all of shape (M,).

    Attributes
    ----------
    query : int64 ndarray
        Number of the query.
    grade : ndarray
        int32 where all are whole, and else float64.
    documents : int64 ndarray
    """

    query: Array
    grade: Array
    documents: Array

    @classmethod
    def of_counts(cls, counts: Array) -> "Judgments":
        """Return the judgments of documents of grade 0, 1, ..., int64 of shape (Q, c + 1)."""
        query, grade = np.nonzero(counts)
        return cls(query, grade.astype(np.int32), counts[query, grade])

    @property
    def whole(self) -> bool:
        """True if all grades are whole numbers."""
        return bool(self.grade.dtype.kind != "f")

    def counts(self, n_queries: int) -> Array:
        """Return the documents of grade 0, 1, ... of each query, int64 of shape (Q, c + 1).

        All grades must be whole numbers.
        """
        counts = np.zeros((n_queries, int(self.grade.max()) + 1), dtype=np.int64)
        np.add.at(counts, (self.query, self.grade), self.documents)
        return counts


def judgments_of(
    recall_base: Any, ids: Array, qid_name: str, limit: GradeLimit | None
) -> Judgments | None:
    """Return the judgments of ``{query: {grade: documents}}``; None for other recall bases.

    Raises
    ------
    ValueError
        If a grade or a number of documents is invalid.
    """
    if not isinstance(recall_base, Mapping) or not any(
        isinstance(entry, Mapping) for entry in recall_base.values()
    ):
        return None
    entries = by_query(recall_base, ids, qid_name)
    for name, entry in entries:
        if not isinstance(entry, Mapping) or not entry:
            raise ValueError(
                f"recall_base[{name!r}] is {entry!r}; expected {{grade: documents}}, as for other "
                "queries"
            )
        numbers = list(entry.values())
        if not all(_is_number_of_documents(n) for n in numbers):
            raise ValueError(
                f"recall_base[{name!r}] is {entry!r}; expected numbers of documents from 0 to "
                f"{MOST_DOCUMENTS}, by grade"
            )
    return Judgments(
        query=np.repeat(np.arange(len(entries)), [len(entry) for _, entry in entries]),
        grade=checked_grades(
            [grade for _, entry in entries for grade in entry], "recall_base", limit, real=True
        ),
        documents=np.array([n for _, entry in entries for n in entry.values()], dtype=np.int64),
    )


def _is_number_of_documents(n: Any) -> bool:
    number = isinstance(n, int | float | np.integer | np.floating)
    return number and 0 <= n <= MOST_DOCUMENTS and n == int(n)


def codes_among(
    grades: Array, offsets: Array, judged: Judgments, ids: Array, name: str
) -> tuple[Array, RecallBase]:
    """Return the codes of grades among the judged ones of their query, and the recall base.

    Raises
    ------
    ValueError
        If more documents of a grade above 0 are listed than judged, or as `codes_by_query`.
    """
    query = np.concatenate((np.repeat(np.arange(len(ids)), np.diff(offsets)), judged.query))
    order = np.argsort(query, kind="stable")
    ends = np.concatenate(([0], np.cumsum(np.bincount(query, minlength=len(ids)))))
    codes = np.empty(len(query), dtype=np.int32)
    # The rows and the recall base may come with different float types.
    every = merged_in_float32(np.concatenate((grades, judged.grade)))
    codes[order], base = codes_by_query(every[order], ends, name)
    listed, counts = np.zeros_like(base.counts), np.zeros_like(base.counts)
    n = len(grades)
    np.add.at(listed, (query[:n], codes[:n]), 1)
    np.add.at(counts, (query[n:], codes[n:]), judged.documents)
    short = (counts < listed) & (base.levels > 0)
    if short.any():
        q, level = np.argwhere(short)[0]
        raise ValueError(
            f"recall_base counts {counts[q, level]} documents of grade {base.levels[q, level]:g} "
            f"for query {ids[q]!r}, but {listed[q, level]} are listed; expected at least the "
            "listed ones of each grade above 0"
        )
    return codes[:n], RecallBase(np.maximum(counts, listed), base.levels)
