"""Models for exporters."""

import json
from typing import Any

import xgboost

from gapboost.xgboost.ranker import XGBGAPRanker


def exportable(model: XGBGAPRanker | xgboost.Booster) -> xgboost.Booster:
    """The model in the form that exporters take, to ONNX among them; it predicts the same.

    Exporters take a ranker for a classifier, expect features to be called f0, f1, ..., write trees that early stopping does not
    use, and do not know dart. This model says ``reg:squarederror``, whose predictions are raw scores too, names no features,
    and holds the trees that predict with their weights inside.

    Parameters
    ----------
    model : XGBGAPRanker or Booster
        Fitted.

    Returns
    -------
    Booster
        Of trees. Exported models take categories of a data frame by code.

    Raises
    ------
    ValueError
        Where the model is a gblinear: there are no trees to export.
    NotFittedError
        Before `fit`.
    """
    booster = model.get_booster() if isinstance(model, xgboost.XGBModel) else model
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
