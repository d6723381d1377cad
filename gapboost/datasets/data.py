"""Containers of ranking data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, eq=False, repr=False)
class RankingData:
    """Documents of a number of queries, with features and graded judgements.

    Row ``i`` of every member belongs to the same query-document pair.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features), dtype float64, or scipy.sparse.csr_matrix of the same shape
        The features.
    y : ndarray of shape (n_rows,), dtype int32
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
        If the members do not agree on the number of rows or of features.
    """

    X: Any
    y: npt.NDArray[np.int32]
    qid: npt.NDArray[Any]
    docid: npt.NDArray[np.str_] | None = None
    feature_names: list[str] | None = None

    def __post_init__(self) -> None:
        if len(self.X.shape) != 2:
            raise ValueError(f"X has shape {self.X.shape}, expected (n_rows, n_features)")
        rows, columns = self.X.shape
        for name, member in (("y", self.y), ("qid", self.qid), ("docid", self.docid)):
            if member is not None and member.shape != (rows,):
                raise ValueError(f"{name} has shape {member.shape}, expected ({rows},): X has {rows} rows")
        if self.feature_names is not None and len(self.feature_names) != columns:
            raise ValueError(f"{len(self.feature_names)} feature names for the {columns} columns of X")

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
        grades = ", ".join(
            f"{grade}: {count}" for grade, count in zip(*np.unique(self.y, return_counts=True), strict=True)
        )
        return (
            f"RankingData({self.n_queries} queries, {len(self)} rows, {self.n_features} features, grades {{{grades}}})"
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
    """

    train: RankingData
    vali: RankingData
    test: RankingData
