"""Approximate ranks, and the smooth measure over them with its gradient."""

import math
from typing import Any

import numpy as np

from gapboost.kernels.compile import kernel
from gapboost.kernels.smooth import counted_documents, write_scaled

Array = np.ndarray[Any, Any]


@kernel
def logistic(x: float) -> float:
    """``1 / (1 + e^-x)`` without overflow for any x."""
    if x >= 0.0:
        return 1.0 / (1.0 + math.exp(-x))
    u = math.exp(x)
    return u / (1.0 + u)


@kernel
def logistic_slope(x: float) -> float:
    """The derivative of `logistic`, without overflow for any x."""
    u = math.exp(-abs(x))
    return u / ((1.0 + u) * (1.0 + u))


@kernel
def approximate_ranks(
    scores: Array, grades: Array, offsets: Array, counted: Array, alpha: float, ranks: Array, first: int, last: int
) -> None:
    """Write ``1 + sum_m logistic(alpha (s_m - s_n))`` to ``ranks`` for counted documents, and 1 for the others."""
    for q in range(first, last):
        begin = offsets[q]
        n = offsets[q + 1] - begin
        s = scores[begin : begin + n].astype(np.float64) * alpha
        for i in range(n):
            rank = 1.0
            if counted[q - first, grades[begin + i]]:
                for m in range(n):
                    if m != i:
                        rank += logistic(s[m] - s[i])
            ranks[begin + i] = rank


@kernel
def approxrank(
    scores: Array,
    grades: Array,
    offsets: Array,
    counted: Array,
    ranks: Array,
    weight: Array,
    slope: Array,
    pair: Array,
    own: Array,
    weights: Array,
    alpha: float,
    betas: Array,
    cutoff: int,
    normalize: bool,
    values: Array,
    grad: Array,
    hess: Array,
    first: int,
    last: int,
) -> None:
    """Write the approximate measure of queries ``first..last-1`` and its gradient.

    ``weight`` and ``slope`` (N,) are the discount and its derivative at ``ranks``; ``betas`` (Q,) the steepness of
    comparisons between ranks; ``cutoff`` 0 is none.
    """
    for q in range(first, last):
        begin = offsets[q]
        n = offsets[q + 1] - begin
        beta = betas[q]
        worth = pair[q - first]
        alone = own[q - first]
        found = counted_documents(counted[q - first], grades, begin, n)
        s = scores[begin : begin + n].astype(np.float64) * alpha

        # The weight of each counted document, with the smooth truncation at the cut-off. Half a rank beyond it, so
        # that the rank k itself counts fully when beta grows.
        share = np.zeros(n)
        share_slope = np.zeros(n)
        total = np.zeros(n)
        for i in found:
            d = begin + i
            share[i] = weight[d]
            share_slope[i] = slope[d]
            if cutoff > 0:
                x = beta * (cutoff + 0.5 - ranks[d])
                inside = logistic(x)
                share_slope[i] = inside * slope[d] - beta * logistic_slope(x) * weight[d]
                share[i] = inside * weight[d]
            total[i] = alone[grades[d]]

        # rank_slope[i]: the derivative of the measure by the rank of document i.
        rank_slope = np.zeros(n)
        for a in range(len(found)):
            i = found[a]
            for b in range(a):
                j = found[b]
                ij = worth[grades[begin + i], grades[begin + j]]
                ji = worth[grades[begin + j], grades[begin + i]]
                if ij == 0.0 and ji == 0.0:
                    continue
                x = beta * (ranks[begin + j] - ranks[begin + i])
                total[j] += ij * logistic(x)
                total[i] += ji * logistic(-x)
                turn = beta * logistic_slope(x) * (share[j] * ij - share[i] * ji)
                rank_slope[j] += turn
                rank_slope[i] -= turn
        value = 0.0
        for i in found:
            value += share[i] * total[i]
            rank_slope[i] += share_slope[i] * total[i]
        values[q] = value

        rising = np.zeros(n)
        pushes = np.zeros(n)
        for i in found:
            for j in range(n):
                if j == i or (j < i and counted[q - first, grades[begin + j]]):
                    continue
                # A document that rises lowers its own rank and raises the other's.
                push = alpha * logistic_slope(s[i] - s[j]) * (rank_slope[j] - rank_slope[i])
                rising[i] += push
                rising[j] -= push
                pushes[i] += abs(push)
                pushes[j] += abs(push)
        write_scaled(rising, pushes, alpha * logistic_slope(0.0), weights[q], normalize, grad, hess, begin)
