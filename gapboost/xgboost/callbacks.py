"""Callbacks for `xgboost.train`."""

from typing import Any

import numpy as np
import xgboost
from xgboost import collective

from gapboost._boosters.callbacks import Content, Gradients, Metrics, as_gradients, as_metrics
from gapboost._boosters.positions import checked_penalty
from gapboost._data.grades import MAX_GRADE
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

    Examples
    --------
    >>> import xgboost
    >>> from gapboost.datasets import load_digits_ranking
    >>> from gapboost.xgboost import objective
    >>> train = load_digits_ranking((60, 20, 40), 20).train
    >>> data = xgboost.DMatrix(train.X, train.y, qid=train.qid)
    >>> settings = {"base_score": 0.0, "disable_default_eval_metric": 1}
    >>> xgboost.train(settings, data, num_boost_round=5, obj=objective("gap")).num_boosted_rounds()
    5
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

    Notes
    -----
    XGBoost's early stopping goes by the last of several measures on the last evaluation set: name the one that decides last.
    `XGBGAPRanker` does so of itself.

    Examples
    --------
    >>> import xgboost
    >>> from gapboost.datasets import load_digits_ranking
    >>> from gapboost.xgboost import eval_metric, objective
    >>> train = load_digits_ranking((60, 20, 40), 20).train
    >>> data, log = xgboost.DMatrix(train.X, train.y, qid=train.qid), {}
    >>> booster = xgboost.train(
    ...     {"base_score": 0.0, "disable_default_eval_metric": 1},
    ...     data,
    ...     num_boost_round=5,
    ...     obj=objective("gap"),
    ...     custom_metric=eval_metric("gap"),
    ...     evals=[(data, "train")],
    ...     evals_result=log,
    ...     verbose_eval=False,
    ... )
    >>> list(log["train"])
    ['map-gap']
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
        scores, owner, (label, sizes, weight, occurring) = passed(preds, dmatrix)
        weight = weight if self.weight is None else np.asarray(self.weight)
        return self.gradients(scores, owner, (label, sizes, weight, occurring), self.position)


class XGBoostMetric(Metrics):
    """Called by `xgboost.train` as ``(preds, dmatrix)``.

    Where XGBoost's workers talk to each other, on Dask, Spark, Ray or anywhere else, every worker has the mean over the
    queries of all of them; each has to call the metric, one without rows too.
    """

    library = LIBRARY

    def __call__(self, preds: Array, dmatrix: xgboost.DMatrix) -> list[tuple[str, float]]:
        """``[(name, value)]``."""
        scores, owner, content = passed(preds, dmatrix)
        return self.values(scores, owner, content, None if content[3] is None else sum_over_workers)


def passed(preds: Array, dmatrix: xgboost.DMatrix) -> tuple[Array, xgboost.DMatrix, Content]:
    """Scores, the data set and its content."""
    label, weight = dmatrix.get_label(), dmatrix.get_weight()
    sizes = np.diff(dmatrix.get_uint_info("group_ptr").astype(np.int64))
    occurring = _occurring(label) if collective.get_world_size() > 1 else None
    return preds, dmatrix, (label, sizes, weight if len(weight) else None, occurring)


def sum_over_workers(values: Array) -> Array:
    """Sums of a float64 array over the workers of XGBoost's communicator, of its shape; the same for each of them."""
    sums: Array = collective.allreduce(np.ascontiguousarray(values), collective.Op.SUM)
    return sums.reshape(values.shape)


def _occurring(label: Array) -> Array:
    """The grades that occur in the labels of all workers, ascending; what is no grade is refused where it is read.

    Of fractional grades, which are many: the highest of them and the highest of all, from which g is made.

    It is asked in every round and not once a data set: what one worker remembers another may have to build anew, and would wait
    for ever.
    """
    grades = label[(label >= 0) & (label <= MAX_GRADE)].astype(np.float64)
    whole = grades == np.floor(grades)
    counts = np.zeros(MAX_GRADE + 2)
    counts[grades[whole].astype(np.int64)] = 1.0
    counts[-1] = np.count_nonzero(~whole)
    counts = sum_over_workers(counts)
    if not counts[-1]:
        return np.flatnonzero(counts)
    highest = np.array([grades[~whole].max(initial=0.0), grades.max(initial=0.0)])
    return np.unique(collective.allreduce(highest, collective.Op.MAX))
