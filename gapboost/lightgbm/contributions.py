"""Contributions of the features to LightGBM's scores."""

from typing import Any

import lightgbm
from scipy import sparse

from gapboost._kernels import Array
from gapboost.lightgbm.inputs import read_exactly


def contributions(model: Any, X: Any) -> tuple[Array, Array]:
    """Return scores and the features' contributions to them, as `predict` computes both.

    Parameters
    ----------
    model : lightgbm.LGBMModel or lightgbm.Booster
        After early stopping, the trees up to the best iteration count.
    X : table of `gapboost._data.features.features`

    Returns
    -------
    scores : float64 ndarray of shape (N,)
        Before any transformation of a booster's objective.
    contributions : float64 ndarray of shape (N, n_features)
        Without the last column of LightGBM, which is the same in each row.

    Raises
    ------
    ValueError
        If LightGBM has no contributions for the model.
    """
    booster = model if isinstance(model, lightgbm.Booster) else model.booster_
    if booster.num_model_per_iteration() > 1:
        raise ValueError(
            f"ranker has {booster.num_model_per_iteration()} scores a row; expected one score a row"
        )
    text = booster.model_to_string(num_iteration=1)
    if "\nis_linear=1\n" in text:
        raise ValueError(
            "ranker has linear models in its leaves, for which LightGBM has no contributions; "
            "expected trees"
        )
    X = read_exactly(X, "X")
    found = model.predict(X, pred_contrib=True)
    values: Array = (found.toarray() if sparse.issparse(found) else found)[:, :-1]
    scores: Array = model.predict(X, raw_score=True)
    if "\naverage_output\n" in text:
        # LightGBM predicts the mean of the trees of a random forest, but both of these are sums.
        trees = max(booster.best_iteration, 0) or booster.current_iteration()
        scores, values = scores / trees, values / trees
    return scores, values
