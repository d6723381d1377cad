"""Callbacks of both boosters with one state for each data set, and metrics with their names."""

import re
import weakref
from collections.abc import Callable, Sequence
from typing import Any, Generic, NamedTuple, Self, TypeVar, cast

import numpy as np

from gapboost._boosters.gradients import check_scores
from gapboost._kernels.threads import Team, working_on
from gapboost.data import Array, ArrayLike, QueryData, group_by_query
from gapboost.evaluation import QueryValues, mean
from gapboost.measures import Measure, as_measure, as_measures
from gapboost.measures.labels import grade_limit
from gapboost.objectives import LambdaRank, Objective
from gapboost.validation import check_distinct

State = TypeVar("State")

# Labels, group sizes and weights.
Content = tuple[Array, Array, Array | None]


class _Known(NamedTuple):
    """A data set and its state; `content` is what it held then, None if a ranker made it."""

    data_set: weakref.ref[object]
    content: Content | None
    state: object


class DataSetCallback(Generic[State]):
    """A callback with one state for each data set.

    A ranker binds its data sets to states before training. Any other data set gets a state when it
    is first seen, and again when its content changes. Data sets are referenced weakly, and states
    are left out of pickles. No lock is held while a state is built: threads that need it at the
    same time build equal states, and one is kept. `device` is XGBoost's name of a GPU.
    """

    def __init__(self, n_jobs: int | None, device: str | None = None) -> None:
        self.n_jobs = n_jobs
        self.device = device
        self._known: list[_Known] = []

    # LightGBM copies its callables six times in a fit, and calls the copies.
    def __deepcopy__(self, memo: dict[int, object]) -> Self:
        return self

    def __getstate__(self) -> dict[str, object]:
        return {**vars(self), "_known": []}

    def bind(self, data_set: object, state: State, content: Content | None = None) -> None:
        """Use `state` for a data set, as long as it holds `content`; always, if that is None."""
        others = [known for known in self._known if known.data_set() is not data_set]
        self._known = [*others, _Known(weakref.ref(data_set, self._forget), content, state)]

    def _forget(self, gone: object) -> None:
        self._known = [known for known in self._known if known.data_set is not gone]

    def _state_of(
        self, data_set: object, read: Callable[[], Content], build: Callable[..., State]
    ) -> State:
        """Return the state of a data set: ``build(*read())``, once for the same content."""
        found = None
        for known in self._known:  # each round: a generator costs two more calls
            if known.data_set() is data_set:
                found = known
        if found and found.content is None:
            return cast(State, found.state)
        content = read()
        if found and found.content and all(map(_same, found.content, content)):
            return cast(State, found.state)
        state = build(*content)
        # A copy of the labels: LGBMRanker passes its array of labels in place of a data set.
        label, sizes, weight = content
        self.bind(data_set, state, (np.array(label), sizes, weight))
        return state


class ObjectiveCallback(DataSetCallback[State]):
    """An objective."""

    def __init__(self, objective: Objective, n_jobs: int | None, device: str | None = None) -> None:
        super().__init__(n_jobs, device)
        self.objective = objective

    def __repr__(self) -> str:
        return f"objective({self.objective!r})"


class Metrics:
    """Means of measures over the queries of a data set: called with scores, in grouped order.

    Parameters
    ----------
    measures : sequence of Measure
        With g resolved.
    names : sequence of str
        `metric_names` of the measures.
    data : QueryData
    n_jobs : int, optional
        Threads.
    team : callable, optional
        The booster's own threads.
    compute : callable, optional
        Returns one value a query for each measure; None is `QueryValues`.
    """

    def __init__(
        self,
        measures: Sequence[Measure],
        names: Sequence[str],
        data: QueryData,
        n_jobs: int | None = None,
        team: Team | None = None,
        compute: Callable[[Array], list[Array]] | None = None,
    ) -> None:
        self.names = names
        self.data = data
        self.team = team
        self.compute = compute or QueryValues(measures, data, n_jobs=n_jobs)
        self.newest: list[tuple[str, float]] = []

    def __call__(self, scores: Array) -> list[tuple[str, float]]:
        """Return ``[(name, mean over queries)]``, as `gapboost.evaluate` computes it."""
        means = []
        for name, values in zip(self.names, self.by_query(scores), strict=True):
            means.append((name, mean(values, self.data.weights)))
        self.newest = means
        return means

    def by_query(self, scores: Array) -> list[Array]:
        """Return one float64 array of shape (Q,) for each measure."""
        check_scores(scores)
        with working_on(self.team):
            return self.compute(scores)


