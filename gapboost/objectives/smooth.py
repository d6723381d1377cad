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
from typing import Any, ClassVar

import numpy as np

from gapboost._kernels.order import ranking
from gapboost._kernels.smooth.query import Documents, find_positions, gradient_and_hessian
from gapboost._kernels.smooth.sums import SmoothStep, add_gradients, compare, scratch_for
from gapboost._kernels.threads import CACHED_CHUNK, chunks, run, table_bytes, threads_for
from gapboost.data import Array, ArrayLike, QueryData, QueryIds, group_by_query
from gapboost.measures.base import QuadraticForm, tables_of
from gapboost.objectives.base import Objective, Pass
from gapboost.validation import check_row_order, checked_scores, one_dimensional

# What a pass takes for a document.
NANOSECONDS = 250.0


class Chunk:
    """Some queries of a data set, their documents by rank, and the derivatives of the measure.

    Attributes
    ----------
    starts : int64 ndarray of shape (Q + 1,)
    rows : int64 ndarray of shape (N,)
        Row of each document.
    pair : float64 ndarray of shape (Q, L, L)
        What documents are worth below others.
    own : float64 ndarray of shape (N,)
        What each document is worth by itself.
    matters : bool ndarray of shape (N,)
        Whether the measure looks at documents of that grade at all; the others only take up ranks.
    documents : Documents
    """

    def __init__(
        self, objective: "SmoothObjective", data: QueryData, scores: Array, first: int, last: int
    ) -> None:
        self.step = objective.step
        offsets = data.queries.offsets[first : last + 1]
        self.starts, sizes = offsets - offsets[0], np.diff(offsets)
        exact = scores[offsets[0] : offsets[-1]].astype(np.float64, copy=False)
        order = np.repeat(self.starts[:-1], sizes) + ranking(exact, self.starts)
        self.rows = offsets[0] + order
        query, grade = np.repeat(np.arange(len(sizes)), sizes), data.codes[self.rows]
        self.pair, own = tables_of(objective.measure, data.base[first:last])
        matter = (own != 0) | (self.pair != 0).any(axis=1) | (self.pair != 0).any(axis=2)
        self.matters, self.own = matter[query, grade], own[query, grade]
        self.documents = Documents(grade.astype(np.int64), *np.zeros((6, len(grade))))
        find_positions(exact[order], self.starts, objective.steepness, self.documents.x)
        self.scratch = scratch_for(int(sizes.max()), own.shape[1])

    def ranks(self) -> Array:
        """The smooth rank of each document, float64 of shape (N,)."""
        # One above every document that is above: all are compared as if of one grade.
        n, one_above = len(self.rows), np.ones((len(self.pair), 1, 1))
        alike = self.documents._replace(grade=np.zeros(n, np.int64), total=np.ones(n))
        compare(self.starts, self.step, one_above, False, self.scratch, alike)
        return alike.total

    def settle(self, share: Array, by_rank: Array) -> None:
        """Begin with these shares, their derivatives by rank, and the worth of each document."""
        documents = self.documents
        documents.share[:] = np.where(self.matters, share, 0.0)
        documents.by_rank[:] = np.where(self.matters, by_rank, 0.0)
        documents.total[:] = np.where(self.matters, self.own, 0.0)

    def compare(self, turning: bool) -> None:
        """See `gapboost._kernels.smooth.sums.compare`."""
        compare(self.starts, self.step, self.pair, turning, self.scratch, self.documents)

    def add_gradients(self, paired: bool) -> None:
        """See `gapboost._kernels.smooth.sums.add_gradients`."""
        add_gradients(self.starts, self.step, self.pair, paired, self.scratch, self.documents)


class SmoothPass(Pass):
    """A smooth measure on one data set."""

    def __init__(self, objective: "SmoothObjective", data: QueryData, n_jobs: int | None) -> None:
        self.objective = objective
        self.data = data
        self.threads = threads_for(n_jobs, NANOSECONDS * data.queries.n_rows)
        self.weights = data.weights * (data.weighted_size if objective.normalize else 1.0)
        cost = table_bytes(data.base.n_levels)
        self.ranges = chunks(data.queries.offsets, self.threads, cost, CACHED_CHUNK)

    @abstractmethod
    def differentiate(self, chunk: Chunk) -> None:
        """Fill shares and totals, whose products add up to the measure, and its derivatives."""

    def __call__(self, scores: Array, grad: Array, hess: Array) -> None:
        """See `Pass`."""
        self.values(scores, grad, hess)

    def values(self, scores: Array, grad: Array, hess: Array) -> Array:
        """Write the gradients as `Pass` does; return the smooth measure, float64 of shape (Q,)."""
        values = np.empty(len(self.data.queries))
        how = self.objective

        def task(k: int) -> None:
            first, last = self.ranges[k]
            chunk = Chunk(how, self.data, scores, first, last)
            self.differentiate(chunk)
            documents, starts = chunk.documents, chunk.starts
            values[first:last] = np.add.reduceat(documents.share * documents.total, starts[:-1])
            weights, steepest = self.weights[first:last], how.slope * how.steepness
            grad[chunk.rows], hess[chunk.rows] = gradient_and_hessian(
                starts, weights, how.steepness, steepest, how.normalize, documents
            )

        run(task, len(self.ranges), self.threads)
        return values


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
        scores and nothing else. The floor keeps a direction where the measure is flat. A query
        whose gradients are rounding, 1e-14 of what its documents contribute or less than 1e-305,
        gets none. Without L, which `LambdaRank` lacks, XGBoost's ``min_child_weight`` would stop
        training on them.
        False: the derivative of `value`, with the sign turned.
    """

    scales_with_list_size: ClassVar[bool] = True

    # Probability of a document to be above another one by the distance of their positions, and its
    # derivative at 0.
    step: ClassVar[SmoothStep]
    slope: ClassVar[float]

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

    @property
    @abstractmethod
    def steepness(self) -> float:
        """Positions are scores times this."""

    @abstractmethod
    def prepared(self, data: QueryData, n_jobs: int | None = None) -> SmoothPass:
        """See `Objective.prepared`."""

    def value(
        self,
        y_true: ArrayLike,
        y_score: ArrayLike,
        qid: QueryIds = None,
        *,
        sample_weight: ArrayLike | None = None,
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
        data, scores, resolved = self.checked(y_true, y_score, qid, sample_weight)
        values = resolved.prepared(data, n_jobs).values(scores, *np.empty((2, len(scores))))
        return values if per_query else float(np.average(values, weights=data.weights))

    def ranks(self, y_score: ArrayLike, qid: QueryIds = None) -> Array:
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
        check_row_order({"y_score": y_score, "qid": qid})
        data = group_by_query(grades, qid, names=("y_score", "qid", "sample_weight"))
        scores = data.queries.grouped(checked_scores(y_score, len(grades)))
        chunk = Chunk(self.resolved(np.array([1])), data, scores, 0, len(data.queries))
        ranks = np.empty(len(grades))
        ranks[chunk.rows] = chunk.ranks()
        return data.queries.ungrouped(ranks)
