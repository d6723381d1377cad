"""Oracle for smooth measures: the sums of the papers in plain Python loops over documents.

A smooth measure is told two things about the scores of a query: ``above[m][n]``, how certainly
document m is above document n, and ``ranks[n]``, a real rank. `gaussian` makes them for SoftRank
(yilmaz-2009, 4.1; robertson-2010, 5), `approximate` for the approximation framework (qin-2008,
section 4). A cut-off adds ``inside[n]``, how certainly document n is within it. It shares nothing
with gapboost.
"""

import itertools
import math

from oracle import grade_counts, recall_base

# --- from scores to ranks -------------------------------------------------------------------------


def logistic(x):
    """1 / (1 + e^-x) without overflow for any x."""
    if x >= 0:
        return 1.0 / (1.0 + math.exp(-x))
    return math.exp(x) / (1.0 + math.exp(x))


def gaussian(scores, sigma):
    """Return (above, ranks): scores are Gaussians with deviation sigma, ranks are expectations."""
    n = len(scores)
    above = [[0.0] * n for _ in range(n)]
    for i, j in itertools.permutations(range(n), 2):
        # The difference has variance 2 sigma^2.
        x = (scores[i] - scores[j]) / math.sqrt(2 * sigma**2)
        above[i][j] = 0.5 * (1 + math.erf(x / math.sqrt(2)))
    return above, [1 + sum(above[m][i] for m in range(n) if m != i) for i in range(n)]


def rank_distribution(above, j):
    """p_j(r), r = 1..n: sum over all sets of documents above j, which are independent."""
    others = [i for i in range(len(above)) if i != j]
    p = [0.0] * len(above)
    for beaten_by in itertools.product((False, True), repeat=len(others)):
        probability = 1.0
        for i, beats in zip(others, beaten_by, strict=True):
            probability *= above[i][j] if beats else 1 - above[i][j]
        p[sum(beaten_by)] += probability
    return p


def within_by_distribution(above, k):
    """P(r_n <= k) = sum_{r<=k} p_n(r) (yilmaz-2009, 4.1.1)."""
    return [sum(rank_distribution(above, n)[:k]) for n in range(len(above))]


def approximate(scores, alpha, beta):
    """(above, ranks) of qin-2008: positions by eq. 20, comparisons of positions as in eq. 22."""
    n = len(scores)
    ranks = [
        1 + sum(logistic(-alpha * (scores[x] - scores[y])) for y in range(n) if y != x)
        for x in range(n)
    ]
    above = [
        [logistic(beta * (ranks[y] - ranks[x])) if x != y else 0.0 for y in range(n)]
        for x in range(n)
    ]
    return above, ranks


def within_by_truncation(ranks, beta, k):
    """1{rank <= k} = 1{rank < k + 1/2}, approximated as 1{rank < rank'} is (qin-2008, 4.3)."""
    return [logistic(beta * (k + 0.5 - rank)) for rank in ranks]


# --- the measures ---------------------------------------------------------------------------------


def ap(grades, rel, above, ranks, inside=None):
    """1/R sum_n rel(n) (rel(n) + sum_{m != n} above_mn rel(m)) / rank_n.

    (yilmaz-2009, 4.1.2; qin-2008, eq. 22)
    """
    relevant = [1 if grade >= rel else 0 for grade in grades]
    if sum(relevant) == 0:
        return 0.0
    total = 0.0
    for n in range(len(grades)):
        found = relevant[n] + sum(above[m][n] * relevant[m] for m in range(len(grades)) if m != n)
        total += relevant[n] * found / ranks[n] * (1.0 if inside is None else inside[n])
    return total / sum(relevant)


def gap(grades, g, above, ranks, inside=None):
    """sum_n PC_n / sum_i R_i sum_{j<=i} g_j (robertson-2010, 5).

    PC_n is divided by rank_n = sum_{m != n} pi_mn + 1.
    """
    largest = sum(sum(g[:grade]) for grade in grades)
    if largest == 0:
        return 0.0
    total = 0.0
    for n in range(len(grades)):
        found = sum(g[: grades[n]])
        for m in range(len(grades)):
            if m != n:
                found += above[m][n] * sum(g[: min(grades[m], grades[n])])
        total += found / ranks[n] * (1.0 if inside is None else inside[n])
    return total / largest


def xgap(grades, g, above, ranks, inside=None):
    """xGAP (ferrante-2014, eq. 5) with P[d_m relevant

    d_n relevant] times above_mn.
    """
    counts = grade_counts(grades, len(g))
    total = 0.0
    for n, pivot in enumerate(grades):
        relevant = sum(g[:pivot])
        if relevant == 0:
            continue
        select = sum(g[h - 1] / recall_base(counts, h) for h in range(1, pivot + 1))
        found = 1.0
        for m in range(len(grades)):
            if m != n:
                found += above[m][n] * sum(g[: min(grades[m], pivot)]) / relevant
        total += select * found / ranks[n] * (1.0 if inside is None else inside[n])
    return total


def egap(grades, g, above, ranks, inside=None):
    """E[AP(K)], smooth: eGAP is linear in the APs (ferrante-2014, eq. 6)."""
    return sum(g[t - 1] * ap(grades, t, above, ranks, inside) for t in range(1, len(g) + 1))


def gain(grade):
    """2**grade - 1."""
    return 2**grade - 1


def ideal_dcg(grades, k=None):
    """The DCG of the best order."""
    return sum(
        gain(grade) / math.log2(n + 1)
        for n, grade in enumerate(sorted(grades, reverse=True)[:k], start=1)
    )


def approx_ndcg(grades, ranks, inside=None, k=None):
    """qin-2008, eq. 21; with a cut-off, eq. 16 with both of its functions approximated."""
    total = 0.0
    for n, grade in enumerate(grades):
        total += gain(grade) / math.log2(1 + ranks[n]) * (1.0 if inside is None else inside[n])
    return total / ideal_dcg(grades, k) if any(grades) else 0.0


def soft_ndcg(grades, above, k=None):
    """sum_n gain(n) sum_r p_n(r) / log2(r + 1) over the ideal DCG (Taylor et al. 2008)."""
    total = 0.0
    for n, grade in enumerate(grades):
        p = rank_distribution(above, n)[:k]
        total += gain(grade) * sum(p[r - 1] / math.log2(r + 1) for r in range(1, len(p) + 1))
    return total / ideal_dcg(grades, k) if any(grades) else 0.0


def pc(grades, rel, k, inside):
    """sum_n rel(n) P(r_n <= k) / k (yilmaz-2009, 4.1.1; qin-2008, eq. 13)."""
    return sum(inside[n] for n, grade in enumerate(grades) if grade >= rel) / k
