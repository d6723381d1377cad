"""Containers of ranking data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gapboost._data.summary import MOST_SHOWN


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
        If the members do not agree on the number of rows or of features.

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
        if len(_shape(self.X, "X")) != 2:
            raise ValueError(f"X has shape {self.X.shape}; expected (n_rows, n_features)")
        rows, columns = self.X.shape
        for name, member in (("y", self.y), ("qid", self.qid), ("docid", self.docid)):
            if (name != "docid" or member is not None) and _shape(member, name) != (rows,):
                raise ValueError(
                    f"{name} has shape {_shape(member, name)}; expected ({rows},): X has {rows} "
                    "rows"
                )
        names = checked_names(self.feature_names)
        if names is not None and len(names) != columns:
            raise ValueError(
                f"feature_names has {len(names)} names; expected one for each of the {columns} "
                "columns of X"
            )

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
        shown = (
            "{"
            + ", ".join(f"{grade}: {count}" for grade, count in zip(grades, counts, strict=True))
            + "}"
        )
        if len(grades) > MOST_SHOWN:
            shown = f"{grades[0]:g} to {grades[-1]:g}, {len(grades)} different"
        return (
            f"RankingData({self.n_queries} queries, {len(self)} rows, {self.n_features} features, "
            f"grades {shown})"
        )


def _shape(member: Any, name: str) -> tuple[int, ...]:
    try:
        return tuple(member.shape)
    except AttributeError:
        raise TypeError(f"{name} is a {type(member).__name__}; expected an array") from None


def checked_names(feature_names: Any) -> list[str] | None:
    """Names of columns as a list.

    Raises
    ------
    TypeError
        If they are anything but a sequence of strings; one string is not a name a letter.
    """
    if feature_names is None:
        return None
    if isinstance(feature_names, str | bytes) or np.ndim(feature_names) != 1:
        raise TypeError(f"feature_names is {feature_names!r}; expected a list of strings")
    names = list(feature_names)
    if not all(isinstance(name, str) for name in names):
        raise TypeError(f"feature_names is {names!r}; expected a list of strings")
    return names


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
