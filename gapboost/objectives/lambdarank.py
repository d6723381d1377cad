"""LambdaRank over all pairs, for any measure.

For ranks p < q with grades a, b and x = sigma (s_p - s_q), a pair adds its swap change Delta to the gradient of the upper
document as Delta / (1 + e^x) where a > b and as Delta / (1 + e^-x) where a < b, and the opposite to the lower one
[burges2006], [yilmaz2009] eq. 6. The change is signed: for xGAP a pair can push the other way.
"""

import itertools
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from gapboost._data.arguments import as_cutoff, positive, whole
from gapboost._data.judged import Judged
from gapboost._kernels import Array
from gapboost._kernels.lambdarank.cascades import sum_cascades
from gapboost._kernels.lambdarank.gradients import HESSIAN_FLOOR, Setup, ShortPass, dampening, reach, short_queries
from gapboost._kernels.lambdarank.lists import FARTHEST_SCORE
from gapboost._kernels.lambdarank.long import LONG, LongPass, long_query
from gapboost._kernels.order.short import ranking
from gapboost._kernels.parallel.chunks import CACHED_CHUNK, chunks, resolve_n_jobs, run, table_bytes
from gapboost._kernels.parallel.scratch import Scratch
from gapboost.measures.cascade import Cascade
from gapboost.measures.form import tables_of
from gapboost.objectives.objective import Objective, Pass

# The tables are kept between iterations while they cost less than this many bytes a document.
KEPT_TABLE_BYTES = 32

KEYS_AT_ONCE = 1 << 20

# Of one query, in a cascade: about a second.
MOST_PAIRS = 100_000_000

# Of a logistic function, at its steepest: a Newton step is then never longer than 4 / sigma.
CURVATURE_OF_A_PUSH = 0.25


@dataclass(frozen=True, repr=False)
class LambdaRank(Objective):
    """Pairwise logistic gradients weighted by what a swap of the pair changes in the measure.

    A sum of measures with several discounts costs one pass for each of these.

    Parameters
    ----------
    measure : Measure
    sigma : float, default=1.0
        Steepness of the logistic function, in 1 / score.
    truncation : int, optional
        Only pairs with at least one document in the top `truncation` by current score; None: all pairs.
    normalize : bool, default=True
        Scale each query's gradients by ``log2(1 + S) / S``, where S is the sum of their absolute values: a query with large
        changes does not drown the others, and one with nothing left to gain is not blown up. They are then of the size of
        the boosters' own ranking gradients, for which XGBoost's leaf floor and L2 penalty are a fitting brake; with
        larger ones its default trees overfit.
    random_state : int, default=0
        Seed of the keys that order documents with equal scores; never the order of the rows, which in a file sorted by
        grade would give the answer away.

    Examples
    --------
    >>> import gapboost as gb
    >>> grad, hess = gb.LambdaRank(gb.AP(), normalize=False).gradients([0, 1], [2.0, 1.0])
    >>> grad.round(4).tolist()
    [0.3655, -0.3655]
    """

    sigma: float = 1.0
    truncation: int | None = None
    normalize: bool = True
    random_state: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "sigma", positive(self.sigma, "sigma"))
        object.__setattr__(self, "truncation", as_cutoff(self.truncation, "truncation"))
        object.__setattr__(self, "random_state", whole(self.random_state, "random_state", 0))

    def prepared(self, data: Judged, n_jobs: int | None = None) -> Pass:
        """See `Objective.prepared`."""
        terms, threads = self.measure.terms, resolve_n_jobs(n_jobs)
        alone = len(terms) == 1 and terms[0][1] is self.measure
        return pass_of_one(self, data, threads) if alone else SumPass(self, data, threads)


def pass_of_one(objective: LambdaRank, data: Judged, threads: int) -> Pass:
    """For a measure with one discount."""
    kind = CascadePass if isinstance(objective.measure, Cascade) else LambdaRankPass
    return kind(objective, data, threads)


