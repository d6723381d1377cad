"""A fitted ranker, its feature names and sample rows, checked for an export."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from gapboost._boosters.trees import Trees
from gapboost._data.arguments import ordered, shown
from gapboost._data.features import check_names, column_names, features, shortened, without_qid
from gapboost._kernels import Array
from gapboost.preprocessing.tables import as_numbers, number_column
from gapboost.preprocessing.transformer import KINDS

BOOSTERS = ("lightgbm", "xgboost")


@dataclass(frozen=True, eq=False)
class Model:
    """A model to export.

    Attributes
    ----------
    ranker : ranker or Booster
    library : {"lightgbm", "xgboost"}
    trees : Trees
        With thresholds for the numbers that the engine compares.
    feature_names : tuple of str
        Names of the features in the engine.
    rows : float64 ndarray of shape (N, n_features)
        Sample rows as the engine holds them: codes of categories, and NaN for missing values.
    """

    ranker: Any
    library: str
    trees: Trees
    feature_names: tuple[str, ...]
    rows: Array

    def scores(self, rows: Array) -> Array:
        """Return the scores of rows such as `rows`."""
        if self.library == "lightgbm":
            from gapboost.lightgbm.trees import scores_of
        else:
            from gapboost.xgboost.trees import scores_of
        return np.asarray(scores_of(self.ranker, rows), dtype=np.float64)


def read_model(
    ranker: Any, X: Any, feature_names: Sequence[str] | None, kind: type[np.floating[Any]]
) -> Model:
    """Return the model, its names and sample rows.

    Parameters
    ----------
    ranker : ranker or Booster of LightGBM or XGBoost
        Fitted.
    X : array-like of shape (N, n_features), or data frame
    feature_names : sequence of str, optional
        None takes the names of the columns of `X`, or those in the model.
    kind : numpy.float32 or numpy.float64
        Type of the feature values in the engine.

    Raises
    ------
    TypeError, ValueError, NotFittedError
        If the engine would compute other scores, or an argument is unusable.
    """
    library = _library_of(ranker)
    if hasattr(ranker, "fit"):
        check_is_fitted(ranker)
    if library == "lightgbm":
        from gapboost.lightgbm.trees import trees_of
    else:
        from gapboost.xgboost.trees import trees_of
    trees = trees_of(ranker, kind)
    X = _table(X, trees)
    names = _names(
        feature_names,
        [str(name) for name in column_names(X)] or trees.feature_names,
        trees.n_features,
    )
    rows = _numbers(X, trees).astype(kind).astype(np.float64)
    if np.isinf(rows).any():
        column = int(np.argmax(np.isinf(rows).any(axis=0)))
        raise ValueError(
            f"X holds infinite values in column {column} ({names[column]}); expected finite "
            "numbers or NaN"
        )
    return Model(ranker, library, trees, names, rows)


def _library_of(ranker: Any) -> str:
    if isinstance(ranker, Pipeline):
        raise TypeError(
            "ranker is a Pipeline; expected its last step, ranker[-1], and X as that step gets it: "
            "a search engine cannot transform features. Features relative to the query cannot be "
            "exported at all"
        )
    modules = {cls.__module__.split(".")[0] for cls in type(ranker).__mro__}
    for library in BOOSTERS:
        if library in modules:
            return library
    raise TypeError(
        f"ranker is {shown(ranker)}; expected a fitted ranker or Booster of gapboost, LightGBM or "
        "XGBoost"
    )


def _table(X: Any, trees: Trees) -> Any:
    if sparse.issparse(X):
        raise TypeError("X is a sparse matrix; expected a dense array or a data frame: X.toarray()")
    X = as_numbers(features(without_qid(X)[0]))
    if not X.shape[0] or X.shape[1] != trees.n_features:
        raise ValueError(
            f"X has shape {X.shape}; expected at least one row and the {trees.n_features} features "
            "of the model"
        )
    # LightGBM writes "_" for white space in names.
    found, known = (
        [str(name).replace(" ", "_") for name in names]
        for names in (column_names(X), trees.feature_names)
    )
    check_names(found, known, "X")
    return X


def _names(
    feature_names: Sequence[str] | None, known: Sequence[str], n_features: int
) -> tuple[str, ...]:
    if feature_names is None:
        if not known:
            raise ValueError(
                "feature_names is None, and neither X nor the model has names; expected one for "
                "each feature"
            )
        feature_names = known
    names = tuple(feature_names) if ordered(feature_names) else ()
    if (
        len(names) != n_features
        or len(set(names)) < len(names)
        or not all(isinstance(name, str) for name in names)
    ):
        raise ValueError(
            f"feature_names is {shown(feature_names)}; expected {n_features} different names, one "
            "for each feature of the model"
        )
    relative = [
        name for name in names if name.endswith(tuple(f"_{kind}_in_query" for kind in KINDS))
    ]
    if relative:
        raise ValueError(
            f"feature_names holds {', '.join(shortened(relative))}; expected features of one "
            "document: a search engine scores each document alone, and cannot compare it with the "
            "others of its query. Train without query-relative features"
        )
    return names


def _numbers(X: Any, trees: Trees) -> Array:
    if isinstance(X, np.ndarray):
        return X.astype(np.float64)
    columns = [
        _codes(X[name], trees.categories[position], str(name))
        if position in trees.categories
        else number_column(X[name], str(name), np.float64)
        for position, name in enumerate(column_names(X))
    ]
    return np.column_stack(columns)


def _codes(column: Any, categories: list[Any], name: str) -> Array:
    """Return the codes of the categories in training, NaN for all other values."""
    if not hasattr(column, "isin"):
        raise TypeError(
            f"X has the categorical column {name!r}; expected a data frame of pandas, as in "
            "training"
        )
    code_of = {category: float(code) for code, category in enumerate(categories)}
    return np.array([code_of.get(value, np.nan) for value in column], dtype=np.float64)
