"""The oracle is right: values by hand and of the papers, limits, and identities."""

import math
from functools import partial

import numpy as np
import oracle
import pytest
from oracle import ap, egap, gap, ndcg, precision, xgap
from pair_sum import summed_pairs

import gapboost as gb

GRADED = {"gap": gap, "xgap": xgap, "egap": egap}
G2, G3 = (0.3, 0.7), (0.2, 0.3, 0.5)


def close(expected):
    return pytest.approx(expected, rel=1e-12, abs=1e-12)


def random_lists(seed, how_many):
    """Random lists, and users of whom sometimes nobody has some of the thresholds."""
    rng = np.random.default_rng(seed)
    for _ in range(how_many):
        g = rng.dirichlet(np.ones(3)) * (rng.random(3) < 0.8)
        g = g / g.sum() if g.sum() > 0 else np.eye(3)[rng.integers(3)]
        yield rng, list(rng.integers(0, 4, size=rng.integers(1, 10))), g


DCG = 1 / math.log2(2) + 3 / math.log2(4)  # of (1, 0, 2)
BY_HAND = [
    # yilmaz-2009, section 3: the same precision at 10 of 20, but the first engine is better.
    (ap([1, 1] + [0] * 8 + [1, 1, 1], 1), (1 + 1 + 3 / 11 + 4 / 12 + 5 / 13) / 5),
    (
        ap([0] * 7 + [1, 1] + [0] * 8 + [1, 1, 1], 1),
        (1 / 8 + 2 / 9 + 3 / 18 + 4 / 19 + 5 / 20) / 5,
    ),
    (ap([1, 1] + [0] * 8 + [1, 1, 1], 1, k=11), (1 + 1 + 3 / 11) / 5),
    # (1, 0, 2) with g = (.3, .7): RB = (2, 1), E[RB] = 1.3.
    (gap([1, 0, 2], G2), (0.3 + 0.3 * 2 / 3 + 0.7 / 3) / 1.3),
    (gap([1, 0, 2], G2, k=2), 0.3 / 1.3),
    (egap([1, 0, 2], G2), 0.3 * (1 + 2 / 3) / 2 + 0.7 / 3),
    (egap([1, 0, 2], G2, k=2), 0.3 / 2),
    (xgap([1, 0, 2], G2), 0.3 / 2 + (0.3 / 2 + 0.7) * (0.3 + 0 + 1) / 3),
    (xgap([1, 0, 2], G2, k=2), 0.3 / 2),
    (xgap([2, 1], G2), (0.3 / 2 + 0.7) + 0.3 / 2 * (0.3 / 0.3 + 0.3 / 0.3) / 2),
    # (2, 0, 3, 1) with g = (.2, .3, .5): RB = (3, 2, 1), E[RB] = 1.7.
    (gap([2, 0, 3, 1], G3), (0.5 + 0.5 * 2 / 3 + 0.5 / 3 + 0.2 * 3 / 4) / 1.7),
    (egap([2, 0, 3, 1], G3), 0.2 * (1 + 2 / 3 + 3 / 4) / 3 + 0.3 * (1 + 2 / 3) / 2 + 0.5 / 3),
    (
        xgap([2, 0, 3, 1], G3),
        (0.2 / 3 + 0.3 / 2)
        + (0.2 / 3 + 0.3 / 2 + 0.5) * (0.5 + 0 + 1) / 3
        + (0.2 / 3) * (1 + 0 + 1 + 1) / 4,
    ),
    (ndcg([1, 0, 2]), DCG / (3 + 1 / math.log2(3))),
    (ndcg([1, 0, 2], k=1), 1 / 3),
    (ndcg([1, 0, 2], k=2), 1 / (3 + 1 / math.log2(3))),
    (ndcg([1, 0, 2], gains=(0, 1, 2)), 2 / (2 + 1 / math.log2(3))),
    (ndcg([1, 0, 2], counts=(5, 1, 2)), DCG / (3 + 3 / math.log2(3) + 1 / 2)),
    (
        ndcg([0, 2, 1], gains=oracle.linear, discount=oracle.by_rank),
        (1 + 1 / 3) / (2 + 1 / 2),
    ),
    (ndcg([1, 0], k=3, short_is_zero=True), 0),
    (ndcg([1, 0], k=2, short_is_zero=True), 1),
    (oracle.dcg([0, 2, 1], gains=oracle.linear), 2 / math.log2(3) + 1 / 2),
    (
        oracle.dcg([0, 2, 1], gains=oracle.linear, discount=oracle.by_log(2)),
        2 + 1 / math.log2(3),
    ),
    (precision([1, 0, 2], rel=1, k=10), 2 / 10),
    (precision([1, 0, 2], rel=2, k=3), 1 / 3),
    (oracle.rbp([0, 1, 1], 0.5, (1).__le__), 0.5 * (0.5 + 0.25)),
    (oracle.recall([1, 0, 1, 1], 1, 2), 1 / 3),
    (oracle.recall([1, 0, 1, 1], 1, 2, capped=True), 1 / 2),
    (oracle.recall([1, 0], 1, 2, counts=(1, 4)), 1 / 4),
    (oracle.recall([1, 0], 1, 10, counts=(1, 4), capped=True), 1 / 4),
    (oracle.success([0, 0, 1], 1, 2), 0),
    (oracle.success([0, 2, 1], 2, 2), 1),
    (oracle.r_precision([1, 0, 1, 1], 1), 2 / 3),
    (oracle.rr([0, 1, 2], 2), 1 / 3),
    (oracle.rr([0, 1, 2], 2, k=2), 0),
    (oracle.kendall_tau([1, 2, 0]), (2 - 1) / 3),
    (oracle.pairwise_accuracy([1, 2, 0]), 2 / 3),
    (oracle.pairwise_accuracy([1, 0], counts=(1, 1, 1)), 1 / 3),
    # C + cg = 1 + 1 and 2 + 3 at ranks 1 and 3; ideal gains 2, 3, 3.
    (oracle.q_measure([1, 0, 2], 1), (2 / (1 + 2) + 5 / (3 + 3)) / 2),
    # A user stops with 3/4 at grade 2, with 1/4 at grade 1.
    (oracle.err([0, 1, 2], 2), 1 / 2 * 1 / 4 + 1 / 3 * 3 / 4 * 3 / 4),
    (oracle.weighted_sum([0, 1], [(2, partial(ap, rel=1)), (1, ndcg)]), 1 + 1 / math.log2(3)),
    # ferrante-2014, sections 3 and 4, R(1) = 10, R(2) = 1: a document alone at rank 1.
    (gap([1], (0.5, 0.5), counts=(0, 10, 1)), 1 / 12),
    (gap([2], (0.1, 0.9), counts=(0, 10, 1)), 1 / 2),
    (xgap([1], (0.5, 0.5), counts=(0, 10, 1)), 1 / 22),
    (xgap([2], (0.1, 0.9), counts=(0, 10, 1)), 100 / 110),
    (egap([2], (0.5, 0.5), counts=(0, 10, 1)), 12 / 22),
    # Nothing relevant.
    *((value([1, 0, 1], (0.0, 1.0)), 0) for value in GRADED.values()),
    *((value([], G2), 0) for value in GRADED.values()),
]