class LambdaRankPass(Pass):
    """LambdaRank on one data set: turns of tied documents, the tables of the measure, and memory that calls borrow."""

    def __init__(self, objective: LambdaRank, data: Judged, threads: int) -> None:
        self.objective = objective
        self.data = data
        self.threads = threads
        offsets, sizes = data.queries.offsets, data.queries.sizes
        discount, begins = objective.measure.discounts(data.base, sizes)
        self.setup = Setup(
            grades=data.grades, turns=turns(objective.random_state, data), discount=discount, begins=begins,
            weights=data.weights, sigma=objective.sigma, normalize=objective.normalize,
            least_curvature=0.0 if objective.measure.monotone else CURVATURE_OF_A_PUSH,
        )  # fmt: skip
        if begins.any():
            # Of several discounts each may reach down to the end of its list.
            discount = np.ones(int(sizes.max()))
        n_grades = data.base.n_levels
        cost = table_bytes(n_grades)
        truncation = objective.truncation or 0
        # A long query is shared by all threads.
        long = np.flatnonzero(sizes > LONG)
        queries = [
            long_query(data.grades, offsets, discount, *self.tables(q, q + 1), truncation, q) for q in long.tolist()
        ]
        self.long = [Scratch(partial(LongPass, query)) for query in queries]
        ranges = ranges_without(long, chunks(offsets, threads, cost, CACHED_CHUNK))
        keep = cost * len(data.queries) <= KEPT_TABLE_BYTES * data.queries.n_rows
        self.tables_of_chunks = [self.tables(*r) for r in ranges] if keep else []
        self.chunks = [short_queries(offsets, discount, truncation, *r) for r in ranges]
        self.short = Scratch(lambda: ShortPass(self.chunks, n_grades))

    def tables(self, first: int, last: int) -> tuple[Array, Array]:
        """``pair`` and ``own`` of queries ``first..last-1``."""
        return tables_of(self.objective.measure, self.data.base[first:last])

    def __call__(self, scores: Array, grad: Array, hess: Array) -> None:
        """See `Pass`."""

        def task(k: int) -> None:
            queries = self.chunks[k]
            tables = self.tables_of_chunks
            pair, own = tables[k] if tables else self.tables(queries.first, queries.last)
            with self.short.lent() as short:
                short.write_gradients(queries, pair, own, self.setup, scores, grad, hess)

        run(task, len(self.chunks), self.threads)
        for scratch in self.long:
            with scratch.lent() as long:
                long.write_gradients(self.setup, scores, grad, hess, partial(run, n_jobs=self.threads))


class CascadePass(Pass):
    """LambdaRank for a cascade on one data set: every pair whose upper document anybody reaches."""

    def __init__(self, objective: LambdaRank, data: Judged, threads: int) -> None:
        self.objective = objective
        self.data = data
        self.threads = threads
        assert isinstance(objective.measure, Cascade)
        offsets, sizes = data.queries.offsets, data.queries.sizes
        self.discount = objective.measure.discount(int(sizes.max()))
        self.stops = objective.measure.stops(data.labels.astype(np.float64))
        self.turns = turns(objective.random_state, data)
        self.deep = np.minimum(reach(self.discount, int(sizes.max()), objective.truncation or 0), sizes)
        pairs = self.deep * sizes
        if pairs.max() > MOST_PAIRS:
            raise ValueError(
                f"the longest query has {int(sizes.max())} documents, of which {objective!r} visits every pair; expected at most "
                f"{MOST_PAIRS} pairs in a query: a truncation, or a measure with a cut-off k"
            )
        self.ranges = chunks(offsets, threads, 0, CACHED_CHUNK)

    def __call__(self, scores: Array, grad: Array, hess: Array) -> None:
        """See `Pass`."""
        objective, offsets = self.objective, self.data.queries.offsets

        def task(k: int) -> None:
            first, last = self.ranges[k]
            rows = slice(offsets[first], offsets[last])
            starts = offsets[first : last + 1] - offsets[first]
            here = scores[rows].astype(np.float64, copy=False)
            # Of equal scores the turn decides, within each query.
            by_rank = np.repeat(starts[:-1], np.diff(starts)) + ranking(here, starts, self.turns[rows])
            with np.errstate(over="ignore"):  # Infinite is farthest.
                s = np.clip(here * objective.sigma, -FARTHEST_SCORE, FARTHEST_SCORE)[by_rank]
            lam, eta = np.empty((2, len(s)))
            sum_cascades(starts, self.deep[first:last], s, self.stops[rows][by_rank], self.discount, lam, eta)
            factor = self.data.weights[first:last]
            if objective.normalize:
                factor = factor * dampening(objective.sigma * np.add.reduceat(np.abs(lam), starts[:-1]))
            factor = np.repeat(factor * objective.sigma, np.diff(starts))
            grad[rows.start + by_rank] = lam * factor
            hess[rows.start + by_rank] = np.maximum(eta * factor * objective.sigma, HESSIAN_FLOOR)

        run(task, len(self.ranges), self.threads)


