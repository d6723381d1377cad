"""LambdaRank gradients of one long query, on several threads.

rank_shared   per part      the order of the documents
gather        per block     scores and grades in order; the number of documents and the discount of each grade
settle        once          the prefixes of the measure above each block
sums          per segment   what every document receives
finish        per segment   gradients, scaled by what depends on the sum of all, in the order of the rows
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from gapboost.kernels.chains import SEGMENT, sums
from gapboost.kernels.compile import kernel
from gapboost.kernels.moments import LANES
from gapboost.kernels.ordering import Share, rank_shared
from gapboost.kernels.parts import (
    BLOCK,
    FARTHEST_SCORE,
    HESSIAN_FLOOR,
    aligned,
    clear,
    dampening,
    fill_constants,
    fill_masks,
    keep_grades,
    reach,
)  # fmt: skip
from gapboost.kernels.vectors import add, at, fma, load8, pointer, put, shift, splat8, store8

Array = np.ndarray[Any, Any]
Pointer = Any

# Longest list that one thread ranks in one go; a function of the length alone decides.
LONG = 16384


@dataclass(frozen=True)
class Begun:
    """What stays the same between passes over one long query.

    Attributes
    ----------
    query : int
    rows : slice
    deep : int
        Ranks whose document can be the upper one of a pair that counts.
    names, shared : ndarray
        Numbers of the grades that occur; masks and constants.
    size, width : int
        Number of grades that occur, and length of their rows.
    """

    query: int
    rows: slice
    deep: int
    names: Array
    shared: Array
    size: int
    width: int


@kernel
def begin_query(grades: Array, pair: Array, own: Array, names: Array, shared: Array) -> tuple[int, int]:
    """Fill what every segment reads: the numbers of the grades, and masks and constants. Returns size and width."""
    n_grades = own.shape[1]
    kept = shift(pointer(names), n_grades)
    size = keep_grades(pointer(grades), len(grades), n_grades, pointer(names), kept)
    width = (size + LANES - 1) // LANES * LANES
    fill_masks(width, pointer(shared))
    fill_constants(pointer(pair), pointer(own), n_grades, kept, size, width, shift(pointer(shared), 3 * width * width))
    return size, width


@kernel
def gather(
    scores: Array,
    grades: Array,
    order: Array,
    discount: Array,
    sigma: float,
    names: Array,
    width: int,
    shared: Array,
    s: Array,
    grade: Array,
    prefixes: Array,
    begin: int,
    end: int,
) -> None:
    """Scores (times sigma) and grades of ranks ``begin..end-1``, which are whole blocks, and the tallies of the blocks."""
    square = width * width
    same = shift(pointer(shared), 2 * square)
    for lo in range(begin, end, BLOCK):
        tally = shift(pointer(prefixes), lo // BLOCK * 2 * width)
        hi = min(lo + BLOCK, end)
        for r in range(lo, hi):
            i = at(pointer(order), r)
            x = float(at(pointer(scores), i)) * sigma
            put(pointer(s), r, min(max(x, -FARTHEST_SCORE), FARTHEST_SCORE))
            put(pointer(grade), r, at(pointer(names), at(pointer(grades), i)))
        for i in range(0, width, LANES):
            c = splat8(0.0)
            e = c
            for r in range(lo, hi):
                one = load8(same, at(pointer(grade), r) * width + i)
                c = add(c, one)
                e = fma(splat8(at(pointer(discount), r)), one, e)
            store8(tally, i, c)
            store8(tally, width + i, e)


@kernel
def settle(n: int, width: int, size: int, shared: Array, prefixes: Array, carried: Array) -> None:
    """Turn the tallies into the prefixes C and E above each block."""
    square = width * width
    constants = shift(pointer(shared), 3 * square)
    running = pointer(carried)
    clear(2 * width, running)
    for k in range((n + BLOCK - 1) // BLOCK):
        here = shift(pointer(prefixes), k * 2 * width)
        for i in range(0, width, LANES):
            c = load8(running, i)
            e = load8(running, width + i)
            for a in range(size):
                c = fma(splat8(at(here, a)), load8(constants, a * width + i), c)
                e = fma(splat8(at(here, width + a)), load8(constants, square + a * width + i), e)
            store8(running, 2 * width + i, c)
            store8(running, 3 * width + i, e)
        for i in range(0, 2 * width, LANES):
            store8(here, i, load8(running, i))
            store8(running, i, load8(running, 2 * width + i))


@kernel
def finish(
    lam: Array,
    eta: Array,
    order: Array,
    sigma: float,
    weight: float,
    normalize: bool,
    masses: Array,
    grad: Array,
    hess: Array,
    first: int,
    last: int,
) -> None:
    """Write the scaled gradients of segments ``first..last-1`` in the order of the rows."""
    factor = weight
    if normalize:
        size = 0.0
        for part in masses:
            size += part
        factor *= dampening(sigma * size)
    push = sigma * factor
    curve = sigma * push
    for r in range(first * SEGMENT, min(len(order), last * SEGMENT)):
        i = at(pointer(order), r)
        put(pointer(grad), i, at(pointer(lam), r) * push)
        put(pointer(hess), i, max(at(pointer(eta), r) * curve, HESSIAN_FLOOR))


def begin(
    grades: Array, offsets: Array, discount: Array, pair: Array, own: Array, truncation: int, query: int
) -> Begun:
    """What stays the same; with ``truncation`` > 0 only pairs whose upper document is among that many first ranks count."""
    rows = slice(int(offsets[query]), int(offsets[query + 1]))
    n_grades = own.shape[1]
    names = np.empty(2 * n_grades + 1, np.int64)
    widest = n_grades + LANES
    shared = aligned((6 * widest + 2) * widest)
    size, width = begin_query(grades[rows], pair, own, names, shared)
    return Begun(query, rows, reach(discount, rows.stop - rows.start, truncation), names, shared, size, width)


def long_query(
    scores: Array,
    grades: Array,
    keys: Array,
    order: Array,
    discount: Array,
    weights: Array,
    sigma: float,
    normalize: bool,
    grad: Array,
    hess: Array,
    begun: Begun,
    share: Share,
    room_to_rank: tuple[Array, Array, Array, int],
) -> None:
    """`gapboost.kernels.lambdarank.lambdarank` for one query, longer than `LONG`.

    ``room_to_rank`` is a `workspace` for a list of this length or longer: fresh memory of this size would cost more
    than the ranking, as every page of it faults at its first touch.
    """
    scores, grades, keys, order, grad, hess = (a[begun.rows] for a in (scores, grades, keys, order, grad, hess))
    n = len(order)
    names, shared, size, width = begun.names, begun.shared, begun.size, begun.width
    if size < 2:
        grad[:] = 0.0
        hess[:] = HESSIAN_FLOOR
        return
    prefixes = aligned(-(-n // BLOCK) * 2 * width)
    numbers, whole, _, half = room_to_rank
    # What is ranked makes room for the documents in order and their sums.
    end = n + LANES
    s, grade = whole[:end].view(np.float64), whole[half : half + end]
    lam, eta = numbers[:end], numbers[half : half + end]
    seams: list[int] = []

    def fill(begin: int, end: int) -> None:
        gather(scores, grades, order, discount, sigma, names, width, shared, s, grade, prefixes, begin, end)

    def fill_inside(begin: int, end: int) -> None:
        inside = -(-begin // BLOCK) * BLOCK, end if end == n else end // BLOCK * BLOCK
        if begin < end:
            seams.extend((begin // BLOCK, (end - 1) // BLOCK))
        if inside[0] < inside[1]:
            fill(*inside)

    # nothing is written to the gradients before the end
    parts = grad.view(np.uint8)[:n]
    rank_shared(scores, keys, order, room_to_rank, parts, share, fill_inside)
    for block in set(seams):
        fill(block * BLOCK, min((block + 1) * BLOCK, n))
    settle(n, width, size, shared, prefixes, aligned(4 * width))
    known = s, grade, n, discount, begun.deep, size, width, shared, prefixes
    masses = sums(known, lam, eta, share)
    weight = float(weights[begun.query])
    share(lambda i, j: finish(lam, eta, order, sigma, weight, normalize, masses, grad, hess, i, j), len(masses))
