"""The sums of RankNet, pair by pair: each pair of documents with different grades counts 1."""

import numpy as np

from gapboost._kernels import Array
from gapboost._kernels.jit import kernel


@kernel
def sum_equal_pairs(
    starts: Array, deep: Array, s: Array, levels: Array, lam: Array, eta: Array
) -> None:
    """Write ``lam`` and ``eta`` of each document of each list.

    ``s`` and ``levels`` are by rank: scores times sigma, and numbers that grow with the grade. The
    upper document of a pair is among the first ``deep`` of its list.
    """
    for q in range(len(starts) - 1):
        begin, n = starts[q], starts[q + 1] - starts[q]
        lam[begin : begin + n] = 0.0
        eta[begin : begin + n] = 0.0
        for p in range(min(deep[q], n - 1)):
            upper = begin + p
            for lower in range(upper + 1, begin + n):
                if levels[upper] != levels[lower]:
                    u = np.exp(s[lower] - s[upper])
                    t = u / (1.0 + u)
                    push = -t if levels[upper] > levels[lower] else 1.0 - t
                    curve = t / (1.0 + u)
                    lam[upper] += push
                    lam[lower] -= push
                    eta[upper] += curve
                    eta[lower] += curve
