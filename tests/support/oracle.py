"""A slow, obvious oracle: every measure as the papers write it, in plain Python loops.

It shares nothing with gapboost: not the quadratic form, not the O(1) swap change, not the closed
form for ties.

A *value function* is any callable ``value(ranked, counts=None)``: the worth of a list of integer
grades, best rank first. Build one with ``functools.partial(gap, g=g, k=10)``; the oracle always
passes ``counts`` by keyword. ``counts[i]`` is the number of documents of grade i that the query has
(the recall base). By default they are counted in the list; give them where judged documents are
missing from the list. A cut-off ``k`` makes the ranks beyond k worth nothing and leaves the recall
base whole. A query in which nothing is relevant has value 0.

Papers: robertson-2010 (GAP), ferrante-2014 (xGAP, eGAP, their equation numbers), yilmaz-2009
(PC(k)).
"""

import functools
import itertools
import math
from collections import Counter

import numpy as np


def grade_counts(grades, c):
    """R(0..c): how many documents have each grade."""
    counts = [0] * (c + 1)
    for grade in grades:
        counts[int(grade)] += 1
    return counts


def _checked(ranked, counts, c):
    """Return grades and counts of the grades 0..c as lists of ints."""
    ranked = [int(grade) for grade in ranked]
    counts = grade_counts(ranked, c) if counts is None else [int(count) for count in counts]
    assert not any(counts[c + 1 :]), counts
    return ranked, counts + [0] * (c + 1 - len(counts))


def recall_base(counts, k):
    """RB(k) = R(k) + ... + R(c): the documents that a user with threshold k finds relevant."""
    return sum(counts[k:])


def _last_rank(ranked, k):
    return len(ranked) if k is None else min(k, len(ranked))


# --- the measures ---------------------------------------------------------------------------------


def expected_precision(ranked, n, g):
    """E[PC_n] = sum_{j=1..i_n} g_j * |{m <= n: i_m >= j}| / n (robertson-2010, 2.2)."""
    total = 0.0
    for j in range(1, ranked[n - 1] + 1):
        found = sum(1 for grade in ranked[:n] if grade >= j)
        total += g[j - 1] * found / n
    return total


def gap(grades_ranked, g, counts=None, k=None):
    """GAP = sum_n E[PC_n] / sum_i R(i) sum_{j<=i} g_j (robertson-2010, ferrante-2014 eq. 4)."""
    ranked, counts = _checked(grades_ranked, counts, len(g))
    largest = sum(counts[i] * sum(g[:i]) for i in range(1, len(g) + 1))
    total = sum(expected_precision(ranked, n, g) for n in range(1, _last_rank(ranked, k) + 1))
    return total / largest if largest else 0.0


def xgap(grades_ranked, g, counts=None, k=None):
    """xGAP = sum_n P[select d_n] (1/n) sum_{m<=n} P[d_m relevant

    d_n relevant] (ferrante-2014, eq. 5).

    P[select d_n] = sum_{h<=i_n} g_h / RB(h): first a user, then one of the documents relevant to
    that user. P[d_m relevant | d_n relevant] = sum_{h<=min(i_m,i_n)} g_h / sum_{h<=i_n} g_h.
    """
    ranked, counts = _checked(grades_ranked, counts, len(g))
    total = 0.0
    for n in range(1, _last_rank(ranked, k) + 1):
        pivot = ranked[n - 1]
        select = sum(g[h - 1] / recall_base(counts, h) for h in range(1, pivot + 1))
        relevant = sum(g[:pivot])
        if relevant == 0:  # no user finds the document relevant: it is never selected
            continue
        for m in range(1, n + 1):
            total += select * (sum(g[: min(ranked[m - 1], pivot)]) / relevant) / n
    return total


def ap(grades_ranked, rel, counts=None, k=None, ideal_at_k=False):
    """AP(t) = 1/RB(t) sum_n r_n(t) Prec_n(t), r_n(t) = 1 if i_n >= t (ferrante-2014, eq. 2).

    0 if RB(t) = 0.

    With `ideal_at_k` the sum is divided by min(k, RB(t)).
    """
    ranked, counts, _ = _with_counts(grades_ranked, counts)
    base = recall_base(counts, rel)
    if base == 0:
        return 0.0
    if ideal_at_k and k is not None:
        base = min(k, base)
    total = 0.0
    found = 0
    for n in range(1, _last_rank(ranked, k) + 1):
        if ranked[n - 1] >= rel:
            found += 1
            total += found / n
    return total / base


