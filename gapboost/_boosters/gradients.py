"""Gradients of an objective, computed for a booster."""

from collections.abc import Hashable
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from gapboost._boosters.positions import PositionFactors
from gapboost._kernels.threads import Team, working_on
from gapboost.data import Array, DataSummary, QueryData
from gapboost.objectives import Objective
from gapboost.objectives.base import CheckedPass

# Mean absolute gradient of a document, for weights of 1: the least of any task is that of one query
# of millions, 1e-7; rounding is 1e-14.
LEAST_GRADIENT = 1e-11


class Gradients:
    """Gradients of an objective on one data set: called with scores, in grouped order.

    Parameters
    ----------
    objective : Objective
        With g resolved.
    data : QueryData
    scale : (float, float)
        Factors on the gradients and hessians of an objective whose queries weigh 1.
    n_jobs : int, optional
        Threads.
    team : callable, optional
        The booster's own threads.
    position_factors : PositionFactors, optional
    global_summary : DataSummary, optional
        Summary of the rows of all workers, if `data` is that of one.
    least_hessian : float, optional
        The booster's least sum of hessians in a leaf, which the first round is checked against.
    """

    def __init__(
        self,
        objective: Objective,
        data: QueryData,
        scale: tuple[float, float] = (1.0, 1.0),
        n_jobs: int | None = None,
        team: Team | None = None,
        position_factors: PositionFactors | None = None,
        global_summary: DataSummary | None = None,
        least_hessian: float | None = None,
    ) -> None:
        # A worker whose rows weigh nothing has no mean size.
        if global_summary is not None and objective.scales_with_list_size and data.weighted_size:
            # These objectives multiply a query by the mean size of the data that they see.
            size = global_summary.weighted_size / data.weighted_size
            data = replace(data, weights=data.weights * size)
        self.objective = objective
        self.data = data
        self.scale = scale
        self.team = team
        self.position_factors = position_factors
        self.least_hessian = least_hessian
        if scale[1] != 1.0:
            data = replace(data, weights=data.weights * scale[1])
        self._compute = CheckedPass(objective, data, n_jobs)

    def __call__(self, scores: Array) -> tuple[Array, Array]:
        """Return gradient and hessian, float32 of shape (N,): boosters take it without a copy."""
        check_scores(scores)
        if self.position_factors is not None:
            scores = scores + self.position_factors.of_rows()
        with working_on(self.team):
            computed = self._compute(scores)
        grad, hess = computed[0].astype(np.float32), computed[1].astype(np.float32)
        if self.scale[0] != self.scale[1]:
            grad *= self.scale[0] / self.scale[1]
        if self.least_hessian is not None:
            self.check_first_round(grad, hess)
        if self.position_factors is not None:
            self.position_factors.update(grad, hess)
        return grad, hess

    def factors_after(self, rounds: int | None) -> dict[Hashable, float] | None:
        """Return the factor of each position after some rounds of this training, or after all.

        Positions are in ascending order if they have an order. None without positions.
        """
        if self.position_factors is None:
            return None
        newest = self.position_factors.course[-1 if rounds is None else rounds]
        found = dict(zip(self.position_factors.positions.ids, newest.tolist(), strict=True))
        with suppress(TypeError):
            return dict(sorted(found.items()))
        return found

    def check_first_round(self, grad: Any, hess: Any) -> None:
        """Raise ValueError if the booster would train a constant model.

        Parameters
        ----------
        grad, hess : float32 ndarrays of shape (N,), or arrays of CuPy
            Those of the first round; nothing is checked in later ones.
        """
        lowest, self.least_hessian = self.least_hessian, None
        if lowest is None:
            return
        weight = self.data.weights @ self.data.queries.sizes
        # Sums that ought to cancel leave rounding behind.
        if float(abs(grad).sum(dtype=np.float64)) / weight < LEAST_GRADIENT:
            raise ValueError(
                f"measure is {self.objective.measure!r}, and no swap of two documents of y changes "
                "it; expected a measure that distinguishes some of the grades in y, and initial "
                "scores that are not too far apart"
            )
        curvature = float(hess.sum(dtype=np.float64))
        if curvature < 2 * lowest:
            raise ValueError(
                f"min_child_weight is {lowest:g}, but the hessians of all rows sum to "
                f"{curvature:.3g}, so that no split is possible; expected at most "
                f"{curvature / 2:.3g}, or larger weights"
            )


def check_scores(scores: Array) -> None:
    """Raise for several scores a row, and for scores that would train a constant model."""
    if scores.ndim != 1:
        raise ValueError(
            f"the booster has {scores.shape[1]} scores a row; expected one score a row: leave out "
            "num_class and num_target"
        )
    if not np.isfinite(scores).all():
        raise ValueError(
            "the scores hold NaN or infinite values; expected finite ones: lower learning_rate, or "
            "raise reg_lambda or min_child_weight"
        )
