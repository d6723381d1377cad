"""LambdaRank gradients and values of measures on a GPU: kernels by numba-cuda.

They are for every measure that is (discount, pair, own). With ``NUMBA_ENABLE_CUDASIM=1`` the same
kernels run on any machine, with numpy in CuPy's place. Swap tables and sums are float64, because
their differences lose digits; the pairs are float32.
"""

import math
from importlib import import_module
from typing import Any

import numpy as np
from numba import config, cuda, float32, float64

from gapboost._kernels.lambdarank.gradients import HESSIAN_FLOOR

# CuPy, or numpy in its place.
xp: Any = np if config.ENABLE_CUDASIM else import_module("cupy")

THREADS = 128
MOST_LEVELS = 64


def is_available() -> bool:
    """Return True if there is a GPU, or a simulated one."""
    return bool(cuda.is_available())


@cuda.jit
def fill_tables(starts, grade, discount, pair, own, upper, lower):
    """Fill what a swap changes at a rank, up to a term of the document's own grade.

    One block a query, one thread a level. `gapboost._kernels.lambdarank` has the formula.
    """
    q, level = cuda.blockIdx.x, cuda.threadIdx.x
    if level >= own.shape[1]:
        return
    above, below = 0.0, 0.0
    for r in range(starts[q], starts[q + 1]):
        a, d = grade[r], discount[r - starts[q]]
        here = d * (own[q, level] + above)
        lower[r, level] = here + d * (pair[q, a, level] - pair[q, level, level]) - below
        below += d * pair[q, level, a]
        upper[r, level] = here - below
        above += pair[q, a, level]


@cuda.jit
def sum_pairs(
    starts, query, tiles, size, far, row, s, grade, upper, lower, first, distance, factors,
    grad_sums, hess_sums,
):  # fmt: skip
    """Add the pairs of each document to its push and curvature, at its row. One thread a document.

    A document of a query with tiles of this size receives `far` from the other tiles, see
    `gapboost._kernels.cuda_sums`. `factors` has five numbers: the factor of a push, the factor of a
    curvature, the least curvature for a push of 1, sigma, and the range of scores up to which tiles
    count.
    """
    i = cuda.grid(1)
    if i >= s.shape[0]:
        return
    q = query[i]
    begin, end = starts[q], starts[q + 1]
    apart = distance > float32(0.0) and s[begin] > s[end - 1]
    total, hessian = 0.0, 0.0
    if tiles[q] < tiles[q + 1] and s[begin] - s[end - 1] < factors[4]:
        total, hessian = far[0, i], far[1, i]
        begin += (i - begin) // size * size
        end = min(begin + size, end)
    elif i - begin >= first:  # only with documents among the first ranks
        end = begin + first
    one = float32(1.0)
    for j in range(begin, end):
        if grade[j] != grade[i]:
            p, r = min(i, j), max(i, j)  # ranks of the upper and the lower document
            change = upper[p, grade[r]] + lower[r, grade[p]]
            x = s[p] - s[r]
            if apart:
                change /= distance + x
            e = math.exp(-x * factors[3])
            t = e / (one + e)
            force = change * (t if grade[p] > grade[r] else one - t)
            total += force if i == p else -force
            hessian += (-change if grade[p] > grade[r] else change) * t * (one - t)
    grad_sums[row[i]] += total * factors[0]
    hess_sums[row[i]] += max(hessian, factors[2] * abs(total)) * factors[1]


@cuda.jit
def scale(starts, weights, normalize, unit, grad_sums, hess_sums, grad, hess):
    """Scale the gradients of each query, by a sum in a fixed order. One block a query."""
    q, k = cuda.blockIdx.x, cuda.threadIdx.x
    parts = cuda.shared.array(THREADS, float64)
    own = 0.0
    for i in range(starts[q] + k, starts[q + 1], THREADS):
        own += abs(grad_sums[i])
    parts[k] = own
    cuda.syncthreads()
    factor = weights[q]
    if normalize:
        mass = 0.0
        for other in range(THREADS):
            mass += parts[other]
        factor *= math.log2(1.0 + mass) / mass if mass > 0.0 else 1.0
    for i in range(starts[q] + k, starts[q + 1], THREADS):
        grad[i] = grad_sums[i] * factor * unit
        hess[i] = max(hess_sums[i] * factor, HESSIAN_FLOOR)


@cuda.jit
def evaluate_queries(starts, s, grade, discount, pair, own, weight, values):
    """Add a measure of each query, with ties at their expected value. One thread a query."""
    q = cuda.grid(1)
    if q >= values.shape[0]:
        return
    n_levels = own.shape[1]
    above = cuda.local.array(MOST_LEVELS, float64)
    tied = cuda.local.array(MOST_LEVELS, float64)
    for level in range(n_levels):
        above[level] = 0.0
    begin, end = starts[q], starts[q + 1]
    value, r = 0.0, begin
    while r < end:
        for level in range(n_levels):
            tied[level] = 0.0
        until = r
        while until < end and s[until] == s[r]:
            tied[grade[until]] += 1.0
            until += 1
        n = until - r
        alone, inside = 0.0, 0.0
        for b in range(n_levels):
            share = tied[b] / n
            if share > 0.0:
                alone += share * own[q, b]
                for a in range(n_levels):
                    alone += share * above[a] * pair[q, a, b]
                    if n > 1:
                        others = tied[a] - (1.0 if a == b else 0.0)
                        inside += share * others * pair[q, a, b] / (n - 1)
        for k in range(n):
            value += discount[r - begin + k] * (alone + k * inside)
        for level in range(n_levels):
            above[level] += tied[level]
        r = until
    values[q] += weight * value
