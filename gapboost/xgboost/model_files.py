"""Models of XGBoost and their files: the rounds that predict, and the objective as text."""

import json
from dataclasses import fields
from typing import Any

import xgboost

from gapboost.measures import as_measure
from gapboost.objectives import OBJECTIVES_BY_NAME, Objective

# Attributes of a booster, and of its files: what it was trained for, and which value of a feature
# is missing, which XGBoost's files leave out.
TRAINED_FOR, MISSING = "gapboost_objective", "gapboost_missing"


def up_to_best_round(booster: xgboost.Booster, kind: str | None) -> xgboost.Booster:
    """Return a booster without the rounds that early stopping trained after the best one.

    XGBRanker predicts by the best rounds only; a booster, and many readers of its files, use every
    round. `kind` is XGBoost's parameter `booster`: a gblinear has no rounds to drop. XGBoost 3.1
    and later lose the categories of data frames in a slice: a model with some keeps its rounds.
    """
    best = booster.attr("best_iteration")
    if best is None or kind == "gblinear" or not booster.get_categories().empty():
        return booster
    shortened = booster[: int(best) + 1]
    shortened.set_attr(best_iteration=best, best_score=booster.attr("best_score"))
    return shortened


def to_continue(model: Any) -> xgboost.Booster:
    """Return a copy of a model, or of its file, without its best iteration.

    XGBoost predicts by the best iteration that a booster names, and keeps the old one where the new
    training does not stop early: new trees would never predict.
    """
    model = model.get_booster() if isinstance(model, xgboost.XGBModel) else model
    is_file = not isinstance(model, xgboost.Booster)
    booster = xgboost.Booster(model_file=model) if is_file else model.copy()
    booster.set_attr(best_iteration=None, best_score=None)
    return booster


def inscribe(booster: xgboost.Booster, objective: Objective, missing: Any) -> None:
    """Write what a booster was trained for into it."""
    attributes = {TRAINED_FOR: _text(objective), MISSING: _missing_text(missing)}
    booster.set_attr(**attributes)


def read_objective(booster: xgboost.Booster, requested: Objective, missing: Any) -> Objective:
    """Return the objective that a booster was trained for.

    Parameters
    ----------
    booster : Booster
    requested : Objective
        Taken if the booster says none; also if its text is the same, or would be with the g of the
        booster: measures and objectives of a user's own cannot be made from a text.
    missing : float
        The value that is missing for the ranker.

    Raises
    ------
    ValueError
        If the objective or the missing value is another one.
    """
    trained_with = booster.attr(MISSING)
    if trained_with not in (None, _missing_text(missing)):
        raise ValueError(
            f"missing is {missing}, but the model was trained with {trained_with}; expected the "
            "same"
        )
    text = booster.attr(TRAINED_FOR)
    if text is None:
        return requested
    found = json.loads(text)
    kinds = {kind.__name__: kind for kind in OBJECTIVES_BY_NAME.values()}
    try:
        kind: Any = kinds[found["objective"]]
        objective: Objective = kind(as_measure(found["measure"]), **found["options"])
    except (KeyError, TypeError, ValueError):
        objective = requested
    if _text(objective) != text:
        raise ValueError(
            f"the model was trained by {found['objective']} for {found['measure']}, but the ranker "
            f"has {requested!r}; expected the measure and objective of the model: the file holds "
            "only their text, as they are not gapboost's own"
        )
    return objective


def _text(objective: Objective) -> str:
    """Return the objective as one line of JSON."""
    options = {field.name: getattr(objective, field.name) for field in fields(objective)[1:]}
    written = {
        "objective": _named(objective, type(objective).__name__),
        "measure": _named(objective.measure, repr(objective.measure)),
        "options": options,
    }
    return json.dumps(written, default=repr)


def _named(value: Any, text: str) -> str:
    # Classes of a user's own can have the names of gapboost's.
    return text if type(value).__module__.startswith("gapboost.") else f"own {text}"


def _missing_text(missing: Any) -> str:
    return repr(float("nan" if missing is None else missing))
