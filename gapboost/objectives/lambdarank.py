"""LambdaRank over all pairs, for any measure; and RankNet, in which all pairs count the same.

For ranks p < q with grades a, b and x = sigma (s_p - s_q), a pair adds its swap change Delta to the
gradient of the upper document as Delta / (1 + e^x) where a > b and as Delta / (1 + e^-x) where a <
b, and the opposite to the lower one [burges2006], [yilmaz2009] 4.2. The change is signed: for
xGAP a pair can push the other way. RankNet, XGBoost's ``rank:pairwise`` without its options,
has 1 in place of -Delta in the right order: a pair adds log(1 + e^(-sigma (s_i - s_j))) to the loss
[burges2005].
"""

from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

import numpy as np

from gapboost._kernels.lambdarank.exponentials import fitted_exponentials
from gapboost._kernels.lambdarank.gradients import (
    CASCADE,
    EQUAL,
    FORM,
    HESSIAN_FLOOR,
    Options,
    Queries,
    count_active_ranks,
    dampening,
    quicker_by_pairs,
    write_gradients,
)
from gapboost._kernels.lambdarank.memory import Memory, make_memory
from gapboost._kernels.threads import can_keep, chunks, run, table_bytes, threads_for
from gapboost.data import Array, QueryData
from gapboost.measures import Measure
from gapboost.measures.base import tables_of
from gapboost.measures.cascade import Cascade
from gapboost.measures.labels import with_its_label
from gapboost.objectives.base import Objective, Pass
from gapboost.validation import as_integer, as_number, parameter

# Of a logistic function, at its steepest: a Newton step is then never longer than 4 / sigma.
CURVATURE_OF_A_PUSH = 0.25

# What a pass takes for a document, and beside it for a pair of a cascade.
NANOSECONDS, NANOSECONDS_OF_A_PAIR = 50.0, 4.0

