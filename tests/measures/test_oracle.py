"""The oracle is right: examples of the papers, limits, identities, scikit-learn and ir_measures."""

import math
import shutil
from functools import partial

import ir_measures
import numpy as np
import oracle
import pytest
from ir_measures import AP, P, nDCG
from oracle import ap, egap, gap, ndcg, precision, swap_change, xgap
from sklearn.metrics import average_precision_score, ndcg_score

GRADED = {"gap": gap, "xgap": xgap, "egap": egap}


def close(expected, tolerance=1e-12):
    return pytest.approx(expected, rel=tolerance, abs=tolerance)


def random_g(rng, c):
    """A user model: sometimes with thresholds that nobody has."""
    g = rng.dirichlet(np.ones(c)) * (rng.random(c) < 0.8)
    return g / g.sum() if g.sum() > 0 else np.eye(c)[rng.integers(c)]


def random_lists(seed, how_many, c=3, longest=9):
    rng = np.random.default_rng(seed)
    for _ in range(how_many):
        yield rng, list(rng.integers(0, c + 1, size=rng.integers(1, longest + 1))), random_g(rng, c)


# --- worked by hand -------------------------------------------------------------------------------


def test_average_precision_of_two_engines():
    # yilmaz-2009, section 3: N = 20, R = 5, the same PC(10), but the first engine is better
    first = [1 if n in (1, 2, 11, 12, 13) else 0 for n in range(1, 21)]
    second = [1 if n in (8, 9, 18, 19, 20) else 0 for n in range(1, 21)]
    assert precision(first, 1, 10) == precision(second, 1, 10) == 2 / 10
    assert ap(first, 1) == close((1 / 1 + 2 / 2 + 3 / 11 + 4 / 12 + 5 / 13) / 5)
    assert ap(second, 1) == close((1 / 8 + 2 / 9 + 3 / 18 + 4 / 19 + 5 / 20) / 5)
    assert ap(first, 1, k=11) == close((1 / 1 + 2 / 2 + 3 / 11) / 5)


# the list (1, 0, 2), g = (.3, .7): RB = (2, 1), E[RB] = .3 * 2 + .7 * 1 = 1 * .3 + 1 * 1 = 1.3 rank
# 1: a user with threshold 1 (.3) finds 1 of 1; rank 3: threshold 1 finds 2 of 3, threshold 2 finds
# 1 of 3
WORKED = [1, 0, 2]
G2 = (0.3, 0.7)


def test_gap_by_hand():
    assert gap(WORKED, G2) == close((0.3 * 1 / 1 + (0.3 * 2 / 3 + 0.7 * 1 / 3)) / 1.3)
    assert gap(WORKED, G2, k=2) == close(0.3 / 1.3)


def test_egap_by_hand():
    average_precision_1 = (1 / 1 + 2 / 3) / 2
    average_precision_2 = (1 / 3) / 1
    assert egap(WORKED, G2) == close(0.3 * average_precision_1 + 0.7 * average_precision_2)
    assert egap(WORKED, G2, k=2) == close(0.3 * (1 / 1) / 2)


def test_xgap_by_hand():
    # P[select d_1] = .3/2, P[select d_3] = .3/2 + .7/1; at rank 3: d_1 is relevant with .3, d_3
    # with 1
    assert xgap(WORKED, G2) == close(
        0.3 / 2 * 1 / 1 + (0.3 / 2 + 0.7 / 1) * (0.3 / 1.0 + 0 + 1.0 / 1.0) / 3
    )
    assert xgap(WORKED, G2, k=2) == close(0.3 / 2)


def test_xgap_divides_by_the_probability_that_the_pivot_is_relevant():
    # (2, 1), g = (.3, .7): above the pivot of grade 1 the document of grade 2 is relevant with .3 /
    # .3
    assert xgap([2, 1], G2) == close((0.3 / 2 + 0.7) + 0.3 / 2 * (0.3 / 0.3 + 0.3 / 0.3) / 2)


def test_three_grades_by_hand():
    # (2, 0, 3, 1), g = (.2, .3, .5): RB = (3, 2, 1), E[RB] = .2 * 3 + .3 * 2 + .5 * 1 = 1.7
    ranked, g = [2, 0, 3, 1], (0.2, 0.3, 0.5)
    rank_1 = 0.2 * 1 / 1 + 0.3 * 1 / 1
    rank_3 = 0.2 * 2 / 3 + 0.3 * 2 / 3 + 0.5 * 1 / 3
    rank_4 = 0.2 * 3 / 4
    assert gap(ranked, g) == close((rank_1 + rank_3 + rank_4) / 1.7)
    assert egap(ranked, g) == close(
        0.2 * (1 / 1 + 2 / 3 + 3 / 4) / 3 + 0.3 * (1 / 1 + 2 / 3) / 2 + 0.5 * (1 / 3) / 1,
    )
    rank_1 = (0.2 / 3 + 0.3 / 2) * 1
    rank_3 = (0.2 / 3 + 0.3 / 2 + 0.5 / 1) * (0.5 / 1 + 0 + 1 / 1) / 3
    rank_4 = (0.2 / 3) * (1 + 0 + 1 + 1) / 4
    assert xgap(ranked, g) == close(rank_1 + rank_3 + rank_4)


