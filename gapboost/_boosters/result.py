"""Result of a fit, besides the attributes that the booster's own `fit` sets on a ranker."""

from dataclasses import dataclass
from typing import Any

from gapboost.objectives import Objective


@dataclass(frozen=True, eq=False)
class TrainingResult:
    """One value for local, Dask and Spark rankers, and for loaded models.

    Attributes
    ----------
    objective : Objective
        With g resolved.
    n_queries : int or None
        Training queries; None for a model from a file, which does not say.
    feature_names : tuple of str
        Column names, if the training data were a data frame.
    position_bias : dict {position: float} or None
        Factors of positions after the best iteration.
    last_position_bias : dict {position: float} or None
        Factors after all rounds that the booster holds: training that continues starts from these.
        They differ from `position_bias` for gblinear only, whose later rounds cannot be dropped.
    """

    objective: Objective
    n_queries: int | None = None
    feature_names: tuple[str, ...] = ()
    position_bias: dict[Any, float] | None = None
    last_position_bias: dict[Any, float] | None = None


def with_result(state: dict[str, Any]) -> dict[str, Any]:
    """Return the state of a pickled ranker.

    A pickle of 0.1.0rc1 holds the parts of the result one by one.
    """
    if "_trained_by" not in state:
        return state
    state = dict(state)
    result = TrainingResult(
        objective=state.pop("_trained_by"),
        n_queries=state.pop("n_queries_in_", None),
        feature_names=state.pop("_feature_names", ()),
        position_bias=state.pop("_position_bias", None),
        last_position_bias=state.pop("_last_bias", None),
    )
    return {**state, "_result": result}
