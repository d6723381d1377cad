"""Callbacks for `xgboost.train`: objective and metrics."""

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from functools import cache, partial
from typing import Any

import numpy as np
import xgboost
from xgboost import collective
from xgboost.callback import EarlyStopping, TrainingCallback

from gapboost._boosters.callbacks import (
    Content,
    MetricCallback,
    Metrics,
    ObjectiveCallback,
    native_measures,
    native_objective,
    query_data_of,
)
from gapboost._boosters.gradients import Gradients
from gapboost._boosters.ranker import Plan
from gapboost.data import Array, ArrayLike, DataSummary, QueryData
from gapboost.data.grades import graded
from gapboost.measures import Measure, Measures
from gapboost.measures.base import QuadraticForm
from gapboost.objectives import LambdaRank, Objective
from gapboost.validation import warn
from gapboost.xgboost._compat import TEAM, as_metric
from gapboost.xgboost.models import trim_to_best_iteration

# XGBoost guesses the direction of a metric by the beginning of its name: it maximizes these, and
# minimizes every other metric.
MAXIMIZED_PREFIXES = ("auc", "pre", "map", "ndcg")


def booster_scale(objective: Objective, training: DataSummary) -> tuple[float, float]:
    """Return factors on gradients and hessians: halved gradients where a query weighs 1.

    A pair moves two documents, and only twice the diagonal of its second derivatives bounds them.
    XGBoost's own ranking objectives double the hessian for that, and its default learning rate of
    0.3 overshoots without. Halving the gradient takes the same step and leaves the hessians, which
    `min_child_weight` and `reg_lambda` are compared with, as they are. Objectives in units of rows
    bound their hessians themselves. The step of the objective multiplies the gradients too.
    """
    scale = 1.0 if objective.scales_with_list_size else 0.5
    return scale * objective.step_for(training.n_rows), 1.0


def objective(
    measure: str | Measure | Objective = "gap",
    *,
    g: ArrayLike | None = None,
    n_jobs: int | None = None,
    weight: ArrayLike | None = None,
    device: str | None = None,
) -> "XGBoostObjective":
    """Return an objective for ``xgboost.train(..., obj=...)``.

    Parameters
    ----------
    measure : str, Measure or Objective, default="gap"
        Measure to train for by LambdaRank, or an objective.
    g : sequence of float, optional
        Threshold probabilities for a named graded measure; None is uniform over the grades of the
        training labels.
    n_jobs : int, optional
        Threads for the gradients.
    weight : array-like of shape (N,), optional
        Weights of the documents of the training set, in the order of its rows. They replace the
        weights of its data set, which holds only one for each query.
    device : str, optional
        "cuda" computes on the GPU what has kernels there (`gapboost[cuda]`).

    Notes
    -----
    Set ``{"objective": "rank:ndcg", "base_score": 0.0, "disable_default_eval_metric": 1}`` too. The
    first only says that hessians vary: without it, ``tree_method="approx"`` ignores them in its
    histograms. Without the others XGBoost shifts all scores by 0.5 and reports ndcg.

    The weight of a query multiplies its gradients. Gradients of `LambdaRank` are halved, so that
    steps are as long as in XGBoost's own ranking objectives. If XGBoost's workers communicate, on
    Dask, Spark, Ray or elsewhere, g is that of the grades of all workers.

    Examples
    --------
    >>> import xgboost
    >>> from gapboost.datasets import load_digits_ranking
    >>> from gapboost.xgboost import objective
    >>> train = load_digits_ranking((60, 20, 40), 20).train
    >>> data = xgboost.DMatrix(train.X, train.y, qid=train.qid)
    >>> settings = {"objective": "rank:ndcg", "base_score": 0, "disable_default_eval_metric": 1}
    >>> xgboost.train(settings, data, num_boost_round=5, obj=objective("gap")).num_boosted_rounds()
    5
    """
    found = XGBoostObjective(native_objective(measure, g), n_jobs, device)
    found.weight = weight
    return found


