"""The recall base that a caller gives: how many documents of which grade each query has."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from gapboost._data.arguments import shown
from gapboost._data.columns import numeric_column
from gapboost._data.grades import GradeLimit, checked_grades
from gapboost._data.ids import keys_of
from gapboost._kernels import Array

# Documents of a grade in a query: many times what any collection has, and their sums are exact.
MOST_DOCUMENTS = 2**31 - 1


class Judgments(NamedTuple):
    """Numbers of judged documents, listed or not; all of shape (M,).

    Attributes
    ----------
    query : int64 ndarray
        Number of the query.
    grade : ndarray
        int32 if all are integers, else float64.
    documents : int64 ndarray
    """

    query: Array
    grade: Array
    documents: Array

    @property
    def integer(self) -> bool:
        """True if all grades are integers."""
        return bool(self.grade.dtype.kind != "f")

    def counts(self, n_queries: int, n_grades: int = 1) -> Array:
        """Return the documents of grade 0, 1, ... of each query, int64 of shape (Q, c + 1).

        All grades must be integers; c is at least ``n_grades - 1``.
        """
        width = max(n_grades, int(self.grade.max(initial=0)) + 1)
        counts = np.zeros((n_queries, width), dtype=np.int64)
        np.add.at(counts, (self.query, self.grade), self.documents)
        return counts


def as_mapping(recall_base: Any) -> Any:
    """Return a data frame of pandas as ``{id: {grade: documents}}``, and others unchanged.

    Raises
    ------
    ValueError
        If its columns are not grades.
    """
    if not hasattr(recall_base, "iloc") or not hasattr(recall_base, "columns"):
        return recall_base
    grades, queries = recall_base.columns.tolist(), recall_base.index.tolist()
    if not all(isinstance(grade, int | float) for grade in grades) or len(set(queries)) < len(
        queries
    ):
        raise ValueError(
            f"recall_base has the columns {shown(grades)} and {len(set(queries))} different values "
            f"in the index of {len(queries)} rows; expected grades as the names of columns and "
            "query ids as the index, or an array: recall_base.to_numpy()"
        )
    rows = recall_base.to_numpy().tolist()
    return {
        query: dict(zip(grades, row, strict=True)) for query, row in zip(queries, rows, strict=True)
    }


def without_rows(recall_base: Any, ids: Array) -> dict[Any, Any]:
    """Return the entries of a mapping whose queries are not among `ids`; of an array nothing."""
    if not isinstance(recall_base, Mapping):
        return {}
    listed = set(keys_of(recall_base, ids))
    return {key: entry for key, entry in recall_base.items() if key not in listed}


def judgments_of(
    recall_base: Any, ids: Array, qid_name: str, limit: GradeLimit | None, real: bool
) -> Judgments:
    """Check a recall base and return its judgments, without grades that no document has.

    Parameters
    ----------
    recall_base : mapping or array-like of shape (Q, c + 1)
        As in `gapboost._data.judged.judged`.
    ids : ndarray of shape (Q,)
    qid_name : str
        The caller's name of the ids.
    limit : GradeLimit or None
    real : bool
        True if grades may be fractional.

    Raises
    ------
    ValueError
        If a query is missing, or a grade or a number of documents is invalid.
    """
    read = _of_mapping if isinstance(recall_base, Mapping) else _of_array
    query, grade, documents = read(recall_base, ids, qid_name)
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
    return Judgments(query[there], grade, documents[there].astype(np.int64))


def _of_mapping(
    recall_base: Mapping[Any, Any], ids: Array, qid_name: str
) -> tuple[Array, Array, Array]:
    names = ids.tolist()
    if len(set(names)) < len(names):
        raise ValueError(
            f"recall_base is a mapping, but {qid_name} holds ids that are equal and of different "
            "types; expected an array, or ids of one type"
        )
    sizes: list[int] = []
    grades: list[Any] = []
    documents: list[Any] = []
    for name, key in zip(names, keys_of(recall_base, ids), strict=True):
        if key is None:
            raise ValueError(
                f"recall_base lacks query {name!r} of {qid_name}; expected grade counts of every "
                "query"
            )
        entry, called = recall_base[key], f"recall_base[{name!r}]"
        by_grade = isinstance(entry, Mapping)
        values = numeric_column(
            list(entry.values()) if by_grade else entry, called, "numbers of documents by grade"
        )
        sizes.append(len(values))
        grades.extend(entry if by_grade else range(len(values)))
        documents.extend(values.tolist())
    return (
        np.repeat(np.arange(len(ids)), sizes),
        numeric_column(grades, "recall_base", "grades"),
        np.array(documents),
    )


def _of_array(recall_base: Any, ids: Array, qid_name: str) -> tuple[Array, Array, Array]:
    try:
        counts = np.asarray(recall_base)
    except ValueError:
        raise ValueError(
            "recall_base holds rows of different lengths; expected as many grade counts for every "
            "query"
        ) from None
    if counts.ndim != 2 or len(counts) != len(ids) or counts.dtype.kind not in "iuf":
        raise ValueError(
            f"recall_base has shape {counts.shape} and dtype {counts.dtype}; expected numbers of "
            f"shape ({len(ids)}, number of grades): how many documents of each query have grade 0, "
            f"1, ..., in the order in which the ids of {qid_name} first occur"
        )
    query, grade = np.indices(counts.shape)
    return query.ravel(), grade.ravel(), counts.ravel()
