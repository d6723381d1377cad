"""Containers of ranking data."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_consistent_length


@dataclass(frozen=True, eq=False, repr=False)
class RankingData:
    """Documents of a number of queries, with features and graded judgments.

    Row ``i`` of every member belongs to the same query-document pair.

    Parameters
    ----------
    X : ndarray or scipy.sparse.csr_matrix of shape (n_rows, n_features), dtype float64
        The features.
    y : ndarray of shape (n_rows,), dtype int32 or float64
        The grade of each document, 0 (not relevant) or more.
    qid : ndarray of shape (n_rows,), dtype int64 or str
        The query each row belongs to.
    docid : ndarray of shape (n_rows,), dtype str, or None
        The name of each document, where known.
    feature_names : list of str of length n_features, or None
        The names of the columns of ``X``, where known.

    Raises
    ------
    ValueError
        If the members do not agree on the number of rows.

    Examples
    --------
    >>> from gapboost.datasets import load_digits_ranking
    >>> test = load_digits_ranking().test
    >>> test.X.shape, test.y.shape, test.n_features
    ((4000, 23), (4000,), 23)
    """

    X: Any
    y: npt.NDArray[np.int32] | npt.NDArray[np.float64]
    qid: npt.NDArray[Any]
    docid: npt.NDArray[np.str_] | None = None
    feature_names: list[str] | None = None

    def __post_init__(self) -> None:
        check_consistent_length(self.X, self.y, self.qid, self.docid)

    @property
    def n_queries(self) -> int:
        """Number of different queries."""
        return len(np.unique(self.qid))

    @property
    def n_features(self) -> int:
        """Number of columns of ``X``."""
        return int(self.X.shape[1])

    def __len__(self) -> int:
        """Return the number of rows, that is, of query-document pairs."""
        return int(self.X.shape[0])

    def __repr__(self) -> str:
        grades, counts = np.unique(self.y, return_counts=True)
        shown = str(dict(zip(grades.tolist(), counts.tolist(), strict=True)))
        if len(grades) > 20:
            shown = f"{grades[0]:g} to {grades[-1]:g}"
        return (
            f"RankingData({self.n_queries} queries, {len(self)} rows, {self.n_features} features, "
            f"grades {shown})"
        )


class RankingSplit(NamedTuple):
    """Training, validation and test data with the same columns; unpacks in this order.

    Attributes
    ----------
    train : RankingData
        Data to train on.
    vali : RankingData
        Data for early stopping and the choice of parameters.
    test : RankingData
        Data for the final measurement.

    Examples
    --------
    >>> from gapboost.datasets import load_digits_ranking
    >>> train, vali, test = load_digits_ranking()
    >>> [len(part.y) for part in (train, vali, test)]
    [9600, 2400, 4000]
    """

    train: RankingData
    vali: RankingData
    test: RankingData