@pytest.mark.parametrize(("value", "expected"), BY_HAND)
def test_values_by_hand(value, expected):
    assert value == close(expected)


@pytest.mark.parametrize("g2", [0.1, 0.5, 0.9])
def test_many_documents_of_grade_one_above_one_of_grade_two(g2):
    """ferrante-2014, sections 3 to 5."""
    g1 = 1 - g2
    for n in (1, 5, 60):
        ranked, g = [1] * n + [2], (g1, g2)
        assert gap(ranked, g) == close((n * g1 + (n * g1 + 1) / (n + 1)) / ((n + 1) * g1 + g2))
        below = (g1 / (n + 1) + g2) * (n * g1 + 1) / (n + 1)
        assert xgap(ranked, g) == close(n * g1 / (n + 1) + below)
        assert egap(ranked, g) == close(g1 + g2 / (n + 1))


def test_ties_by_hand():
    value = partial(ap, rel=1)
    over = oracle.expected_over_ties
    assert over(value, [1, 0, 0], [0, 0, 0]) == close((1 + 1 / 2 + 1 / 3) / 3)
    assert over(value, [0, 1, 1], [2, 2, 7]) == close(((1 + 2 / 2) / 2 + (1 + 2 / 3) / 2) / 2)
    assert over(value, [1, 0], [0.0, -0.0], counts=(9, 4)) == close((1 + 1 / 2) / 2 / 4)
    assert over(partial(gap, g=G2), [1, 2], [0.5, 0.5]) == close(
        (gap([2, 1], G2) + gap([1, 2], G2)) / 2
    )
    assert oracle.value_in_row_order(value, [0, 0, 1], [0, 0, 0]) == close(1 / 3)
    for rng, grades, g in random_lists(13, 40):
        scores = rng.permutation(len(grades)) / 3
        ranked = [grades[row] for row in np.argsort(-scores)]
        assert over(partial(xgap, g=g), grades, scores) == close(xgap(ranked, g))


