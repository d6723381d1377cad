"""Native callbacks of both boosters: their measures, and a state for each data set."""

import weakref
from collections.abc import Callable, Sequence
from typing import Any, Generic, Self, TypeVar

import numpy as np

from gapboost._boosters.training import metric_names
from gapboost._data.judged import Judged, judged
from gapboost._kernels import Array
from gapboost.measures import Measure, as_measure, as_measures
from gapboost.measures.sums import grade_limit
from gapboost.objectives import LambdaRank, Objective

State = TypeVar("State")

# Labels, group sizes and weights.
Content = tuple[Array, Array, Array | None]


class NativeCallback(Generic[State]):
    """A callback with one state for each data set, built when the data set is first seen.

    Data sets are referenced weakly, and states are left out of pickles. No lock is held while a
    state is built: threads that need it at the same time build equal states, and one is kept.
    """

    def __init__(self, n_jobs: int | None) -> None:
        self.n_jobs = n_jobs
        self._known: dict[int, tuple[weakref.ref[Any], Content, State]] = {}

    # LightGBM copies its callables six times in a fit, and calls the copies.
    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_known": {}}

    def _state_of(self, owner: Any, content: Content, build: Callable[..., State]) -> State:
        """Return ``build(*content)`` of the data set `owner`, once for the same content."""
        key, known = id(owner), self._known
        entry = known.get(key)
        # A data set can get new labels between trainings.
        if entry is not None and all(map(_same, entry[1], content)):
            return entry[2]
        state = build(*content)
        # A copy of the labels: LGBMRanker passes its array of labels in place of a data set.
        label, sizes, weight = content
        # Only the dictionary is captured: the callback goes with the weak reference.
        forget = weakref.ref(owner, lambda _: known.pop(key, None))
        known[key] = (forget, (np.array(label), sizes, weight), state)
        return state


class NativeObjective(NativeCallback[State]):
    """An objective, from a measure or its name; an `Objective` is taken as it is."""

    def __init__(self, measure: Any, g: Any, n_jobs: int | None) -> None:
        super().__init__(n_jobs)
        if not isinstance(measure, Objective):
            measure = LambdaRank(as_measure(measure, g))
        elif g is not None:
            raise ValueError(f"g is {g!r} with {measure!r}; expected g inside its measure")
        self.objective: Objective = measure
        check_one_label([self.objective.measure], "a booster's data set")

    def __repr__(self) -> str:
        return f"objective({self.objective!r})"


class NativeMetric(NativeCallback[State]):
    """One measure or several, by name or by value; g is that of one."""

    def __init__(self, measure: Any, g: Any, n_jobs: int | None) -> None:
        super().__init__(n_jobs)
        found = as_measures(measure, "measure") if g is None else [as_measure(measure, g)]
        if not found:
            raise ValueError(f"measure is {measure!r}; expected at least one measure")
        # XGBoost would record two values a round for a measure that is named twice.
        self.measures = list(dict.fromkeys(found))
        check_one_label(self.measures, "a booster's data set")
        self.names = metric_names(self.measures)

    def __repr__(self) -> str:
        return f"eval_metric({self.measures!r})"


def _same(a: Array | None, b: Array | None) -> bool:
    return a is b or (a is not None and b is not None and np.array_equal(a, b))


def judged_groups(
    label: Array,
    sizes: Array,
    weight: Array | None,
    measures: Sequence[Measure],
    partial: bool = False,
) -> Judged:
    """Return a booster's labels, group sizes and weights as judged queries, checked.

    `partial` is that of `judged`.

    Raises
    ------
    ValueError
        If the data set has no groups, or its labels are not grades that the measures know.
    """
    if sizes is None or len(sizes) == 0:
        raise ValueError("the data set has no query groups; expected group sizes or qid on it")
    return judged(
        label,
        np.repeat(np.arange(len(sizes)), np.asarray(sizes, dtype=np.int64)),
        sample_weight=weight,
        limit=grade_limit(measures),
        names=("label", "group", "weight"),
        real=True,
        partial=partial,
    )


def check_one_label(measures: Sequence[Measure], where: str) -> None:
    """Raise ValueError if a measure reads one of several labels, and `where` has one a row."""
    for measure in measures:
        if any(part.label_column is not None for _, part in measure.terms):
            raise ValueError(
                f"measure is {measure!r}, which reads one of several labels; expected a measure "
                f"without OfLabel, as {where} has one label a row (the rankers' fit takes several)"
            )
