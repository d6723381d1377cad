"""Factors of positions, learned along with the trees."""

from collections.abc import Mapping

import numpy as np

from gapboost.data import Array, Positions
from gapboost.validation import as_number

# LightGBM's name of the penalty on factors of positions.
PENALTY = "lambdarank_position_bias_regularization"

# LightGBM's, so that a position without curvature stays where it is.
LEAST_CURVATURE = 0.001


class PositionFactors:
    """Additive factors of positions, learned along with the trees: users click on top ranks.

    Gradients are those at the scores s + b[position], where b are the factors, at first 0. Each
    round then takes a Newton step: with G and H the sums of the gradients and hessians of the n
    documents at a position,

        b += learning_rate * (-G - n * penalty * b) / (H + n * penalty + 0.001).

    The trees learn what the factors do not explain; predictions and metrics know no positions.

    Parameters
    ----------
    positions : Positions
        Of the training rows.
    learning_rate : float
    parameters : mapping
        Of the ranker: the penalty is one of them.
    scale : (float, float)
        The booster's units of gradients and hessians: the steps divide by them.
    continued : object
        The model that training continues. It has factors if it is one of our rankers.
    """

    def __init__(
        self,
        positions: Positions,
        learning_rate: float,
        parameters: Mapping[str, object],
        scale: tuple[float, float],
        continued: object = None,
    ) -> None:
        penalty = as_number(parameters.get(PENALTY) or 0.0, PENALTY, low=0.0)
        before = getattr(continued, "position_bias_", None) or {}
        self.positions = positions
        self.learning_rate = learning_rate
        self.scale = scale
        self.penalties = penalty * np.bincount(positions.codes, minlength=len(positions.ids))
        # Before each round, and at the end: early stopping goes back.
        self.course = [np.array([before.get(i, 0.0) for i in positions.ids])]

    def of_rows(self) -> Array:
        """Return the newest factor of each row."""
        return self.course[-1][self.positions.codes]

    def update(self, grad: Array, hess: Array) -> None:
        """Take the step of a round."""
        codes, n = self.positions.codes, len(self.positions.ids)
        first, second = (np.bincount(codes, column, minlength=n) for column in (grad, hess))
        slope = -first / self.scale[0] - self.penalties * self.course[-1]
        curvature = second / self.scale[1] + self.penalties + LEAST_CURVATURE
        self.course.append(self.course[-1] + self.learning_rate * slope / curvature)
