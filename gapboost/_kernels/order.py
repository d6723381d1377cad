"""The order of documents: by falling score, equal scores in the tie order.

It is a permutation of the rows of each query, drawn once from a seed, or the order of the rows.
Everything here keeps equal scores in the order in which they come, and rows are visited in their
tie order: that is the whole rule. One query is ranked after the other.

A list of up to `COUNTED` documents is ranked by counting: no branch depends on the data. Longer
ones are first spread over buckets by linear interpolation of the score. A bucket that stays long,
because scores lie unevenly, is merged.
"""

from typing import NamedTuple

import numpy as np

from gapboost._kernels import Array
from gapboost._kernels.jit import inner_kernel, kernel
from gapboost._kernels.vectors import Pointer, pointer

# Longest list, and longest bucket, that is ranked by counting: the quadratic cost passes that of
# the other ways about here.
COUNTED = 48

# Documents per bucket on average.
FILL = 5

# Interpolation is exact enough while its factor is within these.
LEAST_SCALE, GREATEST_SCALE = 1e-280, 1e280

BY_ROW = np.empty(0, np.int32)


class Sorting(NamedTuple):
    """Memory for lists up to some length: arrays or, in compiled code, pointers.

    ``scores`` and ``rows`` are the elements to rank; ``moved_scores`` and ``moved_rows`` the same
    in buckets, bucket b from ``ends[b]`` to ``ends[b + 1] - 1``; ``order`` are the rows by rank.
    """

    scores: Pointer
    rows: Pointer
    moved_scores: Pointer
    moved_rows: Pointer
    ends: Pointer
    order: Pointer


def sorting_for(longest: int) -> Sorting:
    """Return memory for lists up to `longest`."""
    rows, moved_rows, order = np.empty((3, longest), np.int32)
    return Sorting(
        scores=np.empty(longest), rows=rows, moved_scores=np.empty(longest), moved_rows=moved_rows,
        ends=np.empty(longest // FILL + 3, np.int64), order=order,
    )  # fmt: skip


@inner_kernel
def sorting_pointers(m: Sorting) -> Sorting:
    """Return the memory with a pointer for each array."""
    return Sorting(
        scores=pointer(m.scores, 0), rows=pointer(m.rows, 0),
        moved_scores=pointer(m.moved_scores, 0), moved_rows=pointer(m.moved_rows, 0),
        ends=pointer(m.ends, 0), order=pointer(m.order, 0),
    )  # fmt: skip


@inner_kernel
def spread(n: int, memory: Sorting) -> int:
    """Move the elements into buckets, in their order; returns the number of buckets."""
    scores, ends, buckets = memory.scores, memory.ends, n // FILL + 1
    low = high = scores[0] if n > 0 else np.nan
    for i in range(n):
        low = min(low, scores[i])
        high = max(high, scores[i])
    scale = buckets / (high - low)
    if n <= COUNTED or not LEAST_SCALE < scale < GREATEST_SCALE:
        for i in range(n):
            memory.moved_scores[i] = scores[i]
            memory.moved_rows[i] = memory.rows[i]
        ends[0], ends[1] = 0, n
        return 1
    for b in range(buckets + 2):
        ends[b] = 0
    # Sizes are counted two entries further, so that the running sums are where buckets begin, one
    # entry further, and after the moves where they end.
    for i in range(n):
        ends[min(int((high - scores[i]) * scale), buckets - 1) + 2] += 1
    for b in range(buckets):
        ends[b + 1] += ends[b]
    for i in range(n):
        b = min(int((high - scores[i]) * scale), buckets - 1) + 1
        memory.moved_scores[ends[b]] = scores[i]
        memory.moved_rows[ends[b]] = memory.rows[i]
        ends[b] += 1
    return buckets


@inner_kernel
def count(lo: int, hi: int, scores: Pointer, rows: Pointer, order: Pointer) -> None:
    """Rank elements ``lo..hi-1`` by counting, for each, how many outrank it."""
    for i in range(lo, hi):
        score, above = scores[i], lo
        # Unsigned numbers are never negative, so that LLVM can make vectors of the loops.
        for j in range(np.uint64(lo), np.uint64(i)):
            above += scores[j] >= score
        for j in range(np.uint64(i + 1), np.uint64(hi)):
            above += scores[j] > score
        order[above] = rows[i]


@inner_kernel
def merge(lo: int, hi: int, memory: Sorting) -> None:
    """Rank elements ``lo..hi-1`` by merging longer and longer runs."""
    scores, rows = memory.moved_scores, memory.moved_rows
    falling = True
    for k in range(lo + 1, hi):
        falling = falling and scores[k - 1] >= scores[k]
    length = hi - lo if falling else 1
    while length < hi - lo:
        for first in range(lo, hi, 2 * length):
            i, j = first, min(first + length, hi)
            middle, end = j, min(j + length, hi)
            for k in range(first, end):
                upper = j == end or (i < middle and scores[i] >= scores[j])
                taken = i if upper else j
                i, j = (i + 1, j) if upper else (i, j + 1)
                memory.scores[k], memory.rows[k] = scores[taken], rows[taken]
        for k in range(lo, hi):
            scores[k], rows[k] = memory.scores[k], memory.rows[k]
        length *= 2
    for k in range(lo, hi):
        memory.order[k] = rows[k]


@inner_kernel
def rank_one(n: int, memory: Sorting) -> None:
    """Rank the first ``n`` elements, whose memory is used up."""
    for b in range(spread(n, memory)):
        lo, hi = memory.ends[b], memory.ends[b + 1]
        if hi - lo <= COUNTED:
            count(lo, hi, memory.moved_scores, memory.moved_rows, memory.order)
        else:
            merge(lo, hi, memory)


@kernel
def rank(scores: Array, tie_order: Array, offsets: Array, arrays: Sorting, order: Array) -> None:
    """`ranking` of float64 ``scores``, with its working memory."""
    memory = sorting_pointers(arrays)
    for q in range(len(offsets) - 1):
        begin = offsets[q]
        n = offsets[q + 1] - begin
        for i in range(n):
            row = tie_order[begin + i] if len(tie_order) > 0 else i
            score = scores[begin + row]
            memory.scores[i] = score if score == score else -np.inf
            memory.rows[i] = row
        rank_one(n, memory)
        for i in range(n):
            order[begin + i] = memory.order[i]


def ranking(scores: Array, offsets: Array, tie_order: Array = BY_ROW) -> Array:
    """Return the order of each query, int32 of shape (N,): positions, best first.

    nan counts as -inf.

    ``tie_order``, int32 of shape (N,), is the order in which the positions of each query are
    visited; the order of the rows by default.
    """
    order = np.empty(len(scores), np.int32)
    memory = sorting_for(int(np.diff(offsets).max(initial=0)))
    # Compiled code would be compiled a second time for float32.
    rank(scores.astype(np.float64, copy=False), tie_order, offsets, memory, order)
    return order
