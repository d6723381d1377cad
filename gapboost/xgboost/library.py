"""XGBoost as a `Library` for the code that both boosters share."""

import re
from collections.abc import Mapping
from typing import Any

import xgboost

from gapboost._boosters.library import BoosterTerms, GradientScale, InitialModel, Library
from gapboost._kernels.parallel.openmp import openmp_team
from gapboost.objectives import Objective


def _scale(objective: Objective, mean_size: float) -> GradientScale:
    """Halved gradients; objectives in units of rows bound their hessians themselves.

    A pair moves two documents, and only twice the diagonal of its second derivatives bounds them.
    XGBoost's own ranking objectives double the hessian for that, and its default learning rate of
    0.3 overshoots without. Halving the gradient takes the same step and leaves the hessians, which
    `min_child_weight` and `reg_lambda` are compared with, as they are.
    """
    return GradientScale() if objective.in_units_of_rows else GradientScale(grad=0.5)


def _beginning(booster: xgboost.Booster) -> InitialModel:
    # The defaults of trees and of linear models differ, and parameters have aliases: the
    # configuration tells what counts.
    rate = re.search(r'"learning_rate":\s*"([^"]+)"', booster.save_config())
    assert rate is not None, "XGBoost's configuration has no learning_rate"
    return InitialModel(float(rate[1]), booster.num_boosted_rounds())


def _best_round(booster: xgboost.Booster) -> int:
    best = booster.attr("best_iteration")
    return 0 if best is None else int(best) + 1


def _least_hessian(parameters: Mapping[str, Any]) -> float:
    return (
        0.0
        if parameters.get("booster") == "gblinear"
        else float(parameters.get("min_child_weight", 1.0))
    )


LIBRARY = Library(
    booster=xgboost.Booster,
    team=openmp_team(getattr(xgboost.core, "_LIB", None)),
    terms=BoosterTerms(
        "base_margin", "sample_weight_eval_set", "base_margin_eval_set", "xgb_model"
    ),
    scale=_scale,
    beginning=_beginning,
    rounds=xgboost.Booster.num_boosted_rounds,
    best_round=_best_round,
    least_hessian=_least_hessian,
    inherits=False,
    metric_by_query=True,
)
