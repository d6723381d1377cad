"""The order of documents: by falling score, equal scores in the order of turns.

Turns are a permutation of the rows of each query, drawn once from a seed; or the order of the rows.
Everything here keeps equal scores in the order in which they come, and rows are visited in their
turns: that is the whole rule. One query is ranked after the other.

A list of up to `COUNTED` documents is ranked by counting, for every document, how many outrank it:
no branch depends on the data. Longer ones are first spread over buckets by linear interpolation of
the score. A bucket that stays long, because scores lie unevenly, is spread again; one in which all
scores are equal is in order.
"""

from typing import Any, NamedTuple

import numpy as np

from gapboost._kernels import Array
from gapboost._kernels.jit import kernel
from gapboost._kernels.simd import LANES, Pointer, counting, every8, load8, number, pointer, where

# Longest list, and longest bucket, that is ranked by counting: the quadratic cost passes that of
# spreading about here.
COUNTED = 48

# Documents per bucket on average: up to 8 are counted in one step.
FILL = 5

# Interpolation is exact enough while its factor is within these.
LEAST_SCALE, GREATEST_SCALE = 1e-280, 1e280

BY_ROW = np.empty(0, np.int32)


class Elements(NamedTuple):
    """Elements to rank: scores, and the positions of their rows in the query."""

    scores: Any
    rows: Any


class Sorting(NamedTuple):
    """Working memory for lists up to some length: elements twice, bucket ends, open pieces."""

    elements: Elements
    other: Elements
    ends: Array
    pieces: Array


def sorting(elements: Elements, other: Elements, longest: int) -> Sorting:
    """Return working memory for lists up to `longest`; elements have room for 8 more."""
    return Sorting(
        elements,
        other,
        np.empty(longest // FILL + 2, np.int64),
        np.empty((longest // COUNTED + 2) * 3, np.int64),
    )


@kernel
def count(lo: int, hi: int, elements: Elements, order: Pointer) -> None:
    """Rank elements ``lo..hi-1`` by counting; reads up to 7 elements further."""
    for i in range(lo, hi):
        score = elements.scores[i]
        above = 0
        for j in range(lo, hi, LANES):
            theirs = load8(elements.scores, j)
            place = counting(j)
            outrank = where(theirs == score, place < i, theirs > score)
            above += number(where(place < hi, outrank, every8(0.0)))
        order[lo + above] = elements.rows[i]


@kernel
def spread(
    lo: int, hi: int, high: float, scale: float, source: Elements, target: Elements, ends: Pointer
) -> int:
    """Move elements ``lo..hi-1`` into buckets, in their order, and return the number of buckets.

    ``ends`` receives the end of each bucket.
    """
    buckets = (hi - lo) // FILL + 1
    for b in range(buckets + 1):
        ends[b] = 0
    # One entry further, so that the running sums are where buckets begin, and after the moves where
    # they end.
    for i in range(lo, hi):
        b = min(int((high - source.scores[i]) * scale), buckets - 1) + 1
        ends[b] += 1
    begin = lo
    for b in range(buckets + 1):
        begin += ends[b]
        ends[b] = begin
    for i in range(lo, hi):
        b = min(int((high - source.scores[i]) * scale), buckets - 1)
        j = ends[b]
        ends[b] = j + 1
        target.scores[j] = source.scores[i]
        target.rows[j] = source.rows[i]
    return buckets


@kernel
def rank_one(
    n: int, elements: Elements, other: Elements, ends: Pointer, pieces: Pointer, order: Pointer
) -> None:
    """Rank ``n`` elements by spreading; the other arrays are scratch."""
    # Pieces are (first, end, whether they are among the other elements).
    pieces[0] = 0
    pieces[1] = n
    pieces[2] = 0
    waiting = 1
    while waiting > 0:
        waiting -= 1
        lo = pieces[3 * waiting]
        hi = pieces[3 * waiting + 1]
        moved = pieces[3 * waiting + 2]
        source, target = (other, elements) if moved else (elements, other)
        if hi - lo <= COUNTED:
            count(lo, hi, source, order)
            continue
        low = source.scores[lo]
        high = low
        for i in range(lo, hi):
            x = source.scores[i]
            low = x if x < low else low
            high = x if x > high else high
        if low == high:
            for i in range(lo, hi):
                order[i] = source.rows[i]
            continue
        scale = float((hi - lo) // FILL + 1) / (high - low)
        if not LEAST_SCALE < scale < GREATEST_SCALE:
            count(lo, hi, source, order)
            continue
        buckets = spread(lo, hi, high, scale, source, target, ends)
        start = lo
        for b in range(buckets):
            stop = ends[b]
            if stop - start > COUNTED:
                pieces[3 * waiting] = start
                pieces[3 * waiting + 1] = stop
                pieces[3 * waiting + 2] = 1 - moved
                waiting += 1
            else:
                count(start, stop, target, order)
            start = stop


@kernel
def rank(scores: Array, turns: Array, offsets: Array, work: Sorting, order: Array) -> None:
    """`ranking` of float64 ``scores``, with its working memory."""
    elements = Elements(pointer(work.elements.scores), pointer(work.elements.rows))
    other = Elements(pointer(work.other.scores), pointer(work.other.rows))
    for q in range(len(offsets) - 1):
        begin = offsets[q]
        n = offsets[q + 1] - begin
        for i in range(n):
            row = turns[begin + i] if len(turns) > 0 else i
            score = scores[begin + row]
            elements.scores[i] = score if score == score else -np.inf
            elements.rows[i] = row
        rank_one(
            n, elements, other, pointer(work.ends), pointer(work.pieces), pointer(order) + begin
        )


def ranking(scores: Array, offsets: Array, turns: Array = BY_ROW) -> Array:
    """Return the order of each query, int32 of shape (N,): positions, best first.

    nan counts as -inf.

    ``turns``, int32 of shape (N,), is the order in which the positions of each query are visited;
    the order of the rows by default.
    """
    order = np.empty(len(scores), np.int32)
    longest = int(np.diff(offsets).max(initial=0))
    room = longest + LANES
    elements, other = (Elements(np.empty(room), np.empty(room, np.int32)) for _ in range(2))
    # Compiled code would be compiled a second time for float32.
    rank(
        scores.astype(np.float64, copy=False),
        turns,
        offsets,
        sorting(elements, other, longest),
        order,
    )
    return order
