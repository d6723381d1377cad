"""LambdaRank gradients of one query after the other, over all pairs."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from gapboost.kernels.compile import kernel
from gapboost.kernels.moments import LANES, MOMENTS
from gapboost.kernels.ordering import rank
from gapboost.kernels.parts import (
    BLOCK,
    HESSIAN_FLOOR,
    aligned,
    carve,
    carved_length,
    clear,
    dampening,
    fill_constants,
    fill_masks,
    fill_signs,
    keep_grades,
    mass,
    pairs,
    reach,
    sweep,
    take,
)  # fmt: skip
from gapboost.kernels.sweep import exponentials, tables
from gapboost.kernels.vectors import at, pointer, put, shift

Array = np.ndarray[Any, Any]
Pointer = Any

AUTO, DIRECT, SWEEP = 0, 1, 2

# Longest list whose pairs may be visited one by one: the direct loop keeps tables of the whole list.
LONGEST_BY_PAIRS = 4096

# Pairs in the direct loop that take as long as a document in the sweeps.
PAIRS_PER_DOCUMENT = 40


@kernel
def by_pairs(n: int, reached: int, way: int) -> bool:
    """Whether the pairs of a query are visited one by one."""
    if way != AUTO:
        return way == DIRECT
    deep = min(reached, n)
    return n <= LONGEST_BY_PAIRS and deep * (2 * n - deep) <= 2 * PAIRS_PER_DOCUMENT * n


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
    scale = weight * (dampening(sigma * mass(n, lam)) if normalize else 1.0)
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
    reached: int,
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
    graded: Array,
) -> None:
    """Gradients of queries ``first..last-1``, already in order; ``pair`` and ``own`` begin at query ``first``."""
    n_grades = own.shape[1]
    s, fall, rise, jump, lam, eta, prefixes, upper, lower, turned, above, below, masks, constants = carve(
        pointer(numbers), longest, rows, widest
    )
    grade = pointer(graded)
    names = pointer(counts)
    kept = shift(names, n_grades)
    width = 0
    signed = 0
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
        if size != signed:
            signed = size
            fill_signs(size, width, constants)
        worths = shift(pointer(pair), (q - first) * n_grades * n_grades)
        values = shift(pointer(own), (q - first) * n_grades)
        fill_constants(worths, values, n_grades, kept, size, width, constants)
        place = shift(pointer(order), begin)
        take(n, shift(pointer(scores), begin), shift(pointer(grades), begin), place, sigma, names, s, grade)
        deep = min(reached, n)
        clear(n, lam)
        clear(n, eta)
        clear(2 * width, prefixes)
        if by_pairs(n, reached, way):
            tables(0, n, width, grade, pointer(discount), 0, constants, prefixes, upper, lower)
            pairs(n, deep, width, size, s, grade, upper, lower, turned, fall, rise, jump, lower, lam, eta)
        else:
            exponentials(n, s, fall, rise, jump)
            clear(MOMENTS * width, above)
            clear(MOMENTS * width, below)
            sweep(
                n, 0, deep, True, width, size, grade, pointer(discount), fall, rise, jump, constants, masks, prefixes,
                upper, lower, above, below, lam, eta,
            )  # fmt: skip
        scaled(n, place, lam, eta, sigma, weights[q], normalize, gradient, hessian)


@dataclass(frozen=True)
class Chunk:
    """Queries ``first..last-1``, and what stays the same between passes over them.

    Attributes
    ----------
    first, last : int
    rows : slice
    starts : int64 ndarray
        Where each query begins, counted from the first of `rows`, and where the last one ends.
    way : int
        `DIRECT` for pair by pair in quadratic time, `SWEEP` for near-linear time at any length, or `AUTO` for the
        faster of the two.
    reached, longest, held, widest : int
        Ranks whose document can be the upper one of a pair that counts, documents of the longest query, documents whose
        tables are held at a time, and the length of their rows.
    """

    first: int
    last: int
    rows: slice
    starts: Array
    way: int
    reached: int
    longest: int
    held: int
    widest: int


def chunk(
    offsets: Array, discount: Array, n_grades: int, truncation: int, first: int, last: int, way: int = AUTO
) -> Chunk:
    """What stays the same; with ``truncation`` > 0 only pairs whose upper document is among that many first ranks count."""
    begin, end = int(offsets[first]), int(offsets[last])
    starts = offsets[first : last + 1] - begin
    lengths = np.unique(np.diff(starts)).tolist()
    longest = max(lengths, default=0)
    reached = reach(discount, longest, truncation)
    held = max((n for n in lengths if by_pairs(n, reached, way)), default=0)
    widest = -(-n_grades // LANES) * LANES
    return Chunk(first, last, slice(begin, end), starts, way, reached, longest, max(held, BLOCK) + LANES, widest)


def lambdarank(
    scores: Array,
    grades: Array,
    keys: Array,
    order: Array,
    discount: Array,
    pair: Array,
    own: Array,
    weights: Array,
    sigma: float,
    normalize: bool,
    grad: Array,
    hess: Array,
    chunk: Chunk,
) -> None:
    """Rank the documents of the queries of `chunk` and write the gradients, to be minimised, of all their pairs.

    ``pair`` and ``own`` begin at its first query. With ``normalize`` the gradients of a query are multiplied by
    log2(1 + S) / S, where S is the sum of their absolute values.

    Plain Python, on purpose: compiled code that calls compiled code is optimised again for every caller, and kernels
    for float32 would double it. So float32 is converted here, and only float64 reaches them.
    """
    # views of these rows alone, so that conversions do not copy the rest
    rows = chunk.rows
    n_rows, n_queries = rows.stop - rows.start, chunk.last - chunk.first
    # before the conversion: ranking a long list takes the most memory of all
    rank(scores[rows], keys[rows], chunk.starts, order[rows], 0, n_queries)
    exact = scores[rows].astype(np.float64, copy=False)
    wanted = grad.dtype == np.float64 and hess.dtype == np.float64
    push = grad[rows] if wanted else np.empty(n_rows)
    curve = hess[rows] if wanted else np.empty(n_rows)
    each(
        exact, grades[rows], chunk.starts, order[rows], discount, pair, own, weights[chunk.first : chunk.last], sigma,
        chunk.reached, normalize, push, curve, 0, n_queries, chunk.way, chunk.longest, chunk.held, chunk.widest,
        aligned(carved_length(chunk.longest, chunk.held, chunk.widest)), np.empty(2 * own.shape[1] + 1, np.int64),
        np.empty(chunk.longest + LANES, np.uint8),
    )  # fmt: skip
    if not wanted:
        grad[rows] = push
        hess[rows] = curve
