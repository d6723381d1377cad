"""Additive factors of positions, learned along with the trees: users click on top ranks.

Gradients are those at the scores s + b[position], where b are the factors, at first 0. Each pass
then takes a Newton step: with G and H the sums of the gradients and hessians of the n documents at
a position,

    b += learning_rate * (-G - n * regularization * b) / (H + n * regularization + 0.001).

The trees learn what the factors do not explain; predictions and metrics know no positions.
"""

import weakref
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from gapboost._boosters.library import GradientScale, InitialModel
from gapboost._data.arguments import not_negative
from gapboost._data.positions import Positions
from gapboost._kernels import Array
from gapboost.objectives import Pass

# LightGBM's name for the strength of the penalty on factors.
REGULARIZATION = "lambdarank_position_bias_regularization"

# LightGBM's, so that a position without curvature stays where it is.
LEAST_CURVATURE = 0.001


def checked_penalty(value: Any, position: Any) -> float:
    """Return the penalty on factors of positions, after a check.

    Raises
    ------
    ValueError
        If it is no finite number from 0 on, or above 0 without positions.
    """
    penalty = 0.0 if value is None else not_negative(value, REGULARIZATION)
    if penalty and position is None:
        raise ValueError(
            f"{REGULARIZATION} is {value!r} but position is None; expected both, or neither"
        )
    return penalty


class PositionPass(Pass):
    """Add factors of positions to the scores of another pass, and learn them from its gradients.

    Unlike other passes it belongs to one training: each call goes on from the one before.
    """

    def __init__(
        self,
        inner: Pass,
        positions: Positions,
        scale: GradientScale,
        begin: Callable[[], InitialModel],
        penalty: float | None = None,
        total: Callable[[Array], Array] | None = None,
    ) -> None:
        self.inner = inner
        self.positions = positions
        self.scale = scale
        # Called in the first round: only a booster that is in training knows its learning rate for
        # certain.
        self.begin = begin
        # None takes the booster's parameter.
        self.penalty = penalty
        # On a cluster: sums of an array over the workers, whose factors are the same.
        self.total = total or (lambda sums: sums)
        self.begun: InitialModel | None = None
        self.counts = self._summed([None])[0]
        # Before each round, and at the end: early stopping goes back.
        self.course = [np.zeros(len(positions.ids))]

    def start_from(self, bias: Mapping[Any, float]) -> None:
        """Begin with factors by position, if there are some."""
        self.course = [np.array([bias.get(i, 0.0) for i in self.positions.ids])]

    def __call__(self, scores: Array, grad: Array, hess: Array) -> None:
        """See `Pass`."""
        if self.begun is None:
            self.begun = self.begin()
        factors = self.course[-1]
        self.inner(scores + factors[self.positions.codes], grad, hess)
        first, second = self._summed([grad, hess])
        penalty = (self.begun.penalty if self.penalty is None else self.penalty) * self.counts
        slope = -first / self.scale.grad - penalty * factors
        curvature = second / self.scale.hess + penalty + LEAST_CURVATURE
        self.course.append(factors + self.begun.learning_rate * slope / curvature)

    def factors(self, best: int = 0) -> Array:
        """Return the factors after the first `best` rounds, float64 of shape (P,); 0: after all."""
        # A booster that XGBoost's own `train` continues may still name the best round of the
        # training before.
        if self.begun is None or best <= self.begun.rounds:
            return self.course[-1]
        return self.course[best - self.begun.rounds]

    def by_position(self, best: int = 0) -> dict[Any, float]:
        """Return `factors` by position, in ascending order if positions have an order."""
        found = dict(zip(self.positions.ids, self.factors(best).tolist(), strict=True))
        try:
            return dict(sorted(found.items()))
        except TypeError:
            return found

    def _summed(self, weights: list[Array | None]) -> Array:
        """Return sums of `weights` by position over all workers, float64 (len(weights), P)."""
        codes, n = self.positions.codes, len(self.positions.ids)
        return self.total(
            np.array([np.bincount(codes, w, minlength=n) for w in weights], dtype=np.float64)
        )


class Trainings(weakref.WeakKeyDictionary[Any, PositionPass]):
    """Pass of each training, by its booster, which is referenced weakly."""

    def __reduce__(self) -> Any:
        return Trainings, ()  # an objective from a pickle has trained nothing
