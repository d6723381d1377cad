"""ApproxRank is what qin-2008 writes, and its theorems hold."""

import math
from dataclasses import dataclass

import numpy as np
import oracle_soft as oracle
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from rankings import SMOOTH_G as G
from rankings import random_queries, smooth_cases

import gapboost as gb
from gapboost.objectives import approximation_bound

TABLE_1 = [4.20074, 3.12378, 4.40918, 1.55258, 4.13330]


@pytest.mark.parametrize("alpha", [0.01, 1.0, 100.0])
def test_bounds_of_scores_at_any_distance(alpha):
    objective = gb.ApproxRank(gb.AP(), alpha=alpha, beta=100.0)
    bounds = [
        approximation_bound(objective, [1, 0, 0], [x, -x, 0.0])
        for x in (1e6, 1e300, np.finfo(np.float64).max)
    ]
    for bound in bounds:
        assert bound.corollary[0] <= 1e-300
        assert bound.rank_error[0] == 0
        assert bound.value[0] == bounds[0].value[0]


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_values_are_the_papers_sums(seed):
    for beta in (0.3, 5.0, None):
        for grades, scores, alpha in random_queries(seed):
            steep = 4 / len(grades) if beta is None else beta
            above, ranks = oracle.approximate(scores, alpha, steep)
            top = oracle.within_by_truncation(ranks, steep, 3)
            for measure, *of_measure in smooth_cases():
                inside = top if measure.k else None
                expected = oracle.by_ranks(*of_measure, grades, above, ranks, inside)
                found = gb.ApproxRank(measure, alpha=alpha, beta=beta).value(grades, scores)
                assert found == pytest.approx(expected, rel=1e-12, abs=1e-14), (measure, grades)


# Distinct scores, any distance between neighbors from 0.001 to 1000: equation 23 asks for a
# smallest difference > 0.
rankings = st.lists(
    st.tuples(st.integers(0, 3), st.floats(-3, 3).map(lambda e: 10.0**e)), min_size=2, max_size=12
).flatmap(st.permutations)


def ranking_from(documents):
    """Grades, scores and true positions; the scores rise by the given steps, in shuffled rows."""
    grades = [grade for grade, _ in documents]
    steps = np.cumsum([step for _, step in documents])
    order = np.argsort([step for _, step in documents], kind="stable")
    scores = np.empty(len(grades))
    scores[order] = steps
    return grades, scores, 1 + (scores[None, :] > scores[:, None]).sum(axis=1)


# The theorems are about real numbers: where a bound is 0 or below the rounding of a sum of ranks,
# they need this much.
ROUNDING = 1e-13


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(rankings, st.floats(0.01, 100), st.floats(0.1, 100))
def test_theorems_3_5_and_6(documents, alpha, beta):
    """They hold, and `approximation_bound` states what they say."""
    grades, scores, positions = ranking_from(documents)
    n, relevant = len(grades), np.arange(1, np.count_nonzero(grades) + 1)
    of_ap, of_ndcg = (gb.ApproxRank(m, alpha=alpha, beta=beta) for m in (gb.AP(), gb.nDCG()))
    stated = approximation_bound(of_ap, grades, scores)
    distances = np.abs(scores[:, None] - scores)
    np.fill_diagonal(distances, np.inf)
    bound = (n - 1) / (np.exp(np.minimum(distances.min(axis=1) * alpha, 700)) + 1)
    errors = np.abs(of_ap.ranks(scores) - positions)
    # Scores times alpha are rounded before they are subtracted, and a rank moves by at most a
    # quarter of each difference.
    rounding = ROUNDING + n / 4 * np.spacing(alpha * np.abs(scores).max())
    assert (errors <= bound + rounding).all()
    assert np.allclose(stated.document, bound, rtol=1e-9, atol=1e-300)
    assert stated.corollary == stated.document.max()
    epsilon = errors.max()
    assert math.isclose(stated.rank_error.item(), epsilon, abs_tol=ROUNDING)
    check_bound(of_ndcg, grades, scores, epsilon / (2 * math.log(2)))
    assume(epsilon < 0.5)
    bound = (1 / (relevant - epsilon)).sum() / (1 + math.exp(beta * (1 - 2 * epsilon)))
    bound += 2 * epsilon * (1 / (relevant * (relevant - epsilon))).sum()
    check_bound(of_ap, grades, scores, bound)


def check_bound(objective, grades, scores, bound):
    (exact,) = gb.evaluate(objective.measure, grades, scores).values()
    assert abs(objective.value(grades, scores) - exact) <= bound + ROUNDING
    stated = approximation_bound(objective, grades, scores).value.item()
    assert math.isclose(stated, bound, rel_tol=1e-9, abs_tol=len(grades) * ROUNDING)


def test_bounds_of_several_queries():
    grades, qid = [0, 1, 2, 0, 1] * 4, ["b"] * 5 + ["tied", "a"] * 5 + ["b"] * 5
    scores = np.concatenate([TABLE_1, np.repeat(TABLE_1, 2), np.negative(TABLE_1)])
    scores[5] = scores[7]
    objective = gb.ApproxRank(gb.AP(rel=2), alpha=20)
    found = approximation_bound(objective, grades, scores, qid)
    assert found.qid.tolist() == ["b", "tied", "a"]
    for q, name in enumerate(found.qid):
        rows = [i for i, other in enumerate(qid) if other == name]
        alone = approximation_bound(objective, np.take(grades, rows), scores[rows])
        assert np.allclose(found.document[rows], alone.document, rtol=1e-12, equal_nan=True)
        for field in ("corollary", "rank_error", "value"):
            assert np.allclose(
                getattr(found, field)[q], getattr(alone, field)[0], rtol=1e-9, equal_nan=True
            )
    tied = np.array(qid) == "tied"
    assert np.array_equal(np.isnan(found.document), tied)
    assert np.isnan([found.corollary[1], found.rank_error[1], found.value[1]]).all()


def test_bounds_where_there_is_nothing_to_miss():
    objective = gb.ApproxRank(gb.AP(), alpha=3)
    assert approximation_bound(objective, [1], [0.3]).corollary.tolist() == [0.0]
    assert approximation_bound(objective, [0, 0], [0.0, 9.0]).value.tolist() == [0.0]
    assert approximation_bound(objective, [1, 0, 0], [0.0, 1e-9, 2e-9]).value.tolist() == [np.inf]


@dataclass(frozen=True, repr=False)
class Steeper(gb.nDCG):
    """A measure of someone's own that is made from one with a theorem."""

    def discount_at(self, ranks):
        return ranks**-2.0, -2 * ranks**-3.0


@pytest.mark.parametrize(
    "measure",
    [
        gb.AP(k=3),
        gb.nDCG(k=3),
        gb.nDCG(discount_by="letor"),
        gb.GAP(g=G),
        gb.Precision(k=3),
        Steeper(),
    ],
    ids=str,
)
def test_measures_without_a_theorem(measure):
    with pytest.raises(
        ValueError, match=r"objective is ApproxRank.*; expected an ApproxRank of AP or of nDCG"
    ):
        approximation_bound(gb.ApproxRank(measure), [1, 0], [0.0, 1.0])
