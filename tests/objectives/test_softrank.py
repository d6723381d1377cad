"""SoftRank is what yilmaz-2009 and robertson-2010 write, and refuses what would take hours."""

import math

import numpy as np
import oracle_soft as oracle
import pytest
from rankings import SMOOTH_G as G
from rankings import random_queries, smooth_cases

import gapboost as gb
from gapboost.data.query_data import group_by_query


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_values_are_the_papers_sums(seed):
    for grades, scores, sigma in random_queries(seed):
        above, ranks = oracle.gaussian(scores, sigma)
        top = oracle.within_by_distribution(above, 3)
        for measure, *of_measure in smooth_cases():
            if isinstance(measure, gb.nDCG | gb.Precision):
                expected = oracle.by_distribution(*of_measure, grades, above, measure.k)
            else:
                inside = top if measure.k else None
                expected = oracle.by_ranks(*of_measure, grades, above, ranks, inside)
            found = gb.SoftRank(measure, sigma=sigma).value(grades, scores)
            assert found == pytest.approx(expected, rel=1e-12, abs=1e-14), (measure, grades)


def test_precision_is_the_mean_over_draws_of_the_scores():
    """The rank distribution takes documents as independent, which is exact for two documents."""
    rng = np.random.default_rng(0)
    grades, scores, sigma = [0, 1], [1.0, 0.4], 0.8
    draws = np.array(scores) + sigma * rng.standard_normal((200_000, 2))
    simulated = np.mean(draws[:, 1] > draws[:, 0])
    found = gb.SoftRank(gb.Precision(k=1), sigma=sigma).value(grades, scores)
    assert abs(found - simulated) < 4 * math.sqrt(0.25 / len(draws))


def test_a_list_too_long_for_rank_distributions_is_refused_before_any_work():
    n = 1_001
    for measure in (gb.nDCG(), gb.Precision(k=10), gb.GAP(g=(1.0,), k=10)):
        with pytest.raises(
            ValueError, match=r"query of 1001 documents.*expected at most 1000.*ApproxRank"
        ):
            gb.SoftRank(measure).gradients(np.arange(n) % 2, np.zeros(n))
    # Expected ranks are enough here, at any length.
    grad, _ = gb.SoftRank(gb.AP()).gradients(np.arange(n) % 2, np.linspace(0, 1, n))
    assert np.abs(grad).max() > 0


@pytest.mark.parametrize(
    "measure", [gb.nDCG(), gb.nDCG(k=5), gb.Precision(k=3), gb.GAP(g=G, k=5)], ids=repr
)
@pytest.mark.parametrize("whole", [True, False], ids=["whole grades", "many fractions"])
def test_rank_distributions_of_a_query_do_not_depend_on_the_others(measure, whole):
    rng = np.random.default_rng(0)
    sizes = [*rng.integers(1, 12, 200), 250, *rng.integers(1, 12, 50)]
    qid = np.repeat(np.arange(len(sizes)), sizes)
    grades = rng.integers(0, 4, len(qid)) if whole else rng.integers(0, 60, len(qid)) / 20
    scores = rng.standard_normal(len(qid))
    objective = gb.SoftRank(measure, normalize=False)
    together = np.transpose(objective.gradients(grades, scores, qid))
    for q in (0, 100, 200, 250):
        rows = qid == q
        alone = np.transpose(objective.gradients(grades[rows], scores[rows]))
        assert np.array_equal(alone, together[rows])


def test_a_pass_with_rank_distributions_takes_many_short_queries_at_a_time_and_bounds_its_memory():
    sizes = np.repeat([10, 1000, 300], [2_000, 2, 10])
    data = group_by_query(np.arange(sizes.sum()) % 3, np.repeat(np.arange(len(sizes)), sizes))
    ranges = gb.SoftRank(gb.nDCG(k=10)).prepared(data, n_jobs=1).ranges
    assert [last for _, last in ranges] == [first for first, _ in ranges[1:]] + [len(sizes)]
    assert len(ranges) <= 16
    assert max((sizes[first:last] ** 2).sum() for first, last in ranges) <= 1 << 22


def test_relevance_may_begin_between_whole_grades():
    rng = np.random.default_rng(0)
    y, scores = rng.integers(0, 2, 20), rng.normal(size=20)
    between, whole = gb.SoftRank(gb.AP(rel=1.5)), gb.SoftRank(gb.AP())
    assert between.value(1.5 * y, scores) == whole.value(y, scores)
