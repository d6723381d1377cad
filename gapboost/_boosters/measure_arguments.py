"""Measures and objectives that users pass to functions of the boosters, by name or by value."""

from typing import Any

from gapboost._boosters.one_label import check_one_label
from gapboost.measures import Measure, as_measure, as_measures
from gapboost.objectives import Objective, as_objective

# What the native objectives and metrics read.
DATA_SET = "a booster's data set"


def as_metrics(measures: Any, g: Any = None, name: str = "measure") -> list[Measure]:
    """One measure or several, by name or by value, as a list.

    Raises
    ------
    TypeError, ValueError
        As `gapboost.measures.as_measure`.
    """
    if isinstance(measures, str | Measure):
        return [as_measure(measures, g, name)]
    found = as_measures(measures, name)
    if not found:
        raise TypeError(
            f'{name} is {measures!r}; expected a measure, or a name such as "ndcg@10", or several'
        )
    if g is not None:
        raise ValueError(
            f"g is {g!r} with a list of measures; expected each measure with its own g"
        )
    # XGBoost would record two values a round for a measure that is named twice.
    return list(dict.fromkeys(found))


def as_gradients(measure: Any, g: Any) -> Objective:
    """Return the objective for a measure or its name; an objective is returned unchanged."""
    if isinstance(measure, Objective) and g is not None:
        raise ValueError(
            f"g is {g!r} but the objective is {measure!r}; expected g inside its measure"
        )
    objective = (
        measure
        if isinstance(measure, Objective)
        else as_objective("lambdarank", as_measure(measure, g))
    )
    check_one_label([objective.measure], "measure", DATA_SET)
    return objective


def as_data_set_metrics(measures: Any, g: Any = None, name: str = "measure") -> list[Measure]:
    """Return what `as_metrics` does, for a booster's data set.

    Raises
    ------
    TypeError, ValueError
        As `as_metrics`, or if a measure is about several labels.
    """
    found = as_metrics(measures, g, name)
    check_one_label(found, name, DATA_SET)
    return found
