"""Models for exporters."""

import json
import math
from typing import Any

import xgboost

from gapboost.xgboost.ranker import MISSING, XGBGAPRanker


def exportable(model: XGBGAPRanker | xgboost.Booster) -> xgboost.Booster:
    """The model in the form that exporters take, to ONNX among them; it predicts the same.

    Exporters take a ranker for a classifier, expect features to be called f0, f1, ..., write trees that early stopping does not
    use, and do not know dart. This model says ``reg:squarederror``, whose predictions are raw scores too, names no features,
    and holds the trees that predict with their weights inside.

    Parameters
    ----------
    model : XGBGAPRanker or Booster
        Fitted. A booster of `xgboost.train` does not know what its `DMatrix` took for missing: that has to be NaN.

    Returns
    -------
    Booster
        Of trees. Exported models take categories of a data frame by code, and NaN for what a sparse matrix does not store.

    Raises
    ------
    ValueError
        Where the model is a gblinear, which has no trees to export, or takes another value than NaN for missing, which exporters
        do not write.
    NotFittedError
        Before `fit`.

    Examples
    --------
    >>> from gapboost.datasets import load_digits_ranking
    >>> from gapboost.xgboost import XGBGAPRanker, exportable
    >>> train = load_digits_ranking((60, 20, 40), 20).train
    >>> ranker = XGBGAPRanker(n_estimators=5, n_jobs=1).fit(train.X, train.y, qid=train.qid)
    >>> exportable(ranker).num_boosted_rounds()
    5
    """
    booster = model.get_booster() if isinstance(model, xgboost.XGBModel) else model
    missing = model.missing if isinstance(model, xgboost.XGBModel) else float(booster.attr(MISSING) or "nan")
    if missing is not None and not math.isnan(missing):
        raise ValueError(
            f"missing is {float(missing)!r} in model; expected NaN: exporters know no other missing value. Train with NaN in its "
            "place"
        )
    best = booster.attr("best_iteration")
    if best is not None:
        booster = booster[: int(best) + 1]
    content = json.loads(booster.save_raw("json"))
    learner = content["learner"]
    ensemble = learner["gradient_booster"]
    if ensemble["name"] == "gblinear":
        raise ValueError("booster is 'gblinear' in model; expected trees: exporters know no other XGBoost model")
    # Until XGBoost 3.3 a dart model holds a tree model and the weights of its trees; from 3.4 on the tree model holds them.
    trees = ensemble["gbtree"] if ensemble["name"] == "dart" else ensemble
    weights = ensemble.get("weight_drop") or trees["model"].pop("weight_drop", None)
    if weights:
        _weigh_leaves(trees["model"]["trees"], weights)
    learner["gradient_booster"] = trees
    # Predictions of the others are no raw scores.
    if learner["objective"]["name"].startswith("rank:"):
        learner["objective"] = {"name": "reg:squarederror", "reg_loss_param": {"scale_pos_weight": "1"}}
    learner["feature_names"] = []
    return xgboost.Booster(model_file=bytearray(json.dumps(content), "ascii"))


def _weigh_leaves(trees: list[dict[str, Any]], weights: list[float]) -> None:
    """Multiply each leaf of the trees of a dart model, as its JSON holds them, by the weight of its tree."""
    for tree, weight in zip(trees, weights, strict=True):
        # XGBoost keeps the value of a leaf where a split has its threshold.
        tree["split_conditions"] = [
            value * weight if left == -1 else value
            for value, left in zip(tree["split_conditions"], tree["left_children"], strict=True)
        ]
