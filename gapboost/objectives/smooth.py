"""Smooth versions of a measure: parts that SoftRank and ApproxRank share.

With pi_mn a smooth probability that document m is above document n, its derivative by the score of
m, and real ranks ``r_n = 1 + sum_m pi_mn``, ApproxRank and, for measures of pairs without a
cut-off, SoftRank train for

    M = sum_n discount(r_n) (own[i_n] + sum_m above_mn pair[i_m, i_n])

and differ in pi and in ``above``; `softrank` has SoftRank's formulas for other measures,
`approxrank` the factor of a cut-off. The derivative of M is a sum over pairs of documents of a push
that moves one up and the other down by the same amount, so gradients sum to 0 in each query.

**The smoothing is absolute**, not relative to the spread of a query's scores. A relative one has no
gradient to give where all scores are equal, which is where boosting starts; it also leaves the
scale of the scores without any effect, so that nothing ever settles. Scores that grow while
boosting sharpen an absolute smoothing: coarse at first, when the order is still anyone's guess,
close to the measure later. The gradients are therefore the exact derivative of `value`.

**The cost** is near-linear in the length of a list: all sums over documents m are sums of a smooth
step, or of its slope, over sorted positions (`gapboost._kernels.smooth`). Gradients are those of
the sums over all pairs to 1e-10 of the largest of the query with the defaults; 2e-8 was met where
beta was 1 000 on a list of 5 000. Documents so far apart that their comparison is certain, to
1e-13, do not push each other at all. Only rank distributions cost more (see `softrank`).

**The hessian** of a document is the sum over grades of the absolute value of what all documents of
that grade push it, times the steepest slope of pi. The second derivative itself is negative
wherever a pair is in the wrong order, and no booster can use that. This one is positive wherever a
document is pushed at all, has the unit 1 / score^2, and sees that no step is longer than 1 / slope,
the width of pi: the distance in scores over which "below" becomes "above". A document that one
grade pushes up and another down takes a shorter step. Absolute values of single pairs would count
every disagreement, but are no sums of a smooth function: they would cost all pairs. Four times as
much would bound the curvature of each pair's logistic pi at any learning rate, were pairs counted
singly; but boosters multiply steps by a learning rate of 0.1 or so, and with that bound they only
trained slower (benchmarks/PAPERS.md).
"""

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np

from gapboost._data.columns import checked_scores, one_dimensional
from gapboost._data.judged import Judged, judged
from gapboost._kernels import Array
from gapboost._kernels.parallel.chunks import CACHED_CHUNK, chunks, run, table_bytes
from gapboost._kernels.smooth.query import (
    Documents,
    find_positions,
    gradient_and_hessian,
    rows_by_rank,
)
from gapboost._kernels.smooth.sums import Room, SmoothStep, compare, push, room_for, smooth_ranks
from gapboost.measures.base import QuadraticForm, tables_of
from gapboost.objectives.objective import Objective, Pass

# Tables of all queries are kept between passes up to this many bytes.
KEPT_BYTES = 1 << 26


class Chunk(NamedTuple):
    """Some queries of a pass, and their documents by rank.

    Attributes
    ----------
    numbers : slice
        Of the queries in the data set.
    starts : int64 ndarray of shape (Q + 1,)
    query : int64 ndarray of shape (N,)
        Number of each document's query in the chunk.
    matters : bool ndarray of shape (N,)
        Whether the measure looks at documents of that grade at all; the others only take up ranks.
    own : float64 ndarray of shape (N,)
        What each document is worth by itself.
    pair : float64 ndarray of shape (Q, L, L)
        What documents are worth below others.
    documents : Documents
    room : Room
    """

    numbers: slice
    starts: Array
    query: Array
    matters: Array
    own: Array
    pair: Array
    documents: Documents
    room: Room

    def ranks(self, step: SmoothStep) -> Array:
        """The smooth rank of each document, float64 of shape (N,)."""
        ranks = np.empty(len(self.query))
        smooth_ranks(self.starts, step, self.documents.x, self.room, ranks)
        return ranks

    def settle(self, share: Array, by_rank: Array) -> None:
        """Begin with these shares, their derivatives by rank, and the worth of each document."""
        documents = self.documents
        documents.share[:] = np.where(self.matters, share, 0.0)
        documents.by_rank[:] = np.where(self.matters, by_rank, 0.0)
        documents.total[:] = np.where(self.matters, self.own, 0.0)

    def compare(self, step: SmoothStep, turning: bool) -> None:
        """See `gapboost._kernels.smooth.sums.compare`."""
        compare(self.starts, step, self.pair, turning, self.room, self.documents)

    def push(self, step: SmoothStep, paired: bool) -> None:
        """See `gapboost._kernels.smooth.sums.push`."""
        push(self.starts, step, self.pair, paired, self.room, self.documents)


