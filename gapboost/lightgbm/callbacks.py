"""LightGBM's training and its callbacks: objective, metrics, progress, and those of the ranker."""

import math
from collections.abc import Callable, Sequence
from copy import copy
from functools import partial
from typing import Any

import lightgbm
import numpy as np

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
from gapboost._boosters.migration import note_names, refuse_foreign, replaced
from gapboost._boosters.ranker import Plan
from gapboost.data import Array, ArrayLike, DataSummary, RankingDataset
from gapboost.lightgbm._compat import (
    TEAM,
    EarlyStopping,
    LightGBMError,
    as_feval,
    explain_categories,
    value_of,
)
from gapboost.lightgbm.migration import OF_OBJECTIVES
from gapboost.lightgbm.models import check_categories
from gapboost.measures import Measure, Measures
from gapboost.objectives import Objective
from gapboost.optional import tqdm
from gapboost.validation import as_integer, short_repr


def booster_scale(objective: Objective, training: DataSummary) -> tuple[float, float]:
    """Return factors on gradients and hessians: the mean length of a query, where it weighs 1.

    The gradients of a document are small then. LightGBM's penalties for categories (`cat_smooth`,
    `cat_l2`) are absolute numbers made for hessians of about 1 a row: without the factor they hold
    every split by category back. For splits by number the factor cancels out. The step of the
    objective multiplies the gradients alone.
    """
    scale = 1.0 if objective.scales_with_list_size else training.n_rows / training.n_queries
    return scale * objective.step_for(training.n_rows), scale