def test_ndcg_by_hand():
    ranked = [1, 0, 2]
    dcg = 1 / math.log2(2) + 3 / math.log2(4)
    assert ndcg(ranked) == close(dcg / (3 / math.log2(2) + 1 / math.log2(3)))
    assert ndcg(ranked, k=1) == close(1 / 3)
    assert ndcg(ranked, k=2) == close(1 / (3 + 1 / math.log2(3)))
    assert ndcg(ranked, gains=(0, 1, 2)) == close((1 + 2 / 2) / (2 + 1 / math.log2(3)))
    # two documents of grade 2 and one of grade 1 exist, one of the former was not retrieved
    assert ndcg(ranked, counts=(5, 1, 2)) == close(dcg / (3 + 3 / math.log2(3) + 1 / 2))
    assert ndcg(ranked, counts=(5, 1, 2), k=2) == close(1 / (3 + 3 / math.log2(3)))


def test_precision_by_hand():
    assert precision([1, 0, 2], rel=1, k=2) == 1 / 2
    assert precision([1, 0, 2], rel=2, k=3) == 1 / 3
    assert precision([1, 0, 2], rel=1, k=10) == 2 / 10


@pytest.mark.parametrize(
    ("measure", "grade", "g", "probability"),
    [
        (gap, 1, (0.5, 0.5), 1 / 12),
        (gap, 2, (0.5, 0.5), 1 / 6),
        (gap, 2, (0.1, 0.9), 1 / 2),
        (xgap, 1, (0.5, 0.5), 1 / 22),
        (xgap, 2, (0.5, 0.5), 12 / 22),
        (xgap, 2, (0.1, 0.9), 100 / 110),
        (egap, 2, (0.5, 0.5), 12 / 22),
        (egap, 2, (0.1, 0.9), 100 / 110),
    ],
)
def test_probability_to_select_a_document(measure, grade, g, probability):
    # ferrante-2014, sections 3 and 4, R(1) = 10, R(2) = 1: what a document alone at rank 1 is worth
    assert measure([grade], g, counts=(0, 10, 1)) == close(probability)


# --- limits and identities ------------------------------------------------------------------------


@pytest.mark.parametrize("g2", [0.1, 0.5, 0.9])
def test_many_documents_of_grade_one_above_one_of_grade_two(g2):
    # ferrante-2014, sections 3, 4 and 5; the exact values for n, then their limits
    g1 = 1 - g2
    for n in (1, 5, 60):
        ranked = [1] * n + [2]
        assert gap(ranked, (g1, g2)) == close(
            (n * g1 + (n * g1 + 1) / (n + 1)) / ((n + 1) * g1 + g2)
        )
        assert xgap(ranked, (g1, g2)) == close(
            n * g1 / (n + 1) + (g1 / (n + 1) + g2) * (n * g1 + 1) / (n + 1)
        )
        assert egap(ranked, (g1, g2)) == close(g1 + g2 / (n + 1))
    n = 600
    ranked = [1] * n + [2]
    assert gap(ranked, (g1, g2)) == close(1, 10 / n)
    assert xgap(ranked, (g1, g2)) == close(1 - g2**2, 2 / n)
    assert egap(ranked, (g1, g2)) == close(1 - g2, 2 / n)


def some_counts(rng, ranked, c):
    """Counts of the list's grades, in half of the cases with documents outside of the list."""
    counts = np.array(oracle.grade_counts(ranked, c))
    return counts + rng.integers(0, 3, size=c + 1) if rng.random() < 0.5 else counts


def test_gap_and_egap_are_means_of_ap():
    for rng, ranked, g in random_lists(0, 200):
        counts = some_counts(rng, ranked, 3)
        k = rng.choice([None, 1, 3, 20])
        base = [oracle.recall_base(list(counts), t) for t in (1, 2, 3)]
        aps = [ap(ranked, t, counts, k) for t in (1, 2, 3)]
        assert egap(ranked, g, counts, k) == close(sum(g[t] * aps[t] for t in range(3)))
        expected_base = sum(g[t] * base[t] for t in range(3))
        if expected_base > 0:
            assert gap(ranked, g, counts, k) == close(
                sum(g[t] * base[t] * aps[t] for t in range(3)) / expected_base
            )
        else:
            assert gap(ranked, g, counts, k) == 0


