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
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from gapboost._data.arguments import positive
from gapboost._data.judged import Judged
from gapboost._data.recall_base import RecallBase
from gapboost._kernels import Array
from gapboost._kernels.parallel.chunks import ranges_within, resolve_n_jobs
from gapboost._kernels.smooth.distribution import distribution_memory, find_chances, push_within
from gapboost._kernels.smooth.sums import gaussian_step
from gapboost.measures.base import tables_of
from gapboost.measures.discounts import weights_at
from gapboost.objectives.smooth import Chunk, SmoothObjective, SmoothPass

# A list of this length costs up to 0.2 s without a cut-off, one of twice the length eight times
# that. Longer ones also start where floating point ends: with k=1 and equal scores a document is
# within the cut-off with the probability 2^-(n-1).
LONGEST_WITH_DISTRIBUTION = 1000

# Derivatives by comparisons that are in memory at a time, where a query alone has not more: 2 MiB a
# thread.
MOST_COMPARISONS = 1 << 18

GAUSSIAN_STEP = gaussian_step()


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

    sigma: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "sigma", positive(self.sigma, "sigma"))

    def prepared(self, data: Judged, n_jobs: int | None = None) -> "SoftRankPass":
        """See `Objective.prepared`."""
        return SoftRankPass(self, data, resolve_n_jobs(n_jobs))


class SoftRankPass(SmoothPass):
    """SoftRank on one data set."""

    def __init__(self, objective: SoftRank, data: Judged, threads: int) -> None:
        steepness = 0.5 / objective.sigma
        super().__init__(
            objective, data, threads, GAUSSIAN_STEP, steepness, steepness / math.sqrt(math.pi)
        )
        self.objective = objective
        longest = int(data.queries.sizes.max())
        self.pairs = self.has_pairs()
        self.by_rank = np.ones(longest) if self.pairs else self.measure.discount(longest)
        self.depth = 0 if self.pairs and self.measure.k is None else self.measure.depth(longest)
        if self.depth > 0:
            self.ranges = list(self.ranges_of_comparisons())

    def ranges_of_comparisons(self) -> Iterator[tuple[int, int]]:
        """Cut the ranges so that the derivatives by all pairs of documents fit into memory."""
        comparisons = self.data.queries.sizes.astype(np.int64) ** 2
        for first, last in self.ranges:
            for start, end in ranges_within(comparisons[first:last], MOST_COMPARISONS):
                yield first + start, first + end

    def has_pairs(self) -> bool:
        """Return True if the measure has pairs, in a query with every grade or in these queries.

        The query with every grade is not part of the data: it gives the same answer on all workers
        of a cluster.
        """
        base = self.data.base
        everything = RecallBase.of_integer_grades(
            np.ones((1, max(2, base.n_levels)), dtype=np.int64)
        )
        asked = [everything, *(base[first:last] for first, last in self.ranges)]
        return any(tables_of(self.measure, of_some)[0].any() for of_some in asked)

    def values(self, scores: Array, grad: Array, hess: Array) -> Array:
        """See `SmoothPass.values`."""
        longest = int(self.data.queries.sizes.max())
        if self.depth > 0 and longest > LONGEST_WITH_DISTRIBUTION:
            raise ValueError(
                f"the longest query has {longest} documents, but {self.objective!r} needs the rank "
                "distribution of each, whose cost grows with the cube of the length; expected at "
                f"most {LONGEST_WITH_DISTRIBUTION}: shorten the lists, or use ApproxRank"
            )
        return super().values(scores, grad, hess)

    def differentiate(self, chunk: Chunk) -> None:
        """See `SmoothPass.differentiate`."""
        documents = chunk.documents
        n = len(documents.x)
        # Without pairs the discount is in the mean over the rank distribution.
        discount, slope = (
            weights_at(self.measure, chunk.ranks(self.step))
            if self.pairs
            else (np.ones(n), np.zeros(n))
        )
        if self.depth == 0:
            chunk.settle(discount, slope)
            chunk.compare(self.step, False)
            documents.by_rank[:] *= documents.total
            chunk.push(self.step, True)
            return
        starts, chances = chunk.starts, np.empty(n)
        dist = distribution_memory(self.by_rank, self.depth, np.diff(starts))
        find_chances(starts, documents.x, chunk.matters, self.depth, dist, chances)
        chunk.settle(chances * discount, chances * slope)
        chunk.compare(self.step, False)
        documents.by_rank[:] *= documents.total
        pairs, _ = tables_of(self.measure, self.data.base[chunk.numbers])
        push_within(starts, pairs, chunk.matters, discount * documents.total, dist, documents)
