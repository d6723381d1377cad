"""A data set as a caller gives it, not checked yet."""

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np

from gapboost._data.columns import raveled


class ArgumentNames(NamedTuple):
    """Names of the arguments that hold a data set, for error messages."""

    X: str = "X"
    y: str = "y"
    qid: str = "qid"
    weight: str = "sample_weight"
    start: str = "start"
    position: str = "position"
    group: str = "group"


@dataclass(frozen=True, eq=False)
class DataSet:
    """Features, grades and metadata of one data set.

    Attributes
    ----------
    X : array-like of shape (N, n_features)
    y : array-like of shape (N,)
    qid : array-like of shape (N,), or None
    weight : array-like of shape (Q,) or (N,), or None
    start : array-like of shape (N,), or None
        Scores that boosting starts from.
    position : array-like of shape (N,), or None
    group : array-like of shape (Q,), or None
        Sizes of the queries, instead of `qid`.
    names : ArgumentNames
    """

    X: Any
    y: Any
    qid: Any = None
    weight: Any = None
    start: Any = None
    position: Any = None
    group: Any = None
    names: ArgumentNames = ArgumentNames()  # noqa: RUF009, it is immutable

    def raveled(self) -> Self:
        """Flatten columns of shape (N, 1), with scikit-learn's warning."""
        names = ("y", "weight", "start", "position")
        columns = {getattr(self.names, name): getattr(self, name) for name in names}
        return replace(self, **dict(zip(names, raveled(columns), strict=True)))

    def is_training_set(self, train: "DataSet", *, inherits: bool) -> bool:
        """Return True if this evaluation set is the training set, which a booster reads only once.

        Features and grades must be the same objects, as for both boosters' own rankers. Query ids,
        group sizes, weights and initial scores must be equal. Positions count in training only.

        Parameters
        ----------
        train : DataSet
        inherits : bool
            True if weights and initial scores that are left out are those of `train`.
        """
        if self.X is not train.X or self.y is not train.y:
            return False
        if not (_equal(self.qid, train.qid) and _equal(self.group, train.group)):
            return False
        columns = ((self.weight, train.weight), (self.start, train.start))
        return all(_equal(own, of_train) or (inherits and own is None) for own, of_train in columns)


def _equal(a: Any, b: Any) -> bool:
    """Return True if two array-likes have equal values; Dask collections must be one object."""
    if a is b:
        return True
    if a is None or b is None or hasattr(a, "__dask_graph__") or hasattr(b, "__dask_graph__"):
        return False
    # Unusable values are refused later, under the name of their argument.
    with suppress(TypeError, ValueError):
        return bool(np.array_equal(np.asarray(a), np.asarray(b)))
    return False