@pytest.mark.parametrize("threshold", [1, 2, 3])
@pytest.mark.parametrize("name", GRADED)
def test_one_threshold_is_average_precision(name, threshold):
    g = np.eye(3)[threshold - 1]
    for rng, ranked, _ in random_lists(threshold, 60):
        counts = some_counts(rng, ranked, 3)
        k = rng.choice([None, 2, 5])
        assert GRADED[name](ranked, g, counts, k) == close(ap(ranked, threshold, counts, k))


def test_ideal_ranking():
    for _, ranked, g in random_lists(5, 200):
        ideal = sorted(ranked, reverse=True)
        # Thresholds up to the highest grade that occurs (tau of ferrante-2014).
        reachable = sum(g[: ideal[0]])
        assert gap(ideal, g) == close(1.0 if reachable > 0 else 0.0)
        assert xgap(ideal, g) == close(reachable)
        assert egap(ideal, g) == close(reachable)
        assert ndcg(ideal) == close(1.0 if ideal[0] > 0 else 0.0)
    # a threshold at a grade that does not occur still counts below a grade that does
    assert xgap([2, 0], (0.3, 0.7)) == close(1.0)
    assert egap([2, 0], (0.3, 0.7)) == close(1.0)
    assert xgap([1, 0], (0.3, 0.7)) == close(0.3)


def test_random_experiments():
    # robertson-2010, 3.1.2 and ferrante-2014, section 5: the expectation over every outcome
    for _, ranked, g in random_lists(6, 100):
        # The probability that a user finds the document relevant.
        relevant = [sum(g[:grade]) for grade in ranked]
        if sum(relevant) == 0:
            continue
        outcome = 0.0
        for n in range(len(ranked)):
            if relevant[n] == 0:
                continue
            for m in range(n + 1):
                also_relevant = min(relevant[m], relevant[n]) / relevant[n]
                outcome += relevant[n] / sum(relevant) * also_relevant / (n + 1)
        assert gap(ranked, g) == close(outcome)
        outcome = 0.0
        for threshold in (1, 2, 3):
            chosen = [n for n in range(len(ranked)) if ranked[n] >= threshold]
            for n in chosen:
                for m in range(n + 1):
                    outcome += g[threshold - 1] / len(chosen) / (n + 1) * (ranked[m] >= threshold)
        assert egap(ranked, g) == close(outcome)


def test_expected_precision_in_the_order_of_the_other_sum():
    # robertson-2010, 2.2: E[PC_n] = 1/n sum_{m<=n} Delta_mn, Delta_mn = sum_{j<=min(i_m,i_n)} g_j
    for _, ranked, g in random_lists(7, 100):
        for n in range(1, len(ranked) + 1):
            contributions = [sum(g[: min(ranked[m], ranked[n - 1])]) for m in range(n)]
            assert oracle.expected_precision(ranked, n, g) == close(sum(contributions) / n)


def test_quadratic_form_of_the_design():
    # DESIGN.md, section 1: M = sum_n discount[n] (own[i_n] + sum_{m<n} pair[i_m, i_n])
    for rng, ranked, g in random_lists(8, 150):
        counts = some_counts(rng, ranked, 3)
        big_g = [sum(g[:i]) for i in range(4)]
        base = [sum(counts[t:]) for t in range(4)]
        w = [sum(g[t - 1] / base[t] for t in range(1, i + 1) if base[t]) for i in range(4)]
        expected_base = sum(counts[i] * big_g[i] for i in range(4))
        pairs = {
            "gap": lambda i, j, G=big_g, E=expected_base: G[min(i, j)] / E if E else 0,
            "xgap": lambda i, j, G=big_g, w=w: G[min(i, j)] * w[j] / G[j] if G[j] else 0,
            "egap": lambda i, j, w=w: w[min(i, j)],
        }
        k = rng.choice([None, 2, 5])
        for name, pair in pairs.items():
            total = 0.0
            for n in range(1, min(k or len(ranked), len(ranked)) + 1):
                total += sum(pair(ranked[m], ranked[n - 1]) for m in range(n)) / n
            assert GRADED[name](ranked, g, counts, k) == close(total)


# --- empty queries and counts ---------------------------------------------------------------------


