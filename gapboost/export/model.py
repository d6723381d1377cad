"""The model to export and its sample rows, checked."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import ClassifierMixin
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from gapboost._data.arguments import ordered, shown
from gapboost._data.features import check_names, feature_names, features, shortened, without_qid
from gapboost._kernels import Array
from gapboost.export.trees import Node, lightgbm_trees, xgboost_trees
from gapboost.preprocessing.pipeline import library_of
from gapboost.preprocessing.transformer import KINDS


@dataclass(frozen=True, eq=False)
class Model:
    """A model to export.

    Attributes
    ----------
    predictor : ranker or Booster
        Its `predict` returns scores of numeric rows.
    trees : list of Split or float
        With thresholds for the numbers that the engine compares.
    feature_names : tuple of str
        Names of the features in the engine.
    rows : float64 ndarray of shape (N, n_features)
        Sample rows as the engine holds them, NaN for missing values.
    """

    predictor: Any
    trees: list[Node]
    feature_names: tuple[str, ...]
    rows: Array

    def scores(self, rows: Array) -> Array:
        """Return the model's own scores of rows such as `rows`."""
        predict = getattr(self.predictor, "inplace_predict", self.predictor.predict)
        with warnings.catch_warnings():
            # The model was trained on a data frame, and the columns are in its order.
            warnings.filterwarnings("ignore", "X does not have valid feature names", UserWarning)
            return np.asarray(predict(rows), dtype=np.float64)


def read_model(
    ranker: Any, X: Any, names: Sequence[str] | None, kind: type[np.floating[Any]]
) -> Model:
    """Return the model, its names and sample rows.

    Parameters
    ----------
    ranker : ranker or Booster of LightGBM or XGBoost
        Fitted.
    X : array-like of shape (N, n_features), or data frame
    names : sequence of str, optional
        None takes the names of the columns of `X`, or those of the training data.
    kind : numpy.float32 or numpy.float64
        Type of the feature values in the engine.

    Raises
    ------
    TypeError, ValueError, NotFittedError
        If the engine would compute other scores, or an argument is unusable.
    """
    library = library_of(ranker)
    if library not in ("lightgbm", "xgboost") or isinstance(ranker, Pipeline | ClassifierMixin):
        raise TypeError(
            f"ranker is {shown(ranker)}; expected a fitted ranker or Booster of gapboost, LightGBM "
            "or XGBoost: of a pipeline its last step, with X as that step gets it"
        )
    if hasattr(ranker, "fit"):
        check_is_fitted(ranker)
    predictor = ranker
    if library == "lightgbm":
        booster = getattr(ranker, "booster_", ranker)
        trees, trained = lightgbm_trees(booster, kind), booster.feature_name()
        n_features = len(trained)
        if trained == [f"Column_{place}" for place in range(n_features)]:
            trained = []
    else:
        from gapboost.xgboost import exportable

        booster = exportable(ranker, feature_names=None)
        trees, n_features = xgboost_trees(booster, kind), booster.num_features()
        own = ranker.get_booster() if hasattr(ranker, "get_booster") else ranker
        trained = own.feature_names or []
        if own is ranker:
            predictor = booster
    rows, found = _rows(X, n_features, trained)
    known = [*trained, *found]
    # Whatever their names in the engine.
    endings = tuple(f"_{made}_in_query" for made in KINDS)
    relative = [name for name in dict.fromkeys(known) if name.endswith(endings)]
    if relative:
        raise ValueError(
            f"ranker reads {', '.join(shortened(relative))}, made within the query; expected "
            "features of one document: a search engine scores each document alone"
        )
    names = _names(found or trained if names is None else names, n_features)
    return Model(predictor, trees, names, rows.astype(kind).astype(np.float64))


def _rows(X: Any, n_features: int, trained: Sequence[str]) -> tuple[Array, tuple[str, ...]]:
    """Return the sample rows as numbers, and the names of their columns."""
    if sparse.issparse(X):
        raise TypeError("X is a sparse matrix; expected a dense array or a data frame: X.toarray()")
    X = features(without_qid(X)[0])
    if not X.shape[0] or X.shape[1] != n_features:
        raise ValueError(
            f"X has shape {X.shape}; expected at least one row and the {n_features} features of "
            "the ranker"
        )
    names = feature_names(X)
    # LightGBM writes "_" for white space in names.
    written, expected = ([name.replace(" ", "_") for name in each] for each in (names, trained))
    check_names(written, expected, "X")
    rows = np.asarray(X, dtype=np.float64)
    if np.isinf(rows).any():
        raise ValueError("X holds infinite values; expected finite numbers or NaN")
    return rows, names


def _names(given: Any, n_features: int) -> tuple[str, ...]:
    names = tuple(given) if ordered(given) else ()
    different = set(names) if all(isinstance(name, str) for name in names) else set()
    if not len(names) == len(different) == n_features:
        raise ValueError(
            f"feature_names is {shown(given)}; expected {n_features} different names, one for each "
            "feature of the ranker"
        )
    return names
