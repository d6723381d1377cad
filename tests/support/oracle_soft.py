"""Oracle for smooth measures: the sums of the papers in plain Python loops over documents.

A smooth measure is told two things about the scores of a query: ``above[m][n]``, how certainly
document m is above document n, and ``ranks[n]``, a real rank. `gaussian` makes them for SoftRank
(yilmaz-2009, 4.1; robertson-2010, 5), `approximate` for the approximation framework (qin-2008,
section 4). A cut-off adds ``inside[n]``, how certainly document n is within it. It shares nothing
with gapboost.
"""

import itertools
import math

from oracle import grade_counts

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


def worth(exact, discount, grades):
    """Return what documents and pairs of these grades are worth, {j: own} and {(i, j): pair}.

    They follow from the exact values of lists of one document, and of two.
    """
    counts = grade_counts(grades, max(grades))
    one = {i: exact([i], counts=counts) for i in set(grades)}
    own = {i: value / discount(1) for i, value in one.items()}
    pair = {
        (i, j): (exact([i, j], counts=counts) - one[i]) / discount(2) - own[j]
        for i, j in itertools.product(one, repeat=2)
    }
    return own, pair


def by_ranks(exact, discount, grades, above, ranks, inside=None):
    """sum_n inside_n D(rank_n) (own(n) + sum_{m != n} above_mn pair(m, n)).

    (yilmaz-2009, 4.1.2; robertson-2010, 5; qin-2008, eq. 21 and 22)
    """
    own, pair = worth(exact, discount, grades)
    total = 0.0
    for n, j in enumerate(grades):
        found = own[j] + sum(above[m][n] * pair[i, j] for m, i in enumerate(grades) if m != n)
        total += found * discount(ranks[n]) * (1.0 if inside is None else inside[n])
    return total


def by_distribution(exact, discount, grades, above, k=None):
    """sum_n own(n) sum_{r<=k} p_n(r) D(r), of measures without pairs (Taylor et al. 2008)."""
    own, _ = worth(exact, discount, grades)
    total = 0.0
    for n, j in enumerate(grades):
        p = rank_distribution(above, n)[:k]
        total += own[j] * sum(p[r - 1] * discount(r) for r in range(1, len(p) + 1))
    return total
