"""Models and objectives as XGBoost takes them."""

import json
from typing import Any

import xgboost

from gapboost._boosters.model_file import read_objective
from gapboost._boosters.plan import ranking_objective
from gapboost.objectives import Objective

# What a saved model says it was trained with: XGBRanker().load_model() takes it, and predictions
# are raw scores.
SAVED_AS = "rank:ndcg"


# Attributes of a booster, and of its files: what it was trained for, and which value of a feature
# is missing, which XGBoost's files leave out.
TRAINED_FOR, MISSING = "gapboost_objective", "gapboost_missing"


def to_continue(model: Any) -> xgboost.Booster | None:
    """Return a copy of a model, or of its file, without its best iteration.

    Otherwise new trees would never predict.

    XGBoost predicts by the best iteration that a booster names, and keeps the old one where the new
    training does not stop early.
    """
    if model is None:
        return None
    model = model.get_booster() if isinstance(model, xgboost.XGBModel) else model
    booster = (
        model.copy() if isinstance(model, xgboost.Booster) else xgboost.Booster(model_file=model)
    )
    booster.set_attr(best_iteration=None, best_score=None)
    return booster


def drop_rounds_after_best(booster: xgboost.Booster) -> xgboost.Booster:
    """Return the booster without the rounds that early stopping trained after the best one.

    XGBRanker predicts by the best rounds only. A booster, most exporters and `inplace_predict` use
    every round. A gblinear model has no rounds to drop: every reader uses all of it.
    """
    best = booster.attr("best_iteration")
    rounds = 0 if best is None else int(best) + 1
    if best is None or rounds >= booster.num_boosted_rounds() or kind_of(booster) == "gblinear":
        return booster
    shortened = booster[:rounds]
    _copy_categories(booster, shortened)
    shortened.set_attr(best_iteration=best, best_score=booster.attr("best_score"))
    return shortened


def kind_of(booster: xgboost.Booster) -> str:
    """Return XGBoost's parameter `booster` of a model: "gbtree", "dart" or "gblinear"."""
    return str(json.loads(booster.save_config())["learner"]["gradient_booster"]["name"])


def _copy_categories(booster: xgboost.Booster, shortened: xgboost.Booster) -> None:
    """Give a slice the categories of data frames, which XGBoost 3.1 and later lose in it.

    Without them, a frame that lists its categories in another order would get other scores.
    """
    categories = _trees(json.loads(booster.save_raw("json"))).get("cats")
    if not categories or not categories["enc"]:
        return
    content = json.loads(shortened.save_raw("json"))
    _trees(content)["cats"] = categories
    config = shortened.save_config()
    shortened.load_model(bytearray(json.dumps(content).encode()))
    shortened.load_config(config)


def _trees(content: dict[str, Any]) -> dict[str, Any]:
    """Return the part of a saved model that holds the trees; that of "dart" is one level deeper."""
    saved = content["learner"]["gradient_booster"]
    model: dict[str, Any] = saved.get("gbtree", saved)["model"]
    return model


def missing_text(missing: Any) -> str:
    """Return the missing value of a ranker as its files keep it."""
    return repr(float("nan" if missing is None else missing))


def read_model(fname: Any, ranker: Any) -> tuple[xgboost.XGBRanker, Objective]:
    """Return the ranker in a file, without rounds after the best one, and its objective.

    Raises
    ------
    ValueError
        If `missing` of the ranker that loads it, or its measure, is another one.
    """
    loaded = xgboost.XGBRanker(n_jobs=ranker.n_jobs)
    loaded.load_model(fname)
    booster = loaded._Booster = drop_rounds_after_best(loaded.get_booster())
    state = ranker.random_state if isinstance(ranker.random_state, int) else None
    objective, text = ranking_objective(ranker, state), booster.attr(TRAINED_FOR)
    if text is not None:
        objective = read_objective(text, objective)
    missing, own = booster.attr(MISSING), missing_text(ranker.missing)
    if missing not in (None, own):
        raise ValueError(
            f"missing is {own}, but the model was trained with {missing}; expected the same"
        )
    return loaded, objective
