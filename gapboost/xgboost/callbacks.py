"""Callbacks for `xgboost.train`."""

from typing import Any

import numpy as np
import xgboost

from gapboost._boosters.callbacks import Content, Gradients, Metrics, as_gradients, as_metrics
from gapboost._boosters.positions import checked_penalty
from gapboost._kernels import Array
from gapboost.measures import Measure
from gapboost.objectives import Objective
from gapboost.xgboost.library import LIBRARY


def objective(
    measure: str | Measure | Objective = "gap",
    *,
    g: Any = None,
    n_jobs: int | None = None,
    weight: Any = None,
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
    weight : array-like of shape (N,), optional
        Weights of the documents of the training set, in the order of its rows, in place of those of its data set, which has room
        for one a query.
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
    return XGBoostObjective(as_gradients(measure, g), n_jobs, position, penalty, weight)


def eval_metric(measure: Any = "gap", *, g: Any = None, n_jobs: int | None = None) -> "XGBoostMetric":
    """A metric for ``xgboost.train(custom_metric=...)``; early stopping maximises it without being told.

    Parameters
    ----------
    measure : str, Measure or list of them, default="gap"
    g : sequence of float, optional
        Threshold probabilities for a named graded measure; None is uniform over the grades of each data set.
    n_jobs : int, optional
        Threads.
    """
    return XGBoostMetric(as_metrics(measure, g), n_jobs)


class XGBoostObjective(Gradients):
    """Called by `xgboost.train` as ``(preds, dmatrix)``."""

    library = LIBRARY

    def __init__(
        self,
        objective: Objective,
        n_jobs: int | None,
        position: Any = None,
        penalty: float = 0.0,
        weight: Any = None,
    ) -> None:
        super().__init__(objective, n_jobs, penalty)
        self.position = position
        self.weight = weight

    def __call__(self, preds: Array, dmatrix: xgboost.DMatrix) -> tuple[Array, Array]:
        """Gradient and hessian, float32 of shape (N,)."""
        scores, owner, (label, sizes, weight) = passed(preds, dmatrix)
        weight = weight if self.weight is None else np.asarray(self.weight)
        return self.gradients(scores, owner, (label, sizes, weight), self.position)


class XGBoostMetric(Metrics):
    """Called by `xgboost.train` as ``(preds, dmatrix)``."""

    library = LIBRARY

    def __call__(self, preds: Array, dmatrix: xgboost.DMatrix) -> list[tuple[str, float]]:
        """``[(name, value)]``."""
        return self.values(*passed(preds, dmatrix))


def passed(preds: Array, dmatrix: xgboost.DMatrix) -> tuple[Array, xgboost.DMatrix, Content]:
    """Scores, the data set and its content."""
    weight = dmatrix.get_weight()
    sizes = np.diff(dmatrix.get_uint_info("group_ptr").astype(np.int64))
    return preds, dmatrix, (dmatrix.get_label(), sizes, weight if len(weight) else None)
