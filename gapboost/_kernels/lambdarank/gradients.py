"""LambdaRank gradients of some queries in one call: rank, take, sum, scale, write."""

import math
from typing import NamedTuple

import numpy as np

from gapboost._kernels import Array
from gapboost._kernels.jit import inner_kernel, kernel
from gapboost._kernels.lambdarank.exponentials import Exponentials, add_running_sums, at_address
from gapboost._kernels.lambdarank.memory import Memory, Shape, pointers
from gapboost._kernels.lambdarank.pairs import add_cascade, add_pairs
from gapboost._kernels.lambdarank.swaps import fill_equal_swaps, fill_swaps, read_form
from gapboost._kernels.order import rank_one
from gapboost._kernels.vectors import SIXTEEN, THIRTY_TWO, Pointer, pointer

# Kinds of pairs: those of a quadratic form; pairs that all change the measure by 1 (RankNet); and
# those of a cascade (ERR, RR).
FORM, EQUAL, CASCADE = 0, 1, 2

# Pairs one by one that take as long as a document in the running sums: without score distance, and
# with it.
PAIRS_PER_DOCUMENT, PAIRS_APART = 130, 190

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
    tie_order : int32 ndarray of shape (N,)
        See `gapboost._kernels.order`.
    weights : float64 ndarray of shape (Q,)
    active_ranks : int64 ndarray of shape (Q,)
        Ranks of each query whose document can be the upper one of a pair that counts.
    by_pairs : bool ndarray of shape (Q,)
        True if the pairs of a query are visited one by one.
    discount : float64 ndarray
    """

    offsets: Array
    grades: Array
    tie_order: Array
    weights: Array
    active_ranks: Array
    by_pairs: Array
    discount: Array


class Options(NamedTuple):
    """Options of a pass.

    Attributes
    ----------
    kind : int
        Of pairs: FORM, EQUAL or CASCADE.
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


def count_active_ranks(discount: Array, sizes: Array, truncation: int | None) -> Array:
    """Return the number of ranks of each query whose document can be the upper one of a pair.

    `truncation` keeps only the pairs whose upper document is among that many first ranks.
    """
    active_ranks = int(np.flatnonzero(discount).max(initial=-1)) + 1
    return np.minimum(active_ranks if truncation is None else min(active_ranks, truncation), sizes)


def quicker_by_pairs(active_ranks: Array, sizes: Array, apart: bool) -> Array:
    """Return True for each query that takes less time pair by pair than by running sums."""
    pairs = PAIRS_APART if apart else PAIRS_PER_DOCUMENT
    quicker: Array = active_ranks * (2 * sizes - active_ranks) <= 2 * pairs * sizes
    return quicker


def dampening(size: Array) -> Array:
    """Return the factor of each query that changes its absolute gradient sum S to log2(1 + S)."""
    return np.divide(np.log2(1.0 + size), size, out=np.ones(len(size)), where=size > 0.0)


@inner_kernel
def number_grades(n: int, grades: Pointer, n_grades: int, m: Memory) -> int:
    """Number the grades that occur, ascending, both ways; returns how many they are."""
    for g in range(n_grades):
        m.number[g] = 0
    for i in range(n):
        m.number[grades[i]] += 1
    n_levels = 0
    for g in range(n_grades):
        size = m.number[g]
        m.number[g] = n_levels
        m.levels[n_levels] = g
        m.sizes[n_levels] = size
        n_levels += size > 0
    return n_levels


@inner_kernel
def sum_list(
    kind: int,
    by_pairs: bool,
    shape: Shape,
    discount: Pointer,
    pair: Pointer,
    own: Pointer,
    n_grades: int,
    exponentials: Exponentials,
    m: Memory,
) -> None:
    """Add lam and eta of all documents, from ``s`` and ``grade`` in memory."""
    if kind == CASCADE:
        add_cascade(shape, discount, own, m)
        return
    if kind == EQUAL:
        fill_equal_swaps(shape, m)
    else:
        fill_swaps(shape, discount, read_form(shape, pair, own, n_grades, m), m)
    if by_pairs or exponentials.visits == 0:
        add_pairs(shape, m)
        return
    for visit in range(exponentials.visits):
        numbers = pointer(exponentials.numbers, visit * 4 * len(THIRTY_TWO))
        for step in (1, -1):
            if shape.epsilon == 0.0:
                add_running_sums(step, SIXTEEN, numbers, shape, m)
            else:
                add_running_sums(step, THIRTY_TWO, numbers, shape, m)


@kernel
def write_gradients(
    first: int,
    last: int,
    start: int,
    queries: Queries,
    pair: Array,
    own: Array,
    options: Options,
    undivided: Exponentials,
    near: Exponentials,
    far: Exponentials,
    memory: Memory,
    scores: Array,
    grad: Array,
    hess: Array,
) -> None:
    """Write the gradients, to be minimized, of queries ``first..last-1``.

    The tables of the first one are ``pair[start]`` and ``own[start]``.
    """
    m, sigma, n_grades = pointers(memory), options.sigma, own.shape[1]
    undivided, near, far = at_address(undivided), at_address(near), at_address(far)
    lam, eta, order, sorting = m.lam, m.eta, m.sorting.order, m.sorting
    for q in range(first, last):
        begin, table = queries.offsets[q], start + q - first
        n = queries.offsets[q + 1] - begin
        tie_order, grades = pointer(queries.tie_order, begin), pointer(queries.grades, begin)
        for i in range(n):
            sorting.scores[i] = scores[begin + tie_order[i]]
            sorting.rows[i] = tie_order[i]
        rank_one(n, sorting)
        n_levels = number_grades(n, grades, n_grades, m)
        for r in range(n):
            score = float(scores[begin + order[r]]) * sigma
            m.s[r] = min(max(score, -FARTHEST_SCORE), FARTHEST_SCORE)
            m.grade[r] = m.number[grades[order[r]]]
            lam[r] = 0.0
            eta[r] = 0.0
        # Equal scores are at no distance: as in LightGBM and XGBoost, nothing is divided.
        distance = m.s[0] - m.s[n - 1]
        exponentials = undivided
        if distance > 0.0:
            exponentials = near if distance <= near.farthest else far
        if n_levels > 1:
            shape = Shape(
                n=n, top=queries.active_ranks[q], n_levels=n_levels, width=(n_levels + 7) // 8 * 8,
                epsilon=exponentials.epsilon,
            )  # fmt: skip
            sum_list(
                options.kind, queries.by_pairs[q], shape, pointer(queries.discount, 0),
                pointer(pair, table * pair.shape[1] * pair.shape[2]),
                pointer(own, table * n_grades), n_grades, exponentials, m,
            )  # fmt: skip
        unit = sigma if exponentials.epsilon > 0.0 else 1.0  # distances are times sigma
        mass = 0.0
        for r in range(n):
            mass += abs(lam[r])
        mass *= sigma * unit
        factor = queries.weights[q] * unit
        if options.normalize and mass > 0.0:
            factor *= math.log2(1.0 + mass) / mass
        grad_factor, hess_factor = factor * sigma, factor * (sigma * sigma)
        for r in range(n):
            row = begin + order[r]
            steady = max(eta[r], options.least_curvature * abs(lam[r])) * hess_factor
            grad[row] = lam[r] * grad_factor
            hess[row] = max(steady, HESSIAN_FLOOR)
