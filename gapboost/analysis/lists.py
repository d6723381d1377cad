"""Single ranked lists of grades, the input of `informativeness`."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gapboost._data.columns import checked_scores
from gapboost._data.judged import Judged, judged
from gapboost._kernels import Array
from gapboost.evaluation import query_values
from gapboost.measures import Measure


@dataclass(frozen=True, eq=False)
class RankedList:
    """The grades of one ranking from the top, and the recall base of its query.

    Attributes
    ----------
    name : object
        The query.
    grades : int32 ndarray of shape (n,)
    recall_base : int64 ndarray of shape (c + 1,)

    Examples
    --------
    >>> import numpy as np
    >>> from gapboost import analysis
    >>> analysis.RankedList("q", np.array([2, 0, 1]), np.array([9, 1, 1])).counts.tolist()
    [1, 1, 1]
    """

    name: Any
    grades: Array
    recall_base: Array

    @property
    def counts(self) -> Array:
        """Documents of each grade in the list, int64 of shape (c + 1,)."""
        return np.bincount(self.grades, minlength=len(self.recall_base))


def ranked_lists(
    y_true: Any, y_score: Any, qid: Any = None, *, recall_base: Any = None
) -> list[RankedList]:
    """Return one list a query, with arguments as in `gapboost.evaluate`; ties by row.

    Examples
    --------
    >>> found = ranked_lists([0, 2, 1, 1], [0.1, 0.9, 0.4, 0.7], ["a", "a", "a", "b"])
    >>> [one.grades.tolist() for one in found]
    [[2, 1, 0], [1]]
    """
    data = judged(y_true, qid, recall_base=recall_base)
    return in_rank_order(data, data.queries.grouped(checked_scores(y_score, data.queries.n_rows)))


def in_rank_order(data: Judged, scores: Array) -> list[RankedList]:
    """Return the `ranked_lists` of data that is already checked, without empty queries.

    Raises
    ------
    ValueError
        If grades are fractional: maximum-entropy distributions are over whole grades.
    """
    if not data.base.has_integer_grades:
        raise ValueError(
            "the judgments hold fractional grades, or grades above 63; expected whole grades 0..c "
            "for lists of grades"
        )
    sizes = data.queries.sizes
    order = np.lexsort((-scores, np.repeat(np.arange(len(sizes)), sizes)))
    grades = np.split(data.codes[order], data.queries.offsets[1:-1])
    every = zip(data.queries.ids.tolist(), grades, data.base.counts, strict=True)
    return [RankedList(name, of_query, counts) for name, of_query, counts in every if len(of_query)]


def list_values(
    measures: Sequence[Measure], lists: Sequence[RankedList], n_jobs: int | None
) -> Array:
    """Return values of measures for lists, float64 of shape (measures, lists)."""
    width = max(len(found.recall_base) for found in lists)
    counts = np.array(
        [np.pad(found.recall_base, (0, width - len(found.recall_base))) for found in lists]
    )
    grades = np.concatenate([found.grades for found in lists])
    query = np.repeat(np.arange(len(lists)), [len(found.grades) for found in lists])
    data = judged(grades, query, recall_base=counts)
    falling = -np.arange(len(grades), dtype=np.float64)
    return np.array(query_values(measures, data, falling, n_jobs=n_jobs))
