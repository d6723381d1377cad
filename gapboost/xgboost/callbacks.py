"""Callbacks for `xgboost.train`."""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import xgboost
from xgboost import collective

from gapboost._boosters.callbacks import MAXIMIZED_PREFIXES, Gradients, Metrics, is_maximized
from gapboost._boosters.eval_metric import values_of_round
from gapboost._boosters.measure_arguments import as_data_set_metrics, as_gradients
from gapboost._boosters.positions import checked_penalty
from gapboost._boosters.states import Content, WorkerShare
from gapboost._boosters.stopping import in_stopping_order
from gapboost._boosters.training import Training
from gapboost._data.grades import MAX_GRADE, occurring_grades
from gapboost._data.queries import Queries
from gapboost._data.summary import DataSummary
from gapboost._data.weights import check_total_weight, weights_of_rows
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
    position : array-like of shape (N,), optional
        Position at which each document of the training set was shown, in the order of its rows:
        XGBoost's data set cannot hold positions. Additive factors of positions are then learned
        along with the trees, as in `XGBGAPRanker.fit`. `position_bias` returns them.
    lambdarank_position_bias_regularization : float, default=0.0
        Penalty on their squares, as in LightGBM.

    Notes
    -----
    Set ``{"base_score": 0.0, "disable_default_eval_metric": 1}`` too. Otherwise XGBoost shifts all
    scores by 0.5 and reports rmse. The weight of a query multiplies its gradients. Gradients of
    `LambdaRank` are halved, so that steps are as long as in XGBoost's own ranking objectives.

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


