"""LightGBM as a `Library` for the code that both boosters share."""

from collections.abc import Mapping
from typing import Any

import lightgbm

from gapboost._boosters.library import BoosterTerms, GradientScale, InitialModel, Library
from gapboost._boosters.positions import REGULARIZATION
from gapboost._kernels.parallel.openmp import openmp_team
from gapboost.objectives import Objective

# In LightGBM's order of precedence: the name itself, then the shortest alias.
LEARNING_RATE_NAMES = ("learning_rate", "eta", "shrinkage_rate")

DEFAULT_LEARNING_RATE = 0.1


def _scale(objective: Objective, mean_size: float) -> GradientScale:
    """The mean length of a query, for objectives in which a whole query weighs about 1.

    The gradients of a document are small then. LightGBM's penalties for categories (`cat_smooth`,
    `cat_l2`) are absolute numbers made for hessians of about 1 a row: without the factor they hold
    every split by category back. For splits by number the factor cancels out.
    """
    scale = 1.0 if objective.in_units_of_rows else mean_size
    return GradientScale(scale, scale)


def _beginning(booster: lightgbm.Booster) -> InitialModel:
    given = (booster.params.get(name) for name in LEARNING_RATE_NAMES)
    rate = next((rate for rate in given if rate is not None), None)
    penalty = booster.params.get(REGULARIZATION) or 0.0
    return InitialModel(
        DEFAULT_LEARNING_RATE if rate is None else float(rate),
        booster.current_iteration(),
        float(penalty),
    )


def _best_round(booster: lightgbm.Booster) -> int:
    return max(int(booster.best_iteration), 0)


def _least_hessian(parameters: Mapping[str, Any]) -> float:
    return float(parameters["min_child_weight"])


LIBRARY = Library(
    booster=lightgbm.Booster,
    team=openmp_team(getattr(lightgbm.basic, "_LIB", None)),
    terms=BoosterTerms("init_score", "eval_sample_weight", "eval_init_score", "init_model"),
    scale=_scale,
    beginning=_beginning,
    rounds=lightgbm.Booster.current_iteration,
    best_round=_best_round,
    least_hessian=_least_hessian,
    inherits=True,
)
