"""Callbacks for `xgboost.train`."""

import re
from typing import Any

import numpy as np
import xgboost

from gapboost._boosters.functions import Content, Gradients, Metrics, as_gradients, as_metrics
from gapboost._boosters.positions import Beginning, Units, checked_penalty
from gapboost._data.queries import Array, Judged
from gapboost._kernels.parallel.chunks import working_on
from gapboost._kernels.parallel.openmp import openmp_team
from gapboost.measures import Measure
from gapboost.objectives import Objective, Pass

# What a saved model says it was trained with: XGBRanker().load_model() takes it, and predictions are raw scores.
SAVED_AS = "rank:ndcg"

# The threads that XGBoost computes on.
TEAM = openmp_team(getattr(xgboost.core, "_LIB", None))


def objective(
    measure: str | Measure | Objective = "gap",
    *,
    g: Any = None,
    n_jobs: int | None = None,
    position: Any = None,
    lambdarank_position_bias_regularization: float = 0.0,
) -> "XGBoostObjective":
    """An objective for ``xgboost.train(..., obj=...)``.

    Parameters
    ----------
    measure : str, Measure or Objective, default="gap"
        Trained for by LambdaRank; an objective value trains its own way.
    g : sequence of float, optional
        Threshold probabilities for a named graded measure; None is uniform over the grades of the training labels.
    n_jobs : int, optional
        Threads for the gradients.
    position : array-like of shape (N,), optional
        Where each document of the training set was shown, in the order of its rows, which XGBoost's data set has no place for:
        additive factors of positions are then learnt beside the trees, as in `XGBGAPRanker.fit`. `position_bias` of the
        objective tells them.
    lambdarank_position_bias_regularization : float, default=0.0
        Penalty on their squares, as in LightGBM.

    Notes
    -----
    Set ``{"base_score": 0.0, "disable_default_eval_metric": 1}`` beside it: XGBoost shifts all scores by 0.5 and reports
    rmse otherwise. The weight of a query multiplies its gradients. Those of `LambdaRank` are halved, which makes the steps
    as long as those of XGBoost's own ranking objectives.
    """
    penalty = checked_penalty(lambdarank_position_bias_regularization, position)
    return XGBoostObjective(as_gradients(measure, g), n_jobs, position, penalty)


def eval_metric(measure: Any = "gap", *, g: Any = None, n_jobs: int | None = None) -> "XGBoostMetric":
    """A metric for ``xgboost.train(custom_metric=...)``; early stopping maximises it without being told.

    Parameters
    ----------
    measure : str, Measure or list of them, default="gap"
    g : sequence of float, optional
        Threshold probabilities for a named graded measure; None is uniform over the grades of each data set.
    n_jobs : int, optional
        Threads.

    Notes
    -----
    XGBoost's early stopping goes by the last of several measures on the last evaluation set: name the one that decides last.
    `XGBGAPRanker` does so of itself.
    """
    return XGBoostMetric(as_metrics(measure, g), n_jobs)


class XGBoostObjective(Gradients):
    """Called by `xgboost.train` as ``(preds, dmatrix)``."""

    booster = xgboost.Booster

    def __init__(self, objective: Objective, n_jobs: int | None, position: Any = None, penalty: float = 0.0) -> None:
        super().__init__(objective, n_jobs)
        self.position = position
        self.penalty = penalty

    def __call__(self, preds: Array, dmatrix: xgboost.DMatrix) -> tuple[Array, Array]:
        """Gradient and hessian, float32 of shape (N,)."""
        with working_on(TEAM):
            return self.gradients(*passed(preds, dmatrix), self.position)

    def suited(self, how: Objective, data: Judged) -> Pass:
        """See `HalfSteps`."""
        return half_steps(how, data, self.n_jobs)

    def units(self, mean_size: float) -> Units:
        """See `Gradients`."""
        return units(self.objective)

    def beginning(self, booster: xgboost.Booster) -> Beginning:
        """See `Gradients`."""
        return beginning(booster, self.penalty)

    def best(self, booster: xgboost.Booster) -> int:
        """See `Gradients`."""
        return best(booster)


class XGBoostMetric(Metrics):
    """Called by `xgboost.train` as ``(preds, dmatrix)``."""

    def __call__(self, preds: Array, dmatrix: xgboost.DMatrix) -> list[tuple[str, float]]:
        """``[(name, value)]``."""
        with working_on(TEAM):
            return self.values(*passed(preds, dmatrix))


class HalfSteps(Pass):
    """Halves the gradients of another pass.

    A pair moves two documents, and only twice the diagonal of its second derivatives bounds them. XGBoost's own ranking
    objectives double the hessian for that, and its default learning rate of 0.3 overshoots without. Halving the gradient
    takes the same step and leaves the hessians, which `min_child_weight` and `reg_lambda` are compared with, as they are.
    """

    def __init__(self, whole: Pass) -> None:
        self.whole = whole

    def __call__(self, scores: Array, grad: Array, hess: Array) -> None:
        """See `Pass`."""
        self.whole(scores, grad, hess)
        grad *= 0.5


def half_steps(how: Objective, data: Judged, n_jobs: int | None) -> Pass:
    """`how` on the data, in XGBoost's own steps; objectives in units of rows bound their hessians themselves."""
    prepared = how.prepared(data, n_jobs)
    return prepared if how.in_units_of_rows else HalfSteps(prepared)


def units(how: Objective) -> Units:
    """Of what `half_steps` makes."""
    return Units() if how.in_units_of_rows else Units(grad=0.5)


def beginning(booster: xgboost.Booster, penalty: float) -> Beginning:
    """What a training began with, in the first round of it."""
    # The defaults of trees and of linear models differ, and parameters have aliases: the configuration tells what counts.
    rate = re.search(r'"learning_rate":\s*"([^"]+)"', booster.save_config())
    assert rate is not None, "XGBoost's configuration has no learning_rate"
    return Beginning(float(rate[1]), penalty, booster.num_boosted_rounds())


def best(booster: xgboost.Booster) -> int:
    """Rounds of the best model by early stopping, 0 without it."""
    found = booster.attr("best_iteration")
    return 0 if found is None else int(found) + 1


def to_continue(model: Any) -> xgboost.Booster | None:
    """A copy of a model, or of its file, that has forgotten where it was stopped: else new trees would never predict.

    XGBoost predicts by the best iteration that a booster names, and keeps the old one where the new training does not stop early.
    """
    if model is None:
        return None
    booster = model.copy() if isinstance(model, xgboost.Booster) else xgboost.Booster(model_file=model)
    booster.set_attr(best_iteration=None, best_score=None)
    return booster


def passed(preds: Array, dmatrix: xgboost.DMatrix) -> tuple[Array, xgboost.DMatrix, Content]:
    """Scores, the data set and its content."""
    weight = dmatrix.get_weight()
    sizes = np.diff(dmatrix.get_uint_info("group_ptr").astype(np.int64))
    return preds, dmatrix, (dmatrix.get_label(), sizes, weight if len(weight) else None)
