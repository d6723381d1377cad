"""Contributions of the features to XGBoost's scores."""

from typing import Any

import numpy as np
import xgboost

from gapboost._boosters.ranker import GAPRanker
from gapboost._kernels import Array
from gapboost.xgboost.inputs import kind_of
from gapboost.xgboost.library import LIBRARY
from gapboost.xgboost.versions import get_model_categories


def contributions(model: Any, X: Any) -> tuple[Array, Array]:
    """Return scores and the features' contributions to them.

    XGBoost adds up trees in float32. The contributions of each round are added up in float64 here.

    Parameters
    ----------
    model : xgboost.XGBModel or xgboost.Booster
        After early stopping, the rounds up to the best one of an XGBModel count, and all rounds of
        a Booster, as in their `predict`.
    X : table of `gapboost._data.features.features`

    Returns
    -------
    scores : float64 ndarray of shape (N,)
        Before any transformation of a booster's objective.
    contributions : float64 ndarray of shape (N, n_features)
        Without the last column of XGBoost, which is the same in each row.

    Raises
    ------
    ValueError
        If the model has several scores a row.
    """
    if isinstance(model, xgboost.Booster):
        booster, rounds = model, 0
        options: dict[str, Any] = {"enable_categorical": True}
    else:
        booster, rounds = model.get_booster(), LIBRARY.best_round(model.get_booster())
        X = model._features(X) if isinstance(model, GAPRanker) else X
        names = ("missing", "feature_types", "enable_categorical")
        options = {**{name: getattr(model, name) for name in names}, "nthread": model.n_jobs}
    # A slice of a booster does not know the categories of data frames: the table gets their codes
    # here.
    _, options["feature_types"] = get_model_categories(X, booster, options.get("feature_types"))
    data = xgboost.DMatrix(X, **options)
    linear = kind_of(booster) == "gblinear"
    # A linear model has no rounds to choose from.
    used = (0, 0 if linear else rounds)
    scores = booster.predict(data, output_margin=True, iteration_range=used).astype(np.float64)
    if scores.ndim > 1:
        raise ValueError(f"ranker has {scores.shape[1]} scores a row; expected one score a row")
    if linear:
        return scores, booster.predict(data, pred_contribs=True)[:, :-1].astype(np.float64)
    values = np.zeros((data.num_row(), data.num_col()))
    for number in range(rounds or booster.num_boosted_rounds()):
        values += booster[number : number + 1].predict(data, pred_contribs=True)[:, :-1]
    return scores, values
