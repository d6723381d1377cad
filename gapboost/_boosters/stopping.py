"""The metric that stops training early."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from gapboost._boosters.callbacks import metric_names
from gapboost._boosters.eval_metric import MetricFunction, Value
from gapboost.measures import Measure, as_measure

# Parameters that ask for early stopping: XGBoost's, LightGBM's and its aliases.
EARLY_STOPPING = (
    "early_stopping_rounds",
    "early_stopping_round",
    "early_stopping",
    "n_iter_no_change",
)


def stopping_name(
    stopping: Any, measures: Sequence[Measure], functions: Sequence[MetricFunction] = ()
) -> str:
    """Return the name under which the metric that stops training is reported.

    Parameters
    ----------
    stopping : str, Measure or None
        `stopping_metric` of a ranker.
    measures : sequence of Measure
        Those that are reported, the trained one first.
    functions : sequence of MetricFunction
        With them an unknown name is returned as it is: `in_stopping_order` checks it.

    Raises
    ------
    ValueError, TypeError
        If it is none of the metrics that are reported.
    """
    names = metric_names(measures)
    if stopping is None:
        return names[0]
    if not isinstance(stopping, str | Measure):
        raise TypeError(
            f"stopping_metric is {stopping!r}; expected the name of a reported metric, a measure, "
            "or None for the trained measure"
        )
    if isinstance(stopping, str):
        for name in (stopping, f"map-{stopping}"):
            if name in names:
                return name
    with suppress(TypeError, ValueError):
        found = as_measure(stopping)
        # A graded measure without g stands for the reported one, whichever its g.
        alike = (
            measures
            if found in measures
            else [_with_open_g(m) if _is_open(found) else m for m in measures]
        )
        return names[alike.index(found)]
    if isinstance(stopping, str) and functions:
        return stopping
    raise _not_reported(stopping, names)


def in_stopping_order(values: Sequence[Value], name: str, first: bool) -> list[Value]:
    """Return the values of a round with those of the metric `name` in front, or else at the end.

    Raises
    ------
    ValueError
        If no metric has this name.
    """
    names = [value[0] for value in values]
    for found in (name, f"map-{name}"):
        if found in names:
            return sorted(values, key=lambda value: (value[0] == found) != first)
    raise _not_reported(name, names)


def check_stops(stopping: Any, stops: bool) -> None:
    """Raise ValueError if `stopping_metric` is set and nothing stops training early."""
    if stopping is not None and not stops:
        raise ValueError(
            f"stopping_metric is {stopping!r}, but early stopping is off; expected "
            "early_stopping_rounds of the ranker, an early stopping callback, or "
            "stopping_metric=None"
        )


def stops_early(parameters: Mapping[str, Any]) -> bool:
    """True if parameters ask for early stopping."""
    return any(parameters.get(name) for name in EARLY_STOPPING)


def _is_open(measure: Measure) -> bool:
    return getattr(measure, "g", ()) is None


def _with_open_g(measure: Measure) -> Measure:
    return replace(measure, **{"g": None}) if hasattr(measure, "g") else measure


def _not_reported(stopping: Any, names: Sequence[str]) -> ValueError:
    return ValueError(
        f"stopping_metric is {stopping!r}, which is not reported; expected one of "
        f"{', '.join(names)}, or that eval_metric names it too"
    )
