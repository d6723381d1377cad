"""LambdaRank gradients of one query after the other, over all pairs."""

import math
from typing import Any

import numpy as np

from gapboost.kernels.compile import kernel
from gapboost.kernels.ordering import rank
from gapboost.kernels.segments import (
    BLOCK, aligned, fill_constants, fill_masks, keep_grades, pairs, sweep, take,
)  # fmt: skip
from gapboost.kernels.sweep import LANES, TERMS, exponentials, tables
from gapboost.kernels.vectors import at, load8, pointer, put, shift, splat8, store8

Array = np.ndarray[Any, Any]
Pointer = Any

# Keeps the boosters from dividing by zero for documents that no pair has touched.
HESSIAN_FLOOR = 1e-16

AUTO, DIRECT, SWEEP = 0, 1, 2

# Ranks of a long query that one thread takes at a time.
SEGMENT = 4096

# Pairs in the direct loop that take as long as a document in the sweeps.
PAIRS_PER_DOCUMENT = 10


@kernel
def reach(discount: Array, truncation: int) -> int:
    """Number of ranks whose document can be the upper one of a pair that counts: deeper, no swap changes anything."""
    deep = discount.size
    while deep > 0 and discount[deep - 1] == 0.0:
        deep -= 1
    return min(deep, truncation) if truncation > 0 else deep


@kernel
def by_pairs(n: int, reached: int, way: int) -> bool:
    """Whether the pairs of a query are visited one by one."""
    if way != AUTO:
        return way == DIRECT
    deep = min(reached, n)
    return n <= SEGMENT and deep * (2 * n - deep) <= 2 * PAIRS_PER_DOCUMENT * n


@kernel
def scaled(
    n: int,
    order: Pointer,
    lam: Pointer,
    eta: Pointer,
    sigma: float,
    weight: float,
    normalize: bool,
    grad: Pointer,
    hess: Pointer,
) -> None:
    """Write the gradients of one query in the order of its rows."""
    scale = weight
    if normalize:
        mass = 0.0
        for r in range(n):
            mass += abs(at(lam, r))
        mass *= sigma
        if mass > 0.0:
            scale *= math.log2(1.0 + mass) / mass
    for r in range(n):
        i = at(order, r)
        put(grad, i, at(lam, r) * (sigma * scale))
        put(hess, i, max(at(eta, r) * (sigma * sigma * scale), HESSIAN_FLOOR))


@kernel
def each(
    scores: Array,
    grades: Array,
    offsets: Array,
    order: Array,
    discount: Array,
    pair: Array,
    own: Array,
    weights: Array,
    sigma: float,
    truncation: int,
    normalize: bool,
    grad: Array,
    hess: Array,
    first: int,
    last: int,
    way: int,
    longest: int,
    rows: int,
    widest: int,
    numbers: Array,
    counts: Array,
) -> None:
    """`gradients` with its working memory."""
    n_grades = own.shape[1]
    padded = longest + LANES
    padded += -padded % LANES
    s = pointer(numbers)
    fall = shift(s, padded)
    rise = shift(fall, padded)
    jump = shift(rise, padded)
    lam = shift(jump, padded)
    eta = shift(lam, padded)
    masks = shift(eta, padded)
    constants = shift(masks, 3 * widest * widest)
    above = shift(constants, (3 * widest + 2) * widest)
    below = shift(above, (2 * TERMS + 2) * widest)
    prefixes = shift(below, (2 * TERMS + 2) * widest)
    upper = shift(prefixes, (longest // BLOCK + 2) * 2 * widest)
    lower = shift(upper, rows * widest)
    turned = shift(lower, rows * widest)
    grade = pointer(counts)
    names = shift(grade, padded)
    kept = shift(names, n_grades)
    zero = splat8(0.0)
    reached = reach(discount, truncation)
    width = 0
    for q in range(first, last):
        begin = offsets[q]
        n = offsets[q + 1] - begin
        size = keep_grades(shift(pointer(grades), begin), n, n_grades, names, kept)
        gradient = shift(pointer(grad), begin)
        hessian = shift(pointer(hess), begin)
        if size < 2:
            for i in range(n):
                put(gradient, i, 0.0)
                put(hessian, i, HESSIAN_FLOOR)
            continue
        if (size + LANES - 1) // LANES * LANES != width:
            width = (size + LANES - 1) // LANES * LANES
            fill_masks(width, masks)
        worths = shift(pointer(pair), (q - first) * n_grades * n_grades)
        fill_constants(worths, shift(pointer(own), (q - first) * n_grades), n_grades, kept, size, width, constants)
        place = shift(pointer(order), begin)
        take(n, shift(pointer(scores), begin), shift(pointer(grades), begin), place, sigma, names, s, grade)
        deep = min(reached, n)
        for r in range(0, n, LANES):
            store8(lam, r, zero)
            store8(eta, r, zero)
        for j in range(0, 2 * width, LANES):
            store8(prefixes, j, zero)
        if by_pairs(n, reached, way):
            tables(0, n, width, grade, pointer(discount), 0, constants, prefixes, upper, lower)
            pairs(n, deep, width, size, s, grade, upper, lower, turned, lam, eta)
        else:
            exponentials(n, s, fall, rise, jump)
            for j in range(0, (2 * TERMS + 2) * width, LANES):
                store8(above, j, zero)
                store8(below, j, zero)
            sweep(
                n, 0, deep, True, width, size, grade, pointer(discount), fall, rise, jump, constants, masks, prefixes,
                upper, lower, above, below, lam, eta,
            )  # fmt: skip
        scaled(n, place, lam, eta, sigma, weights[q], normalize, gradient, hessian)


@kernel
def gradients(
    scores: Array,
    grades: Array,
    offsets: Array,
    order: Array,
    discount: Array,
    pair: Array,
    own: Array,
    weights: Array,
    sigma: float,
    truncation: int,
    normalize: bool,
    grad: Array,
    hess: Array,
    first: int,
    last: int,
    way: int,
) -> None:
    """`lambdarank` for documents already in order."""
    reached = reach(discount, truncation)
    longest = 1
    rows = BLOCK
    for q in range(first, last):
        n = offsets[q + 1] - offsets[q]
        longest = max(longest, n)
        if by_pairs(n, reached, way):
            rows = max(rows, n)
    rows += LANES
    widest = (own.shape[1] + LANES - 1) // LANES * LANES
    padded = longest + 2 * LANES
    room = 6 * padded + (6 * widest + 2 + 2 * (2 * TERMS + 2)) * widest + (longest // BLOCK + 2) * 2 * widest
    numbers = aligned(room + 3 * rows * widest)
    counts = np.empty(padded + 2 * own.shape[1] + 1, np.int64)
    each(
        scores, grades, offsets, order, discount, pair, own, weights, sigma, truncation, normalize, grad, hess,
        first, last, way, longest, rows, widest, numbers, counts,
    )  # fmt: skip


@kernel
def lambdarank(
    scores: Array,
    grades: Array,
    offsets: Array,
    keys: Array,
    order: Array,
    discount: Array,
    pair: Array,
    own: Array,
    weights: Array,
    sigma: float,
    truncation: int,
    normalize: bool,
    grad: Array,
    hess: Array,
    first: int,
    last: int,
) -> None:
    """Write grad and hess."""
    rank(scores, keys, offsets, order, first, last)
    gradients(
        scores, grades, offsets, order, discount, pair, own, weights, sigma, truncation, normalize, grad, hess,
        first, last, AUTO,
    )  # fmt: skip
