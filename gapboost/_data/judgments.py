"""The recall base of queries as judgments: how many documents of which grade, whole or not."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from gapboost._data.grades import GradeLimit, checked_grades, merged_in_float32
from gapboost._data.levels import ManyLevels, numbered_by_query
from gapboost._data.recall_base import MOST_DOCUMENTS, by_query
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


def numbered_among(
    grades: Array, offsets: Array, judged: Judgments, ids: Array
) -> tuple[Array, ManyLevels]:
    """Return the numbers of grades among the judged ones of their query, and the recall base.

    Raises
    ------
    ValueError
        If more documents of a grade above 0 are listed than judged.
    """
    query = np.concatenate((np.repeat(np.arange(len(ids)), np.diff(offsets)), judged.query))
    order = np.argsort(query, kind="stable")
    ends = np.concatenate(([0], np.cumsum(np.bincount(query, minlength=len(ids)))))
    codes = np.empty(len(query), dtype=np.int32)
    # The rows and the recall base may come with different float types.
    every = merged_in_float32(np.concatenate((grades, judged.grade)))
    codes[order], base = numbered_by_query(every[order], ends)
    level = base.starts[query] + codes
    listed = np.bincount(level[: len(grades)], minlength=len(base.levels))
    counts = np.bincount(level[len(grades) :], judged.documents, minlength=len(base.levels)).astype(
        np.int64
    )
    short = (counts < listed) & (base.levels > 0)
    if short.any():
        at = int(np.argmax(short))
        q = int(np.searchsorted(base.starts, at, side="right")) - 1
        raise ValueError(
            f"recall_base counts {counts[at]} documents of grade {base.levels[at]:g} for query "
            f"{ids[q]!r}, but {listed[at]} are listed; expected at least the listed ones of each "
            "grade above 0"
        )
    return codes[: len(grades)], ManyLevels(np.maximum(counts, listed), base.levels, base.starts)
