"""What the native callbacks of both boosters have: their measures, and a state per data set."""

import weakref
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Generic, TypeVar

import numpy as np

from gapboost._data.judged import Judged, judged
from gapboost._kernels import Array
from gapboost.measures import Measure, as_measure, as_measures
from gapboost.measures.sums import grade_limit
from gapboost.objectives import Objective, as_objective

State = TypeVar("State")

# Labels, group sizes and weights.
Content = tuple[Array, Array, Array | None]


class PerDataSet(Generic[State]):
    """One state for each data set of a booster, built when the data set is first seen.

    The data set is referenced weakly. No lock is held while a state is built: threads that need it
    at the same time build equal states, and one of them is kept.
    """

    def __init__(self) -> None:
        self._entries: dict[int, tuple[weakref.ref[Any], Content, State]] = {}

    def get(self, owner: Any, content: Content, build: Callable[..., State]) -> State:
        """Return ``build(*content)`` of the data set `owner`, once for the same content."""
        key, entries = id(owner), self._entries
        entry = entries.get(key)
        # A data set can get new labels between trainings.
        if entry is not None and all(map(_same, entry[1], content)):
            return entry[2]
        state = build(*content)
        # A copy of the labels: LGBMRanker passes its array of labels in place of a data set.
        label, sizes, weight = content
        # Only the dictionary is captured: the callback goes with the weak reference.
        forget = weakref.ref(owner, lambda _: entries.pop(key, None))
        entries[key] = (forget, (np.array(label), sizes, weight), state)
        return state

    def __reduce__(self) -> Any:
        return PerDataSet, ()


def _same(a: Array | None, b: Array | None) -> bool:
    return a is b or (a is not None and b is not None and np.array_equal(a, b))


def judged_groups(
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
        raise ValueError("the data set has no query groups; expected group sizes or qid on it")
    nothing = part and weight is not None and not weight.any()
    data = judged(
        label,
        np.repeat(np.arange(len(sizes)), np.asarray(sizes, dtype=np.int64)),
        sample_weight=None if nothing else weight,
        limit=grade_limit(measures),
        names=("label", "group", "weight"),
        real=True,
    )
    return replace(data, weights=np.zeros(len(data.queries))) if nothing else data


def native_objective(measure: Any, g: Any) -> Objective:
    """Return the objective for a measure or its name; an objective is returned unchanged."""
    if not isinstance(measure, Objective):
        objective = as_objective("lambdarank", as_measure(measure, g))
    elif g is None:
        objective = measure
    else:
        raise ValueError(f"g is {g!r} with {measure!r}; expected g inside its measure")
    check_one_label([objective.measure], "a booster's data set")
    return objective


def native_metrics(measures: Any, g: Any) -> list[Measure]:
    """Return one measure or several, by name or by value, as a list."""
    if isinstance(measures, str | Measure):
        found = [as_measure(measures, g)]
    elif g is not None:
        raise ValueError(f"g is {g!r} with several measures; expected each with its own g")
    else:
        # XGBoost would record two values a round for a measure that is named twice.
        found = list(dict.fromkeys(as_measures(measures, "measure")))
    if not found:
        raise ValueError(f"measure is {measures!r}; expected at least one measure")
    check_one_label(found, "a booster's data set")
    return found


def check_one_label(measures: Sequence[Measure], where: str, name: str = "measure") -> None:
    """Raise ValueError if a measure reads one of several labels, and `where` has one a row."""
    for measure in measures:
        if any(part.label_column is not None for _, part in measure.terms):
            raise ValueError(
                f"{name} is {measure!r}, which reads one of several labels; expected a measure "
                f"without OfLabel, as {where} has one label a row (the rankers' fit takes several)"
            )
