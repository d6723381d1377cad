"""ApproxRank: the approximation framework of Qin, Liu and Li, for any measure.

With s the scores of one query, the rank of document n is approximated by ``1 + sum_m logistic(alpha (s_m - s_n))``
([qin2008] eq. 20), "m is above n" by a logistic function of beta times the difference of the two approximate ranks (eq.
22), and "n is within the cut-off" by one of beta times its distance from it (section 4.3).
"""

from dataclasses import dataclass

import numpy as np

from gapboost.kernels.approxrank import approximate_ranks, approxrank
from gapboost.kernels.threads import resolve_n_jobs
from gapboost.objectives.objective import checked_scale
from gapboost.objectives.smooth import SmoothObjective, SmoothPass
from gapboost.queries import Array, Judged


@dataclass(frozen=True, repr=False)
class ApproxRank(SmoothObjective):
    """The measure over approximate ranks, trained for by its exact gradient [qin2008].

    Parameters
    ----------
    measure : Measure
    alpha : float, default=1.0
        Steepness of the approximate ranks, in 1 / score.
    beta : float, optional
        Steepness of comparisons between ranks, in 1 / rank. It matters for measures of pairs and with a cut-off. None: 4
        over the number of documents of the query.
    """

    alpha: float = 1.0
    beta: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "alpha", checked_scale(self.alpha, "alpha"))
        if self.beta is not None:
            object.__setattr__(self, "beta", checked_scale(self.beta, "beta"))

    def prepared(self, data: Judged, n_jobs: int | None = None) -> "ApproxRankPass":
        """See `Objective.prepared`."""
        return ApproxRankPass(self, data, resolve_n_jobs(n_jobs))


class ApproxRankPass(SmoothPass):
    """ApproxRank on one data set."""

    def __init__(self, objective: ApproxRank, data: Judged, threads: int) -> None:
        super().__init__(objective, data, threads)
        self.objective = objective
        sizes = data.queries.sizes
        self.betas = 4.0 / sizes if objective.beta is None else np.full(len(sizes), objective.beta)

    def update_ranks(self, scores: Array, counted: Array, first: int, last: int) -> None:
        """See `SmoothPass.update_ranks`."""
        data = self.data
        approximate_ranks(
            scores, data.grades, data.queries.offsets, counted, self.objective.alpha, self.ranks, first, last
        )

    def smooth(
        self,
        scores: Array,
        counted: Array,
        pair: Array,
        own: Array,
        values: Array,
        grad: Array,
        hess: Array,
        first: int,
        last: int,
    ) -> None:
        """See `SmoothPass.smooth`."""
        self.update_discount(scores, counted, first, last)
        approxrank(
            scores,
            self.data.grades,
            self.data.queries.offsets,
            counted,
            self.ranks,
            self.discount,
            self.slope,
            pair,
            own,
            self.weights,
            self.objective.alpha,
            self.betas,
            self.measure.k or 0,
            self.objective.normalize,
            values,
            grad,
            hess,
            first,
            last,
        )
