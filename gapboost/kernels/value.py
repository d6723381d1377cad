"""The value of a measure for each query: its expectation over the orders of tied documents, or of one order."""

from typing import Any

import numpy as np

from gapboost.kernels.compile import kernel

Array = np.ndarray[Any, Any]


@kernel
def count_grades(grades: Array, offsets: Array, counts: Array) -> None:
    """Add the documents of each grade of each query to ``counts``, int64 of shape (Q, c + 1)."""
    for q in range(len(offsets) - 1):
        for d in range(offsets[q], offsets[q + 1]):
            counts[q, grades[d]] += 1


@kernel
def ranked_grades(
    scores: Array,
    grades: Array,
    offsets: Array,
    order: Array,
    expected: bool,
    first: int,
    last: int,
    ranked: Array,
    ends: Array,
) -> None:
    """Write the grades in ranked order, and at the first rank of each tied group the rank that follows the group.

    ``ranked`` and ``ends`` (int32) begin at the first document of query ``first``; without ``expected`` every document is
    a group of its own.
    """
    start = offsets[first]
    for q in range(first, last):
        begin = offsets[q]
        n = offsets[q + 1] - begin
        group = 0
        above = 0.0
        for r in range(n):
            document = begin + order[begin + r]
            ranked[begin - start + r] = grades[document]
            score = scores[document]
            if r > 0 and (not expected or score != above):
                ends[begin - start + group] = r
                group = r
            above = score
        if n > 0:
            ends[begin - start + group] = n


@kernel
def value(
    ranked: Array,
    ends: Array,
    offsets: Array,
    discount: Array,
    depth: int,
    pair: Array,
    own: Array,
    first: int,
    last: int,
    out: Array,
) -> None:
    """Write the value of queries ``first..last-1`` to ``out``; ``pair`` and ``own`` begin at query ``first``.

    Ranks beyond ``depth`` have discount 0 and are not visited. A tied group of t documents with grade counts h
    takes the ranks r..r+t-1. On each of them the grade is i with probability f_i = h_i / t; the documents above the
    group are all above it; and the x documents of the group that precede it pair with it x / (t - 1) times the sum
    over ordered pairs within the group, f_j (h_i - 1{i=j}) pair[i, j].
    """
    n_grades = own.shape[1]
    above = np.empty(n_grades)
    tied = np.empty(n_grades)
    start = offsets[first]
    for q in range(first, last):
        begin = offsets[q] - start
        n = offsets[q + 1] - offsets[q]
        end = min(n, depth)
        worth = pair[q - first]
        alone = own[q - first]
        above[:] = 0.0
        total = 0.0
        r = 0
        while r < end:
            stop = ends[begin + r]
            if stop == r + 1:
                grade = ranked[begin + r]
                total += discount[r] * (alone[grade] + above[grade])
                for j in range(n_grades):
                    above[j] += worth[grade, j]
                r = stop
                continue
            size = stop - r
            tied[:] = 0.0
            for m in range(r, stop):
                tied[ranked[begin + m]] += 1.0
            fixed = 0.0
            within = 0.0
            for j in range(n_grades):
                if tied[j] > 0.0:
                    share = tied[j] / size
                    fixed += share * (alone[j] + above[j])
                    for i in range(n_grades):
                        within += share * (tied[i] - (1.0 if i == j else 0.0)) * worth[i, j]
            within /= size - 1
            for m in range(r, min(stop, end)):
                total += discount[m] * (fixed + (m - r) * within)
            for i in range(n_grades):
                if tied[i] > 0.0:
                    for j in range(n_grades):
                        above[j] += tied[i] * worth[i, j]
            r = stop
        out[q] = total
