"""Models for exporters."""

import json
import math
import re
from collections.abc import Sequence

import xgboost

from gapboost.xgboost.model_files import MISSING


def exportable(
    model: xgboost.XGBModel | xgboost.Booster, *, feature_names: str | Sequence[str] | None = "auto"
) -> xgboost.Booster:
    """Return a booster with the same predictions that exporters can write and other tools can read.

    Exporters do not know XGBoost's ranking objectives or dart. Many of them also write the trees
    that early stopping does not use. The returned booster has the objective ``reg:squarederror``,
    whose predictions are raw scores too. It holds only the trees that predict, and the weights of
    dart are multiplied into their leaves.

    Parameters
    ----------
    model : XGBGAPRanker, another ranker of XGBoost, or Booster
        Fitted. A booster of `xgboost.train` does not record the missing value of its `DMatrix`: it
        has to be NaN.
    feature_names : "auto", None or sequence of str, default="auto"
        Names of the features in the returned booster and its dumps. "auto" keeps the names of the
        training data, if it had any. A sequence gives one name for each feature. None removes the
        names: dumps then say f0, f1, ... by position. Converters to ONNX need None, because they
        read names as positions.

    Returns
    -------
    Booster
        Of trees. Exported models take categories of a data frame by code, and NaN for what a sparse
        matrix does not store.

    Raises
    ------
    TypeError
        If `model` is not a model of XGBoost.
    ValueError
        If the model is a gblinear, which has no trees to export. If its missing value is not NaN,
        because exporters write no other one. If `feature_names` has not one name for each feature.
        If it is "auto", and a name in the model such as f1 reads as the position of another
        feature.
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
    if not isinstance(model, xgboost.XGBModel | xgboost.Booster):
        raise TypeError(
            f"model is a {type(model).__name__}; expected a ranker or booster of XGBoost; "
            "gapboost.lightgbm.exportable takes LightGBM's"
        )
    booster = model.get_booster() if isinstance(model, xgboost.XGBModel) else model
    missing = model.missing if booster is not model else float(booster.attr(MISSING) or "nan")
    if missing is not None and not math.isnan(missing):
        raise ValueError(
            f"missing is {float(missing)!r} in model; expected NaN: exporters know no other value"
        )
    best = booster.attr("best_iteration")
    if json.loads(booster.save_config())["learner"]["gradient_booster"]["name"] == "gblinear":
        raise ValueError(
            "booster is 'gblinear' in model; expected trees: exporters know no other XGBoost model"
        )
    names = _names_to_write(booster, feature_names)
    content = json.loads((booster if best is None else booster[: int(best) + 1]).save_raw("json"))
    learner = content["learner"]
    # Some exporters count trees by it, where XGBoost counts rounds.
    for name in ("best_iteration", "best_score"):
        learner["attributes"].pop(name, None)
    ensemble = learner["gradient_booster"]
    # Until XGBoost 3.3 a dart model holds a tree model and the weights of its trees; from 3.4 on
    # the tree model holds them.
    trees = ensemble["gbtree"] if ensemble["name"] == "dart" else ensemble
    weights = ensemble.get("weight_drop") or trees["model"].pop("weight_drop", None)
    for tree, weight in zip(trees["model"]["trees"], weights or (), strict=bool(weights)):
        # XGBoost keeps the value of a leaf where a split has its threshold.
        tree["split_conditions"] = [
            value * weight if left == -1 else value
            for value, left in zip(tree["split_conditions"], tree["left_children"], strict=True)
        ]
    learner["gradient_booster"] = trees
    # Predictions of the others are no raw scores.
    if learner["objective"]["name"].startswith("rank:"):
        learner["objective"] = {
            "name": "reg:squarederror",
            "reg_loss_param": {"scale_pos_weight": "1"},
        }
    learner["feature_names"] = names
    return xgboost.Booster(model_file=bytearray(json.dumps(content), "ascii"))


def _names_to_write(
    booster: xgboost.Booster, feature_names: str | Sequence[str] | None
) -> list[str]:
    """Return the names for the exported model, or an empty list for no names."""
    if feature_names is None:
        return []
    if isinstance(feature_names, str) and feature_names == "auto":
        names = list(booster.feature_names or ())
        for position, name in enumerate(names):
            found = re.fullmatch(r"f?(\d+)", name)
            if found and int(found[1]) != position:
                raise ValueError(
                    f"feature_names is 'auto', but column {position} of the training data is "
                    f"named {name!r}, which converters to ONNX take for column {int(found[1])}; "
                    "expected None for such a converter, or the names for a tool that reads names"
                )
        return names
    names = [] if isinstance(feature_names, str) else [str(name) for name in feature_names]
    if len(names) != booster.num_features() or len(set(names)) < len(names):
        raise ValueError(
            f"feature_names is {feature_names!r}; expected 'auto', None, or one different name for "
            f"each of the {booster.num_features()} features of model"
        )
    return names