def egap(grades_ranked, g, counts=None, k=None):
    """eGAP = E[AP(K)] = sum_t g_t AP(t), AP(t) = 0 where RB(t) = 0 (ferrante-2014, eq. 6)."""
    ranked, counts = _checked(grades_ranked, counts, len(g))
    return sum(share * ap(ranked, t, counts, k) for t, share in enumerate(g, start=1))


def linear(c):
    """Gains 0, 1, ..., c."""
    return list(range(c + 1))


def exponential(c):
    """Gains 2**i - 1."""
    return [2**i - 1 for i in range(c + 1)]


def by_log2(n):
    """1 / log2(n + 1)."""
    return 1 / math.log2(n + 1)


def by_rank(n):
    """1 / n."""
    return 1 / n


def by_log(base):
    """1 before rank `base`, 1 / log_base(n) from there on; 1, 1, 1/log2(3), ... for base 2."""
    return lambda n: 1.0 if n < base else 1 / math.log(n, base)


def _with_counts(grades_ranked, counts):
    c = max(map(int, grades_ranked), default=0) if counts is None else len(counts) - 1
    return *_checked(grades_ranked, counts, c), c


def _gains_of(gains, c):
    return list(gains) if isinstance(gains, tuple) else (gains or exponential)(c)


def dcg(grades_ranked, counts=None, k=None, gains=None, discount=by_log2):
    """DCG@k = sum_{n<=k} gain(i_n) discount(n); gain(i) = 2**i - 1 unless given."""
    ranked, counts, c = _with_counts(grades_ranked, counts)
    gain = _gains_of(gains, c)
    return sum(gain[ranked[n - 1]] * discount(n) for n in range(1, _last_rank(ranked, k) + 1))


def ideal_list(counts):
    """All documents of the query, best first."""
    return [i for i in range(len(counts) - 1, -1, -1) for _ in range(counts[i])]


def ndcg(grades_ranked, counts=None, k=None, gains=None, discount=by_log2, short_is_zero=False):
    """DCG@k over its maximum; 0 for queries of less than k documents if `short_is_zero`."""
    ranked, counts, c = _with_counts(grades_ranked, counts)
    if short_is_zero and k is not None and sum(counts) < k:
        return 0.0
    gain = _gains_of(gains, c)
    best = dcg(sorted(ideal_list(counts), key=lambda i: -gain[i]), counts, k, gains, discount)
    return 0.0 if best == 0 else dcg(ranked, counts, k, gains, discount) / best


def precision(grades_ranked, rel, k, counts=None):
    """PC(k) (P@k) = |{n <= k: i_n >= rel}| / k, also if the list is shorter than k.

    `counts` are not used.
    """
    return sum(1 for grade in grades_ranked[:k] if grade >= rel) / k


def grap(grades_ranked, gain, counts=None, k=None):
    """grAP = sum_n r_n sum_{m<=n} r_m / n / sum of r over the recall base (Moffat et al., 2022)."""
    ranked, counts, _ = _with_counts(grades_ranked, counts)
    whole = sum(count * gain[grade] for grade, count in enumerate(counts))
    total, so_far = 0.0, 0.0
    for n in range(1, _last_rank(ranked, k) + 1):
        so_far += gain[ranked[n - 1]]
        total += gain[ranked[n - 1]] * so_far / n
    return total / whole if whole else 0.0


def rbp(grades_ranked, p, gain, counts=None, k=None):
    """RBP = (1 - p) sum_n p**(n - 1) gain(i_n) (Moffat and Zobel, 2008)."""
    return (1 - p) * sum(
        p ** (n - 1) * gain(grade) for n, grade in enumerate(grades_ranked[:k], start=1)
    )