@pytest.mark.parametrize("name", GRADED)
def test_nothing_relevant_is_worth_nothing(name):
    measure = GRADED[name]
    assert measure([], (0.3, 0.7)) == 0
    assert measure([0, 0], (0.3, 0.7)) == 0
    # Documents of grade 1, but no user is satisfied with them.
    assert measure([1, 0, 1], (0.0, 1.0)) == 0
    assert measure([1, 2, 0], (0.0, 0.0, 1.0)) == 0
    assert measure([0], (0.3, 0.7), counts=(1, 2, 3)) == 0


def test_nothing_relevant_for_the_binary_measures_and_ndcg():
    assert ap([1, 1], 2) == ap([], 1) == ap([0], 1) == 0
    assert ndcg([0, 0]) == ndcg([]) == ndcg([0], counts=(1, 2)) == 0
    assert precision([0, 0], 1, 5) == precision([], 1, 5) == 0


@pytest.mark.parametrize("name", GRADED)
def test_missing_documents_only_lower_the_value(name):
    for rng, ranked, g in random_lists(9, 80):
        counts = np.array(oracle.grade_counts(ranked, 3))
        more = counts + rng.integers(0, 3, size=4)
        assert GRADED[name](ranked, g, counts) == GRADED[name](ranked, g)
        assert GRADED[name](ranked, g, more) <= GRADED[name](ranked, g) + 1e-12
        assert GRADED[name](ranked, g, [5 + counts[0], *counts[1:]]) == GRADED[name](ranked, g)


def test_counts_must_hold_the_list():
    with pytest.raises(ValueError, match="more documents of grade 2"):
        gap([2, 2], (0.3, 0.7), counts=(0, 0, 1))
    with pytest.raises(ValueError, match=r"grades must lie in 0\.\.2"):
        gap([3], (0.3, 0.7))
    with pytest.raises(ValueError, match="above 2"):
        gap([2], (0.3, 0.7), counts=(0, 0, 1, 1))


# --- swaps ----------------------------------------------------------------------------------------


def test_xgap_can_fall_when_a_higher_grade_moves_up():
    # DESIGN.md, section 1: rank 5 has grade 2, rank 4 grade 3; after the swap the lower grade is
    # above
    ranked, g = (1, 2, 0, 3, 2), (0.217, 0.704, 0.079)
    assert swap_change(partial(xgap, g=g), ranked, 4, 5) > 1e-6
    assert swap_change(partial(gap, g=g), ranked, 4, 5) < 0
    assert swap_change(partial(egap, g=g), ranked, 4, 5) < 0
    # by hand: P[select] of grade 2 and 3, what the ranks above are worth under each pivot, all else
    # is unchanged
    select_2 = 0.217 / 4 + 0.704 / 3
    select_3 = select_2 + 0.079 / 1
    above_2 = 0.217 / 0.921 + 1 + 0
    above_3 = 0.217 + 0.921 + 0
    before = select_3 * (above_3 + 1) / 4 + select_2 * (above_2 + 1 + 1) / 5
    after = select_2 * (above_2 + 1) / 4 + select_3 * (above_3 + 0.921 + 1) / 5
    assert swap_change(partial(xgap, g=g), ranked, 4, 5) == close(after - before)


def test_change_of_average_precision():
    # yilmaz-2009, 4.2.2: j at r1 and i at r2 change places
    for _, ranked, _ in random_lists(11, 60, c=1):
        total = sum(ranked)
        for r1 in range(1, len(ranked) + 1):
            for r2 in range(r1 + 1, len(ranked) + 1):
                j, i = ranked[r1 - 1], ranked[r2 - 1]
                above = sum(ranked[: r1 - 1])
                change = i / r1 * (i + above) - j / r1 * (j + above)
                change += (j - i) * (sum(ranked[: r2 - 1]) - j + 1) / r2
                change += sum(ranked[r - 1] / r * (i - j) for r in range(r1 + 1, r2))
                expected = change / total if total else 0
                assert swap_change(partial(ap, rel=1), ranked, r1, r2) == close(expected)


def test_change_of_precision():
    # yilmaz-2009, 4.2.1, with the sign turned: the paper's expression is the value before minus the
    # value after
    for _, ranked, _ in random_lists(12, 60, c=1):
        for ri in range(1, len(ranked) + 1):
            for rj in range(ri + 1, len(ranked) + 1):
                paper = (ranked[ri - 1] - ranked[rj - 1]) * ((ri <= 3) / 3 - (rj <= 3) / 3)
                assert swap_change(partial(precision, rel=1, k=3), ranked, ri, rj) == close(-paper)


