"""Callbacks for `lightgbm.train` and `lightgbm.LGBMRanker`."""

import weakref
from typing import Any, Self

import lightgbm
import numpy as np

from gapboost._boosters.callbacks import Gradients, Metrics
from gapboost._boosters.eval_metric import Value, values_of_round
from gapboost._boosters.measure_arguments import as_data_set_metrics, as_gradients
from gapboost._boosters.parameters import OwnParameters, check_parameters
from gapboost._boosters.rows import RankingRows
from gapboost._boosters.states import Content
from gapboost._boosters.stopping import in_stopping_order
from gapboost._boosters.training import Training
from gapboost._kernels import Array
from gapboost.lightgbm.library import LIBRARY
from gapboost.lightgbm.parameter_table import BESIDE_OBJECTIVE
from gapboost.measures import Measure
from gapboost.objectives import Objective


def objective(
    measure: str | Measure | Objective = "gap", *, g: Any = None, n_jobs: int | None = None
) -> "LightGBMObjective":
    """Return an objective for ``lightgbm.train`` and ``LGBMRanker(objective=...)``.

    Parameters
    ----------
    measure : str, Measure or Objective, default="gap"
        Measure to train for by LambdaRank, or an objective.
    g : sequence of float, optional
        Threshold probabilities for a named graded measure; None is uniform over the grades of the
        training labels.
    n_jobs : int, optional
        Threads for the gradients.

    Notes
    -----
    For cross-validation pass ``folds=GroupKFold(...)`` to `lightgbm.cv`. Its default folds cut
    queries, which is an error. Set ``metric="None"``:
    `LGBMRanker` adds ``ndcg`` otherwise, which limits labels and list lengths and takes part in
    early stopping. The weight of a query multiplies its gradients.

    Parameters of LightGBM's own objectives would be ignored: `lambdarank_truncation_level`,
    `lambdarank_norm` and `sigmoid` are errors in the first round.

    If the training set has positions, ``lightgbm.Dataset(position=...)``, their additive factors
    are learned along with the trees. As in LightGBM's own objectives, `learning_rate` and
    `lambdarank_position_bias_regularization` apply. `position_bias` returns the factors. LightGBM's
    data set keeps no names of positions, and its validation sets need none.

    Examples
    --------
    >>> import lightgbm, numpy as np
    >>> from gapboost.datasets import load_digits_ranking
    >>> from gapboost.lightgbm import objective
    >>> train = load_digits_ranking((60, 20, 40), 20).train
    >>> sizes = np.unique(train.qid, return_counts=True)[1]
    >>> data = lightgbm.Dataset(train.X, train.y, group=sizes)
    >>> settings = {"objective": objective("gap"), "verbose": -1, "num_threads": 1}
    >>> lightgbm.train(settings, data, num_boost_round=5).num_trees()
    5
    """
    return LightGBMObjective(as_gradients(measure, g), n_jobs)


def eval_metric(
    measure: Any = "gap", *, g: Any = None, n_jobs: int | None = None
) -> "LightGBMMetric":
    """Return a metric for ``lightgbm.train(feval=...)`` and ``LGBMRanker.fit(eval_metric=...)``.

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
    With several measures, any of them can stop LightGBM's training early. Name the one that decides
    first, and pass ``lightgbm.early_stopping(..., first_metric_only=True)``. `LGBMGAPRanker` does
    this by default.

    Examples
    --------
    >>> import lightgbm, numpy as np
    >>> from gapboost.datasets import load_digits_ranking
    >>> from gapboost.lightgbm import eval_metric, objective
    >>> train, vali, _ = load_digits_ranking((60, 20, 40), 20)
    >>> sizes = [np.unique(part.qid, return_counts=True)[1] for part in (train, vali)]
    >>> data = lightgbm.Dataset(train.X, train.y, group=sizes[0])
    >>> other = lightgbm.Dataset(vali.X, vali.y, group=sizes[1])
    >>> settings = {"objective": objective("gap"), "verbose": -1, "num_threads": 1}
    >>> booster = lightgbm.train(
    ...     settings, data, num_boost_round=5, valid_sets=[other], feval=eval_metric("gap")
    ... )
    >>> list(booster.best_score["valid_0"])
    ['map-gap']
    """
    return LightGBMMetric(as_data_set_metrics(measure, g), n_jobs)