def insq(grades_ranked, t, gain, counts=None, k=None):
    """INSQ (Moffat et al., 2012): users go on from rank n with ((n + 2t - 1) / (n + 2t))^2.

    The weight of a rank is its share of all documents that are looked at.
    """
    reaching, total = 1.0, 0.0
    for n, grade in enumerate(grades_ranked[:k], start=1):
        total += reaching * gain(grade)
        reaching *= ((n + 2 * t - 1) / (n + 2 * t)) ** 2
    return total / _looked_at(t)


@functools.cache
def _looked_at(t):
    """Return the expected number of documents seen by a user of INSQ.

    1000 terms, and the rest by Euler and Maclaurin.
    """
    reaching, total = 1.0, 0.0
    for n in range(1, 1001):
        total += reaching
        reaching *= ((n + 2 * t - 1) / (n + 2 * t)) ** 2
    last = 1000 + 2 * t
    return total + (2 * t) ** 2 * (1 / last + 1 / (2 * last**2) + 1 / (6 * last**3))


def recall(grades_ranked, rel, k, counts=None, capped=False):
    """|{n <= k: i_n >= rel}| / RB(rel), or / min(k, RB(rel))."""
    ranked, counts, _ = _with_counts(grades_ranked, counts)
    base = min(recall_base(counts, rel), k) if capped else recall_base(counts, rel)
    return 0.0 if base == 0 else sum(1 for grade in ranked[:k] if grade >= rel) / base


def r_precision(grades_ranked, rel, counts=None, k=None):
    """Precision at rank RB(rel); ranks beyond k hold nothing."""
    ranked, counts, _ = _with_counts(grades_ranked, counts)
    base = recall_base(counts, rel)
    return 0.0 if base == 0 else precision(ranked[:k], rel, base)


def pair_counts(grades_ranked, counts=None, k=None):
    """Count pairs within k in the right order, in the wrong order, and all of different grades."""
    ranked, counts, c = _with_counts(grades_ranked, counts)
    right = wrong = 0
    for m, n in itertools.combinations(range(_last_rank(ranked, k)), 2):
        right += ranked[m] > ranked[n]
        wrong += ranked[m] < ranked[n]
    return right, wrong, sum(counts[i] * counts[j] for i in range(c + 1) for j in range(i))


def kendall_tau(grades_ranked, counts=None, k=None):
    """Right minus wrong over all pairs of documents of different grades."""
    right, wrong, pairs = pair_counts(grades_ranked, counts, k)
    return (right - wrong) / pairs if pairs else 0.0


def pairwise_accuracy(grades_ranked, counts=None, k=None):
    """Right over all pairs of documents of different grades."""
    right, _, pairs = pair_counts(grades_ranked, counts, k)
    return right / pairs if pairs else 0.0


def spearman(grades_ranked, counts=None, k=None):
    """Pearson correlation of the mean ranks of grades with places, over pairs within k."""
    ranked, counts, c = _with_counts(grades_ranked, counts)
    grades = ideal_list(counts)[::-1]
    of_grade = {
        i: sum(r for r, grade in enumerate(grades) if grade == i) / counts[i]
        for i in range(c + 1)
        if counts[i]
    }
    places, ranks = list(range(len(grades))), [of_grade[grade] for grade in grades]
    scale = 2 * len(places) * np.std(places) * np.std(ranks)
    total = 0.0
    for m, n in itertools.combinations(range(_last_rank(ranked, k)), 2):
        total += of_grade[ranked[m]] - of_grade[ranked[n]]
    return total / scale if scale else 0.0


def q_measure(grades_ranked, beta, counts=None, k=None, gains=linear):
    """1/R sum over relevant ranks n of (C(n) + beta cg(n)) / (n + beta cg*(n)) (Sakai, 2004)."""
    ranked, counts, c = _with_counts(grades_ranked, counts)
    gain = _gains_of(gains, c)
    ideal = ideal_list(counts)
    relevant = sum(1 for i in ideal if gain[i] > 0)
    total = 0.0
    for n in range(1, _last_rank(ranked, k) + 1):
        if gain[ranked[n - 1]] > 0:
            found = sum(1 for i in ranked[:n] if gain[i] > 0)
            blended = found + beta * sum(gain[i] for i in ranked[:n])
            total += blended / (n + beta * sum(gain[i] for i in ideal[:n]))
    return total / relevant if relevant else 0.0


