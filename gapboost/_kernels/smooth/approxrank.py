"""Approximate ranks, and the smooth measure over them with its gradient."""

import math
from typing import Any

import numpy as np

from gapboost._kernels.jit import kernel
from gapboost._kernels.smooth.query import Gradients, Queries, Scratch, find_counted, push_up, write_scaled

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
def approximate_ranks(queries: Queries, alpha: float) -> None:
    """Write ``1 + sum_m logistic(alpha (s_m - s_n))`` to the ranks of counted documents, and 1 to the others."""
    s = queries.scores
    for q in range(len(queries.starts) - 1):
        begin, end = queries.starts[q], queries.starts[q + 1]
        for i in range(begin, end):
            rank = 1.0
            if queries.counted[q, queries.grades[i]]:
                for m in range(begin, end):
                    if m != i:
                        rank += logistic(alpha * (s[m] - s[i]))
            queries.ranks[i] = rank


@kernel
def find_shares(queries: Queries, q: int, size: int, beta: float, cutoff: int, scratch: Scratch) -> None:
    """The share of each counted document, with the smooth truncation at the cut-off, and its derivative by rank (``by_rank``)."""
    begin = queries.starts[q]
    for a in range(size):
        i = scratch.found[a]
        discount, slope = queries.discount[begin + i], queries.slope[begin + i]
        scratch.share[i] = discount
        scratch.by_rank[i] = slope
        if cutoff > 0:
            # Half a rank beyond it, so that the rank k itself counts fully when beta grows.
            x = beta * (cutoff + 0.5 - queries.ranks[begin + i])
            inside = logistic(x)
            scratch.share[i] = inside * discount
            scratch.by_rank[i] = inside * slope - beta * logistic_slope(x) * discount


@kernel
def compare(queries: Queries, q: int, size: int, beta: float, scratch: Scratch) -> float:
    """The total of each counted document, and the derivative of the measure by its rank; returns the measure."""
    begin = queries.starts[q]
    ranks, grades, pair = queries.ranks, queries.grades, queries.pair
    share, total = scratch.share, scratch.total
    # rising is used for what comparisons add to the derivative by rank
    turned = scratch.rising
    for a in range(size):
        i = scratch.found[a]
        total[i] += queries.own[q, grades[begin + i]]
        for b in range(a):
            j = scratch.found[b]
            ij = pair[q, grades[begin + i], grades[begin + j]]
            ji = pair[q, grades[begin + j], grades[begin + i]]
            if ij == 0.0 and ji == 0.0:
                continue
            x = beta * (ranks[begin + j] - ranks[begin + i])
            total[j] += ij * logistic(x)
            total[i] += ji * logistic(-x)
            turn = beta * logistic_slope(x) * (share[j] * ij - share[i] * ji)
            turned[j] += turn
            turned[i] -= turn
    value = 0.0
    for a in range(size):
        i = scratch.found[a]
        value += share[i] * total[i]
        scratch.by_rank[i] = scratch.by_rank[i] * total[i] + turned[i]
        turned[i] = 0.0
    return value


@kernel
def approxrank(
    queries: Queries, alpha: float, betas: Array, cutoff: int, normalize: bool, scratch: Scratch, out: Gradients
) -> None:
    """Write the approximate measure of each query and its gradient.

    ``betas`` (Q,) is the steepness of comparisons between ranks; ``cutoff`` 0 is none.
    """
    for q in range(len(queries.starts) - 1):
        begin = queries.starts[q]
        n = queries.starts[q + 1] - begin
        size = find_counted(queries, q, scratch)
        find_shares(queries, q, size, betas[q], cutoff, scratch)
        out.values[q] = compare(queries, q, size, betas[q], scratch)
        s, by_rank = queries.scores, scratch.by_rank
        for a in range(size):
            i = scratch.found[a]
            for j in range(n):
                if j == i or (j < i and queries.counted[q, queries.grades[begin + j]]):
                    continue
                # A document that rises lowers its own rank and raises the other's.
                slope = alpha * logistic_slope(alpha * (s[begin + i] - s[begin + j]))
                push_up(i, j, slope * (by_rank[j] - by_rank[i]), scratch)
        write_scaled(queries, q, alpha * logistic_slope(0.0), normalize, scratch, out)
