"""Gradients of an objective on one data set, in the units of a booster."""

import warnings
from dataclasses import replace

import numpy as np

from gapboost._boosters.positions import PositionFactors
from gapboost._boosters.rows import RankingRows
from gapboost._data.judged import Judged
from gapboost._kernels import Array
from gapboost._kernels.threads import Team, working_on
from gapboost.objectives import Objective
from gapboost.objectives.base import CheckedPass

# Mean absolute gradient of a document, for weights of 1: the least of any task is that of one query
# of millions, 1e-7; rounding is 1e-14.
LEAST_GRADIENT = 1e-11

# Where the hessians suffice for fewer leaves than this, trees of that many rows stay blunt.
FEW_LEAVES, MANY_ROWS = 8, 1000


class Gradients:
    """Gradients of an objective on one data set: called with scores, in grouped order.

    Parameters
    ----------
    objective : Objective
        With g resolved.
    data : Judged
    scale : (float, float)
        Factors on the gradients and hessians of an objective whose queries weigh 1.
    n_jobs : int, optional
        Threads.
    team : callable, optional
        The booster's own threads.
    factors : PositionFactors, optional
    """

    def __init__(
        self,
        objective: Objective,
        data: Judged,
        scale: tuple[float, float] = (1.0, 1.0),
        n_jobs: int | None = None,
        team: Team | None = None,
        factors: PositionFactors | None = None,
    ) -> None:
        self.objective = objective
        self.data = data
        self.scale = scale
        self.team = team
        self.factors = factors
        if scale[1] != 1.0:
            data = replace(data, weights=data.weights * scale[1])
        self._compute = CheckedPass(objective, data, n_jobs)

    def __call__(self, scores: Array) -> tuple[Array, Array]:
        """Return gradient and hessian, float32 of shape (N,): boosters take it without a copy."""
        if self.factors is None:
            return self.at(scores)
        grad, hess = self.at(scores + self.factors.of_rows())
        self.factors.update(grad, hess)
        return grad, hess

    def at(self, scores: Array) -> tuple[Array, Array]:
        """Return gradient and hessian at `scores`; factors of positions stay as they are."""
        check_scores(scores)
        grad, hess = np.empty((2, len(scores)), dtype=np.float32)
        with working_on(self.team):
            self._compute(np.ascontiguousarray(scores), grad, hess)
        if self.scale[0] != self.scale[1]:
            grad *= self.scale[0] / self.scale[1]
        return grad, hess

    def check_learnable(self, rows: RankingRows, least_hessian: float) -> None:
        """Raise if there is nothing to learn, or the booster would train a constant model.

        Parameters
        ----------
        rows : RankingRows
            The training set.
        least_hessian : float
            The booster's least sum of hessians in a leaf.

        Raises
        ------
        ValueError

        Warns
        -----
        UserWarning
            If many rows have hessians for a few leaves only.
        """
        rows.data.summary.check_contrasts("y")
        n_rows = rows.data.queries.n_rows
        grad, hess = self.at(np.zeros(n_rows) if rows.start is None else rows.start)
        weight, curvature = rows.data.weights @ rows.sizes, hess.sum(dtype=np.float64)
        # Sums that ought to cancel leave rounding behind.
        if np.abs(grad).sum(dtype=np.float64) / weight < LEAST_GRADIENT:
            raise ValueError(
                f"measure is {self.objective.measure!r}, and no swap of two documents of y changes "
                "it; expected a measure that distinguishes some of the grades in y, and initial "
                "scores that are not too far apart"
            )
        leaves = FEW_LEAVES if n_rows >= MANY_ROWS else 2
        if curvature >= leaves * least_hessian:
            return
        found = (
            f"min_child_weight is {least_hessian:g}, but the hessians of all rows sum to "
            f"{curvature:.3g}; expected at most {curvature / leaves:.3g}, or larger weights"
        )
        if curvature < 2 * least_hessian:
            raise ValueError(f"{found}: no split is possible and the model would be constant")
        warnings.warn(
            f"{found}, unless trees of fewer than {FEW_LEAVES} leaves are meant", stacklevel=2
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
