"""LambdaRank pair by pair: cascades, and what RankNet shares."""

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np

from gapboost._data.judged import Judged
from gapboost._kernels import Array
from gapboost._kernels.lambdarank.cascades import sum_cascades
from gapboost._kernels.lambdarank.gradients import HESSIAN_FLOOR, Setup, dampening
from gapboost._kernels.lambdarank.lists import FARTHEST_SCORE
from gapboost._kernels.order.short import ranking
from gapboost._kernels.parallel.chunks import CACHED_CHUNK, chunks, run
from gapboost._kernels.simd import LANES
from gapboost.measures.cascade import Cascade
from gapboost.measures.measure import Measure
from gapboost.objectives.objective import Pass

# Of one query: about a second.
MOST_PAIRS = 100_000_000


@dataclass(frozen=True, kw_only=True)
class Ranks:
    """Some queries, each by rank.

    Attributes
    ----------
    numbers : slice
        Of the queries in the data set.
    starts : int64 ndarray of shape (Q + 1,)
        Where each begins.
    rows : int64 ndarray of shape (N,)
        The row of the document at each rank.
    s : float64 ndarray
        Scores times sigma, with room for 8 more.
    """

    numbers: slice
    starts: Array
    rows: Array
    s: Array


class PairsPass(Pass):
    """LambdaRank or RankNet on one data set, pair by pair, for upper documents that may count."""

    def __init__(
        self, setup: Setup, data: Judged, deepest: int, threads: int, what: str, instead: str
    ) -> None:
        self.setup = setup
        self.data = data
        self.threads = threads
        self.deep = np.minimum(deepest, data.queries.sizes)
        check_pairs(data, deepest, what, instead)
        self.ranges = chunks(data.queries.offsets, threads, 0, CACHED_CHUNK)

    @abstractmethod
    def sum(self, ranks: Ranks, lam: Array, eta: Array) -> None:
        """Write ``lam`` and ``eta`` of each document, by rank."""

    def __call__(self, scores: Array, grad: Array, hess: Array) -> None:
        """See `Pass`."""
        setup, offsets = self.setup, self.data.queries.offsets

        def task(k: int) -> None:
            first, last = self.ranges[k]
            rows = slice(offsets[first], offsets[last])
            starts = offsets[first : last + 1] - offsets[first]
            here = scores[rows].astype(np.float64, copy=False)
            # Of equal scores the turn decides, within each query.
            by_rank = np.repeat(starts[:-1], np.diff(starts)) + ranking(
                here, starts, setup.turns[rows]
            )
            n = len(by_rank)
            s = np.zeros(n + LANES)
            with np.errstate(over="ignore"):  # Infinite is farthest.
                s[:n] = np.clip(here * setup.sigma, -FARTHEST_SCORE, FARTHEST_SCORE)[by_rank]
            lam, eta = np.empty((2, n))
            ranks = Ranks(numbers=slice(first, last), starts=starts, rows=rows.start + by_rank, s=s)
            self.sum(ranks, lam, eta)
            factor = setup.weights[first:last]
            if setup.normalize:
                factor = factor * dampening(setup.sigma * np.add.reduceat(np.abs(lam), starts[:-1]))
            factor = np.repeat(factor * setup.sigma, np.diff(starts))
            curve = np.maximum(eta, setup.least_curvature * np.abs(lam))
            grad[ranks.rows] = lam * factor
            hess[ranks.rows] = np.maximum(curve * factor * setup.sigma, HESSIAN_FLOOR)

        run(task, len(self.ranges), self.threads)


class MeasurePass(PairsPass):
    """Pass for a measure, which ends at its cutoff."""

    def __init__(
        self, setup: Setup, measure: Measure, data: Judged, truncation: int | None, threads: int
    ) -> None:
        longest = int(data.queries.sizes.max())
        deepest = min(measure.depth(longest), truncation or longest)
        instead = "a truncation, or a measure with a cut-off k"
        super().__init__(setup, data, deepest, threads, f"LambdaRank of {measure!r}", instead)


class CascadePass(MeasurePass):
    """LambdaRank for a cascade."""

    def __init__(
        self, setup: Setup, measure: Cascade, data: Judged, truncation: int | None, threads: int
    ) -> None:
        super().__init__(setup, measure, data, truncation, threads)
        self.stops = measure.stops(data.grades.astype(np.float64))
        self.discount = measure.discount(int(data.queries.sizes.max()))

    def sum(self, ranks: Ranks, lam: Array, eta: Array) -> None:
        """See `PairsPass.sum`."""
        sum_cascades(
            ranks.starts,
            self.deep[ranks.numbers],
            ranks.s,
            self.stops[ranks.rows],
            self.discount,
            lam,
            eta,
        )


def check_pairs(data: Judged, deepest: int, what: str, instead: str) -> None:
    """Refuse queries of which a pass would visit too many pairs.

    Raises
    ------
    ValueError
        Saying what to do.
    """
    longest = int(data.queries.sizes.max())
    if min(deepest, longest) * longest > MOST_PAIRS:
        raise ValueError(
            f"the longest query has {longest} documents, of which {what} visits every "
            f"pair; expected at most {MOST_PAIRS} pairs in a query: {instead}"
        )
