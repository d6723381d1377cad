"""What LightGBM or XGBoost is to the code that both share: one value a library."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from gapboost._data.judged import Judged
from gapboost._kernels import Array
from gapboost._kernels.parallel.chunks import Team
from gapboost.objectives import Objective, Pass
from gapboost.objectives.objective import CheckedPass


class BoosterTerms(NamedTuple):
    """How `fit` of a booster's own ranker calls what both know.

    Attributes
    ----------
    start, eval_weight, eval_start : str
        Scores to start from, and weights and such scores of evaluation sets.
    model : str
        A model to continue.
    """

    start: str
    eval_weight: str
    eval_start: str
    model: str


class GradientScale(NamedTuple):
    """What a booster's gradients and hessians are multiplied by, in units of an objective whose queries weigh 1.

    The penalty on factors of positions then means in both boosters what it means in LightGBM's own objectives.
    """

    grad: float = 1.0
    hess: float = 1.0


class InitialModel(NamedTuple):
    """What a training began with.

    Attributes
    ----------
    learning_rate : float
        Of the trees, in the first round; callbacks that change it later leave that of the factors alone, as in LightGBM.
    rounds : int
        Those of the model that it continues.
    penalty : float
        On factors of positions, where the booster itself was told one.
    """

    learning_rate: float
    rounds: int
    penalty: float = 0.0


@dataclass(frozen=True)
class Library:
    """A booster's library.

    Attributes
    ----------
    booster : type
        Its models.
    team : Team or None
        The threads that it computes on.
    terms : BoosterTerms
    scale : callable
        ``scale(objective, mean_size) -> GradientScale`` for queries of this mean number of documents.
    beginning : callable
        ``beginning(booster) -> InitialModel`` in the first round of a training.
    rounds : callable
        ``rounds(booster) -> int``: all that the booster holds.
    best_round : callable
        ``best_round(booster) -> int``: rounds of the best model by early stopping, 0 without it.
    least_hessian : callable
        ``least_hessian(parameters) -> float``: the sum of hessians that the booster wants in a leaf.
    inherits : bool
        True if the training set among the evaluation sets takes the weights and initial scores of training where it is given
        none, as in the booster's own ranker.
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
        """The objective on the data, in the units of the library."""
        scale = self.scale(objective, data.mean_size)
        if scale.hess != 1.0:
            data = replace(data, weights=data.weights * scale.hess)
        prepared = CheckedPass(objective, data, n_jobs)
        return prepared if scale.grad == scale.hess else ScaledGradient(prepared, scale.grad / scale.hess)


class ScaledGradient(Pass):
    """Another pass, its gradients times a number; hessians stay."""

    def __init__(self, inner: Pass, factor: float) -> None:
        self.inner = inner
        self.factor = factor

    def __call__(self, scores: Array, grad: Array, hess: Array) -> None:
        """See `Pass`."""
        self.inner(scores, grad, hess)
        grad *= self.factor
