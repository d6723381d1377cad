"""The one tie rule: documents by falling score (nan last), equal scores by rising key, equal keys by row.

The three are compared as a score and one int64, key and row side by side. Short lists are ranked by counting, for every
document, how many outrank it: no branch depends on the data. Longer ones are first spread over buckets by linear
interpolation of the score (of the int64 where all scores of a bucket are equal); buckets that stay long, because
scores lie very unevenly, are spread again and in the end merged.
"""

from typing import Any

import numpy as np

from gapboost.kernels.compile import kernel
from gapboost.kernels.vectors import at, ones, outrank, pointer, put, shift

Array = np.ndarray[Any, Any]
Pointer = Any

# Longest list that is ranked by counting, and longest bucket: the quadratic cost passes that of spreading about here.
COUNTED = 48

# Documents per bucket on average: a bucket of up to 8 is counted in one step.
FILL = 5

# Times a bucket is spread again before it is merged.
SPREADS = 4

# An int64 holds 32 bits of the key above 31 bits of the row.
ROW = 0x7FFFFFFF


@kernel
def count_above(s: Pointer, t: Pointer, lo: int, hi: int, score: float, tie: int) -> int:
    """Number of elements ``lo..hi-1`` that outrank the given one; reads up to 7 elements further."""
    above = 0
    j = lo
    while j + 8 <= hi:
        above += ones(outrank(s, t, j, score, tie))
        j += 8
    if j < hi:
        above += ones(outrank(s, t, j, score, tie) & ((1 << (hi - j)) - 1))
    return above


@kernel
def count(s: Pointer, t: Pointer, lo: int, hi: int, order: Pointer, wanted: bool, ranked: Pointer) -> None:
    """Rank elements ``lo..hi-1``, which outrank everything beyond them, by counting; ``ranked``, if wanted: their scores."""
    for i in range(lo, hi):
        score = at(s, i)
        tie = at(t, i)
        place = lo + count_above(s, t, lo, hi, score, tie)
        put(order, place, tie & ROW)
        if wanted:
            put(ranked, place, score)


@kernel
def spread(
    s: Pointer,
    t: Pointer,
    lo: int,
    hi: int,
    flat: bool,
    high: float,
    scale: float,
    to_s: Pointer,
    to_t: Pointer,
    ends: Pointer,
) -> int:
    """Move elements ``lo..hi-1`` into buckets; ``ends`` is where each bucket ends. Returns their number."""
    buckets = (hi - lo) // FILL + 1
    for b in range(buckets + 1):
        put(ends, b, 0)
    last = buckets - 1
    # one entry further, so that the running sums are where buckets begin, and after the moves where they end
    for i in range(lo, hi):
        gap = float(at(t, i)) - high if flat else high - at(s, i)
        b = min(int(gap * scale), last) + 1
        put(ends, b, at(ends, b) + 1)
    begin = lo
    for b in range(buckets + 1):
        begin += at(ends, b)
        put(ends, b, begin)
    for i in range(lo, hi):
        gap = float(at(t, i)) - high if flat else high - at(s, i)
        b = min(int(gap * scale), last)
        j = at(ends, b)
        put(ends, b, j + 1)
        put(to_s, j, at(s, i))
        put(to_t, j, at(t, i))
    return buckets


@kernel
def merge(
    s: Pointer, t: Pointer, lo: int, hi: int, to_s: Pointer, to_t: Pointer, order: Pointer, ranked: Pointer
) -> None:
    """Rank elements ``lo..hi-1`` by merging: the slower way that no distribution of scores can spoil."""
    run = 32
    for start in range(lo, hi, run):
        stop = min(start + run, hi)
        for i in range(start, stop):
            j = start + count_above(s, t, start, stop, at(s, i), at(t, i))
            put(to_s, j, at(s, i))
            put(to_t, j, at(t, i))
    while run < hi - lo:
        s, t, to_s, to_t = to_s, to_t, s, t
        for start in range(lo, hi, 2 * run):
            i = start
            middle = min(start + run, hi)
            j = middle
            stop = min(start + 2 * run, hi)
            for k in range(start, stop):
                if j == stop:
                    second = False
                elif i == middle:
                    second = True
                else:
                    second = at(s, j) > at(s, i) or (at(s, j) == at(s, i) and at(t, j) < at(t, i))
                source = j if second else i
                put(to_s, k, at(s, source))
                put(to_t, k, at(t, source))
                j += second
                i += not second
        run *= 2
    for i in range(lo, hi):
        put(order, i, at(to_t, i) & ROW)
        put(ranked, i, at(to_s, i))


