"""Cross-validation over folds of whole queries."""

from dataclasses import replace
from typing import Any

import numpy as np
import xgboost

from gapboost._boosters.folds import Curve, Fold, cross_validated, cv_request, cv_task
from gapboost._boosters.positions import checked_penalty
from gapboost._data.positions import positions
from gapboost._kernels import Array
from gapboost.measures import Measure
from gapboost.objectives import Objective
from gapboost.xgboost.callbacks import XGBoostMetric, XGBoostObjective, passed
from gapboost.xgboost.inputs import SAVED_AS
from gapboost.xgboost.parameter_table import EVAL_METRIC, OBJECTIVE, XGBOOST, spelled

# `measure` is all that `cv` takes of its own, and metrics are an argument of it.
PARAMETER_TABLE = XGBOOST.with_rules(replace(OBJECTIVE, passed_on=lambda value: False), EVAL_METRIC)


def cv(
    params: dict[str, Any],
    dtrain: xgboost.DMatrix,
    num_boost_round: int = 100,
    *,
    measure: str | Measure | Objective = "gap",
    g: Any = None,
    eval_metric: Any = None,
    n_folds: int = 5,
    random_state: Any = None,
    n_jobs: int | None = None,
    position: Any = None,
    lambdarank_position_bias_regularization: float = 0.0,
) -> dict[Measure, Curve]:
    """Cross-validation over whole queries, with the same folds as `gapboost.lightgbm.cv`.

    Parameters
    ----------
    params : dict
        As for `xgboost.train`. Those of XGBoost's own objectives and metrics that mean the same
        here are taken, as in `XGBGAPRanker`.
    dtrain : DMatrix
        With groups or qid; not a `QuantileDMatrix`, which XGBoost cannot slice.
    num_boost_round, measure, g, eval_metric, n_folds, random_state, n_jobs
        As in `gapboost.lightgbm.cv`.
    position, lambdarank_position_bias_regularization
        As in `gapboost.xgboost.objective`; LightGBM's data set has positions itself.

    Returns
    -------
    dict {Measure: Curve}
        ``(mean, std)`` over the folds, each of shape (num_boost_round,).

    Raises
    ------
    ValueError
        If `params` hold an unknown name, or a parameter of XGBoost's own objectives and metrics
        that has no equal here, if the data have no groups, or if there are fewer queries than
        folds.
    TypeError
        If `dtrain` cannot be sliced.

    Examples
    --------
    >>> import xgboost
    >>> from gapboost.datasets import load_digits_ranking
    >>> from gapboost.xgboost import cv
    >>> train = load_digits_ranking((60, 20, 40), 20).train
    >>> data = xgboost.DMatrix(train.X, train.y, qid=train.qid)
    >>> results = cv({"base_score": 0.0}, data, num_boost_round=5, n_folds=3)
    >>> {str(measure): len(curve.mean) for measure, curve in results.items()}
    {'GAP(g=(0.5, 0.5))': 5}
    """
    request = cv_request(params, PARAMETER_TABLE, measure, g, spelled(eval_metric), num_boost_round)
    if not isinstance(dtrain, xgboost.DMatrix):
        raise TypeError(f"dtrain is a {type(dtrain).__name__}; expected a DMatrix")
    if isinstance(dtrain, xgboost.QuantileDMatrix):
        raise TypeError(
            "dtrain is a QuantileDMatrix, which XGBoost cannot slice; expected a DMatrix"
        )
    _, _, (label, sizes, weight, _) = passed(np.empty(0), dtrain)
    task, data = cv_task(request, label, sizes, weight)
    metric = XGBoostMetric(task.measures, n_jobs)
    penalty = checked_penalty(lambdarank_position_bias_regularization, position)
    place = (
        None
        if position is None
        else positions(position, data.queries.n_rows, rows_of="label").codes
    )

    def part(fold: Fold) -> xgboost.DMatrix:
        rows, queries = fold
        # Slicing forgets the groups and keeps the weights of all of them.
        sliced = dtrain.slice(rows, allow_groups=True)
        sliced.set_group(data.queries.sizes[queries])
        if weight is not None:
            sliced.set_weight(weight[queries])
        return sliced

    def train_fold(train: Fold, test: Fold) -> list[list[float]]:
        history = []

        def custom_metric(preds: Array, held_out: xgboost.DMatrix) -> list[Any]:
            history.append([value for _, value in metric(preds, held_out)])
            return []

        xgboost.train(
            {
                "base_score": 0.0,
                **request.parameters,
                "objective": SAVED_AS,
                "disable_default_eval_metric": 1,
            },
            part(train),
            num_boost_round,
            evals=[(part(test), "held_out")],
            obj=XGBoostObjective(
                task.objective, n_jobs, None if place is None else place[train[0]], penalty
            ),
            custom_metric=custom_metric,
            verbose_eval=False,
        )
        return history

    return cross_validated(train_fold, data, task.measures, n_folds, random_state)
