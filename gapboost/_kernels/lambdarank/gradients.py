"""LambdaRank gradients of some queries in one call: rank, take, sum, scale, write."""

import math
from typing import NamedTuple

import numpy as np

from gapboost._kernels import Array
from gapboost._kernels.jit import kernel
from gapboost._kernels.lambdarank.distance import Decays
from gapboost._kernels.lambdarank.form import make_form, number_grades
from gapboost._kernels.lambdarank.memory import Memory, pointers
from gapboost._kernels.lambdarank.sums import sum_list
from gapboost._kernels.order import Elements, rank_one
from gapboost._kernels.simd import Pointer, pointer

# Longest list whose pairs may be visited one by one: that way keeps tables of the whole list.
LONGEST_BY_PAIRS = 4096

# Pairs one by one that take as long as a document in the running sums: without score distance, and
# with it.
PAIRS_PER_DOCUMENT, PAIRS_APART = 40, 125

# Keeps the boosters from dividing by zero for documents that no pair has touched.
HESSIAN_FLOOR = 1e-16

# Scores times sigma are held within this: the difference of two must not overflow.
FARTHEST_SCORE = 8e307


class Queries(NamedTuple):
    """Queries of a data set, and the tables of a measure; the same in every pass.

    Attributes
    ----------
    offsets : int64 ndarray of shape (Q + 1,)
    grades : int32 ndarray of shape (N,)
    turns : int32 ndarray of shape (N,)
        See `gapboost._kernels.order`.
    weights : float64 ndarray of shape (Q,)
    deep : int64 ndarray of shape (Q,)
        Ranks of each query whose document can be the upper one of a pair that counts.
    by_pairs : bool ndarray of shape (Q,)
        True if the pairs of a query are visited one by one.
    discount : float64 ndarray
    """

    offsets: Array
    grades: Array
    turns: Array
    weights: Array
    deep: Array
    by_pairs: Array
    discount: Array


class Options(NamedTuple):
    """Options of a pass.

    Attributes
    ----------
    kind : int
        Of pairs, see `form`.
    sigma : float
        Steepness of the logistic function.
    normalize : bool
        Whether the gradients of a query are multiplied by log2(1 + S) / S, where S is the sum of
        their absolute values.
    least_curvature : float
        The hessian of a document is at least its absolute gradient times this, in units of sigma.
        Where a swap may push the wrong way, the curvatures of its pairs can cancel while their
        pushes do not.
    """

    kind: int
    sigma: float
    normalize: bool
    least_curvature: float


def reach(discount: Array, sizes: Array, truncation: int | None) -> Array:
    """Return the number of ranks of each query whose document can be the upper one of a pair.

    `truncation` keeps only the pairs whose upper document is among that many first ranks.
    """
    deep = int(np.flatnonzero(discount).max(initial=-1)) + 1
    return np.minimum(deep if truncation is None else min(deep, truncation), sizes)


def quicker_by_pairs(deep: Array, sizes: Array, apart: bool) -> Array:
    """Return True for each query that takes less time pair by pair than by running sums."""
    pairs = PAIRS_APART if apart else PAIRS_PER_DOCUMENT
    quicker: Array = (sizes <= LONGEST_BY_PAIRS) & (deep * (2 * sizes - deep) <= 2 * pairs * sizes)
    return quicker


def dampening(size: Array) -> Array:
    """Return the factor of each query that changes its absolute gradient sum S to log2(1 + S)."""
    return np.divide(np.log2(1.0 + size), size, out=np.ones(len(size)), where=size > 0.0)


@kernel
def rank_scores(n: int, scores: Pointer, turns: Pointer, memory: Memory) -> None:
    """Fill ``memory.order``: best first, equal scores in their turns."""
    elements, other = Elements(memory.lam, memory.rows), Elements(memory.eta, memory.other_rows)
    for i in range(n):
        elements.scores[i] = scores[turns[i]]
        elements.rows[i] = turns[i]
    rank_one(n, elements, other, memory.ends, memory.pieces, memory.order)


