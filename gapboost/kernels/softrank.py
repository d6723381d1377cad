"""Ranks under Gaussian scores, and the soft measure over them with its gradient.

Document m is above n with probability ``above(s_m - s_n, sigma)``, independently over m for each n.
"""

import math
from typing import Any

import numpy as np

from gapboost.kernels.compile import kernel, summing_kernel
from gapboost.kernels.smooth import counted_documents, write_scaled

Array = np.ndarray[Any, Any]


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
def expected_ranks(
    scores: Array, grades: Array, offsets: Array, counted: Array, sigma: float, ranks: Array, first: int, last: int
) -> None:
    """Write ``1 + sum_m above(s_m - s_n)`` to ``ranks`` for counted documents, and 1 for the others."""
    for q in range(first, last):
        begin = offsets[q]
        n = offsets[q + 1] - begin
        s = scores[begin : begin + n].astype(np.float64)
        for i in range(n):
            rank = 1.0
            if counted[q - first, grades[begin + i]]:
                for m in range(n):
                    if m != i:
                        rank += above(s[m] - s[i], sigma)
            ranks[begin + i] = rank


@summing_kernel
def over_rank_distribution(beats: Array, skipped: int, weight: Array, states: Array, change: Array) -> float:
    """The mean of ``weight[rank - 1]`` over the rank distribution of one document; beyond ``weight`` it is 0.

    ``beats[m]`` is the probability that document m is above it, ``skipped`` the document itself. ``states`` is work
    space of shape (>= len(beats), >= len(weight)). Writes the derivative of the mean by each ``beats[m]`` to ``change``.

    Adding the others one by one, ``p(r) <- p(r) (1 - pi) + p(r - 1) pi``, costs len(beats) * len(weight); taking the
    same steps back with the derivative of the mean by p costs as much again. Taking each document out of the final
    distribution instead divides by 1 - pi, which loses all digits.
    """
    n = len(beats)
    depth = len(weight)
    p = np.zeros(depth)
    p[0] = 1.0
    for m in range(n):
        states[m, :depth] = p
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
    by_p = np.zeros(depth + 1)
    by_p[:depth] = weight
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
def softrank(
    scores: Array,
    grades: Array,
    offsets: Array,
    counted: Array,
    ranks: Array,
    weight: Array,
    slope: Array,
    by_rank: Array,
    depth: int,
    pair: Array,
    own: Array,
    weights: Array,
    sigma: float,
    normalize: bool,
    values: Array,
    grad: Array,
    hess: Array,
    first: int,
    last: int,
) -> None:
    """Write the soft measure of queries ``first..last-1`` and its gradient.

    It is the sum over documents n of ``share_n * (own_n + sum_m above_mn pair_mn)``, where ``share_n`` is ``weight`` times
    the mean of ``by_rank`` over the rank distribution of n. ``weight`` and ``slope`` (N,) are the discount and its
    derivative at the expected ``ranks``, or 1 and 0; ``by_rank`` is a weight of whole ranks, 0 beyond ``depth``. With
    ``depth`` 0 it is 1 everywhere and no rank distribution is computed.
    """
    for q in range(first, last):
        begin = offsets[q]
        n = offsets[q + 1] - begin
        worth = pair[q - first]
        alone = own[q - first]
        found = counted_documents(counted[q - first], grades, begin, n)
        s = scores[begin : begin + n].astype(np.float64)

        # change[i, m]: the derivative of the mean of by_rank for document i by the probability that m is above it.
        reach = min(depth, n)
        inside = np.ones(n)
        change = np.zeros((n if depth > 0 else 0, n))
        if depth > 0:
            states = np.empty((n, reach))
            beats = np.empty(n)
            for i in found:
                for m in range(n):
                    beats[m] = above(s[m] - s[i], sigma)
                inside[i] = over_rank_distribution(beats, i, by_rank[:reach], states, change[i])

        total = np.zeros(n)
        for i in found:
            total[i] = alone[grades[begin + i]]
        for a in range(len(found)):
            i = found[a]
            for b in range(a):
                j = found[b]
                ij = worth[grades[begin + i], grades[begin + j]]
                ji = worth[grades[begin + j], grades[begin + i]]
                if ij != 0.0 or ji != 0.0:
                    # Each from its own side: 1 - pi would lose the digits of a small probability.
                    total[j] += ij * above(s[i] - s[j], sigma)
                    total[i] += ji * above(s[j] - s[i], sigma)

        share = np.zeros(n)
        rank_slope = np.zeros(n)
        value = 0.0
        for i in found:
            d = begin + i
            share[i] = inside[i] * weight[d]
            rank_slope[i] = inside[i] * slope[d] * total[i]
            value += share[i] * total[i]
            if depth > 0:
                change[i] *= weight[d] * total[i]
        values[q] = value

        rising = np.zeros(n)
        pushes = np.zeros(n)
        for i in found:
            for j in range(n):
                known = counted[q - first, grades[begin + j]]
                if j == i or (j < i and known):
                    continue
                gain = rank_slope[j] - rank_slope[i]
                gain += share[j] * worth[grades[begin + i], grades[begin + j]]
                gain -= share[i] * worth[grades[begin + j], grades[begin + i]]
                if depth > 0:
                    gain -= change[i, j]
                    if known:
                        gain += change[j, i]
                push = gain * above_slope(s[i] - s[j], sigma)
                rising[i] += push
                rising[j] -= push
                pushes[i] += abs(push)
                pushes[j] += abs(push)
        write_scaled(rising, pushes, above_slope(0.0, sigma), weights[q], normalize, grad, hess, begin)