def eval_metric(
    measure: Measures = "gap",
    *,
    g: ArrayLike | None = None,
    n_jobs: int | None = None,
    device: str | None = None,
) -> "XGBoostMetric":
    """Return a metric for ``xgboost.train(custom_metric=...)``; early stopping maximizes it.

    Parameters
    ----------
    measure : str, Measure or list of them, default="gap"
    g : sequence of float, optional
        Threshold probabilities for a named graded measure; None is uniform over the grades of each
        data set.
    n_jobs : int, optional
        Threads.
    device : str, optional
        As in `objective`.

    Notes
    -----
    XGBoost's early stopping uses the last of several measures on the last evaluation set. Name the
    one that decides last, or pass an ``xgboost.callback.EarlyStopping`` with both names.
    XGBoost maximizes a metric only if its name begins with ``auc``, ``pre``, ``map`` or ``ndcg``.
    Other measures are reported with the prefix ``map-``.

    If XGBoost's workers communicate, every worker reports the means over the queries of all workers
    at g of all their grades. Each has to call the metric, also one without rows.

    Examples
    --------
    >>> import xgboost
    >>> from gapboost.datasets import load_digits_ranking
    >>> from gapboost.xgboost import eval_metric, objective
    >>> train = load_digits_ranking((60, 20, 40), 20).train
    >>> data, log = xgboost.DMatrix(train.X, train.y, qid=train.qid), {}
    >>> booster = xgboost.train(
    ...     {"objective": "rank:ndcg", "base_score": 0.0, "disable_default_eval_metric": 1},
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
    metric = XGBoostMetric(native_measures(measure, g), n_jobs, device)
    metric.names = [n if n.startswith(MAXIMIZED_PREFIXES) else f"map-{n}" for n in metric.names]
    return metric


class XGBoostObjective(ObjectiveCallback[Any]):
    """Return gradients for ``(preds, dmatrix)`` of `xgboost.train`."""

    # Weights of the documents, in place of those of the data set.
    weight: ArrayLike | None = None

    def __call__(self, preds: Array, dmatrix: xgboost.DMatrix) -> tuple[Any, Any]:
        """Gradient and hessian, float32 of shape (N,)."""
        _check_caller(dmatrix, "objective")
        read = partial(content_of, dmatrix, self.weight)
        gradients = self._state_of(dmatrix, read, self._gradients)
        if gradients is None:
            return np.empty(0, dtype=np.float32), np.empty(0, dtype=np.float32)
        grad, hess = gradients(preds)
        return grad, hess

    def _gradients(self, label: Array, sizes: Array, weight: Array | None) -> Any:
        """Return the gradients of a data set; None for a worker without rows."""
        data = _query_data(label, sizes, weight, [self.objective.measure])
        global_summary = summary_of_workers(data)
        global_summary.check_mixed_grades("label")
        if data is None:
            return None
        objective = self.objective.resolved(global_summary.occurring)
        scale = booster_scale(objective, global_summary)
        gradients = Gradients(
            objective, data, scale, self.n_jobs, TEAM, global_summary=global_summary
        )
        return gradients_on(self.device, gradients)


class XGBoostMetric(MetricCallback[Metrics | None]):
    """Return metrics for ``(preds, dmatrix)`` of `xgboost.train`."""

    def __call__(self, preds: Array, dmatrix: xgboost.DMatrix) -> list[tuple[str, float]]:
        """``[(name, value)]``."""
        _check_caller(dmatrix, "eval_metric")
        metrics = self._state_of(dmatrix, partial(content_of, dmatrix), self._metrics)
        if metrics is not None and collective.get_world_size() == 1:
            return metrics(preds)
        sums = np.zeros((len(self.measures), 2))
        if metrics is not None:
            weights = metrics.data.weights
            sums[:] = [[v @ weights, weights.sum()] for v in metrics.by_query(preds)]
        sums = collective.allreduce(sums, collective.Op.SUM).reshape(sums.shape)
        return list(zip(self.names, (sums[:, 0] / sums[:, 1]).tolist(), strict=True))

    def _metrics(self, label: Array, sizes: Array, weight: Array | None) -> Metrics | None:
        """Return the metrics of a data set; None for a worker without rows."""
        data = _query_data(label, sizes, weight, self.measures)
        occurring = graded(summary_of_workers(data).occurring)
        if data is None:
            return None
        return self.means([measure.resolved(occurring) for measure in self.measures], data)

    def means(self, resolved: Sequence[Measure], data: QueryData) -> Metrics:
        """Return the metrics of a data set for these measures, whose g is set."""
        cuda = _kernels_on(self.device, resolved)
        on_device = cuda.DeviceValues(resolved, data) if cuda else None
        return Metrics(resolved, self.names, data, self.n_jobs, TEAM, on_device)


def _check_caller(dmatrix: object, name: str) -> None:
    """Raise TypeError for the arguments of LightGBM and of XGBRanker, which passes scores."""
    if not isinstance(dmatrix, xgboost.DMatrix):
        raise TypeError(
            f"gapboost.xgboost.{name} got a {type(dmatrix).__name__}; expected a DMatrix by a call "
            f"of xgboost.train (lightgbm.train takes gapboost.lightgbm.{name}; for XGBRanker there "
            "is XGBGAPRanker)"
        )


def with_functions(
    metric: XGBoostMetric, functions: Sequence[Callable[..., object]], n_jobs: int | None
) -> Callable[..., list[tuple[str, float]]]:
    """Return the measures and functions of a fit as one metric of `xgboost.train`."""
    if not functions:
        return metric
    decorated = [as_metric(f, n_jobs) for f in functions]
    names = [*metric.names, *(function.__name__ for function in functions)]
    if len(set(names)) < len(names):
        raise ValueError(f"eval_metric reports {names}; expected different names")
    return lambda scores, matrix: [
        *metric(scores, matrix),
        *(function(scores, matrix) for function in decorated),
    ]


def _query_data(
    label: Array, sizes: Array, weight: Array | None, measures: Sequence[Measure]
) -> QueryData | None:
    """Return the queries of a data set; None for one of several workers if it has no rows."""
    several = collective.get_world_size() > 1
    if several and not len(label):
        return None
    return query_data_of(label, sizes, weight, measures, partial=several)


def content_of(dmatrix: xgboost.DMatrix, weight: ArrayLike | None = None) -> Content:
    """Return labels, group sizes, and weights, those of the data set if None are given."""
    weight = dmatrix.get_weight() if weight is None else np.asarray(weight)
    sizes = np.diff(dmatrix.get_uint_info("group_ptr").astype(np.int64))
    return dmatrix.get_label(), sizes, weight if len(weight) else None


def summary_of_workers(data: QueryData | None) -> DataSummary:
    """Return the summary of all workers' queries; each calls this once for each data set."""
    own = [] if data is None else [data.summary]
    found = [collective.broadcast(own, rank) for rank in range(collective.get_world_size())]
    parts = [summary for summaries in found for summary in summaries]
    return DataSummary.of_parts(parts, "weight")