def test_change_with_missing_documents():
    # one relevant document of four is in the list: at rank 2 it is worth 1/2 * 1/4, at rank 1 it is
    # worth 1/4
    value = partial(ap, rel=1)
    assert swap_change(value, [0, 1], 1, 2, counts=(9, 4)) == close(1 / 4 - 1 / 8)
    grad, hess = oracle.lambda_gradients(value, [0, 1], [0, 0], 1.0, [0, 1], counts=(9, 4))
    assert grad == close([1 / 8 / 2, -1 / 8 / 2])
    assert hess == close([1 / 8 / 4, 1 / 8 / 4])


# --- ties -----------------------------------------------------------------------------------------


def test_rows_by_score():
    assert oracle.tied_groups([5, 3, 5]) == [[0, 2], [1]]
    assert oracle.tied_groups([0.0, -0.0]) == [[0, 1]]
    assert oracle.row_order(np.array([1, 2, 1, 3.0])) == [3, 1, 0, 2]


def test_ties_by_hand():
    value = partial(ap, rel=1)
    # one relevant document among three tied ones: at rank 1, 2 or 3
    assert oracle.expected_over_ties(value, [1, 0, 0], [0, 0, 0]) == close((1 + 1 / 2 + 1 / 3) / 3)
    assert oracle.value_in_row_order(value, [1, 0, 0], [0, 0, 0]) == 1
    assert oracle.value_in_row_order(value, [0, 0, 1], [0, 0, 0]) == close(1 / 3)
    # (0, 1) tied below a relevant document: it is at rank 2 or 3
    assert oracle.expected_over_ties(value, [0, 1, 1], [2, 2, 7]) == close(
        ((1 + 2 / 2) / 2 + (1 + 2 / 3) / 2) / 2
    )
    # the value of every order, GAP: (2, 1) and (1, 2)
    both = [gap([2, 1], G2), gap([1, 2], G2)]
    assert oracle.expected_over_ties(partial(gap, g=G2), [1, 2], [0.5, 0.5]) == close(sum(both) / 2)


def test_no_ties_is_the_value_of_the_list():
    for rng, grades, g in random_lists(13, 40):
        scores = rng.permutation(len(grades)) / 3
        ranked = [grades[row] for row in np.argsort(-scores)]
        for value in (partial(xgap, g=g), partial(ndcg, k=3)):
            assert oracle.expected_over_ties(value, grades, scores) == close(value(ranked))
            assert oracle.value_in_row_order(value, grades, scores) == value(ranked)


def test_missing_documents_under_ties():
    value = partial(ap, rel=1)
    assert oracle.expected_over_ties(value, [1, 0], [0, 0], counts=(9, 4)) == close(
        (1 + 1 / 2) / 2 / 4
    )
    assert oracle.value_in_row_order(value, [1, 0], [0, 0], counts=(9, 4)) == close(1 / 4)


# --- more measures --------------------------------------------------------------------------------


def test_cumulated_gains_by_hand():
    assert oracle.dcg([0, 2, 1], gains=oracle.linear) == close(2 / math.log2(3) + 1 / 2)
    assert oracle.dcg([0, 2, 1], gains=oracle.linear, discount=oracle.by_log(2)) == close(
        2 + 1 / math.log2(3)
    )
    assert oracle.dcg([2, 2, 2], k=2, discount=oracle.by_rank) == close(3 + 3 / 2)
    assert ndcg([0, 2, 1], gains=oracle.linear, discount=oracle.by_rank) == close(
        (1 + 1 / 3) / (2 + 1 / 2)
    )
    assert ndcg([1, 0], k=3, short_is_zero=True) == 0
    assert ndcg([1, 0], k=2, short_is_zero=True) == 1


def test_binary_measures_by_hand():
    assert oracle.rbp([0, 1, 1], 0.5, (1).__le__) == close(0.5 * (0.5 + 0.25))
    assert oracle.recall([1, 0, 1, 1], 1, 2) == close(1 / 3)
    assert oracle.recall([1, 0], 1, 2, counts=(1, 4)) == close(1 / 4)
    assert oracle.r_precision([1, 0, 1, 1], 1) == close(2 / 3)
    assert oracle.r_precision([1, 0, 1], 1, k=2) == close(1 / 2)
    assert oracle.rr([0, 1, 2], 1) == 1 / 2
    assert oracle.rr([0, 1, 2], 2) == close(1 / 3)
    assert oracle.rr([0, 1, 2], 2, k=2) == 0


