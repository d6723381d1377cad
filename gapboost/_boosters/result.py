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
