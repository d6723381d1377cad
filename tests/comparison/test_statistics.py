"""Verdicts on simulated values with a known difference: clusters, crossed clusters, families."""

import numpy as np
import pytest
from scipy import stats

from gapboost.analysis.standard_errors import (
    AHEAD,
    BEHIND,
    EQUAL,
    EQUIVALENT,
    INCONCLUSIVE,
    Estimate,
    noncentrality,
    one_way_clustered,
    two_way_clustered,
)
from gapboost.comparison.result import compare_pair

# Queries of each fold, as unequal as those of LETOR's collections.
SIZES = (40, 40, 36, 30, 54)
# Share of comparisons that find a true difference, as the report states it.
STATED = 0.8
SPREAD, OF_MODELS = 0.2, 0.02


def values_of_pair(rng, sizes=SIZES, ahead=0.0, of_models=OF_MODELS):
    """Draw values of two rankers for each fold; models of the first one are shifted."""
    folds = []
    for n in sizes:
        theirs = rng.uniform(0.2, 0.8, n)
        ours = theirs + ahead + rng.normal(scale=of_models) + rng.normal(scale=SPREAD, size=n)
        folds.append((ours, theirs))
    return folds


def queries_of(folds):
    """Return other queries for each fold."""
    ends = np.cumsum([len(ours) for ours, _ in folds])
    return np.split(np.arange(ends[-1]), ends[:-1])


def compared(folds, queries=None, confidence=0.95, family=1):
    return compare_pair(
        folds, queries_of(folds) if queries is None else queries, confidence, family
    )


def repeated(rng, n, of_models, interaction=0.5):
    """Draw values of two equal rankers and the queries of each fold: five folds, three times."""
    of_queries = rng.normal(scale=SPREAD * np.sqrt(1 - interaction), size=n)
    queries = [part for _ in range(3) for part in np.array_split(rng.permutation(n), 5)]
    values = []
    for part in queries:
        own = rng.normal(scale=SPREAD * np.sqrt(interaction), size=len(part))
        ours = of_queries[part] + rng.normal(scale=of_models) + own
        values.append((ours, np.zeros(len(part))))
    return values, queries


UNEQUAL = (100, 20, 20, 20, 20, 20)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sizes", "of_models"),
    [(SIZES, 0.0), ((25,) * 10, 0.1), ((150, 150, 150), 0.1), (UNEQUAL, 0.0), (UNEQUAL, 0.02)],
    ids=str,
)
def test_two_equal_rankers_differ_in_one_of_twenty_comparisons(sizes, of_models):
    rng = np.random.default_rng(0)
    p = [compared(values_of_pair(rng, sizes, of_models=of_models))["p"] for _ in range(500)]
    assert np.mean(np.array(p) < 0.05) <= 0.07
    assert np.mean(np.array(p) < 0.5) > 0.4


@pytest.mark.parametrize("family", [1, 4])
def test_a_detectable_difference_is_that_of_the_corrected_level(family):
    folds = values_of_pair(np.random.default_rng(5))
    estimate = one_way_clustered([ours - theirs for ours, theirs in folds])
    expected = noncentrality(estimate.freedom, 0.2 / family) * estimate.error
    found = compared(folds, confidence=0.8, family=family)["detectable"]
    assert found == pytest.approx(expected)


@pytest.mark.parametrize("family", [1, 4])
@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_the_verdict_is_that_of_the_interval_and_of_p(family, confidence):
    rng = np.random.default_rng(13)
    words = set()
    for _ in range(300):
        mean, error = rng.normal(scale=(0.02, 0.01))
        estimate = Estimate(mean, abs(error), rng.uniform(2, 30))
        verdict = estimate.verdict(confidence, family)
        low, high = estimate.interval(confidence, family)
        words.add(verdict)
        assert verdict == (AHEAD if low > 0 else BEHIND if high < 0 else INCONCLUSIVE)
        assert (verdict == INCONCLUSIVE) == (family * estimate.p > 1 - confidence)
    assert words == {AHEAD, BEHIND, INCONCLUSIVE}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "of_models", "interaction"),
    [(50, 0.0, 0.5), (50, 0.02, 0.2), (50, 0.02, 1.0), (50, 0.1, 0.5), (200, 0.1, 0.5)],
)
def test_repeats_have_few_false_alarms(n, of_models, interaction):
    rng = np.random.default_rng(14)
    alarms = 0
    for _ in range(500):
        values, queries = repeated(rng, n, of_models=of_models, interaction=interaction)
        alarms += compared(values, queries)["verdict"] != INCONCLUSIVE
    assert alarms / 500 <= 0.07


