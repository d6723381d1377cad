"""Expected value of each query over the orders of ties: quadratic form and cascade.

The form comes as tables of grades by grades, where a document costs O(c). They are made from the
documents of each grade.
"""

from typing import NamedTuple

import numpy as np

from gapboost._kernels import Array
from gapboost._kernels.jit import kernel
from gapboost._kernels.order import ranking


class Ranked(NamedTuple):
    """Queries in order of rank.

    Attributes
    ----------
    starts : int64 ndarray of shape (Q + 1,)
        Query q is ranks ``starts[q]..starts[q + 1] - 1``.
    grades : int32 ndarray of shape (N,)
    ends : int32 ndarray of shape (N,)
        At the first rank of each group of tied documents the rank, in the query, that follows the
        group.
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


def rank_queries(scores: Array, grades: Array, starts: Array, expected: bool) -> Ranked:
    """Queries by rank, with groups of ties whose values are ``expected`` over their orders."""
    exact = scores.astype(np.float64, copy=False)
    ranked = Ranked(
        starts=starts, grades=np.empty(len(scores), np.int32), ends=np.empty(len(scores), np.int32)
    )
    find_ties(exact, grades, ranking(exact, starts), expected, ranked)
    return ranked


@kernel
def evaluate_form(
    ranked: Ranked,
    discount: Array,
    begins: Array,
    depth: int,
    pair: Array,
    own: Array,
    scratch: Array,
    out: Array,
) -> None:
    """Write the value of each query to ``out``; ``scratch`` is two rows by grade.

    The discount of query q begins at ``begins[q]``. Ranks beyond ``depth`` have discount 0 and are
    not visited. A tied group of t documents with grade counts h takes the ranks r..r+t-1. On each
    of them the grade is i with probability f_i = h_i / t; the documents above the group are all
    above it; and the x documents of the group that precede it pair with it x / (t - 1) times the
    sum over ordered pairs within the group, f_j (h_i - 1{i=j}) pair[i, j].
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


@kernel
def evaluate_cascade(
    ranked: Ranked, discount: Array, depth: int, chances: Array, reaching: Array, out: Array
) -> None:
    """Write ``sum_n discount[n] stops[i_n] prod_{m<n} (1 - stops[i_m])`` of each query to ``out``.

    A user goes down the list and stops at a document of grade i with the probability ``stops[i]``,
    where ``stops`` is the row of ``chances`` of the query, or the only one.

    ``reaching`` holds one more number than there are documents in the longest query. Of a
    tied group, ``reaching[x]`` is the mean over its orders of the probability to go on past its
    first x documents: the elementary symmetric polynomial of degree x of the probabilities to go
    on, over its number of terms. A document that joins s others is among the first x with
    probability x / (s + 1). Documents at which nobody stops join all at once, the others grade by
    grade: in the order of the rows, the last bit would tell that order.
    """
    starts, grades, ends = ranked.starts, ranked.grades, ranked.ends
    for q in range(len(starts) - 1):
        stops = chances[q if len(chances) > 1 else 0]
        begin = starts[q]
        end = min(starts[q + 1] - begin, depth)
        here = 1.0
        total = 0.0
        r = 0
        while r < end and here > 0.0:
            stop = ends[begin + r]
            if stop == r + 1:
                chance = stops[grades[begin + r]]
                total += discount[r] * here * chance
                here *= 1.0 - chance
                r = stop
                continue
            # Ranks beyond the depth belong to the orders, but their probabilities are not needed.
            wanted = min(stop, end) - r
            joined = 0
            for m in range(r, stop):
                if stops[grades[begin + m]] == 0.0:
                    joined += 1
            for x in range(wanted + 1):
                reaching[x] = 1.0 if x <= joined else 0.0
            for grade in range(len(stops)):
                chance = stops[grade]
                for m in range(r, stop):
                    if chance > 0.0 and grades[begin + m] == grade:
                        joined += 1
                        for x in range(min(joined, wanted), 0, -1):
                            share = x / joined
                            reaching[x] = (1.0 - share) * reaching[x] + share * (
                                1.0 - chance
                            ) * reaching[x - 1]
            for x in range(wanted):
                total += discount[r + x] * here * (reaching[x] - reaching[x + 1])
            here *= reaching[wanted]
            r = stop
        out[q] = total
