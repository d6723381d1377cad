"""The value of a measure for each query: its expectation over the orders of tied documents, or of one order."""

from typing import Any, NamedTuple

import numpy as np

from gapboost._kernels.jit import kernel
from gapboost._kernels.order.short import ranking

Array = np.ndarray[Any, Any]


@kernel
def count_grades(grades: Array, offsets: Array, counts: Array) -> None:
    """Add the documents of each grade of each query to ``counts``, int64 of shape (Q, c + 1)."""
    for q in range(len(offsets) - 1):
        for d in range(offsets[q], offsets[q + 1]):
            counts[q, grades[d]] += 1


class Ranked(NamedTuple):
    """Queries in order of rank.

    Attributes
    ----------
    starts : int64 ndarray of shape (Q + 1,)
        Query q is ranks ``starts[q]..starts[q + 1] - 1``.
    grades : int32 ndarray of shape (N,)
    ends : int32 ndarray of shape (N,)
        At the first rank of each group of tied documents the rank, in the query, that follows the group.
    """

    starts: Array
    grades: Array
    ends: Array


@kernel
def find_ties(scores: Array, grades: Array, order: Array, expected: bool, ranked: Ranked) -> None:
    """Fill ``ranked``; without ``expected`` every document is a group of its own."""
    for q in range(len(ranked.starts) - 1):
        begin = ranked.starts[q]
        n = ranked.starts[q + 1] - begin
        group = 0
        above = 0.0
        for r in range(n):
            document = begin + order[begin + r]
            ranked.grades[begin + r] = grades[document]
            score = scores[document]
            if r > 0 and (not expected or score != above):
                ranked.ends[begin + group] = r
                group = r
            above = score
        if n > 0:
            ranked.ends[begin + group] = n


def in_order(scores: Array, grades: Array, starts: Array, expected: bool) -> Ranked:
    """Queries in order of rank, with groups of tied documents where values are ``expected`` over their orders."""
    exact = scores.astype(np.float64, copy=False)
    ranked = Ranked(starts, np.empty(len(scores), np.int32), np.empty(len(scores), np.int32))
    find_ties(exact, grades, ranking(exact, starts), expected, ranked)
    return ranked


@kernel
def value(
    ranked: Ranked, discount: Array, begins: Array, depth: int, pair: Array, own: Array, scratch: Array, out: Array
) -> None:
    """Write the value of each query to ``out``; ``scratch`` is two rows by grade.

    The discount of query q begins at ``begins[q]``. Ranks beyond ``depth`` have discount 0 and are not visited.
    A tied group of t documents with grade counts h takes the ranks r..r+t-1. On each of them the grade is i with
    probability f_i = h_i / t; the documents above the group are all above it; and the x documents of the group that
    precede it pair with it x / (t - 1) times the sum over ordered pairs within the group,
    f_j (h_i - 1{i=j}) pair[i, j].
    """
    starts, grades, ends = ranked.starts, ranked.grades, ranked.ends
    n_grades = own.shape[1]
    above, tied = scratch[0], scratch[1]
    for q in range(len(starts) - 1):
        begin = starts[q]
        end = min(starts[q + 1] - begin, depth)
        first = begins[q]
        worth = pair[q]
        alone = own[q]
        for i in range(n_grades):
            above[i] = 0.0
        total = 0.0
        r = 0
        while r < end:
            stop = ends[begin + r]
            if stop == r + 1:
                grade = grades[begin + r]
                total += discount[first + r] * (alone[grade] + above[grade])
                for j in range(n_grades):
                    above[j] += worth[grade, j]
                r = stop
                continue
            size = stop - r
            for i in range(n_grades):
                tied[i] = 0.0
            for m in range(r, stop):
                tied[grades[begin + m]] += 1.0
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
                total += discount[first + m] * (fixed + (m - r) * within)
            for i in range(n_grades):
                if tied[i] > 0.0:
                    for j in range(n_grades):
                        above[j] += tied[i] * worth[i, j]
            r = stop
        out[q] = total
