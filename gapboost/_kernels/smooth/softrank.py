"""Ranks under Gaussian scores, and the soft measure over them with its gradient.

Document m is above n with probability ``above(s_m - s_n, sigma)``, independently over m for each n.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from gapboost._kernels.jit import kernel, summing_kernel
from gapboost._kernels.smooth.query import Gradients, Queries, Scratch, find_counted, push_up, write_scaled

Array = np.ndarray[Any, Any]


class Distribution(NamedTuple):
    """A weight of whole ranks, and working memory for rank distributions; float64.

    ``beats`` by document, ``states`` by document and rank, ``p`` and ``by_p`` by rank, and ``change[i, m]``, the
    derivative of the mean weight of document i by the probability that m is above it.
    """

    weight: Array
    beats: Array
    states: Array
    p: Array
    by_p: Array
    change: Array


def distribution(weight: Array, depth: int, longest: int) -> Distribution:
    """Working memory for lists up to `longest`, next to nothing where ``depth`` is 0."""
    n, k = (longest, depth) if depth > 0 else (0, 0)
    return Distribution(weight, np.empty(n), np.empty((n, k)), np.empty(k), np.empty(k + 1), np.empty((n, n)))


@kernel
def above(difference: float, sigma: float) -> float:
    """Probability that a Gaussian score exceeds another whose mean is lower by ``difference``."""
    return 0.5 * math.erfc(-difference / (2.0 * sigma))


@kernel
def above_slope(difference: float, sigma: float) -> float:
    """The derivative of `above` by the difference."""
    x = difference / (2.0 * sigma)
    return math.exp(-x * x) / (2.0 * sigma * math.sqrt(math.pi))


@kernel
def expected_ranks(queries: Queries, sigma: float) -> None:
    """Write ``1 + sum_m above(s_m - s_n)`` to the ranks of counted documents, and 1 to the others."""
    s = queries.scores
    for q in range(len(queries.starts) - 1):
        begin, end = queries.starts[q], queries.starts[q + 1]
        for i in range(begin, end):
            rank = 1.0
            if queries.counted[q, queries.grades[i]]:
                for m in range(begin, end):
                    if m != i:
                        rank += above(s[m] - s[i], sigma)
            queries.ranks[i] = rank


@summing_kernel
def over_rank_distribution(beats: Array, skipped: int, depth: int, dist: Distribution, change: Array) -> float:
    """The mean of ``dist.weight[rank - 1]`` over the rank distribution of one document; beyond ``depth`` it is 0.

    ``beats[m]`` is the probability that document m is above it, ``skipped`` the document itself. Writes the
    derivative of the mean by each ``beats[m]`` to ``change``.

    Adding the others one by one, ``p(r) <- p(r) (1 - pi) + p(r - 1) pi``, costs len(beats) * depth; taking the
    same steps back with the derivative of the mean by p costs as much again. Taking each document out of the final
    distribution instead divides by 1 - pi, which loses all digits.
    """
    n = len(change)
    weight, states, p, by_p = dist.weight, dist.states, dist.p, dist.by_p
    for r in range(depth):
        p[r] = 0.0
    p[0] = 1.0
    for m in range(n):
        for r in range(depth):
            states[m, r] = p[r]
        if m != skipped:
            pi = beats[m]
            rest = 1.0 - pi
            for r in range(1, min(depth, m + 2)):
                p[r] = states[m, r] * rest + states[m, r - 1] * pi
            p[0] = states[m, 0] * rest
    mean = 0.0
    for r in range(depth):
        mean += p[r] * weight[r]
    # by_p[r]: the derivative of the mean by p(r) before the documents still to come; nothing returns from beyond depth.
    for r in range(depth):
        by_p[r] = weight[r]
    by_p[depth] = 0.0
    change[skipped] = 0.0
    for m in range(n - 1, -1, -1):
        if m == skipped:
            continue
        pi = beats[m]
        slope = 0.0
        for r in range(min(depth, m + 1)):  # m documents or fewer are above it so far
            step = by_p[r + 1] - by_p[r]
            slope += states[m, r] * step
            by_p[r] += pi * step
        change[m] = slope
    return mean


@kernel
def find_shares(
    queries: Queries, q: int, size: int, sigma: float, depth: int, dist: Distribution, scratch: Scratch
) -> None:
    """The share of each counted document, its derivative by rank (``by_rank``, without the total) and by comparison."""
    begin = queries.starts[q]
    n = queries.starts[q + 1] - begin
    s = queries.scores
    for a in range(size):
        i = scratch.found[a]
        inside = 1.0
        if depth > 0:
            for m in range(n):
                dist.beats[m] = above(s[begin + m] - s[begin + i], sigma)
            inside = over_rank_distribution(dist.beats, i, min(depth, n), dist, dist.change[i, :n])
        scratch.share[i] = inside * queries.discount[begin + i]
        scratch.by_rank[i] = inside * queries.slope[begin + i]


@kernel
def compare(queries: Queries, q: int, size: int, sigma: float, scratch: Scratch) -> None:
    """The total of each counted document: its own worth, and that of its pairs with the others."""
    begin = queries.starts[q]
    s, grades, pair = queries.scores, queries.grades, queries.pair
    for a in range(size):
        i = scratch.found[a]
        scratch.total[i] += queries.own[q, grades[begin + i]]
        for b in range(a):
            j = scratch.found[b]
            ij = pair[q, grades[begin + i], grades[begin + j]]
            ji = pair[q, grades[begin + j], grades[begin + i]]
            if ij != 0.0 or ji != 0.0:
                # Each from its own side: 1 - pi would lose the digits of a small probability.
                scratch.total[j] += ij * above(s[begin + i] - s[begin + j], sigma)
                scratch.total[i] += ji * above(s[begin + j] - s[begin + i], sigma)


@kernel
def softrank(
    queries: Queries, sigma: float, depth: int, normalize: bool, dist: Distribution, scratch: Scratch, out: Gradients
) -> None:
    """Write the soft measure of each query and its gradient.

    It is the sum over documents n of ``share_n * (own_n + sum_m above_mn pair_mn)``, where ``share_n`` is the
    discount times the mean of ``dist.weight``, a weight of whole ranks, over the rank distribution of n. With
    ``depth`` 0 that mean is 1, and no rank distribution is computed.
    """
    for q in range(len(queries.starts) - 1):
        begin = queries.starts[q]
        n = queries.starts[q + 1] - begin
        size = find_counted(queries, q, scratch)
        find_shares(queries, q, size, sigma, depth, dist, scratch)
        compare(queries, q, size, sigma, scratch)
        value = 0.0
        for a in range(size):
            i = scratch.found[a]
            scratch.by_rank[i] *= scratch.total[i]
            value += scratch.share[i] * scratch.total[i]
        out.values[q] = value

        s, grades, pair = queries.scores, queries.grades, queries.pair
        share, by_rank = scratch.share, scratch.by_rank
        for a in range(size):
            i = scratch.found[a]
            for j in range(n):
                known = queries.counted[q, grades[begin + j]]
                if j == i or (j < i and known):
                    continue
                gain = by_rank[j] - by_rank[i]
                gain += share[j] * pair[q, grades[begin + i], grades[begin + j]]
                gain -= share[i] * pair[q, grades[begin + j], grades[begin + i]]
                if depth > 0:
                    gain -= dist.change[i, j] * queries.discount[begin + i] * scratch.total[i]
                    if known:
                        gain += dist.change[j, i] * queries.discount[begin + j] * scratch.total[j]
                push_up(i, j, gain * above_slope(s[begin + i] - s[begin + j], sigma), scratch)
        write_scaled(queries, q, above_slope(0.0, sigma), normalize, scratch, out)