def objective(
    measure: str | Measure | Objective = "gap",
    *,
    g: ArrayLike | None = None,
    n_jobs: int | None = None,
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
    `LGBMRanker` adds ``ndcg`` otherwise, which takes part in early stopping. The weight of a query
    multiplies its gradients.

    Parameters of LightGBM's own objectives would be ignored: they are an error in the first round.
    So are positions of the data set: only `LGBMGAPRanker` learns their factors.

    With early stopping, LightGBM counts rounds. A round that finds no split adds no tree, so that
    ``best_iteration`` can be too large; `LGBMGAPRanker` counts trees. Such a round corrupts a dart
    model.

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
    return LightGBMObjective(native_objective(measure, g), n_jobs)


def eval_metric(
    measure: Measures = "gap", *, g: ArrayLike | None = None, n_jobs: int | None = None
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
    ['gap']
    """
    return LightGBMMetric(native_measures(measure, g), n_jobs)


class LightGBMObjective(ObjectiveCallback[Gradients]):
    """Take ``(preds, data)`` of `lightgbm.train`, or the arguments of `LGBMRanker`.

    The latter are ``(y_true, y_pred, weight, group)``.
    """

    # LGBMRanker chooses what it passes by the number of parameters: exactly four bring the groups.
    def __call__(
        self, y_true: Array, y_pred: Array, weight: Array | None = None, group: Any = None
    ) -> tuple[Array, Array]:
        """Gradient and hessian, float32 of shape (N,)."""
        if isinstance(y_pred, lightgbm.Dataset):
            return self._state_of(y_pred, partial(_trained_on, y_pred), self._gradients)(y_true)
        _check_caller(y_pred, group, "objective")
        # The data set is not passed, but it keeps its array of labels and passes that.
        return self._state_of(y_true, lambda: (y_true, group, weight), self._gradients)(y_pred)

    def _gradients(self, label: Array, sizes: Array, weight: Array | None) -> Gradients:
        data = query_data_of(label, sizes, weight, [self.objective.measure])
        data.summary.check_mixed_grades("label")
        objective = self.objective.resolved(data.occurring)
        return Gradients(objective, data, booster_scale(objective, data.summary), self.n_jobs, TEAM)


class LightGBMMetric(MetricCallback[Metrics]):
    """Take the same arguments as `LightGBMObjective`."""

    def __call__(
        self, y_true: Array, y_pred: Array, weight: Array | None = None, group: Any = None
    ) -> list[tuple[str, float, bool]]:
        """``[(name, value, True)]``: all measures are better when higher."""
        if isinstance(y_pred, lightgbm.Dataset):
            metrics = self._state_of(y_pred, partial(_content_of, y_pred), self._metrics)
            return [(*value, True) for value in metrics(y_true)]
        _check_caller(y_pred, group, "eval_metric")
        metrics = self._state_of(y_true, lambda: (y_true, group, weight), self._metrics)
        return [(*value, True) for value in metrics(y_pred)]

    def _metrics(self, label: Array, sizes: Array, weight: Array | None) -> Metrics:
        data = query_data_of(label, sizes, weight, self.measures)
        resolved = [measure.resolved(data.occurring) for measure in self.measures]
        return Metrics(resolved, self.names, data, self.n_jobs, TEAM)


def _check_caller(y_pred: object, group: object, name: str) -> None:
    """Raise TypeError for the arguments of XGBoost: a matrix, or one query without sizes."""
    is_array = isinstance(y_pred, np.ndarray)
    if not is_array or group is None:
        found = "scores without query groups" if is_array else f"a {type(y_pred).__name__}"
        raise TypeError(
            f"gapboost.lightgbm.{name} got {found}; expected a call by lightgbm.train or by "
            f"LGBMRanker (xgboost.train takes gapboost.xgboost.{name}; for XGBRanker there is "
            "XGBGAPRanker)"
        )


def _content_of(data: lightgbm.Dataset) -> Content:
    _refuse_cut_queries(data)
    return data.get_label(), data.get_group(), data.get_weight()


def _trained_on(data: lightgbm.Dataset) -> Content:
    """Return the content of a training set; raise ValueError for what training would ignore."""
    given = data.params or {}
    # LightGBM's own metric has gains too.
    own = {"label_gain": None} if "ndcg" in str(value_of("metric", given)) else {}
    refuse_foreign(replaced({**given, **own}, OF_OBJECTIVES))
    # LightGBM leaves positions out of subsets.
    whole = data if data.used_indices is None else data.reference
    if whole.get_position() is not None:
        raise ValueError(
            "the data set has positions, which the native objective does not use; expected none, "
            "or LGBMGAPRanker.fit(position=...)"
        )
    return _content_of(data)


def _refuse_cut_queries(data: lightgbm.Dataset) -> None:
    """Check folds of `lightgbm.cv`, which deals out rows with an objective not its own."""
    sizes = None if data.used_indices is None else data.reference.get_group()
    if sizes is None:
        return  # no groups at all are refused with the labels
    queries = np.repeat(np.arange(len(sizes)), sizes)[np.asarray(data.used_indices)]
    taken = np.bincount(queries, minlength=len(sizes))
    if ((taken > 0) & (taken < sizes)).any():
        raise ValueError(
            "the data set is a subset that holds some queries in part; expected whole queries: "
            "lightgbm.cv with folds=sklearn.model_selection.GroupKFold(...)"
        )


def train_booster(
    parameters: dict[str, object],
    train: lightgbm.Dataset,
    gradients: Gradients,
    n_rounds: int | None,
    callbacks: Sequence[Callable[..., object]],
    **data: Any,
) -> lightgbm.Booster:
    """Call `lightgbm.train` with these gradients of `train`; the first metric stops training.

    `data` are its arguments `valid_sets`, `valid_names`, `feval` and `init_model`.
    """
    if data.get("init_model"):
        check_categories(train.data, data["init_model"])
    objective = LightGBMObjective(gradients.objective, None)
    objective.bind(train, gradients)
    parameters["objective"] = objective
    if n_rounds is None and value_of("num_iterations", parameters) is None:
        as_integer(n_rounds, "n_estimators", 0)  # None is XGBoost's default
    if parameters.get("first_metric_only") is not False:
        parameters["first_metric_only"] = True
        callbacks = [copy(one) if isinstance(one, EarlyStopping) else one for one in callbacks]
        for callback in callbacks:
            if isinstance(callback, EarlyStopping):
                callback.first_metric_only = True
    try:
        return lightgbm.train(
            parameters,
            train,
            n_rounds,
            callbacks=callbacks,
            keep_training_booster=True,  # its text is read once, by `with_objective_name`
            **data,
        )
    except (KeyError, ValueError) as error:
        explain_categories(error, "X of an evaluation set")
        for callback in callbacks:
            if isinstance(callback, TreeCounter) and callback.counts:
                sets, names = ({r[i]: None for r in callback.newest} for i in (0, 1))
                note_names(error, sets, [*names])
        raise
    except LightGBMError as error:
        # So LightGBM says it, where an objective is a function.
        if "num_features()" in str(error):
            raise ValueError(
                f"X has no feature that can split its {train.num_data()} rows; expected columns "
                "that vary, and a min_child_samples of at most half of the rows"
            ) from error
        raise


def metrics_of(plan: Plan, valid: list[lightgbm.Dataset], sets: list[RankingDataset]) -> list[Any]:
    """Return the metrics of a fit as `lightgbm.train` takes them; the first stops training."""
    metric = LightGBMMetric(plan.measures, plan.n_jobs)
    for data_set, data in zip(valid, sets, strict=True):
        means = Metrics(plan.measures, metric.names, data.query_data, plan.n_jobs, TEAM)
        metric.bind(data_set, means)
    functions = [_checked_metric(as_feval(f), metric.names) for f in plan.functions]
    return [*functions, metric] if plan.stopping in plan.functions else [metric, *functions]


def _checked_metric(function: Callable[..., Any], names: Sequence[str]) -> Callable[..., object]:
    """Return a function of LightGBM's metrics that raises for what is no result of one.

    `names` are those of the measures in the report.
    """

    def checked(scores: object, data: object) -> object:
        found = function(scores, data)
        for one in found if isinstance(found, list) else [found]:
            if not isinstance(one, tuple | list) or len(one) != 3:
                raise TypeError(
                    f"a function of eval_metric returned {short_repr(one)}; expected (name, value, "
                    "is_higher_better), or a list of them"
                )
            if one[0] in names:
                raise ValueError(
                    f"eval_metric holds a function that reports {one[0]!r}, as a measure does; "
                    "expected another name"
                )
        return found

    return checked


class TreeCounter:
    """Count the trees after each round: one that finds no split adds none.

    LightGBM counts such rounds in its best iteration. A dart model has lost the trees that the
    round dropped. `newest` has the results of the round, for the error of a callback that comes
    after it.
    """

    before_iteration = False

    def __init__(self) -> None:
        self.order = -math.inf  # before all others, which may stop or raise
        self.counts: list[int] = []
        self.newest: Sequence[Any] = ()  # results of the round

    def __call__(self, env: lightgbm.callback.CallbackEnv) -> None:
        """Called by LightGBM after each round."""
        self.counts.append(env.model.current_iteration())
        self.newest = env.evaluation_result_list or ()
        stuck = len(self.counts) > 1 and self.counts[-1] == self.counts[-2]
        if stuck and value_of("boosting", env.params) == "dart":
            raise ValueError(
                f"boosting_type is 'dart', and round {len(self.counts)} found no split, after "
                "which LightGBM's model is wrong; expected fewer rounds, gbdt, or parameters that "
                "let every round find a split"
            )

    def set_best_trees(
        self, booster: lightgbm.Booster, before: lightgbm.Booster | None
    ) -> int | None:
        """Count the best iteration in trees, and return its round; None without early stopping.

        `before` is the model whose training went on.
        """
        if booster.best_iteration <= 0:
            return None
        best_round: int = booster.best_iteration - (before.current_iteration() if before else 0)
        booster.best_iteration = self.counts[best_round - 1]
        return best_round


def progress() -> Callable[[lightgbm.callback.CallbackEnv], None]:
    """Return a callback that shows a bar over the rounds, with the newest values (needs tqdm).

    For ``callbacks=[...]`` of `LGBMGAPRanker.fit`, `lightgbm.LGBMRanker.fit`, `lightgbm.train` and
    `lightgbm.cv`.

    Raises
    ------
    ImportError
        If tqdm is missing.

    Examples
    --------
    >>> from gapboost.lightgbm import LGBMGAPRanker, progress
    >>> callbacks = [progress()]  # for LGBMGAPRanker().fit(..., callbacks=callbacks)
    """
    kind = tqdm()
    bars: list[Any] = []

    def show(env: lightgbm.callback.CallbackEnv) -> None:
        if env.iteration == env.begin_iteration:
            bars[:] = [kind(total=env.end_iteration - env.begin_iteration, unit="round")]
        # (data set, name, value, whether higher is better, in cross-validation the deviation)
        results = env.evaluation_result_list or []
        values = {f"{data} {name}": f"{value:.4g}" for data, name, value, *_ in results}
        bars[0].set_postfix(values, refresh=False)
        bars[0].update()
        if env.iteration + 1 == env.end_iteration:
            bars[0].close()

    # Early stopping, at 30, skips in the last round the callbacks that follow it.
    show.order = 25  # type: ignore[attr-defined]
    return show