class SmoothPass(Pass):
    """A smooth measure on one data set.

    Parameters
    ----------
    objective : SmoothObjective
    data : Judged
    threads : int
    step : SmoothStep
        The smooth step, of positions.
    steepness, steepest : float
        Positions are scores times `steepness` (`find_positions`); `steepest` is the derivative of
        the step at 0 by the score.
    """

    def __init__(
        self,
        objective: "SmoothObjective",
        data: Judged,
        threads: int,
        step: SmoothStep,
        steepness: float,
        steepest: float,
    ) -> None:
        self.data = data
        self.measure = objective.measure
        self.normalize = objective.normalize
        self.threads = threads
        self.step = step
        self.steepness = steepness
        self.steepest = steepest
        self.weights = data.weights
        if objective.normalize:
            self.weights = data.weights * data.weighted_size
        cost = table_bytes(data.base.n_levels)
        self.ranges = chunks(data.queries.offsets, threads, cost, CACHED_CHUNK)
        n_queries = len(data.queries)
        keep = cost * n_queries <= KEPT_BYTES
        self.kept = self.tables(0, n_queries) if keep else None

    def __call__(self, scores: Array, grad: Array, hess: Array) -> None:
        """See `Pass`."""
        self.values(scores, grad, hess)

    def values(self, scores: Array, grad: Array, hess: Array) -> Array:
        """Write the gradients as `Pass` does; return the smooth measure, float64 of shape (Q,)."""
        values = np.empty(len(self.data.queries))

        def task(k: int) -> None:
            chunk, rows = self.chunk(scores, *self.ranges[k])
            self.differentiate(chunk)
            documents, starts = chunk.documents, chunk.starts
            values[chunk.numbers] = np.add.reduceat(documents.share * documents.total, starts[:-1])
            grad[rows], hess[rows] = gradient_and_hessian(
                starts,
                self.weights[chunk.numbers],
                self.steepness,
                self.steepest,
                self.normalize,
                documents,
            )

        run(task, len(self.ranges), self.threads)
        return values

    def ranks(self, scores: Array) -> Array:
        """The smooth rank of each document, float64 of shape (N,), in grouped order."""
        ranks = np.empty(len(scores))
        for first, last in self.ranges:
            chunk, rows = self.chunk(scores, first, last)
            ranks[rows] = chunk.ranks(self.step)
        return ranks

    def chunk(self, scores: Array, first: int, last: int) -> tuple[Chunk, Array]:
        """Queries ``first..last-1``, and the row of each of their documents."""
        data = self.data
        offsets = data.queries.offsets[first : last + 1]
        starts, sizes = offsets - offsets[0], np.diff(offsets)
        exact = scores[offsets[0] : offsets[-1]].astype(np.float64, copy=False)
        order = rows_by_rank(exact, starts)
        rows, query = offsets[0] + order, np.repeat(np.arange(last - first), sizes)
        grade = data.codes[rows].astype(np.int64)
        documents = Documents(grade, *np.zeros((6, len(grade))))
        find_positions(exact[order], starts, self.steepness, documents.x)
        if self.kept is None:
            pair, own, matter = self.tables(first, last)
        else:
            pair, own, matter = (table[first:last] for table in self.kept)
        chunk = Chunk(
            numbers=slice(first, last), starts=starts, query=query, matters=matter[query, grade],
            own=own[query, grade], pair=pair, documents=documents,
            room=room_for(int(sizes.max()), own.shape[1]),
        )  # fmt: skip
        return chunk, rows

    def tables(self, first: int, last: int) -> tuple[Array, Array, Array]:
        """Tables of queries ``first..last-1``, and whether the measure looks at each grade."""
        pair, own = tables_of(self.measure, self.data.base[first:last])
        return pair, own, (own != 0) | (pair != 0).any(axis=1) | (pair != 0).any(axis=2)

    @abstractmethod
    def differentiate(self, chunk: Chunk) -> None:
        """Fill shares and totals, whose products add up to the measure, and its derivatives."""