class SumPass(Pass):
    """LambdaRank for a sum of measures with several discounts on one data set: a pass for each of them, scaled together."""

    def __init__(self, objective: LambdaRank, data: Judged, threads: int) -> None:
        self.normalize = objective.normalize
        self.data = data
        self.passes = [
            pass_of_one(
                replace(objective, measure=part, normalize=False),
                replace(data, weights=np.full(len(data.queries), weight)),
                threads,
            )
            for weight, part in objective.measure.terms
        ]

    def __call__(self, scores: Array, grad: Array, hess: Array) -> None:
        """See `Pass`."""
        queries = self.data.queries
        total, part = np.zeros((2, queries.n_rows)), np.empty((2, queries.n_rows))
        for add in self.passes:
            add(scores, part[0], part[1])
            total += part
        weights = self.data.weights
        if self.normalize:
            weights = weights * dampening(np.add.reduceat(np.abs(total[0]), queries.offsets[:-1]))
        factor = np.repeat(weights, queries.sizes)
        grad[:] = total[0] * factor
        hess[:] = np.maximum(total[1] * factor, HESSIAN_FLOOR)


def turns(random_state: int, data: Judged) -> Array:
    """The order in which the documents of each query are ranked where their scores are equal: int32 of shape (N,), positions."""
    offsets, sizes = data.queries.offsets, data.queries.sizes
    query = np.repeat(np.arange(len(sizes), dtype=np.uint64), sizes)
    rows = np.argsort(query << np.uint64(32) | tie_keys(random_state, data), kind="stable")
    positions: Array = (rows - np.repeat(offsets[:-1], sizes)).astype(np.int32)
    return positions


def tie_keys(random_state: int, data: Judged) -> Array:
    """A random key for each document, uint32 of shape (N,), by its position in the whole data set."""
    rng = np.random.default_rng(random_state)

    def draw(n: int) -> Array:
        return rng.integers(np.iinfo(np.uint32).max, size=n, dtype=np.uint32, endpoint=True)

    queries, whole = data.queries, data.whole
    if whole is None:
        return draw(queries.n_rows)
    positions = np.arange(queries.n_rows) + np.repeat(whole.begins - queries.offsets[:-1], queries.sizes)
    keys = np.empty(queries.n_rows, dtype=np.uint32)
    # Queries keep the order of the whole. Its keys are drawn block by block: no worker has room for all of them.
    filled = 0
    for first in range(0, whole.n_rows, KEYS_AT_ONCE):
        block = draw(min(KEYS_AT_ONCE, whole.n_rows - first))
        until = int(np.searchsorted(positions, first + len(block)))
        keys[filled:until] = block[positions[filled:until] - first]
        filled = until
    return keys


def ranges_without(long: Array, ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The ranges of queries, cut so that none holds one of the queries in `long`."""
    cut = []
    for first, last in ranges:
        edges = [first - 1, *[q for q in long.tolist() if first <= q < last], last]
        cut += [(before + 1, after) for before, after in itertools.pairwise(edges) if before + 1 < after]
    return cut
