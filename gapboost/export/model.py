"""The model to export and its sample rows, checked."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from gapboost._data.arguments import ordered, shown
from gapboost._data.features import check_names, feature_names, features, shortened, without_qid
from gapboost._kernels import Array
from gapboost.export.trees import Node, lightgbm_trees, neighbors, xgboost_trees
from gapboost.preprocessing.pipeline import library_of
from gapboost.preprocessing.query_relative import KINDS


@dataclass(frozen=True, eq=False)
class Model:
    """A model to export.

    Attributes
    ----------
    path : Path
        Of the file to write. Without ``.json`` it is the name of the model.
    predictor : ranker or Booster
        Its `predict` returns scores of numeric rows.
    trees : list of Split or float
        With thresholds for the numbers that the engine compares.
    feature_names : tuple of str
        Names of the features in the engine.
    rows : float64 ndarray of shape (N, n_features)
        Sample rows as the engine holds them, NaN for missing values.
    """

    path: Path
    predictor: Any
    trees: list[Node]
    feature_names: tuple[str, ...]
    rows: Array

    def scores(self, rows: Array) -> Array:
        """Return the model's own scores of rows such as `rows`."""
        predict = getattr(self.predictor, "inplace_predict", self.predictor.predict)
        return np.asarray(predict(rows), dtype=np.float64)


def read_model(
    ranker: Any,
    X: Any,
    path: Any,
    names: Sequence[str] | None,
    kind: type[np.floating[Any]],
    neighbors: Any = neighbors,
) -> Model:
    """Return the model, its names and sample rows.

    Parameters
    ----------
    ranker, X, path, names
        Arguments of the functions of `gapboost.export`.
    kind : numpy.float32 or numpy.float64
        Type of the feature values in the engine.
    neighbors : callable
        Like `gapboost.export.trees.neighbors`, of a threshold and `kind`.

    Raises
    ------
    TypeError, ValueError, NotFittedError
        If the engine would compute other scores, or an argument is unusable.
    """
    target = Path(path)
    if target.suffix != ".json":
        raise ValueError(f"path is {path!r}; expected a file name that ends with .json")
    library, around = library_of(ranker), partial(neighbors, kind=kind)
    if library == "lightgbm":
        import gapboost.lightgbm

        booster: Any = gapboost.lightgbm.exportable(ranker)
        predictor = getattr(ranker, "booster_", ranker)
        trees, trained = lightgbm_trees(booster, around), booster.feature_name()
        n_features = len(trained)
        if trained == [f"Column_{place}" for place in range(n_features)]:
            trained = []
    elif library == "xgboost":
        import gapboost.xgboost

        booster = gapboost.xgboost.exportable(ranker, feature_names=None)
        trees, n_features = xgboost_trees(booster, around), booster.num_features()
        fitted = hasattr(ranker, "get_booster")
        predictor = ranker if fitted else booster
        trained = (ranker.get_booster() if fitted else ranker).feature_names or []
    else:
        raise TypeError(
            f"ranker is {shown(ranker)}; expected a fitted ranker or Booster of gapboost, LightGBM "
            "or XGBoost"
        )
    rows, found = _rows(X, n_features, trained)
    # Whatever their names in the engine.
    endings = tuple(f"_{made}_in_query" for made in KINDS)
    relative = [name for name in dict.fromkeys((*trained, *found)) if name.endswith(endings)]
    if relative:
        raise ValueError(
            f"ranker reads {', '.join(shortened(relative))}, made within the query; expected "
            "features of one document: a search engine scores each document alone"
        )
    given = (found or trained) if names is None else names
    names = tuple(given) if ordered(given) else ()
    texts = {name for name in names if isinstance(name, str)}
    if not len(texts) == len(names) == n_features:
        raise ValueError(
            f"feature_names is {shown(given)}; expected {n_features} different names, one for each "
            "feature of the ranker"
        )
    return Model(target, predictor, trees, names, rows.astype(kind).astype(np.float64))


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