def test_crossed_clusters_are_those_of_two_regressions():
    """Sum the clusters' residuals by hand: queries, plus models, less single values."""
    rng = np.random.default_rng(16)
    values, queries = repeated(rng, 20, of_models=0.5)
    d = np.concatenate([ours for ours, _ in values])
    q, m = np.concatenate(queries), np.repeat(np.arange(15), [len(part) for part in queries])
    apart = d - d.mean()
    of_queries = sum(apart[q == i].sum() ** 2 for i in range(20)) * 20 / 19
    of_models = sum(apart[m == i].sum() ** 2 for i in range(15)) * 15 / 14
    estimate = two_way_clustered(d, q, m)
    assert estimate.mean == pytest.approx(d.mean())
    assert estimate.error == pytest.approx(np.sqrt(of_queries + of_models - (apart**2).sum()) / 60)
    assert estimate.freedom == 14
    # Models that share nothing: the error is that of the queries' means.
    alike = two_way_clustered(
        np.tile(np.arange(20.0), 3), np.tile(np.arange(20), 3), np.repeat(np.arange(3), 20)
    )
    assert alike.error == pytest.approx(stats.sem(np.arange(20.0)))


def test_the_error_is_the_one_of_bell_and_mccaffrey():
    """Compute the error by the general definition, in matrices, for folds of unequal size."""
    folds = [
        ours - theirs for ours, theirs in values_of_pair(np.random.default_rng(11), (50, 20, 9, 4))
    ]
    n = sum(map(len, folds))
    beyond = np.eye(n) - 1 / n
    residuals, begin, variance, columns = (
        np.concatenate(folds) - np.concatenate(folds).mean(),
        0,
        0.0,
        [],
    )
    for fold in folds:
        rows = slice(begin, begin := begin + len(fold))
        values, vectors = np.linalg.eigh(beyond[rows, rows])
        weights = (vectors / np.sqrt(values)) @ vectors.T @ np.full(len(fold), 1 / n)
        variance += (weights @ residuals[rows]) ** 2
        columns.append(beyond[:, rows] @ weights)
    products = np.array(columns) @ np.array(columns).T
    estimate = one_way_clustered(folds)
    assert estimate.error == pytest.approx(np.sqrt(variance), rel=1e-9)
    assert estimate.freedom == pytest.approx(
        np.trace(products) ** 2 / (products**2).sum(), rel=1e-9
    )


@pytest.mark.parametrize("family", [1, 3, 1000])
def test_one_fold_is_a_t_test_of_its_queries_corrected_for_the_family(family):
    (fold,) = values_of_pair(np.random.default_rng(8), (50,), ahead=0.05)
    expected = min(1, family * stats.ttest_rel(*fold).pvalue)
    assert compared([fold], family=family)["p"] == pytest.approx(expected)


def test_nothing_differs():
    values = np.random.default_rng(9).random(20)
    row = compared([(values, values * (1 + 1e-15))] * 4)
    assert (row["verdict"], row["p"], row["low"], row["high"]) == (EQUAL, 1.0, 0.0, 0.0)


def test_against_statsmodels():
    power = pytest.importorskip("statsmodels.stats.power")
    for n in (5, 10, 41):
        effect = power.TTestPower().solve_power(nobs=n, alpha=0.05, power=STATED)
        assert noncentrality(n - 1, 0.05) == pytest.approx(effect * np.sqrt(n), rel=2e-3)


def test_equivalent_is_two_one_sided_tests_corrected_for_the_family():
    margin, error = 0.003, 0.001
    words = set()
    for family in (1, 4):
        for mean in (0.0, 0.0005, 0.001, 0.0015, -0.0015, 0.0029):
            p = max(
                stats.t.sf((margin - mean) / error, 20), stats.t.sf((mean + margin) / error, 20)
            )
            estimate = Estimate(mean, error, 20)
            assert estimate.within(margin, 0.95, family) == (p < 0.05 / family)
            words.add((estimate.verdict(family=family, margin=margin), p < 0.05 / family))
            assert estimate.verdict(family=family) in (INCONCLUSIVE, AHEAD, BEHIND)
    assert words >= {(EQUIVALENT, True), (INCONCLUSIVE, False)}


@pytest.mark.parametrize("splits", [1, 4])
def test_a_constant_difference_has_no_error_and_decides_nothing(splits):
    folds = [(np.array([0.5, 0.7, 0.3]), np.array([0.4, 0.6, 0.2]))] * splits
    row = compared(folds)
    assert row["difference"] == pytest.approx(0.1)
    assert row["verdict"] == INCONCLUSIVE
    assert np.isnan([row[name] for name in ("p", "low", "high", "detectable", "t-test p")]).all()
    assert Estimate(0.1, 0.0, 4).verdict() == INCONCLUSIVE
    assert Estimate(0.0, 0.0, 4).p == 1.0
