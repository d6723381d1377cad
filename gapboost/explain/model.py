"""Scores and contributions of any ranker."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from gapboost._data.arguments import shown
from gapboost._data.features import feature_names, features, without_qid
from gapboost._kernels import Array
from gapboost.analysis.ties import ROUNDING
from gapboost.preprocessing.pipeline import library_of, transform

# Largest difference of two sums of contributions that is rounding, relative to the largest sum.
# XGBoost computes the contributions of each tree in float32.
ROUNDING_OF = {"lightgbm": ROUNDING, "xgboost": 1e-6}

# Beyond this share of the largest score, contributions do not explain the scores.
NOT_ROUNDING = 1e-3


@dataclass(frozen=True, eq=False)
class Contributions:
    """Scores of rows, and the contributions of the features to them.

    Attributes
    ----------
    names : tuple of str
    scores : float64 ndarray of shape (N,)
    values : float64 ndarray of shape (N, n_features)
    rounding : float
        Largest difference of two sums of contributions that is rounding, relative to the largest.
    """

    names: tuple[str, ...]
    scores: Array
    values: Array
    rounding: float


def table_of(ranker: Any, X: Any, qid: Any) -> tuple[Any, Any, tuple[str, ...]]:
    """Return the model itself, the table that it reads, and the names of its columns.

    Parameters
    ----------
    ranker : ranker, Booster, or Pipeline that ends in one
    X : array-like of shape (N, n_features)
        Of a pipeline, what its first step reads.
    qid : array-like of shape (N,), optional
        Query id of each row, for the steps of a pipeline that request it.

    Raises
    ------
    ValueError, TypeError
        If `X` is no table with rows.
    """
    names: tuple[str, ...] = ()
    if isinstance(ranker, Pipeline):
        steps, ranker = ranker[:-1], ranker[-1]
        if len(steps):
            X = transform(steps, X, qid)
            names = _names_out(steps)
    X = features(without_qid(X)[0])
    if not X.shape[0]:
        raise ValueError("X has 0 rows; expected at least one document")
    found = feature_names(X) or names
    if len(found) != X.shape[1]:
        found = tuple(f"x{number}" for number in range(X.shape[1]))
    return ranker, X, found


def _names_out(steps: Pipeline) -> tuple[str, ...]:
    try:
        return tuple(map(str, steps.get_feature_names_out()))
    except AttributeError:  # a step without names
        return ()


def feature_contributions(ranker: Any, X: Any, names: tuple[str, ...]) -> Contributions:
    """Return the contributions of a fitted model to the scores of the rows of `X`.

    Parameters
    ----------
    ranker, X, names
        As `table_of` returns them; `X` may be some of its rows.

    Raises
    ------
    TypeError
        If the ranker is not one of LightGBM or XGBoost in this process.
    NotFittedError
        Before `fit`.
    ValueError
        If the library has no exact contributions for the model.
    """
    library = _checked_library(ranker)
    if hasattr(ranker, "fit"):
        check_is_fitted(ranker)
    if library == "lightgbm":
        from gapboost.lightgbm.contributions import contributions as compute
    else:
        from gapboost.xgboost.contributions import contributions as compute
    scores, values = compute(ranker, X)
    rest = scores - values.sum(axis=1)
    if np.ptp(rest) > NOT_ROUNDING * np.abs(scores).max():
        raise ValueError(
            "ranker has contributions whose sums differ from the scores by up to "
            f"{np.ptp(rest) / 2:.3g}; expected a model for which {library} has exact contributions"
        )
    return Contributions(names, scores, values, ROUNDING_OF[library])


def _checked_library(ranker: Any) -> str:
    """Return the library of a model; an instance of its class proves that it can be imported."""
    if any("dask" in cls.__module__.split(".") for cls in type(ranker).__mro__):
        raise TypeError(
            f"ranker is a {type(ranker).__name__}; expected a local ranker: ranker.to_local()"
        )
    library = library_of(ranker)
    if library in ROUNDING_OF and hasattr(ranker, "predict"):
        return library
    raise TypeError(
        f"ranker is {shown(ranker)}; expected a fitted ranker of gapboost, LightGBM or XGBoost, a "
        "Booster, or a pipeline that ends in one"
    )