def test_graded_measures_by_hand():
    assert oracle.kendall_tau([1, 2, 0]) == close((2 - 1) / 3)
    assert oracle.pairwise_accuracy([1, 2, 0]) == close(2 / 3)
    assert oracle.pairwise_accuracy([1, 0], counts=(1, 1, 1)) == close(1 / 3)
    assert oracle.kendall_tau([1, 1]) == 0
    # C + cg = 1 + 1 and 2 + 3 at ranks 1 and 3; ideal gains 2, 3, 3
    assert oracle.q_measure([1, 0, 2], 1) == close((2 / (1 + 2) + 5 / (3 + 3)) / 2)
    # stops with 3/4 at grade 2, with 1/4 at grade 1
    assert oracle.err([0, 1, 2], 2) == close(1 / 2 * 1 / 4 + 1 / 3 * 3 / 4 * 3 / 4)
    assert oracle.weighted_sum([0, 1], [(2, partial(ap, rel=1)), (1, ndcg)]) == close(
        1 + 1 / math.log2(3)
    )


# --- other libraries ------------------------------------------------------------------------------


def test_average_precision_against_sklearn():
    for rng, grades, _ in random_lists(14, 100, longest=30):
        scores = rng.permutation(len(grades))
        for rel in (1, 2, 3):
            binary = [int(grade >= rel) for grade in grades]
            if any(binary):
                expected = average_precision_score(binary, scores)
                assert oracle.value_in_row_order(partial(ap, rel=rel), grades, scores) == close(
                    expected
                )


def test_ndcg_against_sklearn_which_averages_over_ties():
    for rng, grades, _ in random_lists(15, 100, longest=6):
        if len(grades) < 2:
            continue
        scores = rng.integers(0, 3, size=len(grades))
        gains = [2 ** int(grade) - 1 for grade in grades]
        for k in (None, 1, 3):
            value = partial(ndcg, k=k)
            expected = ndcg_score([gains], [scores], k=k)
            assert oracle.expected_over_ties(value, grades, scores) == close(expected)


def judged_and_run(seed, queries=12, c=3):
    """Judgments, and a run without ties that misses some documents and has unjudged ones."""
    rng = np.random.default_rng(seed)
    qrels, run, lists, counts = [], [], {}, {}
    for number in range(1, queries + 1):
        query = str(number)
        judged = {
            f"d{number}-{doc}": int(rng.integers(0, c + 1)) for doc in range(rng.integers(4, 25))
        }
        judged[f"d{number}-best"] = c
        retrieved = [name for name in judged if rng.random() < 0.7] + [
            f"u{number}-{doc}" for doc in range(3)
        ]
        retrieved = [retrieved[i] for i in rng.permutation(len(retrieved))]
        qrels += [ir_measures.Qrel(query, name, grade) for name, grade in judged.items()]
        run += [
            ir_measures.ScoredDoc(query, name, 100.0 - rank) for rank, name in enumerate(retrieved)
        ]
        lists[query] = [judged.get(name, 0) for name in retrieved]
        counts[query] = oracle.grade_counts(judged.values(), c)
    return qrels, run, lists, counts


AGAINST_IR_MEASURES = [
    *((AP(rel=rel), partial(ap, rel=rel)) for rel in (1, 2, 3)),
    (AP(rel=2) @ 5, partial(ap, rel=2, k=5)),
    *((P(rel=rel) @ k, partial(precision, rel=rel, k=k)) for rel in (1, 2) for k in (1, 5, 40)),
    (nDCG @ 5, partial(ndcg, k=5, gains=(0, 1, 2, 3))),
    (nDCG, partial(ndcg, gains=(0, 1, 2, 3))),
]


def test_against_ir_measures():
    qrels, run, lists, counts = judged_and_run(16)
    values = dict(AGAINST_IR_MEASURES)
    compared = 0
    for metric in ir_measures.iter_calc(values, qrels, run):
        expected = values[metric.measure](lists[metric.query_id], counts=counts[metric.query_id])
        assert metric.value == close(expected), metric
        compared += 1
    assert compared == len(values) * len(lists)


@pytest.mark.skipif(shutil.which("perl") is None, reason="ir_measures runs gdeval.pl")
@pytest.mark.parametrize("k", [1, 5, 20])
def test_exponential_ndcg_against_ir_measures(k):
    qrels, run, lists, counts = judged_and_run(17)
    compared = 0
    for metric in ir_measures.iter_calc([nDCG(dcg="exp-log2") @ k], qrels, run):
        expected = ndcg(lists[metric.query_id], counts=counts[metric.query_id], k=k)
        # gdeval prints five digits.
        assert metric.value == pytest.approx(expected, abs=6e-6), metric
        compared += 1
    assert compared == len(lists)


# --- LambdaRank -----------------------------------------------------------------------------------


@pytest.mark.parametrize("x", [0.0, 1.5, -1.5, 36.0, 800.0, -800.0, 1e308, -1e308])
def test_logistic(x):
    assert 0 <= oracle.logistic(x) <= 1
    assert oracle.logistic(x) + oracle.logistic(-x) == close(1)
    if abs(x) < 700:
        assert oracle.logistic(x) == close(1 / (1 + math.exp(-x)))


