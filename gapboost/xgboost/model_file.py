"""Attributes that gapboost adds to XGBoost's model files, and the loading of such a file."""

from collections.abc import Callable
from typing import Any

import xgboost

from gapboost._boosters.model_file import read_objective, words
from gapboost._boosters.result import TrainingResult
from gapboost.objectives import Objective
from gapboost.xgboost.inputs import drop_rounds_after_best

# The attribute of a booster, and of its files, that says what it was trained for.
TRAINED_FOR = "gapboost_objective"

# The one that says which value of a feature is missing, which XGBoost's files leave out.
MISSING = "gapboost_missing"

# What `fit` left in a ranker, which a loaded model replaces.
LEARNED = ("_Booster", "evals_result_", "_result")


def inscribe(booster: xgboost.Booster, objective: Objective, missing: Any) -> None:
    """Write into a booster what it was trained for, and which value is missing."""
    booster.set_attr(**{TRAINED_FOR: words(objective), MISSING: _as_text(missing)})


def load_into(ranker: Any, load_model: Callable[[Any], None], fname: Any) -> None:
    """Load a model by XGBoost's own `load_model`; after an error the ranker is unchanged."""
    objective, requested, before = (
        ranker.objective,
        ranker._requested_objective(draws=False),
        dict(vars(ranker)),
    )
    # XGBoost would load into the booster that is there, and copies of this ranker may share it.
    for name in LEARNED:
        vars(ranker).pop(name, None)
    try:
        load_model(fname)
        ranker.objective = objective  # XGBoost takes it from the file
        booster = ranker._Booster = drop_rounds_after_best(ranker.get_booster())
        text = booster.attr(TRAINED_FOR)
        trained_for = requested if text is None else read_objective(text, requested)
        ranker._result = TrainingResult(
            trained_for, feature_names=tuple(booster.feature_names or ())
        )
        missing, own = booster.attr(MISSING), _as_text(ranker.missing)
        if missing not in (None, own):
            raise ValueError(
                f"missing is {own}, but the model was trained with {missing}; expected the same"
            )
    except BaseException:
        ranker.__dict__ = before
        raise


def _as_text(missing: Any) -> str:
    return repr(float("nan" if missing is None else missing))