def rr(grades_ranked, rel, counts=None, k=None):
    """1 / the first rank of a relevant document within k; 0 if there is none."""
    for n, grade in enumerate(grades_ranked[:k], start=1):
        if grade >= rel:
            return 1 / n
    return 0.0


def success(grades_ranked, rel, k, counts=None):
    """1 if a relevant document is within k, else 0."""
    return float(any(grade >= rel for grade in grades_ranked[:k]))


def err(grades_ranked, top, counts=None, k=None):
    """sum_n 1/n R_n prod_{m<n} (1 - R_m), R = (2**i - 1) / 2**top (Chapelle et al., 2009)."""
    total, reaching = 0.0, 1.0
    for n, grade in enumerate(grades_ranked[:k], start=1):
        satisfied = (2 ** int(grade) - 1) / 2**top
        total += reaching * satisfied / n
        reaching *= 1 - satisfied
    return total


def weighted_sum(grades_ranked, parts, counts=None):
    """The sum of value functions times weights."""
    return sum(weight * value(grades_ranked, counts=counts) for weight, value in parts)


# --- swaps and ties -------------------------------------------------------------------------------


def swap_change(value, ranked, p, q, counts=None):
    """Return the value after a swap of the documents at ranks p and q, minus the value before."""
    swapped = list(ranked)
    swapped[p - 1], swapped[q - 1] = ranked[q - 1], ranked[p - 1]
    return value(swapped, counts=counts) - value(list(ranked), counts=counts)


def tied_groups(scores):
    """Return rows by falling score, tied rows together: [[0, 2], [1]] for scores (5, 3, 5)."""
    return [
        [row for row in range(len(scores)) if scores[row] == score]
        for score in sorted({float(score) for score in scores}, reverse=True)
    ]


def value_in_row_order(value, grades, scores, counts=None):
    """The value of the list in which tied rows stay in row order."""
    rows = itertools.chain(*tied_groups(scores))
    return value([int(grades[row]) for row in rows], counts=counts)


def expected_over_ties(value, grades, scores, counts=None):
    """Return the mean value over all orders of tied groups: t! lists for a group of t."""
    groups = [[int(grades[row]) for row in group] for group in tied_groups(scores)]
    lists = Counter(itertools.product(*(itertools.permutations(group) for group in groups)))
    values = [
        times * value([*itertools.chain(*orders)], counts=counts) for orders, times in lists.items()
    ]
    return math.fsum(values) / lists.total()


# --- many queries ---------------------------------------------------------------------------------


def rows_of_queries(qid):
    """Return {query id: its rows}, queries in the order of their first row; rows may be mixed.

    Ids that are equal in Python but of different types must not occur together: a dict takes them
    for one.
    """
    rows = {}
    for row, name in enumerate(qid):
        rows.setdefault(name, []).append(row)
    return rows


@functools.cache
def nothing_relevant(value, counts):
    """Return True if no list of one or two documents of the query has a value above 0."""
    occurring = [i for i in range(len(counts)) if counts[i] > 0]
    lists = [[i] for i in occurring] + [list(pair) for pair in itertools.permutations(occurring, 2)]
    return all(value(ranked, counts=counts) <= 0 for ranked in lists)


def per_query(value, grades, scores, qid, ties="expected", empty=0.0, counts=None):
    """A value per query, queries in the order of their first row.

    `ties`: "expected" or "row". `empty`: the value of a query in which nothing is relevant (0 or
    1), or "skip": nan. `counts`: {query id: grade counts} where judged documents are missing from
    the rows.
    """
    evaluate = {"expected": expected_over_ties, "row": value_in_row_order}[ties]
    values = []
    for name, rows in rows_of_queries(qid).items():
        query_grades = [int(grades[row]) for row in rows]
        query_counts = (
            grade_counts(query_grades, max(query_grades)) if counts is None else counts[name]
        )
        if nothing_relevant(value, tuple(query_counts)):
            values.append(math.nan if empty == "skip" else float(empty))
        else:
            values.append(
                evaluate(value, query_grades, [scores[row] for row in rows], query_counts)
            )
    return np.array(values)
