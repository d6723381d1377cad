"""Differences between LightGBM and XGBoost, as one `Library` for each."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from gapboost._data.judged import Judged
from gapboost._kernels import Array
from gapboost._kernels.parallel.chunks import Team
from gapboost.objectives import Objective, Pass
from gapboost.objectives.objective import CheckedPass


class BoosterTerms(NamedTuple):
    """Names of the arguments of `fit` that the boosters' own rankers call differently.

    Attributes
    ----------
    start : str
        Initial scores.
    eval_weight, eval_start : str
        Weights and initial scores of evaluation sets.
    model : str
        Model to continue.
    """

    start: str
    eval_weight: str
    eval_start: str
    model: str


class GradientScale(NamedTuple):
    """Factors on the gradients and hessians of an objective whose queries weigh 1.

    The update of position factors divides by them. The penalty on these factors then means the same
    in both boosters as in LightGBM's own objectives.
    """

    grad: float = 1.0
    hess: float = 1.0


class InitialModel(NamedTuple):
    """Settings and rounds of a booster at the start of training.

    Attributes
    ----------
    learning_rate : float
        Learning rate of the trees in the first round. The factors of positions keep it when
        callbacks change it later, as in LightGBM.
    rounds : int
        Rounds of the model that training continues.
    penalty : float
        Penalty on factors of positions, if the booster's own parameters set one.
    """

    learning_rate: float
    rounds: int
    penalty: float = 0.0


@dataclass(frozen=True)
class Library:
    """Names, threads and functions of a booster's library.

    Attributes
    ----------
    booster : type
        Its models.
    team : Team or None
        The threads that it computes on.
    terms : BoosterTerms
    scale : callable
        ``scale(objective, mean_size) -> GradientScale`` for queries of this mean number of
        documents.
    beginning : callable
        ``beginning(booster) -> InitialModel`` in the first round of a training.
    rounds : callable
        ``rounds(booster) -> int``: all that the booster holds.
    best_round : callable
        ``best_round(booster) -> int``: rounds of the best model by early stopping, 0 without it.
    least_hessian : callable
        ``least_hessian(parameters) -> float``: the least sum of hessians in a leaf.
    inherits : bool
        True if the training set among the evaluation sets takes the weights and initial scores of
        training where it is given none, as in the booster's own ranker.
    metric_by_query : bool
        True if the library's own ranker calls a metric function for each query.
    """

    booster: type[Any]
    team: Team | None
    terms: BoosterTerms
    scale: Callable[[Objective, float], GradientScale]
    beginning: Callable[[Any], InitialModel]
    rounds: Callable[[Any], int]
    best_round: Callable[[Any], int]
    least_hessian: Callable[[Mapping[str, Any]], float]
    inherits: bool
    metric_by_query: bool = False

    def scaled(self, objective: Objective, data: Judged, n_jobs: int | None) -> Pass:
        """Prepare the objective on the data, in the units of the library."""
        scale = self.scale(objective, data.mean_size)
        if scale.hess != 1.0:
            data = replace(data, weights=data.weights * scale.hess)
        prepared = CheckedPass(objective, data, n_jobs)
        return (
            prepared
            if scale.grad == scale.hess
            else ScaledGradient(prepared, scale.grad / scale.hess)
        )


class ScaledGradient(Pass):
    """Multiply the gradients of another pass by a number; hessians stay."""

    def __init__(self, inner: Pass, factor: float) -> None:
        self.inner = inner
        self.factor = factor

    def __call__(self, scores: Array, grad: Array, hess: Array) -> None:
        """See `Pass`."""
        self.inner(scores, grad, hess)
        grad *= self.factor