@kernel
def move(lo: int, hi: int, source: Pointer, target: Pointer) -> None:
    """Copy elements ``lo..hi-1``."""
    for i in range(lo, hi):
        put(target, i, at(source, i))


@kernel
def rank_long(
    n: int,
    s: Pointer,
    t: Pointer,
    other_s: Pointer,
    other_t: Pointer,
    ends: Pointer,
    todo: Pointer,
    order: Pointer,
    wanted: bool,
) -> None:
    """Rank ``n`` elements by spreading; the other arrays are scratch. If ``wanted``, leave the scores in order in ``s``."""
    put(todo, 0, 0)
    put(todo, 1, n)
    put(todo, 2, 0)
    waiting = 1
    while waiting > 0:
        waiting -= 1
        lo = at(todo, 3 * waiting)
        hi = at(todo, 3 * waiting + 1)
        depth = at(todo, 3 * waiting + 2)
        if depth % 2 == 0:
            from_s, from_t, to_s, to_t = s, t, other_s, other_t
        else:
            from_s, from_t, to_s, to_t = other_s, other_t, s, t
        low = at(from_s, lo)
        high = low
        for i in range(lo, hi):
            x = at(from_s, i)
            low = x if x < low else low
            high = x if x > high else high
        width = high - low
        flat = low == high
        if flat:
            least = at(from_t, lo)
            most = least
            for i in range(lo, hi):
                tie = at(from_t, i)
                least = tie if tie < least else least
                most = tie if tie > most else most
            high = float(least)
            width = float(most) - high
        scale = float((hi - lo) // FILL + 1) / width
        # too wide or too narrow for interpolation: the quotient would be 0, infinite or inexact
        if depth == SPREADS or not 1e-280 < scale < 1e280:
            merge(from_s, from_t, lo, hi, to_s, to_t, order, s)
            continue
        buckets = spread(from_s, from_t, lo, hi, flat, high, scale, to_s, to_t, ends)
        start = lo
        for b in range(buckets):
            stop = at(ends, b)
            if stop - start > COUNTED:
                put(todo, 3 * waiting, start)
                put(todo, 3 * waiting + 1, stop)
                put(todo, 3 * waiting + 2, depth + 1)
                waiting += 1
            else:
                count(to_s, to_t, start, stop, order, wanted, from_s)
                if wanted and depth % 2 == 1:
                    move(start, stop, from_s, s)
            start = stop


@kernel
def enter(s: Pointer, t: Pointer, j: int, score: float, key: int, row: int) -> None:
    """Write the element of a row, by which it is ranked, to place ``j``."""
    # nan, which outranks nothing and is outranked by nothing, would leave places without a document
    put(s, j, score if score == score else -np.inf)
    put(t, j, (np.int64(key) << 31) | row)


@kernel
def rank_each(
    scores: Array,
    keys: Array,
    offsets: Array,
    order: Array,
    first: int,
    last: int,
    numbers: Array,
    whole: Array,
    ends: Array,
    half: int,
) -> None:
    """`rank` with its working memory."""
    s = pointer(numbers)
    t = pointer(whole)
    other_s = shift(s, half)
    other_t = shift(t, half)
    todo = shift(other_t, half)
    for q in range(first, last):
        begin = offsets[q]
        n = offsets[q + 1] - begin
        score = shift(pointer(scores), begin)
        key = shift(pointer(keys), begin)
        place = shift(pointer(order), begin)
        for i in range(n):
            enter(s, t, i, float(at(score, i)), at(key, i), i)
        if n <= COUNTED:
            count(s, t, 0, n, place, False, other_s)
        else:
            rank_long(n, s, t, other_s, other_t, pointer(ends), todo, place, False)


@kernel
def workspace(longest: int, pieces: int) -> tuple[Array, Array, Array, int]:
    """Working memory to rank lists up to ``longest`` in one or more pieces: about 33 bytes a document of the longest."""
    half = longest + 8
    whole = np.empty(2 * half + 3 * (longest // COUNTED + 2 * pieces), np.int64)
    return np.empty(2 * half), whole, np.empty(longest // FILL + 2 * pieces, np.int32), half


@kernel
def rank(scores: Array, keys: Array, offsets: Array, order: Array, first: int, last: int) -> None:
    """Write the order of the current scores of queries ``first..last-1`` to ``order``, whatever it held before."""
    longest = 0
    for q in range(first, last):
        longest = max(longest, offsets[q + 1] - offsets[q])
    numbers, whole, ends, half = workspace(longest, 1)
    rank_each(scores, keys, offsets, order, first, last, numbers, whole, ends, half)
