"""SoftRank: the measure in expectation over Gaussian scores, for any measure.

The score of each document is drawn from a Gaussian around its predicted score, with standard
deviation sigma. Document m comes out above n with probability
``pi_mn = Phi((s_m - s_n) / (sqrt(2) sigma))`` [taylor2008].

=======================  ========================================================================
measures of pairs        ``sum_n discount(r_n) (own[i_n] + sum_m pi_mn pair[i_m, i_n])`` at the
                         expected rank ``r_n = 1 + sum_m pi_mn``: SoftAP [yilmaz2009] 4.1.2,
                         SoftGAP [robertson2010] section 5, and in the same way xGAP and eGAP.
                         Near-linear in n.
the same with a cutoff   each term times ``P(rank_n <= k)``, by the rank distribution. O(n^2 k).
measures without pairs   ``sum_n own[i_n] sum_r p_n(r) discount[r]`` over the rank distribution:
                         SoftNDCG [taylor2008], SoftPC [yilmaz2009] 4.1.1. O(n^2 k), with n for k
                         without a cutoff.
=======================  ========================================================================

The rank distribution p_n takes the other documents as independent, as the papers do, and adds them
one by one. Only documents of grades that the measure looks at need one: for R relevant documents of
n, the cost is R / n of that above, O(R n k). With half of the documents relevant, one list takes 3
ms for nDCG(k=10) at 300 documents and 28 ms at 1000; for nDCG without a cut-off 6 ms and 0.2 s.
Longer lists are refused. A recursion over the documents near n only, with certainty for those far
above and below, would not help where it matters: when training starts all scores are near each
other, and the documents near n are the whole list.

>>> import gapboost as gb
>>> gb.SoftRank(gb.AP(), sigma=0.5).value(y_true=[1, 0, 2], y_score=[3.0, 2.0, 1.0])
0.8058025387210596
"""

import math
from dataclasses import dataclass

import numpy as np

from gapboost._kernels.smooth.distribution import (
    add_gradients_within,
    distribution_memory,
    find_chances,
)
from gapboost._kernels.smooth.sums import gaussian_step
from gapboost._kernels.threads import CACHED_CHUNK, chunks, threads_for
from gapboost.data import QueryData, RecallBase
from gapboost.measures.base import tables_of
from gapboost.measures.discounts import weights_at
from gapboost.objectives.smooth import Chunk, SmoothObjective, SmoothPass
from gapboost.validation import as_number, parameter

# A list of this length costs up to 0.2 s without a cut-off, one of twice the length eight times
# that. Longer ones also start where floating point ends: with k=1 and equal scores a document is
# within the cut-off with the probability 2^-(n-1).
LONGEST_WITH_DISTRIBUTION = 1000

# What a rank of a distribution takes for two documents.
NANOSECONDS_OF_A_PAIR = 5.0


@dataclass(frozen=True, repr=False)
class SoftRank(SmoothObjective):
    """Expected measure under Gaussian scores, trained by its exact gradient.

    Parameters
    ----------
    measure : Measure
    sigma : float, default=1.0
        Standard deviation of the score of a document. At 1 a comparison of two scores is about as
        smooth as LambdaRank's and ApproxRank's at theirs.
    normalize : bool, default=True
        See `SmoothObjective`, whose module says which smoothing and hessian are used, and why.

    Raises
    ------
    ValueError
        If `sigma` is not a finite number above 0. When it is applied to data: where a list has
        more than 1000 documents and the measure needs rank distributions (nDCG, Precision, and any
        cut-off).

    Examples
    --------
    >>> import gapboost as gb
    >>> objective = gb.SoftRank(gb.AP(), sigma=1.0)
    >>> round(float(objective.value([0, 1], [2.0, 1.0])), 3)
    0.568
    >>> grad, hess = objective.gradients([0, 1], [2.0, 1.0])
    >>> grad.round(3).tolist()
    [0.193, -0.193]
    """

    step = gaussian_step()
    slope = 1.0 / math.sqrt(math.pi)

    sigma: float = parameter(1.0, as_number)

    @property
    def steepness(self) -> float:
        """See `SmoothObjective.steepness`."""
        return 0.5 / self.sigma

    def prepared(self, data: QueryData, n_jobs: int | None = None) -> "SoftRankPass":
        """See `Objective.prepared`."""
        return SoftRankPass(self, data, n_jobs)


class SoftRankPass(SmoothPass):
    """SoftRank on one data set."""

    def __init__(self, objective: SoftRank, data: QueryData, n_jobs: int | None) -> None:
        super().__init__(objective, data, n_jobs)
        self.measure, sizes = objective.measure, data.queries.sizes
        longest = int(sizes.max())
        # Two documents of every grade: tables of the data may be 0 where only some grades occur.
        highest = max(1, math.ceil(data.base.levels.max()))
        every_grade = RecallBase.of_integer_grades(np.full((1, highest + 1), 2))
        self.has_pairs = bool(tables_of(self.measure, every_grade)[0].any())
        self.weight_of_rank = np.ones(longest) if self.has_pairs else self.measure.discount(longest)
        by_expected_rank = self.has_pairs and self.measure.k is None
        self.depth = 0 if by_expected_rank else self.measure.depth(longest)
        if self.depth > 0:
            if longest > LONGEST_WITH_DISTRIBUTION:
                raise ValueError(
                    f"{objective!r} reads a query of {longest} documents; expected at most "
                    f"{LONGEST_WITH_DISTRIBUTION}: shorten the lists, or use ApproxRank"
                )
            # The derivatives by all comparisons of documents must fit into memory.
            cost = 8 * int(np.mean(sizes**2))
            work = NANOSECONDS_OF_A_PAIR * self.depth * float(np.sum(sizes**2))
            self.threads = threads_for(n_jobs, work)
            self.ranges = chunks(data.queries.offsets, self.threads, cost, CACHED_CHUNK)

    def differentiate(self, chunk: Chunk) -> None:
        """See `SmoothPass.differentiate`."""
        documents, n = chunk.documents, len(chunk.rows)
        # Without pairs the discount is in the mean over the rank distribution.
        discount, slope, chances = np.ones(n), np.zeros(n), np.ones(n)
        if self.has_pairs:
            discount, slope = weights_at(self.measure, chunk.ranks())
        if self.depth > 0:
            dist = distribution_memory(self.weight_of_rank, self.depth, np.diff(chunk.starts))
            find_chances(chunk.starts, documents.x, chunk.matters, self.depth, dist, chances)
        chunk.settle(chances * discount, chances * slope)
        chunk.compare(False)
        documents.by_rank[:] *= documents.total
        if self.depth > 0:
            change = discount * documents.total
            add_gradients_within(chunk.starts, chunk.pair, chunk.matters, change, dist, documents)
        else:
            chunk.add_gradients(True)
