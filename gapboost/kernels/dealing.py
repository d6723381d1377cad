"""Ranking of one long list by several threads: its rows are dealt out in parts by falling score, which are then ranked."""

from typing import Any

import numpy as np

from gapboost.kernels.compile import kernel
from gapboost.kernels.ordering import COUNTED, FILL, count, enter, move, rank_long
from gapboost.kernels.phases import first, following
from gapboost.kernels.vectors import at, pointer, put, shift

Array = np.ndarray[Any, Any]
Pointer = Any

# Parts that a list is dealt out in, and slices that its rows are read in.
PARTS = 64
SLICES = 32

# Rows whose scores tell about how far they spread.
SAMPLED = 512

COUNT, PLACE, DEAL = range(3)


@kernel
def cut(scores: Array) -> tuple[float, float]:
    """Where the first part begins, and parts per unit of score, for parts of about the same width."""
    high = -np.inf
    low = np.inf
    for k in range(SAMPLED):
        x = float(at(pointer(scores), len(scores) * k // SAMPLED))
        high = x if x > high else high
        low = x if x < low else low
    scale = PARTS / (high - low)
    # all the same, too wide or too narrow for interpolation: most will be in one part
    return high, scale if 1e-280 < scale < 1e280 else 0.0


@kernel
def part_of(score: float, high: float, scale: float) -> Any:
    """The part of a row, which never falls as the score falls; the last one for nan."""
    part = (high - score) * scale
    # written so that no branch comes of it
    part = part if part < PARTS - 1 else float(PARTS - 1)
    part = part if part > 0.0 else 0.0
    return int(part)


@kernel
def count_parts(scores: Array, high: float, scale: float, lo: int, hi: int, tally: Pointer) -> None:
    """Number of rows ``lo..hi-1`` in each part."""
    for part in range(PARTS):
        put(tally, part, 0)
    for i in range(lo, hi):
        part = part_of(float(at(pointer(scores), i)), high, scale)
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
    high: float,
    scale: float,
    lo: int,
    hi: int,
    places: Pointer,
    s: Pointer,
    t: Pointer,
) -> None:
    """Move rows ``lo..hi-1`` to their ``places``, which move on."""
    for i in range(lo, hi):
        x = float(at(pointer(scores), i))
        part = part_of(x, high, scale)
        j = at(places, part)
        put(places, part, j + 1)
        enter(s, t, j, x, at(pointer(keys), i), i)


@kernel
def deal(scores: Array, keys: Array, tallies: Array, starts: Array, s: Array, t: Array, progress: Array) -> None:
    """Deal the rows out: part k is to take the ranks from ``starts[k]`` on. Any number of threads may come."""
    n = len(scores)
    so_far = pointer(progress)
    high, scale = cut(scores)
    k = first(so_far, COUNT, SLICES)
    while k < SLICES:
        mine = shift(pointer(tallies), k * PARTS)
        count_parts(scores, high, scale, n * k // SLICES, n * (k + 1) // SLICES, mine)
        k = following(so_far, COUNT, SLICES)
    k = first(so_far, PLACE, 1)
    while k < 1:
        place(pointer(tallies), pointer(starts))
        k = following(so_far, PLACE, 1)
    k = first(so_far, DEAL, SLICES)
    while k < SLICES:
        mine = shift(pointer(tallies), k * PARTS)
        lo, hi = n * k // SLICES, n * (k + 1) // SLICES
        deal_rows(scores, keys, high, scale, lo, hi, mine, pointer(s), pointer(t))
        k = following(so_far, DEAL, SLICES)


@kernel
def rank_parts(
    starts: Pointer,
    order: Pointer,
    scores: Pointer,
    ties: Pointer,
    ends: Pointer,
    half: int,
    progress: Pointer,
    phase: int,
) -> None:
    """Rank the parts; their scores end up in order in the first half of ``scores``, nothing else of the room is needed."""
    # The longest part so far lends the others its scratch memory, which is in this core's cache.
    lender = 0
    longest = -1
    k = first(progress, phase, PARTS)
    while k < PARTS:
        begin = at(starts, k)
        n = at(starts, k + 1) - begin
        if n > longest:
            longest = n
            lender = k
        there = at(starts, lender)
        s = shift(scores, begin)
        t = shift(ties, begin)
        other_s = shift(scores, half + there)
        if n <= COUNTED:
            count(s, t, 0, n, shift(order, begin), True, other_s)
            move(0, n, other_s, s)
        else:
            other_t = shift(ties, half + there)
            todo = shift(ties, 2 * half + 3 * (there // COUNTED + 2 * lender))
            free = shift(ends, there // FILL + 2 * lender)
            rank_long(n, s, t, other_s, other_t, free, todo, shift(order, begin), True)
        k = following(progress, phase, PARTS)