@dataclass(frozen=True, repr=False)
class SmoothObjective(Objective):
    """A smooth version of a measure, trained by its exact gradient.

    Parameters
    ----------
    measure : Measure
    normalize : bool, default=True
        Scale each query's gradients by ``L log2(1 + max(S, 0.05)) / S``, where L is the mean number
        of documents of a query, weighted by the queries' weights, and S the sum of the absolute
        gradients in units of the steepness: a change of the smoothing changes the unit of the
        scores and nothing else. The floor keeps a direction on plateaus. A query whose gradients
        are rounding, 1e-14 of what its documents contribute or less than 1e-305, gets none. Without
        L, which `LambdaRank` lacks, XGBoost's leaf floor would stop training on them. False: the
        derivative of `value`, with the sign turned.
    """

    in_units_of_rows: ClassVar[bool] = True

    normalize: bool = field(default=True, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        (_, form), *others = self.measure.terms
        if others or not isinstance(form, QuadraticForm) or form.discount_at is None:
            raise ValueError(
                f"measure is {self.measure!r} in {type(self).__name__}; expected a measure with "
                "one discount, the same for all queries, such as nDCG(k=10): LambdaRank trains "
                "for the others"
            )

    @abstractmethod
    def prepared(self, data: Judged, n_jobs: int | None = None) -> SmoothPass:
        """See `Objective.prepared`."""

    def value(
        self,
        y_true: Any,
        y_score: Any,
        qid: Any = None,
        *,
        sample_weight: Any = None,
        per_query: bool = False,
        n_jobs: int | None = None,
    ) -> Any:
        """The smooth measure.

        Parameters
        ----------
        y_true, y_score, qid, sample_weight, n_jobs
            As in `gradients`.
        per_query : bool, default=False
            Return one value a query instead of the mean.

        Returns
        -------
        float, or float64 ndarray of shape (Q,)
            Queries in the order in which they first occur. A query in which nothing is relevant has
            value 0.

        Notes
        -----
        With ``normalize=False`` the gradients of a query are those of its own value times its
        weight, not divided by the number of queries.
        """
        data, scores, resolved = self._check(y_true, y_score, qid, sample_weight)
        unused = np.empty((2, len(scores)))
        values = resolved.prepared(data, n_jobs).values(scores, unused[0], unused[1])
        return values if per_query else float(np.average(values, weights=data.weights))

    def ranks(self, y_score: Any, qid: Any = None) -> Array:
        """The smooth rank of each document.

        Parameters
        ----------
        y_score : array-like of shape (N,)
        qid : array-like of shape (N,), optional

        Returns
        -------
        float64 ndarray of shape (N,)
            From 1 to the number of documents of the query.
        """
        grades = np.zeros(len(one_dimensional(y_score, "y_score")))
        data = judged(grades, qid, names=("y_score", "qid", "sample_weight"))
        scores = data.queries.grouped(checked_scores(y_score, len(grades)))
        return data.queries.ungrouped(self.resolved(np.array([1])).prepared(data).ranks(scores))
