"""The one tie rule: documents by falling score (nan last), equal scores by rising key, equal keys by row.

The three are compared as a score and one int64, key and row side by side. Short lists are ranked by counting, for every
document, how many outrank it: no branch depends on the data. Longer ones are first spread over buckets by linear
interpolation of the score (of the int64 where all scores of a bucket are equal); buckets that stay long, because
scores lie very unevenly, are spread again and in the end merged. Threads share a list by dealing it out in parts first.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from gapboost.kernels.compile import kernel
from gapboost.kernels.vectors import at, ones, outrank, pointer, put, shift

Array = np.ndarray[Any, Any]
Pointer = Any
# ``share(task, n)`` calls ``task(first, last)`` for ranges that make up 0..n-1, on any threads, and waits for all.
Share = Callable[[Callable[[int, int], None], int], None]

# Longest list that is ranked by counting, and longest bucket: the quadratic cost passes that of spreading about here.
COUNTED = 48

# Documents per bucket on average: a bucket of up to 8 is counted in one step.
FILL = 5

# Times a bucket is spread again before it is merged.
SPREADS = 4

# Parts that threads share a list by, and rows that are looked through at a time for those in a thread's parts.
PARTS = 64
DEALT = 512

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
def count(s: Pointer, t: Pointer, lo: int, hi: int, order: Pointer) -> None:
    """Rank elements ``lo..hi-1``, which outrank everything beyond them, by counting."""
    for i in range(lo, hi):
        tie = at(t, i)
        put(order, lo + count_above(s, t, lo, hi, at(s, i), tie), tie & ROW)


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
def merge(s: Pointer, t: Pointer, lo: int, hi: int, to_s: Pointer, to_t: Pointer, order: Pointer) -> None:
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


@kernel
def rank_long(
    n: int, s: Pointer, t: Pointer, other_s: Pointer, other_t: Pointer, ends: Pointer, todo: Pointer, order: Pointer
) -> None:
    """Rank ``n`` elements by spreading; the other arrays are scratch."""
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
            merge(from_s, from_t, lo, hi, to_s, to_t, order)
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
                count(to_s, to_t, start, stop, order)
            start = stop


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
            x = float(at(score, i))
            # nan, which outranks nothing and is outranked by nothing, would leave places without a document
            put(s, i, x if x == x else -np.inf)
            put(t, i, (np.int64(at(key, i)) << 31) | i)
        if n <= COUNTED:
            count(s, t, 0, n, place)
        else:
            rank_long(n, s, t, other_s, other_t, pointer(ends), todo, place)


@kernel
def workspace(longest: int) -> tuple[Array, Array, Array, int]:
    """Working memory of `rank_each` for lists up to ``longest``: about 33 bytes a document of the longest list."""
    half = longest + 8
    copies = 2 if longest > COUNTED else 1
    numbers = np.empty(copies * half)
    whole = np.empty(copies * half + 3 * (longest // COUNTED + 2 * PARTS), np.int64)
    return numbers, whole, np.empty(longest // FILL + 2 * PARTS, np.int32), half


@kernel
def rank(scores: Array, keys: Array, offsets: Array, order: Array, first: int, last: int) -> None:
    """Write the order of the current scores of queries ``first..last-1`` to ``order``, whatever it held before."""
    longest = 0
    for q in range(first, last):
        longest = max(longest, offsets[q + 1] - offsets[q])
    numbers, whole, ends, half = workspace(longest)
    rank_each(scores, keys, offsets, order, first, last, numbers, whole, ends, half)


@kernel
def number_parts(scores: Array, high: float, scale: float, parts: Array, starts: Array) -> None:
    """Write the part of each row, which never falls as the score falls, and where each part begins, and the last ends."""
    for part in range(PARTS + 1):
        put(pointer(starts), part, 0)
    for i in range(len(scores)):
        part = min(int((high - float(at(pointer(scores), i))) * scale), PARTS - 1)
        put(pointer(parts), i, part)
        put(pointer(starts), part + 1, at(pointer(starts), part + 1) + 1)
    for part in range(PARTS):
        starts[part + 1] += starts[part]


@kernel
def deal(
    scores: Array,
    keys: Array,
    parts: Array,
    places: Array,
    first: int,
    last: int,
    chosen: Array,
    numbers: Array,
    whole: Array,
) -> None:
    """Move the rows of parts ``first..last-1`` to their ``places``, which move on; ``chosen`` is room for some rows."""
    for begin in range(0, len(scores), len(chosen)):
        found = 0
        # no branch depends on the data: most rows are in the parts of others
        for i in range(begin, min(begin + len(chosen), len(scores))):
            part = at(pointer(parts), i)
            put(pointer(chosen), found, i)
            found += (part >= first) & (part < last)
        for k in range(found):
            i = at(pointer(chosen), k)
            part = at(pointer(parts), i)
            j = at(pointer(places), part)
            put(pointer(places), part, j + 1)
            put(pointer(numbers), j, float(at(pointer(scores), i)))
            put(pointer(whole), j, (np.int64(at(pointer(keys), i)) << 31) | i)


@kernel
def rank_parts(
    starts: Array, order: Array, first: int, last: int, numbers: Array, whole: Array, ends: Array, half: int
) -> None:
    """Rank the parts ``first..last-1``, which begin at ``starts``."""
    s = pointer(numbers)
    t = pointer(whole)
    for part in range(first, last):
        begin = starts[part]
        n = starts[part + 1] - begin
        mine_s = shift(s, begin)
        mine_t = shift(t, begin)
        place = shift(pointer(order), begin)
        if n <= COUNTED:
            count(mine_s, mine_t, 0, n, place)
        else:
            todo = shift(t, 2 * half + 3 * (begin // COUNTED + 2 * part))
            free = shift(pointer(ends), begin // FILL + 2 * part)
            rank_long(n, mine_s, mine_t, shift(mine_s, half), shift(mine_t, half), free, todo, place)


def rank_shared(
    scores: Array,
    keys: Array,
    order: Array,
    room: tuple[Array, Array, Array, int],
    parts: Array,
    share: Share,
    then: Callable[[int, int], None],
) -> None:
    """`rank` for one list; ``parts`` is room for one uint8 a row.

    ``then(begin, end)`` is called for ranges of ranks, by the thread that has just settled them. From then on the same
    ranges of the four arrays in `room` are free.
    """
    numbers, whole, ends, half = room
    high, low = float(scores.max()), float(scores.min())
    with np.errstate(all="ignore"):
        scale = PARTS / (high - low) if high > low else np.inf
    # too wide or too narrow for interpolation, or nan among the scores
    if not 1e-280 < scale < 1e280:
        rank_each(scores, keys, np.array([0, len(scores)]), order, 0, 1, numbers, whole, ends, half)
        then(0, len(scores))
        return
    starts = np.empty(PARTS + 1, np.int64)
    number_parts(scores, high, scale, parts, starts)

    def rank_some(begin: int, end: int) -> None:
        # the parts that begin among these ranks: they are of very different lengths
        first, last = (int(part) for part in np.searchsorted(starts[:-1], [begin, end]))
        deal(scores, keys, parts, starts.copy(), first, last, np.empty(DEALT, np.int64), numbers, whole)
        rank_parts(starts, order, first, last, numbers, whole, ends, half)
        then(int(starts[first]), int(starts[last]))

    share(rank_some, len(scores))
