"""LambdaRank gradients of one long query, in passes that several threads can share.

A ranking is cut into segments of `SEGMENT` ranks. What a segment needs to know of the others is small: the prefixes C
and E of the measure above it, and the moments of all documents above and below it. So after the documents are in order

    tally      per segment   the number of documents and the discount of each grade
    settle     once          the prefixes above each segment
    evaluate   per segment   its own moments
    hand_on    once          the moments above and below each segment
    evaluate   again         gradients, and the sum of their absolute values
    scale      per segment   the factor that depends on that sum

The segments depend on the length of the list alone, and sums over them are taken in one order, so results are the same,
bit by bit, for any number of threads. The state of a segment is one row of float64: prefixes, tallies, first and last
anchor, mass, moments above, moments below.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from gapboost.kernels.compile import kernel
from gapboost.kernels.ordering import rank_each
from gapboost.kernels.parts import (
    BLOCK,
    HESSIAN_FLOOR,
    MOMENTS,
    aligned,
    carve,
    clear,
    dampening,
    fill_constants,
    fill_masks,
    keep_grades,
    mass,
    own_moments,
    reach,
    room,
    sweep,
    take,
)  # fmt: skip
from gapboost.kernels.sweep import LANES, exponentials, scale_moments
from gapboost.kernels.vectors import add, at, decay8, first_lane, load8, pointer, put, shift, splat8, store8

Array = np.ndarray[Any, Any]
Pointer = Any
Task = Callable[[int, int], None]

# Longest list that one thread ranks in one go; a function of the length alone decides.
LONG = 16384
SEGMENT = 4096

# Length of the state of a segment by the width of its rows, but for the anchors and the mass.
STATE = 4 + 2 * MOMENTS


@kernel
def begin_query(
    grades: Array, begin: int, n: int, pair: Array, own: Array, z: int, names: Array, shared: Array
) -> tuple[int, int]:
    """Fill what every segment reads: the numbers of the grades, and masks and constants. Returns size and width."""
    n_grades = own.shape[1]
    kept = shift(pointer(names), n_grades)
    size = keep_grades(shift(pointer(grades), begin), n, n_grades, pointer(names), kept)
    width = (size + LANES - 1) // LANES * LANES
    fill_masks(width, pointer(shared))
    constants = shift(pointer(shared), 3 * width * width)
    worths = shift(pointer(pair), z * n_grades * n_grades)
    fill_constants(worths, shift(pointer(own), z * n_grades), n_grades, kept, size, width, constants)
    return size, width


@kernel
def tally(
    grades: Array,
    order: Array,
    begin: int,
    n: int,
    discount: Array,
    names: Array,
    width: int,
    state: Array,
    first: int,
    last: int,
) -> None:
    """Count the grades of segments ``first..last-1`` and add up their discounts."""
    place = shift(pointer(order), begin)
    grade = shift(pointer(grades), begin)
    weight = pointer(discount)
    for j in range(first, last):
        counts = shift(pointer(state), j * (STATE * width + LANES) + 2 * width)
        clear(2 * width, counts)
        for r in range(j * SEGMENT, min(n, (j + 1) * SEGMENT)):
            i = at(pointer(names), at(grade, at(place, r)))
            put(counts, i, at(counts, i) + 1.0)
            put(counts, width + i, at(counts, width + i) + at(weight, r))


@kernel
def settle(n: int, width: int, size: int, shared: Array, state: Array) -> None:
    """Turn the tallies into the prefixes above each segment."""
    constants = shift(pointer(shared), 3 * width * width)
    running = np.zeros(2 * width)
    for j in range((n + SEGMENT - 1) // SEGMENT):
        row = shift(pointer(state), j * (STATE * width + LANES))
        for i in range(2 * width):
            put(row, i, running[i])
        for a in range(size):
            for i in range(size):
                worth = at(constants, a * width + i)
                running[i] += at(row, 2 * width + a) * worth
                running[width + a] += at(row, 3 * width + i) * worth


@kernel
def evaluate(
    scores: Array,
    grades: Array,
    order: Array,
    begin: int,
    n: int,
    discount: Array,
    sigma: float,
    deep: int,
    wanted: bool,
    names: Array,
    size: int,
    width: int,
    shared: Array,
    state: Array,
    grad: Array,
    hess: Array,
    first: int,
    last: int,
    numbers: Array,
    numbered: Array,
) -> None:
    """Gradients of segments ``first..last-1`` before scaling; with ``wanted`` false only their moments."""
    s, fall, rise, jump, lam, eta, prefixes, upper, lower, _, above, below, _, _ = carve(
        pointer(numbers), SEGMENT, BLOCK, width
    )
    grade = pointer(numbered)
    masks = pointer(shared)
    constants = shift(masks, 3 * width * width)
    moments = MOMENTS * width
    gradient = shift(pointer(grad), begin)
    hessian = shift(pointer(hess), begin)
    for j in range(first, last):
        rank0 = j * SEGMENT
        m = min(n - rank0, SEGMENT)
        row = shift(pointer(state), j * (STATE * width + LANES))
        kept_above = shift(row, 4 * width + LANES)
        kept_below = shift(kept_above, moments)
        place = shift(pointer(order), begin + rank0)
        take(m, shift(pointer(scores), begin), shift(pointer(grades), begin), place, sigma, pointer(names), s, grade)
        put(row, 4 * width, at(s, 0))
        put(row, 4 * width + 1, exponentials(m, s, fall, rise, jump))
        clear(m, lam)
        clear(m, eta)
        for i in range(0, 2 * width, LANES):
            store8(prefixes, i, load8(row, i))
        if wanted:
            for i in range(0, moments, LANES):
                store8(above, i, load8(kept_above, i))
                store8(below, i, load8(kept_below, i))
        else:
            clear(moments, above)
            clear(moments, below)
        here = min(max(deep - rank0, 0), m)
        if not wanted and at(row, 4 * width) == at(row, 4 * width + 1):
            own_moments(
                m, rank0, here, width, size, grade, pointer(discount), fall, rise, constants, masks, prefixes,
                upper, lower, above, below,
            )  # fmt: skip
        else:
            sweep(
                m, rank0, here, wanted, width, size, grade, pointer(discount), fall, rise, jump, constants, masks,
                prefixes, upper, lower, above, below, lam, eta,
            )  # fmt: skip
        if wanted:
            put(row, 4 * width + 2, sigma * mass(m, lam))
            for r in range(m):
                i = at(place, r)
                put(gradient, i, at(lam, r) * sigma)
                put(hessian, i, at(eta, r) * (sigma * sigma))
        else:
            for i in range(0, moments, LANES):
                store8(kept_above, i, load8(above, i))
                store8(kept_below, i, load8(below, i))


@kernel
def hand_on(n: int, width: int, size: int, state: Array, carried: Array) -> None:
    """Turn the moments of each segment into those of all documents above and below it."""
    n_segments = (n + SEGMENT - 1) // SEGMENT
    moments = MOMENTS * width
    running = pointer(carried)
    for direction in range(2):
        clear(moments, running)
        for step in range(n_segments):
            j = step if direction == 0 else n_segments - 1 - step
            row = shift(pointer(state), j * (STATE * width + LANES))
            own = shift(row, 4 * width + LANES + direction * moments)
            top = at(row, 4 * width)
            bottom = at(row, 4 * width + 1)
            # moments of the documents above a segment arrive at its first anchor, those from below at its last
            if direction == 0 and j > 0:
                gap = at(shift(row, -(STATE * width + LANES)), 4 * width + 1) - top
                scale_moments(width, size, first_lane(decay8(splat8(gap))), running)
            elif direction == 1 and j < n_segments - 1:
                gap = bottom - at(shift(row, (STATE * width + LANES)), 4 * width)
                scale_moments(width, size, first_lane(decay8(splat8(gap))), running)
            for i in range(0, moments, LANES):
                arrived = load8(running, i)
                store8(running, i + moments, load8(own, i))
                store8(own, i, arrived)
            scale_moments(width, size, first_lane(decay8(splat8(top - bottom))), running)
            for i in range(0, moments, LANES):
                store8(running, i, add(load8(running, i), load8(running, i + moments)))


@kernel
def scale(
    begin: int,
    n: int,
    weight: float,
    normalize: bool,
    width: int,
    state: Array,
    grad: Array,
    hess: Array,
    first: int,
    last: int,
) -> None:
    """Scale the gradients of as many rows as the segments ``first..last-1`` have."""
    factor = weight
    if normalize:
        size = 0.0
        for j in range((n + SEGMENT - 1) // SEGMENT):
            size += state[j * (STATE * width + LANES) + 4 * width + 2]
        factor *= dampening(size)
    for row in range(begin + first * SEGMENT, begin + min(n, last * SEGMENT)):
        grad[row] *= factor
        hess[row] = max(hess[row] * factor, HESSIAN_FLOOR)


def ordered_query(
    scores: Array,
    grades: Array,
    offsets: Array,
    order: Array,
    discount: Array,
    pair: Array,
    own: Array,
    weight: float,
    sigma: float,
    truncation: int,
    normalize: bool,
    grad: Array,
    hess: Array,
    q: int,
    run: Callable[[Task, list[tuple[int, int]]], None],
) -> None:
    """Gradients of query ``q``, already in order; all float64, ``pair`` and ``own`` of this query alone."""
    begin = int(offsets[q])
    n = int(offsets[q + 1]) - begin
    ranges = [(j, j + 1) for j in range(-(-n // SEGMENT))]
    names = np.empty(2 * own.shape[1] + 1, np.int64)
    widest = own.shape[1] + LANES
    shared = aligned((6 * widest + 2) * widest)
    size, width = begin_query(grades, begin, n, pair, own, 0, names, shared)
    if size < 2:
        grad[begin : begin + n] = 0.0
        hess[begin : begin + n] = HESSIAN_FLOOR
        return
    state = aligned(len(ranges) * (STATE * width + LANES))
    deep = reach(discount, n, truncation)

    def visit(wanted: bool) -> None:
        def task(first: int, last: int) -> None:
            evaluate(
                scores, grades, order, begin, n, discount, sigma, deep, wanted, names, size, width, shared, state,
                grad, hess, first, last, aligned(room(SEGMENT, BLOCK, width)), np.empty(SEGMENT, np.int64),
            )  # fmt: skip

        run(task, ranges)

    run(lambda i, j: tally(grades, order, begin, n, discount, names, width, state, i, j), ranges)
    settle(n, width, size, shared, state)
    visit(False)
    hand_on(n, width, size, state, aligned(2 * MOMENTS * width))
    visit(True)
    run(lambda i, j: scale(begin, n, weight, normalize, width, state, grad, hess, i, j), ranges)


def long_query(
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
    run: Callable[[Task, list[tuple[int, int]]], None],
    room_to_rank: tuple[Array, Array, Array, int],
) -> None:
    """`gapboost.kernels.lambdarank.lambdarank` for the one query ``first``, longer than `LONG`.

    ``run(task, ranges)`` calls ``task(i, j)`` for every range, on any threads and in any order, and waits for all.
    ``room_to_rank`` is a `workspace` for a list of this length or longer. Fresh memory of this size would cost more
    than the ranking: every page of it faults at its first touch.
    """
    begin, end = int(offsets[first]), int(offsets[first + 1])
    rows, n = slice(begin, end), end - begin
    starts = np.array([0, n], np.int64)
    numbers, whole, ends, half = room_to_rank
    rank_each(scores[rows], keys[rows], starts, order[rows], 0, 1, numbers, whole, ends, half)
    # After ranking the same memory serves for scores and gradients in double precision.
    exact = scores[rows]
    if exact.dtype != np.float64:
        exact = whole[:n].view(np.float64)
        exact[:] = scores[rows]
    push, curve = numbers[:n], numbers[half : half + n]
    ordered_query(
        exact, grades[rows], starts, order[rows], discount, pair[:1], own[:1], float(weights[first]), sigma, truncation,
        normalize, push, curve, 0, run,
    )  # fmt: skip
    grad[rows] = push
    hess[rows] = curve