def test_lambdas_by_hand():
    scores, how = [0.3, 0.8], {"sigma": 2.0, "value": partial(ap, rel=1)}
    t = 1 / (1 + math.e)
    # Row 1 is above row 0, and relevant: a swap loses 1/2.
    grad, hess = summed_pairs(gb.AP(), [0, 1], scores, **how)
    assert grad == close([2 * 0.5 * t, -2 * 0.5 * t])
    assert hess == close([4 * 0.5 * t * (1 - t)] * 2)
    # The relevant one is below: a swap gains 1/2.
    grad, hess = summed_pairs(gb.AP(), [1, 0], scores, **how)
    assert grad == close([-2 * 0.5 * (1 - t), 2 * 0.5 * (1 - t)])
    # Precision at 1 of (0, 1, 0), equal scores.
    how["value"] = partial(precision, rel=1, k=1)
    grad, hess = summed_pairs(gb.Precision(k=1), [0, 1, 0], [0, 0, 0], **how)
    assert grad == close([1, -1, 0])
    assert hess == close([1, 1, 1e-16])


QID = np.array(["b", "a", "b", "c", "a", "c"])
GRADES = np.array([1, 0, 0, 0, 2, 0])
SCORES = np.array([0.1, 0.9, 0.2, 0.3, 0.9, 0.4])


def test_values_of_queries():
    value = partial(gap, g=(0.5, 0.5))
    b, a = 1 / 2, (1 + 1 / 2) / 2
    assert list(oracle.rows_of_queries(QID)) == ["b", "a", "c"]
    assert oracle.per_query(value, GRADES, SCORES, QID) == close([b, a, 0])
    assert oracle.per_query(value, GRADES, SCORES, QID, ties="row") == close([b, 1 / 2, 0])
    assert oracle.per_query(value, GRADES, SCORES, QID, empty=1) == close([b, a, 1])
    # Grade 1 is below the only threshold. A query is not empty if a judged document is missing.
    strict = partial(gap, g=(0.0, 1.0))
    assert oracle.per_query(strict, GRADES, SCORES, QID, empty=1) == close([1, 3 / 4, 1])
    counts = {"a": (1, 0, 1), "b": (1, 1, 0), "c": (2, 0, 1)}
    found = oracle.per_query(strict, GRADES, SCORES, QID, empty=1, counts=counts)
    assert found == close([1, 3 / 4, 0])
