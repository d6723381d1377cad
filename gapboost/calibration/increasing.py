"""A probability as a strictly increasing function of the score."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from gapboost._kernels import Array

METHODS = ("isotonic", "logistic")

# Weight of the logistic regression next to the isotonic one, which is constant over blocks of
# scores.
TIE_BREAK = 1e-6


@dataclass(frozen=True, eq=False)
class IncreasingProbability:
    """Increasing function from scores to P(relevant).

    It is a logistic regression. If `isotonic` is given, it gets nearly all the weight.
    """

    logistic: Any
    isotonic: Any = None

    def __call__(self, scores: Array) -> Array:
        """Return the probabilities, float64 of the shape of `scores`."""
        found: Array = self.logistic.predict_proba(scores[:, None])[:, 1]
        if self.isotonic is not None:
            found = (1 - TIE_BREAK) * self.isotonic.predict(scores) + TIE_BREAK * found
        return found

    @property
    def slope(self) -> float:
        """Slope of the logistic regression, for scores in units of their standard deviation."""
        return float(self.logistic[-1].coef_[0, 0])


def increasing_probability(scores: Array, relevant: Array, method: str) -> IncreasingProbability:
    """Fit P(relevant) to scores.

    Parameters
    ----------
    scores : float64 ndarray of shape (N,)
    relevant : bool ndarray of shape (N,)
        Both values occur.
    method : {"isotonic", "logistic"}
    """
    logistic = make_pipeline(StandardScaler(), LogisticRegression()).fit(scores[:, None], relevant)
    if method == "logistic":
        return IncreasingProbability(logistic)
    isotonic = IsotonicRegression(y_min=0.0, y_max=1.0, out_of_bounds="clip").fit(
        scores, relevant.astype(np.float64)
    )
    return IncreasingProbability(logistic, isotonic)
