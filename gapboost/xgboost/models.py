"""Models of XGBoost: the rounds that predict, the objective as text, and models for exporters."""

import json
import math
from dataclasses import fields
from typing import Any

import xgboost

from gapboost._boosters.ranker import check_continued, check_model
from gapboost.measures import as_measure
from gapboost.objectives import OBJECTIVES_BY_NAME, Objective

# Attribute of a booster, and of its files: what it was trained for.
TRAINED_FOR = "gapboost_objective"


def is_linear(booster: xgboost.Booster) -> bool:
    """Return True for a gblinear, which has no trees."""
    learner = json.loads(booster.save_config())["learner"]
    return bool(learner["gradient_booster"]["name"] == "gblinear")


def up_to_best_round(booster: xgboost.Booster, categories: bool = True) -> xgboost.Booster:
    """Return a booster without the rounds that early stopping trained after the best one.

    XGBRanker predicts by the best rounds only; a booster, and many readers of its files, use every
    round. A gblinear has no rounds to drop. XGBoost 3.1 and later lose the categories of data
    frames in a slice: a model with some keeps its rounds, unless `categories` is False.
    """
    best = booster.attr("best_iteration")
    if best is None or is_linear(booster):
        return booster
    if categories and not booster.get_categories().empty():
        return booster
    shortened = booster[: int(best) + 1]
    shortened.set_attr(best_iteration=best, best_score=booster.attr("best_score"))
    return shortened


def checked_copy(model: Any, X: Any = None, missing: float | None = None) -> xgboost.Booster:
    """Return a copy of a model to continue, or of its file.

    If `X` is given, it must have the columns of the model. If `missing` of the training is given, a
    ranker must have the same. Boosters and files do not record it.
    """
    of_model = getattr(model, "missing", None)
    # By their text as well, since NaN differs from itself.
    if missing is not None and of_model not in (None, missing) and str(of_model) != str(missing):
        raise ValueError(
            f"missing is {missing}, and {of_model} in the model to continue; expected the same"
        )
    model = model.get_booster() if hasattr(model, "get_booster") else model  # Spark's too
    check_model(model, "xgb_model", (xgboost.Booster, bytearray), "XGBoost")
    is_file = not isinstance(model, xgboost.Booster)
    booster = xgboost.Booster(model_file=model) if is_file else model.copy()
    if X is not None:
        check_continued(X, booster.num_features(), booster.feature_names or ())
    return booster


def to_continue(booster: xgboost.Booster, categories: bool = True) -> xgboost.Booster:
    """Return a copied model up to its best round, which it does not name any more.

    XGBoost predicts by the best iteration that a booster names, and keeps the old one where the new
    training does not stop early: new trees would never predict. `categories` is False where those
    of the training matrix are the ones of the model.
    """
    booster = up_to_best_round(booster, categories)
    booster.set_attr(best_iteration=None, best_score=None)
    return booster


def trim_to_best_iteration(booster: xgboost.Booster, objective: Objective) -> xgboost.Booster:
    """Return a trained booster up to its best round, which says what it was trained for."""
    booster = up_to_best_round(booster)
    booster.set_attr(**{TRAINED_FOR: _text(objective)})
    return booster


def read_objective(booster: xgboost.Booster, requested: Objective) -> Objective:
    """Return the objective that a booster was trained for; the requested one if it says none.

    Raises
    ------
    ValueError
        If it has a measure or class of a user's own, and is not the requested one: no text tells
        how to compute it.
    """
    text = booster.attr(TRAINED_FOR)
    if text is None or text == _text(requested):
        return requested
    found = json.loads(text)
    kinds = {kind.__name__: kind for kind in OBJECTIVES_BY_NAME.values()}
    if found["packages"] == ["gapboost"]:
        kind: type[xgboost.XGBModel] = kinds[found["objective"]]
        objective: Objective = kind(as_measure(found["measure"]), **found["options"])
        return objective
    raise ValueError(
        f"the model was trained by {found['objective']} for {found['measure']}, but the ranker has "
        f"{requested!r}; expected the measure and objective of the model, which are not gapboost's"
    )


def _text(objective: Objective) -> str:
    """Return the objective as one line of JSON."""
    options = {field.name: getattr(objective, field.name) for field in fields(objective)[1:]}
    parts = [objective, *[part for _, part in objective.measure.terms]]
    written = {
        "objective": type(objective).__name__,
        "measure": repr(objective.measure),
        "options": options,
        # Classes of a user's own can have the names of gapboost's.
        "packages": sorted({type(part).__module__.partition(".")[0] for part in parts}),
    }
    return json.dumps(written, default=repr)


def exportable(model: xgboost.XGBModel | xgboost.Booster) -> xgboost.Booster:
    """Return a booster with the same predictions that exporters can write and other tools can read.

    Exporters may misread XGBoost's ranking objectives and dart, and write trees that early stopping
    does not use. The returned booster has the objective ``reg:squarederror``,
    whose predictions are raw scores too. It holds only the trees that predict, and the weights of
    dart are multiplied into their leaves.

    Parameters
    ----------
    model : XGBGAPRanker, another ranker of XGBoost, or Booster
        Fitted. A booster does not record which value is missing: it has to be NaN.

    Returns
    -------
    Booster
        Of trees. Exported models take categories of a data frame by code, and NaN for what a sparse
        matrix does not store. Features have no names, since converters read a name such as ``f1``
        as a position: set ``feature_names`` of the booster for tools that show them.

    Raises
    ------
    TypeError
        If `model` is not a model of XGBoost.
    ValueError
        If exporters would write another model: of a gblinear, which has no trees, or if the missing
        value of the ranker is not NaN.
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
    is_ranker = isinstance(model, xgboost.XGBModel)
    booster = model.get_booster() if is_ranker else model
    missing = model.missing if is_ranker else None
    written_wrongly = {
        f"missing is {missing}": missing is not None and not math.isnan(missing),
        "booster is 'gblinear'": is_linear(booster),
    }
    for found, is_so in written_wrongly.items():
        if is_so:
            raise ValueError(
                f"{found} in model; expected trees in which NaN alone is missing: exporters cannot "
                "write another model"
            )
    best = booster.attr("best_iteration")
    content = json.loads((booster if best is None else booster[: int(best) + 1]).save_raw("json"))
    learner = content["learner"]
    # Some exporters count trees by it, where XGBoost counts rounds.
    for name in ("best_iteration", "best_score"):
        learner["attributes"].pop(name, None)
    ensemble = learner["gradient_booster"]
    # Until XGBoost 3.2 a dart model holds a tree model and the weights of its trees. In 3.3 it is
    # the tree model with weights beside it, from 3.4 on with weights in it.
    trees = ensemble["gbtree"] if ensemble["name"] == "dart" else ensemble
    weights = ensemble.pop("weight_drop", None) or trees["model"].pop("weight_drop", None)
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
    learner["feature_names"] = []
    # XGBoost writes no thresholds of columns of bool.
    learner["feature_types"] = [
        "float" if kind == "i" else kind for kind in learner["feature_types"]
    ]
    return xgboost.Booster(model_file=bytearray(json.dumps(content), "ascii"))
