"""LambdaRank gradients of one long query, by threads that go through its phases side by side.

deal, rank    per slice, per part    the order of the documents
take          per segment            scores and grades in order; number and discounts of each grade, block by block
settle        once                   the prefixes of the measure above each block
sums          see `chains`           what every document receives
finish        per piece              gradients, scaled by what depends on the sum of all, in the order of the rows
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from gapboost.kernels.chains import CHAINS, SEGMENT, collect_strips, reset, state_length, strips, sums
from gapboost.kernels.compile import kernel
from gapboost.kernels.dealing import PARTS, SLICES, deal, rank_parts
from gapboost.kernels.moments import LANES
from gapboost.kernels.ordering import workspace
from gapboost.kernels.parts import (
    BLOCK,
    FARTHEST_SCORE,
    HESSIAN_FLOOR,
    aligned,
    carved_length,
    clear,
    dampening,
    fill_constants,
    fill_masks,
    fill_signs,
    keep_grades,
    reach,
)  # fmt: skip
from gapboost.kernels.phases import APART, first, following, unbegun
from gapboost.kernels.vectors import add, at, fma, load8, mul, pointer, put, shift, splat8, store8

Array = np.ndarray[Any, Any]
Pointer = Any

# Longest list that one thread ranks in one go; a function of the length alone decides.
LONG = 16384

# Documents whose gradients are written at a time.
PIECE = 4096

RANK, TAKE, SETTLE = range(3)


@dataclass(frozen=True)
class Begun:
    """What stays the same between passes over one long query.

    Attributes
    ----------
    query : int
    rows : slice
    deep : int
        Ranks whose document can be the upper one of a pair that counts.
    numbered : uint8 ndarray
        Grade of each row, numbered among those that occur.
    shared : ndarray
        Masks and constants.
    size, width : int
        Number of grades that occur, and length of their rows.
    cuts : int64 ndarray
        The `strips`.
    """

    query: int
    rows: slice
    deep: int
    numbered: Array
    shared: Array
    size: int
    width: int
    cuts: Array


class Room(NamedTuple):
    """Working memory for one long query after the other.

    Fresh memory of this size would cost more than the ranking, as every page of it faults at its first touch.

    Attributes
    ----------
    scores, ties, ends : ndarray
    half : int
        A `workspace`. Once all is ranked, the first half of ``scores`` holds them in order.
    lam, eta, grade : ndarray
        By rank, in memory that ranking has left.
    tallies, starts : int64 ndarray
        For `deal`: by slice and part, by part.
    prefixes : ndarray
        By block.
    state, taken, claims, masses : ndarray
        For `sums`: by strip, by strip, by direction, by segment.
    progress : int64 ndarray
        A row for each function with phases: `deal`, `rank_and_take`, `collect_strips`, `sums`, `finish`.
    """

    scores: Array
    ties: Array
    ends: Array
    half: int
    lam: Array
    eta: Array
    grade: Array
    tallies: Array
    starts: Array
    prefixes: Array
    state: Array
    taken: Array
    claims: Array
    masses: Array
    progress: Array


def room_for(longest: int, n_grades: int) -> Room:
    """Working memory for queries up to so many documents and grades."""
    widest = -(-n_grades // LANES) * LANES
    n_strips = len(strips(longest)) - 1
    scores, ties, ends, half = workspace(longest, PARTS)
    return Room(
        scores,
        ties,
        ends,
        half,
        lam=ties[:half].view(np.float64),
        eta=scores[half:],
        grade=ties[half : 2 * half].view(np.uint8),
        tallies=np.empty(SLICES * PARTS, np.int64),
        starts=np.empty(PARTS + 1, np.int64),
        prefixes=aligned(-(-longest // BLOCK) * 2 * widest),
        state=aligned(n_strips * state_length(widest)),
        taken=np.empty(n_strips, np.int64),
        claims=np.empty(2 * APART, np.int64),
        masses=np.empty(-(-longest // SEGMENT)),
        progress=np.stack([unbegun(3)] * 5),
    )


@kernel
def begin_query(
    grades: Array, pair: Array, own: Array, numbered: Array, names: Array, shared: Array
) -> tuple[int, int]:
    """Number the grades, and fill masks and constants. Returns size and width."""
    n_grades = own.shape[1]
    kept = shift(pointer(names), n_grades)
    size = keep_grades(pointer(grades), len(grades), n_grades, pointer(names), kept)
    for i in range(len(grades)):
        numbered[i] = names[grades[i]]
    width = (size + LANES - 1) // LANES * LANES
    constants = shift(pointer(shared), 3 * width * width)
    fill_masks(width, pointer(shared))
    fill_signs(size, width, constants)
    fill_constants(pointer(pair), pointer(own), n_grades, kept, size, width, constants)
    return size, width


@kernel
def take_block(
    lo: int,
    hi: int,
    width: int,
    sigma: float,
    order: Pointer,
    numbered: Pointer,
    discount: Pointer,
    shared: Pointer,
    scores: Pointer,
    grade: Pointer,
    tally: Pointer,
) -> None:
    """Scores times sigma and grades of ranks ``lo..hi-1``; ``tally``: number and sum of discounts of each grade."""
    same = shift(shared, 2 * width * width)
    for r in range(lo, hi):
        put(scores, r, min(max(at(scores, r) * sigma, -FARTHEST_SCORE), FARTHEST_SCORE))
        put(grade, r, at(numbered, at(order, r)))
    for i in range(0, width, LANES):
        c = splat8(0.0)
        e = c
        for r in range(lo, hi):
            one = load8(same, at(grade, r) * width + i)
            c = add(c, one)
            e = add(e, mul(splat8(at(discount, r)), one))
        store8(tally, i, c)
        store8(tally, width + i, e)


@kernel
def settle(n: int, width: int, size: int, shared: Pointer, prefixes: Pointer, running: Pointer) -> None:
    """Turn the tallies into the prefixes C and E above each block; ``running`` is scratch."""
    square = width * width
    constants = shift(shared, 3 * square)
    clear(2 * width, running)
    for k in range((n + BLOCK - 1) // BLOCK):
        here = shift(prefixes, k * 2 * width)
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
def rank_and_take(
    order: Array,
    numbered: Array,
    discount: Array,
    sigma: float,
    size: int,
    width: int,
    shared: Array,
    room: Room,
    progress: Array,
    numbers: Array,
) -> None:
    """Rank the parts, put scores and grades in order, and find the prefixes of each block."""
    n = len(order)
    segments = (n + SEGMENT - 1) // SEGMENT
    so_far = pointer(progress)
    s = pointer(room.scores)
    prefixes = pointer(room.prefixes)
    rank_parts(pointer(room.starts), pointer(order), s, pointer(room.ties), pointer(room.ends), room.half, so_far, RANK)
    k = first(so_far, TAKE, segments)
    while k < segments:
        for lo in range(k * SEGMENT, min((k + 1) * SEGMENT, n), BLOCK):
            take_block(
                lo, min(lo + BLOCK, n), width, sigma, pointer(order), pointer(numbered), pointer(discount),
                pointer(shared), s, pointer(room.grade), shift(prefixes, lo // BLOCK * 2 * width),
            )  # fmt: skip
        k = following(so_far, TAKE, segments)
    k = first(so_far, SETTLE, 1)
    while k < 1:
        settle(n, width, size, pointer(shared), prefixes, pointer(numbers))
        k = following(so_far, SETTLE, 1)


@kernel
def finish(
    order: Array,
    sigma: float,
    weight: float,
    normalize: bool,
    grad: Array,
    hess: Array,
    room: Room,
    progress: Array,
) -> None:
    """Write the scaled gradients in the order of the rows."""
    n = len(order)
    factor = weight
    if normalize:
        size = 0.0
        for segment in range((n + SEGMENT - 1) // SEGMENT):
            size += room.masses[segment]
        factor *= dampening(sigma * size)
    push = sigma * factor
    curve = sigma * push
    pieces = (n + PIECE - 1) // PIECE
    k = first(pointer(progress), 0, pieces)
    while k < pieces:
        for r in range(k * PIECE, min((k + 1) * PIECE, n)):
            i = at(pointer(order), r)
            put(pointer(grad), i, at(pointer(room.lam), r) * push)
            put(pointer(hess), i, max(at(pointer(room.eta), r) * curve, HESSIAN_FLOOR))
        k = following(pointer(progress), 0, pieces)


def begin(
    grades: Array, offsets: Array, discount: Array, pair: Array, own: Array, truncation: int, query: int
) -> Begun:
    """What stays the same; with ``truncation`` > 0 only pairs whose upper document is among that many first ranks count."""
    rows = slice(int(offsets[query]), int(offsets[query + 1]))
    n = rows.stop - rows.start
    n_grades = own.shape[1]
    numbered = np.empty(n, np.uint8)
    widest = n_grades + LANES
    shared = aligned((7 * widest + 1) * widest)
    size, width = begin_query(grades[rows], pair, own, numbered, np.empty(2 * n_grades + 1, np.int64), shared)
    return Begun(query, rows, reach(discount, n, truncation), numbered, shared, size, width, strips(n))


def long_query(
    scores: Array,
    keys: Array,
    order: Array,
    discount: Array,
    weights: Array,
    sigma: float,
    normalize: bool,
    grad: Array,
    hess: Array,
    begun: Begun,
    room: Room,
    together: Callable[[Callable[[], None]], None],
) -> None:
    """`gapboost.kernels.lambdarank.lambdarank` for one query, longer than `LONG`.

    ``together(work)`` calls ``work()`` on any number of threads, at least once, and waits for all.
    """
    scores, keys, order, grad, hess = (a[begun.rows] for a in (scores, keys, order, grad, hess))
    if begun.size < 2:
        grad[:] = 0.0
        hess[:] = HESSIAN_FLOOR
        return
    cuts = begun.cuts.copy()
    known = (
        room.scores, room.grade, len(order), discount, begun.deep, begun.size, begun.width, begun.shared, room.prefixes
    )  # fmt: skip
    weight = float(weights[begun.query])
    room.progress[:] = 0
    reset(room.state, room.taken, room.claims)
    dealt, ranked, collected, summed, finished = room.progress

    def work() -> None:
        numbers = aligned(carved_length(SEGMENT, BLOCK, begun.width))
        deal(scores, keys, room.tallies, room.starts, room.scores, room.ties, dealt)
        rank_and_take(
            order, begun.numbered, discount, sigma, begun.size, begun.width, begun.shared, room, ranked, numbers
        )  # fmt: skip
        if len(cuts) - 1 > CHAINS:
            collect_strips(known, cuts, room.state, collected, numbers)
        sums(known, cuts, room.taken, room.claims, room.state, room.lam, room.eta, room.masses, summed, numbers)
        finish(order, sigma, weight, normalize, grad, hess, room, finished)

    together(work)