class LightGBMObjective(Gradients):
    """Take ``(preds, data)`` of `lightgbm.train`, or the arguments of `LGBMRanker`.

    The latter are ``(y_true, y_pred, weight, group)``.
    """

    library = LIBRARY

    # LGBMRanker chooses what it passes by the number of parameters: exactly four bring the groups.
    def __call__(
        self, y_true: Any, y_pred: Any, weight: Any = None, group: Any = None
    ) -> tuple[Array, Array]:
        """Gradient and hessian, float32 of shape (N,)."""
        position = None
        if isinstance(y_pred, lightgbm.Dataset):
            self._refuse_what_is_ignored(y_pred.params or {})
            position = _positions_of(y_pred)
        return self.gradients(*_passed(y_true, y_pred, weight, group), position)

    def _refuse_what_is_ignored(self, params: dict[str, Any]) -> None:
        """Refuse parameters that `lightgbm.train` ignores or misapplies with a Python objective."""
        ignored = {name: params[name] for name in BESIDE_OBJECTIVE.names if name in params}
        if ignored:
            own = OwnParameters("gap", None, self.objective, None, takes_objective="measure")
            check_parameters(
                BESIDE_OBJECTIVE, ignored, own, begins="params holds {}={}", takes=False
            )


class LightGBMMetric(Metrics):
    """Take ``(preds, data)`` of `lightgbm.train`, or the arguments of `LGBMRanker`.

    The latter are ``(y_true, y_pred, weight, group)``.
    """

    library = LIBRARY

    def __call__(
        self, y_true: Any, y_pred: Any, weight: Any = None, group: Any = None
    ) -> list[tuple[str, float, bool]]:
        """``[(name, value, True)]``: all measures are better when higher."""
        values = self.values(*_passed(y_true, y_pred, weight, group))
        return [(name, value, True) for name, value in values]


class LightGBMRound:
    """All metrics of a fit as `LGBMRanker` calls them.

    The one that stops training is first, then other measures, then functions. LightGBM's workers
    cannot be reached from Python: on a cluster, `Training.total` sums an array over them.
    """

    def __init__(self, training: Training) -> None:
        task, sets = training.task, training.evaluation_sets
        self.metric = LightGBMMetric(task.measures, task.request.n_jobs)
        self.total = training.total
        self.stopping = task.stopping
        self.functions = task.request.functions
        # LightGBM scores the training set first. It scores a set that is listed twice once.
        self.expected = sorted(
            {id(e): e for e in sets}.values(), key=lambda e: e is not training.rows
        )
        self.rows: dict[int, RankingRows] = {}

    # LightGBM copies its callables, and calls the copies.
    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __call__(self, y_true: Any, y_pred: Any, weight: Any, group: Any) -> list[Value]:
        """``[(name, value, is_higher_better)]``."""
        # LightGBM passes the same array of labels for an evaluation set in every round, and the
        # sets in the same order.
        if id(y_true) not in self.rows:
            self.rows[id(y_true)] = self.expected.pop(0)
        rows = self.rows[id(y_true)]
        measured = self.metric.means(self.metric.measures, rows.data, y_pred, self.total)
        values = values_of_round(measured, self.functions, rows, y_pred)
        return in_stopping_order(values, self.stopping, first=True)


def _positions_of(data: lightgbm.Dataset) -> Array | None:
    """Return LightGBM's number of the position of each row, from the whole set for a subset."""
    if data.used_indices is None or data.reference is None:
        positions: Array | None = data.get_position()
        return positions
    whole = _positions_of(data.reference)
    return None if whole is None else whole[np.asarray(data.used_indices)]


# Subsets that were found to hold whole queries: their rows never change.
WHOLE: weakref.WeakSet[lightgbm.Dataset] = weakref.WeakSet()


def _refuse_cut_queries(data: lightgbm.Dataset) -> None:
    """Check folds of `lightgbm.cv`, which deals out rows with an objective not its own."""
    if data.used_indices is None or data.reference is None or data in WHOLE:
        return
    _refuse_cut_queries(data.reference)
    sizes = data.reference.get_group()
    if sizes is None:
        return  # no groups at all are refused with the labels
    query = np.repeat(np.arange(len(sizes)), sizes)
    taken = np.bincount(query[np.asarray(data.used_indices)], minlength=len(sizes))
    n_cut = int(((taken > 0) & (taken < sizes)).sum())
    if n_cut:
        raise ValueError(
            f"the data set is a subset that holds {n_cut} queries in part; expected whole queries: "
            "lightgbm.cv with folds=sklearn.model_selection.GroupKFold(...)"
        )
    WHOLE.add(data)


def _passed(y_true: Any, y_pred: Any, weight: Any, group: Any) -> tuple[Array, Any, Content]:
    """Scores, the data set and its content from either way of calling."""
    if isinstance(y_pred, lightgbm.Dataset):
        _refuse_cut_queries(y_pred)
        return y_true, y_pred, (y_pred.get_label(), y_pred.get_group(), y_pred.get_weight(), None)
    # The data set is not passed, but it keeps its array of labels and passes that.
    return y_pred, y_true, (y_true, group, weight, None)
