"""Bounds on the error of ApproxRank: the theorems of [qin2008], section 5.

With n documents whose scores differ from each other by at least d, and e the largest error of an
approximate rank,

=============  =================================================================  ================
Theorem 3      ``|rank error of x| < (n - 1) / (exp(alpha d_x) + 1)``             d_x: of x alone
Corollary 4    ``e < (n - 1) / (exp(alpha d) + 1)``
Theorem 5      ``|ApproxAP - AP| < sum_{i<=R} 1 / (i - e) / (1 + exp(beta (1 - 2e)))
               + 2e sum_{i<=R} 1 / (i (i - e))``                                  where e < 1/2
Theorem 6      ``|ApproxNDCG - nDCG| < e / (2 ln 2)``
=============  =================================================================  ================

with R relevant documents. The example of the paper's Table 1:

>>> import gapboost as gb
>>> scores = [4.20074, 3.12378, 4.40918, 1.55258, 4.13330]
>>> approximation = gb.ApproxRank(gb.AP(), alpha=100, beta=100)
>>> bound = approximation_bound(approximation, [1, 0, 0, 0, 0], scores)
>>> bound.rank_error.round(5).tolist(), bound.corollary.round(5).tolist()
([0.00118], [0.00471])
>>> bound.value.round(4).tolist()
[0.0024]
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from gapboost._kernels import Array
from gapboost.measures import AP, nDCG
from gapboost.objectives.approxrank import ApproxRank


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
    objective: ApproxRank, y_true: Any, y_score: Any, qid: Any = None
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
        # exp(710) overflows, and so do some distances; the bound is 0 by then.
        with np.errstate(over="ignore"):
            apart = -np.diff(scores[order].astype(np.float64))
            nearest = np.minimum(np.append(np.inf, apart), np.append(apart, np.inf))
            grown = np.exp(np.minimum(objective.alpha * nearest, 709.0))
        document[order] = (end - begin - 1) / (grown + 1.0)
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
