"""ApproxRank: the approximation framework of Qin, Liu and Li, for any measure [qin2008].

============  ==========================================================  ==============
rank          ``r_n = 1 + sum_m logistic(alpha (s_m - s_n))``             eq. 20
m above n     ``logistic(beta (r_n - r_m))``                              eq. 22
n within k    ``logistic(beta (k + 1/2 - r_n))``                          section 4.3
============  ==========================================================  ==============

in ``sum_n discount(r_n) within_n (own[i_n] + sum_m above_mn pair[i_m, i_n])``: ApproxNDCG (eq. 21),
ApproxAP (eq. 22), and in the same way GAP, xGAP, eGAP and P@k. The half rank makes ``within`` tend
to 1 at rank k itself. Near-linear in the number of documents, for any cut-off. Ranks are exact to
2e-11 of the length of the list: with a cut-off, ``within`` and what follows from it to beta times
that.

The paper compares ranks with a beta of 1 to 100 for linear models, whose ranks are well apart.
While boosting begins, all ranks are crowded around the middle, within a few ranks of each other; an
AP with comparisons that sharp pulls documents apart in whatever order they have. The default of 4 /
n compares the ranks of a crowded list of n documents as smoothly as alpha compares their scores,
because ``r_n - r_m`` is then about ``n alpha (s_m - s_n) / 4``. Its value is no estimate of the
measure; for that, choose a larger beta and alpha.

>>> import gapboost as gb
>>> scores = [4.20074, 3.12378, 4.40918, 1.55258, 4.13330]
>>> gb.ApproxRank(gb.AP(), alpha=100).ranks(scores).round(5).tolist()
[2.00118, 4.0, 1.0, 5.0, 2.99882]
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from gapboost._data.arguments import positive
from gapboost._data.judged import Judged
from gapboost._kernels import Array
from gapboost._kernels.smooth.sums import logistic_step
from gapboost.measures.base import parameter
from gapboost.measures.discounts import weights_at
from gapboost.objectives.smooth import Chunk, SmoothObjective, SmoothPass


@dataclass(frozen=True, repr=False)
class ApproxRank(SmoothObjective):
    """Measure over approximate ranks, trained by its exact gradient [qin2008].

    Parameters
    ----------
    measure : Measure
    alpha : float, default=1.0
        Steepness of the approximate ranks, in 1 / score.
    beta : float, optional
        Steepness of comparisons between ranks, in 1 / rank. It matters for measures of pairs and
        with a cut-off. None: 4 over the number of documents of the query.
    normalize : bool, default=True
        See `SmoothObjective`, whose module says which smoothing and hessian are used, and why.

    Raises
    ------
    ValueError
        If `alpha` or `beta` is not a finite number above 0.

    Examples
    --------
    >>> import gapboost as gb
    >>> objective = gb.ApproxRank(gb.AP())
    >>> round(float(objective.value([0, 1], [2.0, 1.0])), 3)
    0.578
    >>> grad, hess = objective.gradients([0, 1], [2.0, 1.0])
    >>> grad.round(3).tolist()
    [0.178, -0.178]
    """

    step = logistic_step()
    slope = 0.25

    alpha: float = parameter(1.0, positive)
    beta: float | None = parameter(None, positive)

    @property
    def steepness(self) -> float:
        """See `SmoothObjective.steepness`."""
        return self.alpha

    def beta_of(self, sizes: Array) -> Array:
        """Return beta for queries of these sizes, float64 of shape (Q,)."""
        return 4.0 / sizes if self.beta is None else np.full(len(sizes), self.beta)

    def prepared(self, data: Judged, n_jobs: int | None = None) -> "ApproxRankPass":
        """See `Objective.prepared`."""
        return ApproxRankPass(self, data, n_jobs)


class ApproxRankPass(SmoothPass):
    """ApproxRank on one data set."""

    objective: ApproxRank

    def differentiate(self, chunk: Chunk) -> None:
        """See `SmoothPass.differentiate`."""
        documents, sizes, measure = chunk.documents, np.diff(chunk.starts), self.objective.measure
        beta, ranks = np.repeat(self.objective.beta_of(sizes), sizes), chunk.ranks()
        share, by_rank = weights_at(measure, ranks)
        if measure.k is not None:
            # Half a rank beyond it, so that the rank k itself counts fully when beta grows.
            margin = beta * (measure.k + 0.5 - ranks)
            # 1 - within would round away what is left far inside the cut-off.
            within, beyond = expit(margin), expit(-margin)
            share, by_rank = within * share, within * by_rank - beta * within * beyond * share
        chunk.settle(share, by_rank)
        # Comparisons are those of smooth ranks, turned round: they are sorted as the scores are.
        by_score = documents.x.copy()
        documents.x[:] = -beta * ranks
        chunk.compare(True)
        documents.by_rank[:] = documents.by_rank * documents.total + beta * documents.rising
        documents.rising[:] = 0.0
        documents.x[:] = by_score
        chunk.push(False)