def test_lambdas_of_two_documents_by_hand():
    value = partial(ap, rel=1)
    sigma, scores = 2.0, [0.3, 0.8]
    x = 2.0 * 0.5
    t = 1 / (1 + math.exp(x))
    # row 1 is above row 0; the relevant one is above: a swap loses 1/2
    grad, hess = oracle.lambda_gradients(value, [0, 1], scores, sigma, [1, 0])
    assert grad == close([2 * 0.5 * t, -2 * 0.5 * t])
    assert hess == close([4 * 0.5 * t * (1 - t)] * 2)
    # the relevant one is below: a swap gains 1/2
    grad, hess = oracle.lambda_gradients(value, [1, 0], scores, sigma, [1, 0])
    assert grad == close([-2 * 0.5 * (1 - t), 2 * 0.5 * (1 - t)])
    assert hess == close([4 * 0.5 * t * (1 - t)] * 2)


def test_lambdas_of_three_documents_by_hand():
    # precision at 1 of the list (0, 1, 0) with equal scores: t = 1/2, only the pair of ranks 1 and
    # 2 changes it, by 1
    grad, hess = oracle.lambda_gradients(
        partial(precision, rel=1, k=1), [0, 1, 0], [0, 0, 0], 1.0, [0, 1, 2]
    )
    assert grad == close([1 / 2, -1 / 2, 0])
    assert list(hess) == close([1 / 4, 1 / 4, 1e-16])
    # S = 1/2 + 1/2, log2(1 + 1) / 1 = 1; twice the steepness: S = 2, log2(3) / 2
    grad, hess = oracle.lambda_gradients(
        partial(precision, rel=1, k=1), [0, 1, 0], [0, 0, 0], 2.0, [0, 1, 2], normalize=True
    )
    assert grad == close([math.log2(3) / 2, -math.log2(3) / 2, 0])
    assert hess == close([math.log2(3) / 2, math.log2(3) / 2, 1e-16])


def cost(changes, scores, sigma, rows, ranked):
    """RankNet cost of every pair times |change|, or times -|change| if the change is harmful."""
    total = 0.0
    for (p, q), change in changes.items():
        x = sigma * (scores[rows[p - 1]] - scores[rows[q - 1]])
        if ranked[p - 1] > ranked[q - 1]:
            total += -change * math.log1p(math.exp(-x))
        elif ranked[p - 1] < ranked[q - 1]:
            total += change * math.log1p(math.exp(x))
    return total


@pytest.mark.parametrize("name", GRADED)
@pytest.mark.parametrize("truncation", [None, 2])
def test_lambdas_are_the_derivative_of_the_weighted_ranknet_cost(name, truncation):
    for rng, grades, g in random_lists(18, 15, longest=7):
        value = partial(GRADED[name], g=g)
        scores = rng.normal(size=len(grades))
        rows = oracle.row_order(scores)
        ranked = [grades[row] for row in rows]
        last = len(grades) if truncation is None else min(truncation, len(grades))
        changes = {
            (p, q): swap_change(value, ranked, p, q)
            for p in range(1, last + 1)
            for q in range(p + 1, len(ranked) + 1)
        }
        grad, hess = oracle.lambda_gradients(value, grades, scores, 1.3, rows, truncation)
        step = 1e-3
        for row in range(len(grades)):
            at = [
                cost(changes, scores + d * np.eye(len(grades))[row], 1.3, rows, ranked)
                for d in (-step, 0, step)
            ]
            assert grad[row] == close((at[2] - at[0]) / (2 * step), 1e-6)
            second = (at[2] - 2 * at[1] + at[0]) / step**2
            assert hess[row] == close(max(second, 1e-16), 1e-6)


def test_a_wrong_sign_pushes_the_other_way():
    # xGAP rises when the pair of ranks 4 and 5 is swapped, though the higher grade is above:
    # DESIGN.md, section 1
    grades, g = (1, 2, 0, 3, 2), (0.217, 0.704, 0.079)
    ranked_change = swap_change(partial(xgap, g=g), grades, 4, 5)

    def value(ranked, counts=None):
        """Like xGAP, but only the swap of the last two documents changes it."""
        return ranked_change if list(ranked) == [1, 2, 0, 2, 3] else 0.0

    grad, hess = oracle.lambda_gradients(value, grades, np.zeros(5), 1.0, range(5))
    # Minimizing lowers the upper document.
    assert grad == close([0, 0, 0, ranked_change / 2, -ranked_change / 2])
    assert list(hess) == [1e-16] * 5  # its curvature is negative and clipped


