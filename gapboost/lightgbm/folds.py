"""Cross-validation over folds of whole queries."""

from dataclasses import replace
from typing import Any

import lightgbm

from gapboost._boosters.folds import Curve, Fold, cross_validated, cv_request, cv_task
from gapboost._kernels import Array
from gapboost.lightgbm.callbacks import LightGBMMetric, LightGBMObjective
from gapboost.lightgbm.parameter_table import LIGHTGBM, OBJECTIVE
from gapboost.measures import Measure
from gapboost.objectives import Objective

# `measure` is all that `cv` takes of its own.
PARAMETER_TABLE = LIGHTGBM.with_rules(
    replace(OBJECTIVE, names=("objective", *OBJECTIVE.names), why="measure says what to train for")
)


def cv(
    params: dict[str, Any],
    train_set: lightgbm.Dataset,
    num_boost_round: int = 100,
    *,
    measure: str | Measure | Objective = "gap",
    g: Any = None,
    eval_metric: Any = None,
    n_folds: int = 5,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> dict[Measure, Curve]:
    """Cross-validate over folds of whole queries; `lightgbm.cv` would cut queries.

    Parameters
    ----------
    params : dict
        As for `lightgbm.train`. Those of LightGBM's own objective and metrics that mean the same
        here are taken, as in `LGBMGAPRanker`.
    train_set : Dataset
        With groups; weights are those of the queries.
    num_boost_round : int, default=100
    measure : str, Measure or Objective, default="gap"
        Trained for, and reported first.
    g : sequence of float, optional
        Threshold probabilities for a named graded measure; None is uniform over the grades of all
        labels.
    eval_metric : str, Measure or list of them, optional
        Reported beside it; callables are refused, since the results are curves of measures.
    n_folds : int, default=5
    random_state : int, RandomState or None
        None makes folds with about equal numbers of documents; anything else deals the queries out
        at random.
    n_jobs : int, optional
        Threads for gradients and measures.

    Returns
    -------
    dict {Measure: Curve}
        ``(mean, std)`` over the folds, each of shape (num_boost_round,).

    Raises
    ------
    ValueError
        If `params` hold an unknown name, or a parameter of LightGBM's own objectives and metrics
        that has no equal here, if the data have no groups, or if there are fewer queries than
        folds.

    Examples
    --------
    >>> import lightgbm, numpy as np
    >>> from gapboost.datasets import load_digits_ranking
    >>> from gapboost.lightgbm import cv
    >>> train = load_digits_ranking((60, 20, 40), 20).train
    >>> sizes = np.unique(train.qid, return_counts=True)[1]
    >>> data = lightgbm.Dataset(train.X, train.y, group=sizes)
    >>> results = cv({"verbose": -1, "num_threads": 1}, data, num_boost_round=5, n_folds=3)
    >>> {str(measure): len(curve.mean) for measure, curve in results.items()}
    {'GAP(g=(0.5, 0.5))': 5}
    """
    request = cv_request(params, PARAMETER_TABLE, measure, g, eval_metric, num_boost_round)
    if not isinstance(train_set, lightgbm.Dataset):
        raise TypeError(f"train_set is a {type(train_set).__name__}; expected a lightgbm.Dataset")
    # As lightgbm.cv does: the bins of all folds are those of the whole set, made with these
    # parameters.
    train_set._update_params(dict(request.parameters)).construct()
    task, data = cv_task(
        request, train_set.get_label(), train_set.get_group(), train_set.get_weight()
    )
    metric = LightGBMMetric(task.measures, n_jobs)

    def train_fold(train: Fold, test: Fold) -> list[list[float]]:
        history = []

        def feval(preds: Array, held_out: lightgbm.Dataset) -> list[Any]:
            history.append([value for _, value, _ in metric(preds, held_out)])
            return []

        lightgbm.train(
            {
                **request.parameters,
                "objective": LightGBMObjective(task.objective, n_jobs),
                "metric": "None",
            },
            train_set.subset(train[0]),
            num_boost_round,
            valid_sets=[train_set.subset(test[0])],
            feval=feval,
            keep_training_booster=True,
        )
        return history

    return cross_validated(train_fold, data, task.measures, n_folds, random_state)