@kernel
def absolute_sum(n: int, values: Pointer) -> float:
    """Return the sum of absolute values, in the order of numpy's ``reduceat`` for short lists."""
    total = 0.0
    for begin in range(1, n, 128):
        end = min(begin + 128, n)
        a, b, c, d, e, f, g, h = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        whole = begin + (end - begin) // 8 * 8
        for i in range(begin, whole, 8):
            a += abs(values[i])
            b += abs(values[i + 1])
            c += abs(values[i + 2])
            d += abs(values[i + 3])
            e += abs(values[i + 4])
            f += abs(values[i + 5])
            g += abs(values[i + 6])
            h += abs(values[i + 7])
        part = ((a + b) + (c + d)) + ((e + f) + (g + h))
        for i in range(whole, end):
            part += abs(values[i])
        total += part
    return float(abs(values[0]) + total)


@kernel
def write_gradients(
    first: int,
    last: int,
    start: int,
    queries: Queries,
    pair: Array,
    own: Array,
    options: Options,
    decays: Decays,
    arrays: Memory,
    scores: Array,
    grad: Array,
    hess: Array,
    grad32: Array,
    hess32: Array,
) -> None:
    """Write the gradients, to be minimized, of queries ``first..last-1``.

    The tables of the first one are ``pair[start]`` and ``own[start]``. Results go to float64
    arrays, or to float32 arrays where those are empty: a second version of all of this would take
    seconds to compile.
    """
    memory = pointers(arrays)
    apart = Decays(decays.epsilon, decays.farthest, decays.stretch, pointer(decays.numbers))
    n_grades, sigma = own.shape[1], options.sigma
    for q in range(first, last):
        begin = queries.offsets[q]
        n = queries.offsets[q + 1] - begin
        rank_scores(n, pointer(scores) + begin, pointer(queries.turns) + begin, memory)
        size = number_grades(
            n, pointer(queries.grades) + begin, n_grades, memory.code_of, memory.grade_of
        )
        for r in range(n):
            row = begin + memory.order[r]
            memory.s[r] = min(max(float(scores[row]) * sigma, -FARTHEST_SCORE), FARTHEST_SCORE)
            memory.grade[r] = memory.code_of[queries.grades[row]]
            memory.lam[r] = 0.0
            memory.eta[r] = 0.0
        if size > 1:
            table = start + q - first
            form = make_form(
                options.kind, pointer(pair) + table * pair.shape[1] * pair.shape[2],
                pointer(own) + table * n_grades, n_grades, memory.grade_of, size, memory.form,
                pointer(queries.discount), queries.deep[q],
            )  # fmt: skip
            sum_list(n, form, queries.by_pairs[q], apart, memory)
        # distances are times sigma
        unit = sigma if decays.epsilon > 0.0 and memory.s[0] > memory.s[n - 1] else 1.0
        factor = queries.weights[q] * unit
        mass = sigma * unit * absolute_sum(n, memory.lam)
        if options.normalize and mass > 0.0:
            factor *= math.log2(1.0 + mass) / mass
        push, curve = factor * sigma, factor * (sigma * sigma)
        for r in range(n):
            row = begin + memory.order[r]
            lam, eta = memory.lam[r], memory.eta[r]
            steady = max(max(eta, options.least_curvature * abs(lam)) * curve, HESSIAN_FLOOR)
            if len(grad) > 0:
                grad[row] = lam * push
                hess[row] = steady
            else:
                grad32[row] = lam * push
                hess32[row] = steady


NO_FLOATS = np.empty(0, np.float32)
NO_DOUBLES = np.empty(0)


def outputs(grad: Array, hess: Array) -> tuple[Array, Array, Array, Array]:
    """Return the four output arrays of `write_gradients`."""
    if grad.dtype == np.float32:
        return NO_DOUBLES, NO_DOUBLES, grad, hess
    return grad, hess, NO_FLOATS, NO_FLOATS
