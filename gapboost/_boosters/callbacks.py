"""Gradients and metrics as callbacks of both boosters.

They read labels, group sizes and weights from the booster's data set.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Generic, Self

import numpy as np

from gapboost._boosters.callers import booster_in_training
from gapboost._boosters.library import Library
from gapboost._boosters.positions import PositionPass, Trainings
from gapboost._boosters.states import Content, PerDataSet, State, WorkerShare
from gapboost._data.grades import graded
from gapboost._data.judged import Judged, Whole, judged
from gapboost._data.positions import positions
from gapboost._kernels import Array
from gapboost._kernels.parallel.chunks import working_on
from gapboost.evaluation import mean, query_values
from gapboost.measures import Measure
from gapboost.measures.measure import grade_limit
from gapboost.objectives import Objective, Pass

# XGBoost guesses the direction of a metric from its name and minimizes every other one. The names
# are the same for both boosters.
MAXIMIZED_PREFIXES = ("auc", "pre", "map", "ndcg")

# Sums of an array over the workers of a cluster.
Total = Callable[[Array], Array]


def is_maximized(name: str) -> bool:
    """True if the name of a metric tells XGBoost's early stopping that higher is better."""
    return name.startswith(MAXIMIZED_PREFIXES) and name != "mape"


def metric_names(measures: Sequence[Measure]) -> list[str]:
    """Names under which boosters report measures: short, without blanks or colons, and distinct.

    A cut-off follows an ``@``; measures that would share a name have their labels. XGBoost's early
    stopping decides by the beginning of a name whether to minimize. Names that it would minimize
    get the prefix ``map-``.
    """
    short = [measure.short_name + (f"@{measure.k}" if measure.k else "") for measure in measures]
    names = [
        measure.label if short.count(name) > 1 else name
        for name, measure in zip(short, measures, strict=True)
    ]
    return [name if name.startswith(MAXIMIZED_PREFIXES) else f"map-{name}" for name in names]


class Callback(Generic[State]):
    """State that gradients and metrics share.

    It remembers its data sets, survives deep copies, and pickles without them.
    """

    library: ClassVar[Library]

    def __init__(self, n_jobs: int | None) -> None:
        self.n_jobs = n_jobs
        self.state = PerDataSet(self.build)

    def build(
        self, label: Array, sizes: Array, weight: Array | None, workers: WorkerShare | None
    ) -> State:
        """Compute the state of one data set that stays the same in all iterations."""
        raise NotImplementedError

    # LightGBM copies its callables six times in a fit and calls the copies: they must share what
    # they know.
    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "state"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self.state = PerDataSet(self.build)


def from_groups(
    label: Array,
    sizes: Array,
    weight: Array | None,
    measures: Sequence[Measure],
    part: bool = False,
) -> Judged:
    """Return a booster's labels, group sizes and weights as judged queries, checked.

    All weights of a worker's `part` may be 0.

    Raises
    ------
    ValueError
        If the data set has no groups, or its labels are not grades that the measures know.
    """
    if sizes is None or len(sizes) == 0:
        raise ValueError(
            "the data set has no query groups; expected group sizes or qid to be set on it"
        )
    qid = np.repeat(np.arange(len(sizes)), np.asarray(sizes, dtype=np.int64))
    names = ("label", "group", "weight")
    if part and weight is not None and not weight.any():
        data = judged(label, qid, limit=grade_limit(measures), names=names, real=True)
        return replace(data, weights=np.zeros(len(data.queries)))
    return judged(
        label, qid, sample_weight=weight, limit=grade_limit(measures), names=names, real=True
    )


