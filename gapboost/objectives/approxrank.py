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

Section 5 of [qin2008] bounds the errors (`approximation_bound`). With n documents whose scores
differ from each other by at least d, and e the largest error of an approximate rank,

=============  =================================================================  ================
Theorem 3      ``|rank error of x| < (n - 1) / (exp(alpha d_x) + 1)``             d_x: of x alone
Corollary 4    ``e < (n - 1) / (exp(alpha d) + 1)``
Theorem 5      ``|ApproxAP - AP| < sum_{i<=R} 1 / (i - e) / (1 + exp(beta (1 - 2e)))
               + 2e sum_{i<=R} 1 / (i (i - e))``                                  where e < 1/2
Theorem 6      ``|ApproxNDCG - nDCG| < e / (2 ln 2)``
=============  =================================================================  ================

with R relevant documents. The example of the paper's Table 1:

>>> approximation = gb.ApproxRank(gb.AP(), alpha=100, beta=100)
>>> bound = approximation_bound(approximation, [1, 0, 0, 0, 0], scores)
>>> bound.rank_error.round(5).tolist(), bound.corollary.round(5).tolist()
([0.00118], [0.00471])
>>> bound.value.round(4).tolist()
[0.0024]
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.special import expit

from gapboost._kernels.smooth.sums import logistic_step
from gapboost.data import Array, ArrayLike, QueryData, QueryIds
from gapboost.measures import AP, nDCG
from gapboost.measures.discounts import weights_at
from gapboost.objectives.smooth import Chunk, SmoothObjective, SmoothPass
from gapboost.validation import as_number, parameter


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

    alpha: float = parameter(1.0, as_number)
    beta: float | None = parameter(None, as_number)

    @property
    def steepness(self) -> float:
        """See `SmoothObjective.steepness`."""
        return self.alpha

    def beta_of(self, sizes: Array) -> Array:
        """Return beta for queries of these sizes, float64 of shape (Q,)."""
        return 4.0 / sizes if self.beta is None else np.full(len(sizes), self.beta)

    def prepared(self, data: QueryData, n_jobs: int | None = None) -> "ApproxRankPass":
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
        documents.by_rank[:] = documents.by_rank * documents.total + beta * documents.d_score
        documents.d_score[:] = 0.0
        documents.x[:] = by_score
        chunk.add_gradients(False)


@dataclass(frozen=True, eq=False)
class ApproximationBound:
    """Error bounds of [qin2008] for one set of scores.

    Queries with equal scores have NaN: their ranking is not unique.

    Attributes
    ----------
    qid : ndarray of shape (Q,)
        The queries, in the order in which they first occur.
    document : float64 ndarray of shape (N,)
        Theorem 3: bound on the error of the approximate rank of each row.
    corollary : float64 ndarray of shape (Q,)
        Corollary 4: bound on the largest rank error in each query.
    rank_error : float64 ndarray of shape (Q,)
        Largest rank error e that occurs in each query.
    value : float64 ndarray of shape (Q,)
        Bound on the error of the smooth measure of each query, from e by Theorem 5 for AP and by
        Theorem 6 for nDCG. Infinite for AP with e >= 1/2.
    """

    qid: Array
    document: Array
    corollary: Array
    rank_error: Array
    value: Array


def approximation_bound(
    objective: ApproxRank, y_true: ArrayLike, y_score: ArrayLike, qid: QueryIds = None
) -> ApproximationBound:
    """Bound the distance of ``objective.value(...)`` from the measure itself.

    Parameters
    ----------
    objective : ApproxRank
        Of AP, or of nDCG with the discount "log2", for whole lists.
    y_true : array-like of shape (N,)
        Integer grades.
    y_score : array-like of shape (N,)
    qid : array-like of shape (N,), optional
        None makes all rows one query.

    Raises
    ------
    TypeError
        If `objective` is no ApproxRank.
    ValueError
        If no theorem is about its measure, or grades, scores and query ids are unusable.
    """
    if not isinstance(objective, ApproxRank):
        raise TypeError(f"objective is {objective!r}; expected an ApproxRank")
    measure = objective.measure
    # Not those of a subclass, which may be another measure.
    has_theorem = type(measure) is AP or (type(measure) is nDCG and measure.discount_by == "log2")
    if not has_theorem or measure.k is not None:
        raise ValueError(
            f"objective is {objective!r}; expected an ApproxRank of AP or of nDCG with the "
            "discount log2, without a cut-off"
        )
    data, scores, _ = objective.checked(y_true, y_score, qid)
    ranks, document = data.queries.grouped(objective.ranks(y_score, qid)), np.empty(len(scores))
    corollary, rank_error, value = np.empty((3, len(data.queries)))
    betas = objective.beta_of(data.queries.sizes)
    for q, (begin, end) in enumerate(pairwise(data.queries.offsets)):
        order = begin + np.argsort(-scores[begin:end], kind="stable")
        # The bound is 0 where a distance of scores overflows.
        with np.errstate(over="ignore"):
            apart = -np.diff(scores[order].astype(np.float64))
            nearest = np.minimum(np.append(np.inf, apart), np.append(apart, np.inf))
            document[order] = (end - begin - 1) * expit(-objective.alpha * nearest)
        corollary[q] = document[order].max()
        e = rank_error[q] = np.abs(ranks[order] - np.arange(1, end - begin + 1)).max()
        if isinstance(measure, AP):
            value[q] = theorem_5(data.base[q : q + 1].relevant(measure.rel)[0], e, betas[q])
        else:
            value[q] = e / (2 * np.log(2))
        if not nearest.all():
            document[order] = corollary[q] = rank_error[q] = value[q] = np.nan
    return ApproximationBound(
        data.queries.ids, data.queries.ungrouped(document), corollary, rank_error, value
    )


def theorem_5(n_relevant: int, e: float, beta: float) -> float:
    """Return the bound for one query with so many relevant documents; ranks are off by `e`."""
    if e >= 0.5:
        return np.inf
    i = np.arange(1, n_relevant + 1)
    comparisons = 1 / (1 + np.exp(beta * (1 - 2 * e)))
    return float(comparisons * np.sum(1 / (i - e)) + 2 * e * np.sum(1 / (i * (i - e))))