def gradients_on(device: str | None, gradients: Gradients) -> Any:
    """Return `gradients`, or the same on the GPU if the device is one and has kernels for them."""
    objective = gradients.objective
    if type(objective) is not LambdaRank or gradients.position_factors is not None:
        return gradients
    cuda = _kernels_on(device, [objective.measure])
    return cuda.DeviceGradients(gradients) if cuda else gradients


def _kernels_on(device: str | None, measures: Sequence[Measure]) -> Any:
    """Return the module of kernels if the device is a GPU, and they compute all the measures."""
    if not str(device).startswith(("cuda", "gpu")):
        return None
    parts = [part for measure in measures for _, part in measure.terms]
    quadratic = all(isinstance(part, QuadraticForm) and part.trains for part in parts)
    one_label = all(part.label_column is None for part in parts)
    return _cuda() if quadratic and one_label else None


@cache
def _cuda() -> Any:
    """Return the module of kernels for a GPU; None, with a warning, if they cannot run."""
    try:
        from gapboost._kernels.cuda import is_available
        from gapboost.xgboost import cuda

        if is_available():
            return cuda
        reason = "numba-cuda finds no GPU"
    except ImportError as error:
        reason = str(error)
    warn(
        f"gradients and metrics are computed on the processor, since {reason}; expected "
        "pip install 'gapboost[cuda]' and a GPU, for gradients beside the trees",
    )
    return None


def training_callbacks(
    callbacks: Sequence[TrainingCallback] | None,
    rounds: int | None,
    plan: Plan,
    names: Sequence[str],
    held_out: Sequence[str] = (),
) -> list[TrainingCallback]:
    """Return the callbacks of a fit.

    Parameters
    ----------
    callbacks, rounds
        `callbacks` and `early_stopping_rounds` of the ranker.
    plan : Plan
        Resolved.
    names : sequence of str
        Names of its measures: higher is better.
    held_out : sequence of str
        Names of the evaluation sets besides training, the last of which stops training, unless a
        callback names another. Without any, XGBoost takes the last set.

    Notes
    -----
    The last one keeps the best rounds: what `xgboost.train` returns has no others, also for a
    tracker that logs its result.
    """
    by_function = plan.stopping in plan.functions
    stopping = plan.stopping.__name__ if by_function else names[0]
    own = [EarlyStopping(rounds=rounds)] if rounds else []  # 0 is off, as in XGBoost
    found: list[TrainingCallback] = []
    for callback in [*(callbacks or ()), *own]:
        if isinstance(callback, EarlyStopping):
            callback = copy(callback)
            # XGBoost compares with the values of an earlier training.
            callback.stopping_history, callback.best_scores = {}, {}
            callback.metric_name = callback.metric_name or stopping
            reported = [*names, *(function.__name__ for function in plan.functions)]
            if callback.metric_name not in reported:
                raise ValueError(
                    f"metric_name of EarlyStopping is {callback.metric_name!r}; expected one of "
                    f"{reported}, as metrics are reported"
                )
            callback.data = callback.data or (held_out[-1] if held_out else None)
            if callback.maximize is None and callback.metric_name in names:
                callback.maximize = True
        found.append(callback)
    return [*found, _BestRounds(plan.objective)]


class ExactValues(TrainingCallback):  # type: ignore[misc]
    """Replace the newest values in the log, of which XGBoost keeps six digits after the point."""

    def __init__(self, metrics: Mapping[str, Metrics]) -> None:
        self.metrics = metrics

    def after_iteration(self, model: xgboost.Booster, epoch: int, evals_log: Any) -> bool:
        """Called by XGBoost after each round, before early stopping."""
        for data_set, metrics in self.metrics.items():
            for name, value in metrics.newest:
                evals_log[data_set][name][-1] = value
        return False


class _BestRounds(TrainingCallback):  # type: ignore[misc]
    def __init__(self, objective: Objective) -> None:
        self.objective = objective

    def after_training(self, model: xgboost.Booster) -> xgboost.Booster:
        return trim_to_best_iteration(model, self.objective)