class Gradients(Callback[Pass]):
    """Gradients of an objective for a booster: float32, and checked.

    Parameters
    ----------
    objective : Objective
    n_jobs : int, optional
    penalty : float, optional
        Penalty on factors of positions. None takes the booster's parameter.
    """

    def __init__(
        self, objective: Objective, n_jobs: int | None, penalty: float | None = None
    ) -> None:
        super().__init__(n_jobs)
        self.objective = objective
        self.penalty = penalty
        self.trainings = Trainings()

    def __repr__(self) -> str:
        return f"objective({self.objective!r})"

    def build(
        self, label: Array, sizes: Array, weight: Array | None, workers: WorkerShare | None
    ) -> Pass:
        """Return the objective, prepared for one data set.

        Data that cannot teach an order are refused, unless those of other workers may.
        """
        if workers is None:
            data = from_groups(label, sizes, weight, [self.objective.measure])
            data.summary.check_contrasts("label")
            return self.library.scaled(self.objective.resolved(data.occurring), data, self.n_jobs)
        workers.summary.check_contrasts("label")
        objective = self.objective.resolved(workers.summary.occurring)
        data = from_groups(label, sizes, weight, [objective.measure], part=True)
        begins = data.queries.offsets[:-1] + workers.earlier
        data = replace(data, whole=Whole(begins, workers.summary))
        return self.library.scaled(objective, data, self.n_jobs)

    def gradients(
        self, scores: Array, owner: Any, content: Content, position: Any = None
    ) -> tuple[Array, Array]:
        """Return gradient and hessian of the data set `owner`, shown at `position`, at `scores`."""
        if not len(content[0]) and content[3] is not None:
            # A worker without rows.
            return np.empty(0, dtype=np.float32), np.empty(0, dtype=np.float32)
        with working_on(self.library.team):
            prepared = self.state(owner, content)
            return gradients_at(
                prepared if position is None else self.biased(prepared, content, position), scores
            )

    def biased(self, prepared: Pass, content: Content, position: Any) -> PositionPass:
        """Return the pass of the training that makes this call."""
        booster = booster_in_training(self.library.booster)
        if booster not in self.trainings:
            label, sizes, *_ = content
            shown = positions(position, len(label), rows_of="label")
            scale = self.library.scale(self.objective, len(label) / len(sizes))
            beginning = self.library.beginning(booster)
            self.trainings[booster] = PositionPass(
                prepared, shown, scale, lambda: beginning, self.penalty
            )
        return self.trainings[booster]

    def position_bias(self, booster: Any) -> Array:
        """Return the factors of positions that `booster` was trained with, as added to scores.

        Parameters
        ----------
        booster : Booster
            As ``train`` returned it.

        Returns
        -------
        float64 ndarray of shape (P,)
            Factors in the order in which positions first occur in the rows; after early stopping
            those of the best iteration. Only their differences matter.

        Raises
        ------
        ValueError
            If this objective did not train `booster` with positions.
        """
        if booster not in self.trainings:
            raise ValueError(
                "booster was not trained by this objective with positions; expected one that was"
            )
        return self.trainings[booster].factors(self.library.best_round(booster))


def gradients_at(prepared: Pass, scores: Array) -> tuple[Array, Array]:
    """Gradient and hessian at finite `scores`, float32: both boosters take it without a copy."""
    check_scores(scores)
    grad = np.empty(len(scores), dtype=np.float32)
    hess = np.empty(len(scores), dtype=np.float32)
    prepared(np.ascontiguousarray(scores), grad, hess)
    return grad, hess


class Metrics(Callback[tuple[Judged, list[Measure]]]):
    """Means of measures over the queries of a booster's data set.

    Parameters
    ----------
    measures : sequence of Measure
    n_jobs : int, optional
    """

    def __init__(self, measures: Sequence[Measure], n_jobs: int | None) -> None:
        super().__init__(n_jobs)
        self.measures = tuple(measures)

    def __repr__(self) -> str:
        return f"eval_metric({list(self.measures)!r})"

    def build(
        self, label: Array, sizes: Array, weight: Array | None, workers: WorkerShare | None
    ) -> tuple[Judged, list[Measure]]:
        """Return judged data, and the measures with the g of the whole data set."""
        measures = self.measures
        if workers is not None:
            occurring = graded(workers.summary.occurring)
            measures = tuple(m.resolved(occurring) for m in measures)
        data = from_groups(label, sizes, weight, measures, part=workers is not None)
        return data, [measure.resolved(data.graded) for measure in measures]

    def values(
        self, scores: Array, owner: Any, content: Content, total: Total | None = None
    ) -> list[tuple[str, float]]:
        """Return ``[(name, mean over queries)]`` of the data set `owner`, as `gapboost.evaluate`.

        Where it is one worker's part, `total` sums an array over the workers: means of the parts
        would weigh a query by its worker.
        """
        check_scores(scores)
        if len(content[0]) or content[3] is None:
            data, resolved = self.state(owner, content)
            return self.means(resolved, data, scores, total)
        nothing = [np.empty(0)] * len(self.measures)  # a worker without rows
        return self._named(_means(nothing, np.empty(0), total))

    def means(
        self, measures: Sequence[Measure], data: Judged, scores: Array, total: Total | None
    ) -> list[tuple[str, float]]:
        """Return what `values` does, for `measures` with g resolved and judged data."""
        check_scores(scores)
        with working_on(self.library.team):
            values = query_values(measures, data, np.ascontiguousarray(scores), n_jobs=self.n_jobs)
        return self._named(_means(values, data.weights, total))

    def _named(self, means: list[float]) -> list[tuple[str, float]]:
        return list(zip(metric_names(self.measures), means, strict=True))


def _means(values: Sequence[Array], weights: Array, total: Total | None) -> list[float]:
    if total is None:
        return [mean(v, weights) for v in values]
    sums = total(np.array([[v @ weights, weights.sum()] for v in values]))
    means: list[float] = (sums[:, 0] / sums[:, 1]).tolist()
    return means


def check_scores(scores: Array) -> None:
    """Raise for several scores a row, and for scores that would train a constant model."""
    if scores.ndim != 1:
        raise ValueError(
            f"the booster has {scores.shape[1]} scores a row; expected one score a row: leave out "
            "num_class and num_target"
        )
    finite = np.isfinite(scores)
    if not finite.all():
        raise ValueError(
            f"the scores hold {int((~finite).sum())} NaN or infinite values; expected finite ones: "
            "lower learning_rate, or raise reg_lambda or min_child_weight"
        )
