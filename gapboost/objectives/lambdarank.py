"""LambdaRank over all pairs, for any measure.

For ranks p < q with grades a, b and x = sigma (s_p - s_q), a pair adds its swap change Delta to the
gradient of the upper document as Delta / (1 + e^x) where a > b and as Delta / (1 + e^-x) where a <
b, and the opposite to the lower one [burges2006], [yilmaz2009] eq. 6. The change is signed: for
xGAP a pair can push the other way.
"""

import itertools
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from gapboost._data.arguments import as_cutoff, positive, whole
from gapboost._data.judged import Judged
from gapboost._kernels import Array
from gapboost._kernels.lambdarank.gradients import (
    HESSIAN_FLOOR,
    Setup,
    ShortPass,
    dampening,
    short_queries,
)
from gapboost._kernels.lambdarank.long import LONG, LongPass, long_query
from gapboost._kernels.parallel.chunks import CACHED_CHUNK, chunks, resolve_n_jobs, run, table_bytes
from gapboost._kernels.parallel.scratch import Scratch
from gapboost.measures.cascade import Cascade
from gapboost.measures.form import tables_of
from gapboost.measures.measure import Measure
from gapboost.measures.of_label import with_its_label
from gapboost.objectives.objective import Objective, Pass
from gapboost.objectives.pairs import CascadePass
from gapboost.objectives.tie_order import tie_order

# The tables are kept between iterations while they cost less than this many bytes a document.
KEPT_TABLE_BYTES = 32

# Of a logistic function, at its steepest: a Newton step is then never longer than 4 / sigma.
CURVATURE_OF_A_PUSH = 0.25


@dataclass(frozen=True, repr=False)
class LambdaRank(Objective):
    """Pairwise logistic gradients, weighted by the change of the measure by a swap of the pair.

    A sum of measures with several discounts, or of several labels, costs one pass for each of
    these.

    Parameters
    ----------
    measure : Measure
    sigma : float, default=1.0
        Steepness of the logistic function, in 1 / score.
    truncation : int, optional
        Only pairs with at least one document in the top `truncation` by current score; None: all
        pairs.
    normalize : bool, default=True
        Scale each query's gradients by ``log2(1 + S) / S``, where S is the sum of their absolute
        values: a query with large changes does not drown the others, and one with nothing left to
        gain is not blown up. They are then of the size of the boosters' own ranking gradients, for
        which XGBoost's leaf floor and L2 penalty are a fitting brake; with larger ones its default
        trees overfit.
    random_state : int, default=0
        Seed of the keys that order documents with equal scores; never the order of the rows, which
        in a file sorted by grade would give the answer away.

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
        (weight, measure), *others = self.measure.terms
        threads = resolve_n_jobs(n_jobs)
        alone = not others and weight == 1.0
        return (
            pass_of_one(replace(self, measure=measure), data, threads)
            if alone
            else SumPass(self, data, threads)
        )


def pass_of_one(objective: LambdaRank, data: Judged, threads: int) -> Pass:
    """Return the pass for a measure with one discount."""
    measure, data = with_its_label(objective.measure, data)
    discount = measure.discount(int(data.queries.sizes.max()))
    begins = np.zeros(len(data.queries), dtype=np.int64)
    setup = Setup(
        grades=data.codes, turns=tie_order(objective.random_state, data), discount=discount,
        begins=begins, weights=data.weights, sigma=objective.sigma, normalize=objective.normalize,
        least_curvature=0.0 if measure.monotone else CURVATURE_OF_A_PUSH,
    )  # fmt: skip
    if isinstance(measure, Cascade):
        return CascadePass(setup, measure, data, objective.truncation, threads)
    return LambdaRankPass(setup, measure, data, objective.truncation, threads)


class LambdaRankPass(Pass):
    """LambdaRank on one data set, with its order of ties, its tables, and work memory."""

    def __init__(
        self, setup: Setup, measure: Measure, data: Judged, truncation: int | None, threads: int
    ) -> None:
        self.setup = setup
        self.measure = measure
        self.data = data
        self.threads = threads
        offsets, sizes = data.queries.offsets, data.queries.sizes
        # Of several discounts each may reach down to the end of its list.
        discount = np.ones(int(sizes.max())) if setup.begins.any() else setup.discount
        n_grades = data.base.n_levels
        cost = table_bytes(n_grades)
        truncation = truncation or 0
        # A long query is shared by all threads.
        long = np.flatnonzero(sizes > LONG)
        queries = [
            long_query(data.codes, offsets, discount, *self.tables(q, q + 1), truncation, q)
            for q in long.tolist()
        ]
        self.long = [Scratch(partial(LongPass, query)) for query in queries]
        ranges = ranges_without(long, chunks(offsets, threads, cost, CACHED_CHUNK))
        keep = cost * len(data.queries) <= KEPT_TABLE_BYTES * data.queries.n_rows
        self.tables_of_chunks = [self.tables(*r) for r in ranges] if keep else []
        self.chunks = [short_queries(offsets, discount, truncation, *r) for r in ranges]
        self.short = Scratch(lambda: ShortPass(self.chunks, n_grades))

    def tables(self, first: int, last: int) -> tuple[Array, Array]:
        """``pair`` and ``own`` of queries ``first..last-1``."""
        return tables_of(self.measure, self.data.base[first:last])

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
                long.write_gradients(
                    self.setup, scores, grad, hess, partial(run, n_jobs=self.threads)
                )


class SumPass(Pass):
    """LambdaRank for a sum of measures with several discounts: one pass each, scaled together."""

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


def ranges_without(long: Array, ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return ranges of queries, cut so that none holds one of the queries in `long`."""
    cut = []
    for first, last in ranges:
        edges = [first - 1, *[q for q in long.tolist() if first <= q < last], last]
        cut += [
            (before + 1, after) for before, after in itertools.pairwise(edges) if before + 1 < after
        ]
    return cut
