"""Ranking of one long list by several threads: its rows are dealt out in parts by falling score, which are then ranked."""

from typing import Any

import numpy as np

from gapboost.kernels.compile import kernel
from gapboost.kernels.ordering import COUNTED, FILL, count, move, rank_long
from gapboost.kernels.phases import first, following
from gapboost.kernels.vectors import at, pointer, put, shift

Array = np.ndarray[Any, Any]
Pointer = Any

# Parts that a list is dealt out in, and slices that its rows are read in.
PARTS = 64
SLICES = 32

# All that a part of equal scores can be told apart by is the key.
KEYS = float(1 << 32)

SPAN, COUNT, PLACE, DEAL = range(4)
PHASES = 4


@kernel
def span(scores: Array, lo: int, hi: int, ends: Pointer) -> None:
    """Highest and lowest score of rows ``lo..hi-1``; nan where one of them is."""
    here = pointer(scores)
    high = at(here, lo)
    low = high
    unknown = False
    for i in range(lo, hi):
        x = at(here, i)
        high = x if x > high else high
        low = x if x < low else low
        unknown |= x != x
    put(ends, 0, np.nan if unknown else float(high))
    put(ends, 1, float(low))


@kernel
def cut(spans: Pointer) -> tuple[bool, float, float]:
    """Whether parts are cut by key instead of score; the highest score, and parts per unit."""
    high = at(spans, 0)
    low = at(spans, 1)
    unknown = False
    for k in range(SLICES):
        x = at(spans, 2 * k)
        high = max(high, x)
        low = min(low, at(spans, 2 * k + 1))
        unknown |= x != x
    if high == low and not unknown:
        return True, high, PARTS / KEYS
    scale = PARTS / (high - low)
    # nan among the scores, too wide or too narrow for interpolation: all in one part
    if unknown or not 1e-280 < scale < 1e280:
        return True, high, 0.0
    return False, high, scale


@kernel
def part_of(score: float, key: int, by_key: bool, high: float, scale: float) -> Any:
    """The part of a row; it never falls as the score falls."""
    gap = float(key) if by_key else high - score
    return min(int(gap * scale), PARTS - 1)


@kernel
def count_parts(
    scores: Array, keys: Array, by_key: bool, high: float, scale: float, lo: int, hi: int, tally: Pointer
) -> None:
    """Number of rows ``lo..hi-1`` in each part."""
    for part in range(PARTS):
        put(tally, part, 0)
    for i in range(lo, hi):
        part = part_of(float(at(pointer(scores), i)), at(pointer(keys), i), by_key, high, scale)
        put(tally, part, at(tally, part) + 1)


@kernel
def place(tallies: Pointer, starts: Pointer) -> None:
    """Where each part begins, and the last ends; ``tallies`` become the places of each slice's first rows."""
    begin = 0
    for part in range(PARTS):
        put(starts, part, begin)
        for k in range(SLICES):
            size = at(tallies, k * PARTS + part)
            put(tallies, k * PARTS + part, begin)
            begin += size
    put(starts, PARTS, begin)


@kernel
def deal_rows(
    scores: Array,
    keys: Array,
    by_key: bool,
    high: float,
    scale: float,
    lo: int,
    hi: int,
    places: Pointer,
    numbers: Array,
    whole: Array,
) -> None:
    """Move rows ``lo..hi-1`` to their ``places``, which move on."""
    for i in range(lo, hi):
        x = float(at(pointer(scores), i))
        key = at(pointer(keys), i)
        part = part_of(x, key, by_key, high, scale)
        j = at(places, part)
        put(places, part, j + 1)
        # nan outranks nothing, see `rank_each`
        put(pointer(numbers), j, x if x == x else -np.inf)
        put(pointer(whole), j, (np.int64(key) << 31) | i)


@kernel
def deal(
    scores: Array,
    keys: Array,
    spans: Array,
    tallies: Array,
    starts: Array,
    numbers: Array,
    whole: Array,
    progress: Array,
) -> None:
    """Deal the rows out: part k is to take the ranks from ``starts[k]`` on. Any number of threads may come."""
    n = len(scores)
    so_far = pointer(progress)
    k = first(so_far, SPAN, SLICES)
    while k < SLICES:
        span(scores, n * k // SLICES, n * (k + 1) // SLICES, shift(pointer(spans), 2 * k))
        k = following(so_far, SPAN, SLICES)
    by_key, high, scale = cut(pointer(spans))
    k = first(so_far, COUNT, SLICES)
    while k < SLICES:
        mine = shift(pointer(tallies), k * PARTS)
        count_parts(scores, keys, by_key, high, scale, n * k // SLICES, n * (k + 1) // SLICES, mine)
        k = following(so_far, COUNT, SLICES)
    k = first(so_far, PLACE, 1)
    while k < 1:
        place(pointer(tallies), pointer(starts))
        k = following(so_far, PLACE, 1)
    k = first(so_far, DEAL, SLICES)
    while k < SLICES:
        mine = shift(pointer(tallies), k * PARTS)
        lo, hi = n * k // SLICES, n * (k + 1) // SLICES
        deal_rows(scores, keys, by_key, high, scale, lo, hi, mine, numbers, whole)
        k = following(so_far, DEAL, SLICES)


@kernel
def rank_part(
    part: int, starts: Pointer, order: Pointer, numbers: Pointer, whole: Pointer, ends: Pointer, half: int
) -> None:
    """Rank one part, and put its scores in order in the first half of ``numbers``; nothing else of it is needed then."""
    begin = at(starts, part)
    n = at(starts, part + 1) - begin
    s = shift(numbers, begin)
    t = shift(whole, begin)
    other_s = shift(s, half)
    mine = shift(order, begin)
    if n <= COUNTED:
        count(s, t, 0, n, mine, other_s)
        move(0, n, other_s, s)
    else:
        todo = shift(whole, 2 * half + 3 * (begin // COUNTED + 2 * part))
        free = shift(ends, begin // FILL + 2 * part)
        rank_long(n, s, t, other_s, shift(t, half), free, todo, mine)