def metric_names(measures: Sequence[Measure]) -> list[str]:
    """Return the names under which boosters report measures: short, distinct, without blanks.

    A cutoff follows an ``@``. Of measures that would share a name, the one with this name keeps it,
    and others have their labels. XGBoost splits reports at blanks and colons.
    """
    short = [
        re.sub(r"[\s:]+", "_", measure.short_name) + (f"@{measure.k}" if measure.k else "")
        for measure in measures
    ]
    names = [
        measure.label if short.count(name) > 1 and name != measure.name else name
        for name, measure in zip(short, measures, strict=True)
    ]
    check_distinct(names)
    return names


class MetricCallback(DataSetCallback[State]):
    """Measures, each once, and the names that they are reported by."""

    def __init__(
        self, measures: Sequence[Measure], n_jobs: int | None, device: str | None = None
    ) -> None:
        super().__init__(n_jobs, device)
        # XGBoost would record two values a round for a measure that is named twice.
        self.measures = list(dict.fromkeys(measures))
        self.names = metric_names(self.measures)

    def __repr__(self) -> str:
        return f"eval_metric({self.measures!r})"


def native_objective(measure: str | Measure | Objective, g: ArrayLike | None) -> Objective:
    """Return the objective for a measure or its name; an `Objective` is returned unchanged.

    Raises
    ------
    ValueError, TypeError
        If they are unusable, or the measure reads one of several labels.
    """
    if isinstance(measure, Objective) and g is not None:
        raise ValueError(f"g is {g!r} with {measure!r}; expected g inside its measure")
    found = measure if isinstance(measure, Objective) else LambdaRank(as_measure(measure, g))
    check_one_label([found.measure], "a booster's data set")
    return found


def native_measures(measure: Any, g: ArrayLike | None) -> list[Measure]:
    """Return one measure or several, by name or by value; g is that of one.

    Raises
    ------
    ValueError, TypeError
        As `native_objective`.
    """
    found = as_measures(measure, "measure") if g is None else [as_measure(measure, g)]
    if not found:
        raise ValueError(f"measure is {measure!r}; expected at least one measure")
    check_one_label(found, "a booster's data set")
    return found


def _same(a: Array | None, b: Array | None) -> bool:
    return a is b or (a is not None and b is not None and np.array_equal(a, b))


def check_one_label(measures: Sequence[Measure], where: str) -> None:
    """Raise ValueError if a measure reads one of several labels, and `where` has one a row."""
    for measure in measures:
        if any(part.label_column is not None for _, part in measure.terms):
            raise ValueError(
                f"measure is {measure!r}, which reads one of several labels; expected a measure "
                f"without OfLabel, as {where} has one label a row (rankers take several, also in "
                "GridSearchCV with measure_scorer)"
            )


def query_data_of(
    label: Array,
    sizes: Array,
    weight: Array | None,
    measures: Sequence[Measure],
    partial: bool = False,
) -> QueryData:
    """Return the queries of a booster's labels, group sizes and weights, checked.

    `partial` is that of `group_by_query`.

    Raises
    ------
    ValueError
        If the data set has no groups, or its labels are not grades that the measures know.
    """
    if sizes is None or len(sizes) == 0:
        raise ValueError("the data set has no query groups; expected group sizes or qid on it")
    return group_by_query(
        label,
        np.repeat(np.arange(len(sizes)), np.asarray(sizes, dtype=np.int64)),
        sample_weight=weight,
        limit=grade_limit(measures),
        names=("label", "group", "weight"),
        real=True,
        partial=partial,
    )