def test_lambdas_sum_to_zero_and_survive_any_score():
    for rng, grades, g in random_lists(19, 30):
        scores = rng.normal(size=len(grades)) * 10.0 ** rng.integers(-3, 308)
        with np.errstate(all="raise"):
            grad, hess = oracle.lambda_gradients(
                partial(egap, g=g), grades, scores, 1.0, oracle.row_order(scores), normalize=True
            )
        assert grad.sum() == close(0)
        assert np.isfinite(grad).all()
        assert np.isfinite(hess).all()
        assert (hess >= 1e-16).all()


def test_normalized_gradients_are_scaled_together():
    grades, scores, g = [0, 2, 1, 0, 2], [0.4, 0.1, 0.3, 0.2, 0.0], (0.4, 0.6)
    order = oracle.row_order(scores)
    raw_grad, raw_hess = oracle.lambda_gradients(partial(gap, g=g), grades, scores, 1.0, order)
    grad, hess = oracle.lambda_gradients(
        partial(gap, g=g), grades, scores, 1.0, order, normalize=True
    )
    total = abs(raw_grad).sum()
    assert abs(grad).sum() == close(math.log2(1 + total))
    assert hess / raw_hess == close(np.full(5, math.log2(1 + total) / total))


def test_order_is_the_callers():
    grad, _ = oracle.lambda_gradients(partial(ap, rel=1), [1, 0], [0.0, 0.0], 1.0, [0, 1])
    assert grad == close([-1 / 4, 1 / 4])
    flipped, _ = oracle.lambda_gradients(partial(ap, rel=1), [1, 0], [0.0, 0.0], 1.0, [1, 0])
    assert flipped == close([-1 / 4, 1 / 4])
    with pytest.raises(ValueError, match="every row once"):
        oracle.lambda_gradients(ndcg, [1, 0], [0, 0], 1.0, [0, 0])


# --- many queries ---------------------------------------------------------------------------------

QID = np.array(["b", "a", "b", "c", "a", "c"])
GRADES = np.array([1, 0, 0, 0, 2, 0])
SCORES = np.array([0.1, 0.9, 0.2, 0.3, 0.9, 0.4])


def test_rows_of_queries_in_order_of_first_appearance():
    assert list(oracle.rows_of_queries(QID).items()) == [
        ("b", [0, 2]),
        ("a", [1, 4]),
        ("c", [3, 5]),
    ]


def test_mean_over_queries():
    value = partial(gap, g=(0.5, 0.5))
    # b: the relevant document is second; a: tied, first or second; c: nothing relevant
    b, a = 1 / 2, (1 + 1 / 2) / 2
    assert oracle.per_query(value, GRADES, SCORES, QID) == close([b, a, 0])
    assert oracle.per_query(value, GRADES, SCORES, QID, ties="row") == close([b, 1 / 2, 0])
    assert oracle.per_query(value, GRADES, SCORES, QID, empty=1) == close([b, a, 1])
    skipped = oracle.per_query(value, GRADES, SCORES, QID, empty="skip")
    assert skipped[:2] == close([b, a])
    assert math.isnan(skipped[2])
    assert oracle.mean_over_queries(value, GRADES, SCORES, QID) == close((b + a + 0) / 3)
    assert oracle.mean_over_queries(value, GRADES, SCORES, QID, empty=1) == close((b + a + 1) / 3)
    assert oracle.mean_over_queries(value, GRADES, SCORES, QID, empty="skip") == close((b + a) / 2)
    assert math.isnan(
        oracle.mean_over_queries(value, GRADES[[3, 5]], SCORES[[3, 5]], QID[[3, 5]], empty="skip")
    )


def test_what_is_empty_depends_on_the_measure():
    # grade 1 is below the only threshold; the query is not empty where a judged document is merely
    # missing
    strict = partial(gap, g=(0.0, 1.0))
    assert oracle.per_query(strict, GRADES, SCORES, QID, empty=1) == close([1, 3 / 4, 1])
    assert oracle.per_query(partial(precision, rel=2, k=1), GRADES, SCORES, QID, empty=1) == close(
        [1, 1 / 2, 1]
    )
    counts = {"a": (1, 0, 1), "b": (1, 1, 0), "c": (2, 0, 1)}
    assert oracle.per_query(strict, GRADES, SCORES, QID, empty=1, counts=counts) == close(
        [1, 3 / 4, 0]
    )
    assert oracle.nothing_relevant(partial(ndcg, k=1, gains=(0, 1, 0)), (1, 0, 1))
    assert not oracle.nothing_relevant(partial(ndcg, k=1, gains=(0, 1, 0)), (1, 1, 1))