# The step is 1 for so many training documents, and grows with this root of their number. Both were
# chosen on synthetic tasks and collections: benchmarks/protocols/scaling.md.
UNIT_DOCUMENTS, ROOT = 30_000, 8


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
    score_distance : float or None, default=0.01
        Divide the change of a pair by ``score_distance`` plus the difference of its scores, unless
        all scores of the query are equal, as LightGBM's ``lambdarank_norm`` and XGBoost's
        ``lambdarank_score_normalization`` do. None: changes are not divided. Time grows linearly
        with the length of a list. Long lists take up to four times as long if ``sigma *
        score_distance`` is not between .01 and 3, or if scores are more than 80 / `sigma` apart.
        Only for absurd values may time grow with the square of the length: below 1e-30, above
        1e30, or scores more than 1e10 / `sigma` apart.
    step : float, optional
        Length of the steps in a training: a factor on the gradients, not on the hessians, which
        acts as one on the learning rate does. None: the eighth root of the number of training
        documents divided by 30,000, since many documents allow longer steps, and few need shorter
        ones. `gradients` are without it.
    normalize : bool, default=True
        Scale each query's gradients by ``log2(1 + S) / S``, where S is the sum of their absolute
        values: a query with large changes does not outweigh the others, and one with nothing left
        to gain gets small gradients. They are then of the size of the boosters' own ranking
        gradients, for which XGBoost's ``min_child_weight`` and L2 penalty are of a fitting size;
        with larger ones its default trees overfit.
    random_state : int, default=0
        Seed of the keys that order documents with equal scores; never the order of the rows, which
        in a file sorted by grade would give the answer away.

    Examples
    --------
    >>> import gapboost as gb
    >>> grad, hess = gb.LambdaRank(gb.AP(), normalize=False).gradients([0, 1], [2.0, 1.0])
    >>> grad.round(4).tolist()
    [0.3619, -0.3619]
    """

    # True if all pairs count the same, whatever the measure.
    equal_pairs: ClassVar[bool] = False

    sigma: float = parameter(1.0, as_number)
    truncation: int | None = parameter(None, as_integer)
    score_distance: float | None = parameter(0.01, as_number)
    step: float | None = parameter(None, as_number)
    normalize: bool = True
    random_state: int = parameter(0, partial(as_integer, low=0))

    def prepared(self, data: QueryData, n_jobs: int | None = None) -> Pass:
        """See `Objective.prepared`."""
        (weight, measure), *others = self.measure.terms
        if (others or weight != 1.0) and not self.equal_pairs:
            return SumPass(self, data, n_jobs)
        return LambdaRankPass(self, measure, data, n_jobs)

    def step_for(self, n_documents: int) -> float:
        """See `Objective.step_for`."""
        if self.step is not None:
            return self.step
        return float((n_documents / UNIT_DOCUMENTS) ** (1 / ROOT))


@dataclass(frozen=True, repr=False)
class RankNet(LambdaRank):
    """Pairwise logistic loss in which all pairs of different grades count the same [burges2005].

    The gradients do not depend on the measure, which is what evaluation sets report and what stops
    a training early. `LambdaRank` weights each pair by its
    change of the measure, and trains for the measure.

    Parameters
    ----------
    measure : Measure
        To report; of one label.
    sigma, truncation, normalize, random_state
        As in `LambdaRank`.
    score_distance : float, optional
        As in `LambdaRank`. None, the default: pairs are not divided.
    step : float, default=1.0
        As in `LambdaRank`.

    Examples
    --------
    >>> import gapboost as gb
    >>> grad, hess = gb.RankNet(gb.AP(), normalize=False).gradients([0, 1], [2.0, 1.0])
    >>> grad.round(4).tolist()
    [0.7311, -0.7311]
    """

    equal_pairs = True

    score_distance: float | None = parameter(None, as_number)
    step: float | None = parameter(1.0, as_number)

    def __post_init__(self) -> None:
        super().__post_init__()
        if len({part.label_column for _, part in self.measure.terms}) > 1:
            raise ValueError(f"measure is {self.measure!r}; expected a measure of one label")


def tie_order(random_state: int, data: QueryData) -> Array:
    """Return a random permutation of each query's positions, int32 of shape (N,).

    It orders documents with equal scores: by random keys, never by row.
    """
    queries = data.queries
    query = np.repeat(np.arange(len(queries), dtype=np.uint64), queries.sizes)
    rng, largest = np.random.default_rng(random_state), np.iinfo(np.uint32).max
    keys = rng.integers(largest, size=queries.n_rows, dtype=np.uint32, endpoint=True)
    rows = np.argsort(query << np.uint64(32) | keys, kind="stable")
    positions: Array = (rows - np.repeat(queries.offsets[:-1], queries.sizes)).astype(np.int32)
    return positions


class LambdaRankPass(Pass):
    """LambdaRank for one measure on one data set, with its order of ties, tables and work memory.

    The measure has one discount, or none where `LambdaRank.equal_pairs` is true.
    """

    def __init__(
        self, objective: LambdaRank, measure: Measure, data: QueryData, n_jobs: int | None
    ) -> None:
        self.measure, data = with_its_label(measure, data)
        self.base = data.base
        offsets, sizes, sigma = data.queries.offsets, data.queries.sizes, objective.sigma
        discount, least_curvature = np.ones(int(sizes.max())), 0.0
        if objective.equal_pairs:
            kind = EQUAL
        else:
            kind = CASCADE if isinstance(self.measure, Cascade) else FORM
            discount = self.measure.discount(len(discount))
            least_curvature = 0.0 if self.measure.monotone else CURVATURE_OF_A_PUSH
        self.options = Options(kind, sigma, objective.normalize, least_curvature)
        distance = objective.score_distance
        epsilon = 0.0 if distance is None else sigma * distance
        self.exponentials = fitted_exponentials(0.0), fitted_exponentials(epsilon)
        active_ranks = count_active_ranks(discount, sizes, objective.truncation)
        work = NANOSECONDS * len(data.codes)
        if kind == CASCADE:
            work += NANOSECONDS_OF_A_PAIR * float(np.sum(active_ranks * sizes))
        self.threads = threads_for(n_jobs, work)
        self.queries = Queries(
            offsets=offsets, grades=data.codes, tie_order=tie_order(objective.random_state, data),
            weights=data.weights, active_ranks=active_ranks, discount=discount,
            by_pairs=quicker_by_pairs(active_ranks, sizes, distance is not None),
        )  # fmt: skip
        n_grades = data.base.n_levels
        # Lists whose scores are far apart go pair by pair, if changes are divided.
        paired = sizes if distance is not None else sizes[self.queries.by_pairs]
        longest = int(sizes.max()), int(paired.max(initial=0))
        self.make_memory = partial(make_memory, *longest, n_grades)
        # Memory that no call uses. Fresh memory costs more than what is done with it, as each page
        # of it faults at its first touch.
        self.free: list[Memory] = []
        cost = table_bytes(n_grades) if kind == FORM else 0
        keep = can_keep(cost, offsets)
        self.kept = self.tables(0, len(sizes)) if keep else None
        self.ranges = chunks(offsets, self.threads, 0 if keep else cost)

    def tables(self, first: int, last: int) -> tuple[Array, Array]:
        """Return ``pair`` and ``own`` of some queries; only a form has pairs."""
        base = self.base[first:last]
        if self.options.kind == FORM:
            return tables_of(self.measure, base)
        own = np.zeros(base.counts.shape)
        if isinstance(self.measure, Cascade):
            own += self.measure.stops(base.levels)
        return np.empty((1, 0, 0)), own

    def __call__(self, scores: Array, grad: Array, hess: Array) -> None:
        """See `Pass`."""
        undivided, near = self.exponentials
        distance = self.options.sigma * (float(scores.max()) - float(scores.min()))
        far = fitted_exponentials(near.epsilon, distance)

        def task(k: int) -> None:
            first, last = self.ranges[k]
            pair, own = self.kept or self.tables(first, last)
            start = 0 if self.kept is None else first
            # `pop` and `append` are atomic: no call waits for another, or shares its memory.
            try:
                memory = self.free.pop()
            except IndexError:
                memory = self.make_memory()
            write_gradients(
                first, last, start, self.queries, pair, own, self.options, undivided, near, far,
                memory, scores, grad, hess,
            )  # fmt: skip
            # Not after an error: after an interrupt a helper thread may still write to it.
            self.free.append(memory)

        run(task, len(self.ranges), self.threads)


class SumPass(Pass):
    """LambdaRank for a sum of measures with several discounts: one pass each, scaled together."""

    def __init__(self, objective: LambdaRank, data: QueryData, n_jobs: int | None) -> None:
        self.normalize = objective.normalize
        self.data = data
        unscaled = replace(objective, normalize=False)
        self.passes = []
        for weight, part in objective.measure.terms:
            weighted = replace(data, weights=np.full(len(data.queries), weight))
            self.passes.append(LambdaRankPass(unscaled, part, weighted, n_jobs))

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