def eval_metric(
    measure: Any = "gap", *, g: Any = None, n_jobs: int | None = None
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

    Notes
    -----
    XGBoost's early stopping uses the last of several measures on the last evaluation set. Name the
    one that decides last. `XGBGAPRanker` does this by default.

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
    return XGBoostMetric(as_data_set_metrics(measure, g), n_jobs)


class XGBoostObjective(Gradients):
    """Return gradients for ``(preds, dmatrix)`` of `xgboost.train`."""

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
        scores, owner, content = passed(preds, dmatrix, self.weight)
        if self.position is not None and content[3] is not None:
            raise ValueError(
                "position is given where several workers train; expected None: factors of "
                "positions would be those of each worker's own rows. DaskXGBGAPRanker and "
                "SparkXGBGAPRanker learn those of all"
            )
        return self.gradients(scores, owner, content, self.position)


class XGBoostMetric(Metrics):
    """Return metrics for ``(preds, dmatrix)`` of `xgboost.train`.

    If XGBoost's workers communicate, on Dask, Spark, Ray or elsewhere, every worker gets the mean
    over the queries of all workers. Each has to call the metric, also one without rows.
    """

    library = LIBRARY

    def __call__(self, preds: Array, dmatrix: xgboost.DMatrix) -> list[tuple[str, float]]:
        """``[(name, value)]``."""
        scores, owner, content = passed(preds, dmatrix)
        return self.values(scores, owner, content, None if content[3] is None else sum_over_workers)


class XGBoostRound:
    """All metrics of a fit as `xgboost.train` calls them; the last one stops training.

    Parameters
    ----------
    training : Training
    matrices : list of DMatrix
        Its evaluation sets.
    """

    def __init__(self, training: Training, matrices: Sequence[xgboost.DMatrix]) -> None:
        task, sets = training.task, training.evaluation_sets
        measures = [*task.extra_metrics, task.objective.measure]
        self.metric = XGBoostMetric(measures, task.request.n_jobs)
        self.functions = task.request.functions
        self.stopping = task.stopping
        self.rows = {id(matrix): rows for matrix, rows in zip(matrices, sets, strict=True)}

    def __call__(self, preds: Array, dmatrix: xgboost.DMatrix) -> list[tuple[str, float]]:
        """``[(name, value)]``."""
        rows = self.rows[id(dmatrix)]
        total = sum_over_workers if collective.get_world_size() > 1 else None
        measured = self.metric.means(self.metric.measures, rows.data, preds, total)
        values = values_of_round(measured, self.functions, rows, preds)
        named = [
            (_name_by_direction(name, higher), value, higher) for name, value, higher in values
        ]
        return [
            (name, value) for name, value, _ in in_stopping_order(named, self.stopping, first=False)
        ]


def _name_by_direction(name: str, is_higher_better: bool) -> str:
    """Return a name from which XGBoost's early stopping reads the direction of a metric."""
    if re.search(r"[\s:]", name):
        raise ValueError(
            f"eval_metric reports {name!r}; expected a name without blanks and colons, where "
            "XGBoost cuts it"
        )
    maximized = is_maximized(name)
    if maximized and not is_higher_better:
        raise ValueError(
            f"eval_metric reports {name!r} as better when lower; expected another name: XGBoost "
            f"maximizes metrics whose names begin with {', '.join(MAXIMIZED_PREFIXES)}"
        )
    return name if maximized == is_higher_better else f"map-{name}"


def passed(
    preds: Array, dmatrix: xgboost.DMatrix, weight: Any = None
) -> tuple[Array, xgboost.DMatrix, Content]:
    """Return scores, the data set and its content, with other weights if they are given."""
    label = dmatrix.get_label()
    weight = dmatrix.get_weight() if weight is None else np.asarray(weight)
    sizes = np.diff(dmatrix.get_uint_info("group_ptr").astype(np.int64))
    weight = weight if len(weight) else None
    workers = _worker_share(label, sizes, weight) if collective.get_world_size() > 1 else None
    return preds, dmatrix, (label, sizes, weight, workers)


def sum_over_workers(values: Array) -> Array:
    """Return sums of a float64 array over the workers of XGBoost's communicator.

    They are the same for each worker.
    """
    sums: Array = collective.allreduce(np.ascontiguousarray(values), collective.Op.SUM)
    return sums.reshape(values.shape)


def _worker_share(label: Array, sizes: Array, weight: Array | None) -> WorkerShare:
    """Summarize the rows of all workers, and count the rows of workers with lower ranks.

    Labels that are no grades are skipped here; `from_groups` refuses them. The result is not
    cached: a worker that had to compute it again would wait forever for those that still have it.
    """
    grades = label[(label >= 0) & (label <= MAX_GRADE)].astype(np.float64)
    whole = grades == np.floor(grades)
    counts = np.bincount(grades[whole].astype(np.int64), minlength=MAX_GRADE + 1)
    rank, n_workers = collective.get_rank(), collective.get_world_size()
    weights = _by_query(weight, sizes)
    begins = (np.cumsum(sizes) - sizes)[sizes > 0]
    lowest, highest = (
        f.reduceat(label, begins) if len(begins) else label[:0] for f in (np.minimum, np.maximum)
    )
    totals = [
        np.count_nonzero(~whole),
        len(sizes),
        weights @ sizes,
        weights.sum(),
        np.count_nonzero(lowest != highest),
    ]
    sums = sum_over_workers(
        np.concatenate([counts, totals, np.where(np.arange(n_workers) == rank, len(label), 0)])
    )
    counts, of_queries, rows = np.split(sums, [MAX_GRADE + 1, MAX_GRADE + 1 + len(totals)])
    n_fractional, n_queries, weighted_rows, total_weight, n_contrasts = of_queries
    if n_queries:
        check_total_weight(np.array([total_weight]), "weight")
    fraction, top = None, 0.0
    if n_fractional:
        highest_here = np.array([grades[~whole].max(initial=0.0), grades.max(initial=0.0)])
        fraction, top = collective.allreduce(highest_here, collective.Op.MAX)
    occurring = occurring_grades(np.flatnonzero(counts), fraction, top)
    summary = DataSummary(
        n_rows=int(rows.sum()),
        n_queries=int(n_queries),
        n_contrasts=int(n_contrasts),
        weighted_size=float(weighted_rows / total_weight) if n_queries else 0.0,
        grades=tuple(occurring.tolist()),
        n_grades=len(occurring),
    )
    return WorkerShare(summary, int(rows[:rank].sum()))


def _by_query(weight: Array | None, sizes: Array) -> Array:
    """Return weights of queries, float64 of shape (Q,), from those of queries or of rows."""
    if weight is None:
        return np.ones(len(sizes))
    if len(weight) == len(sizes):
        return weight.astype(np.float64)
    queries = Queries(np.arange(len(sizes)), np.append(0, np.cumsum(sizes)), None)
    return weights_of_rows(weight.astype(np.float64), queries).by_query
