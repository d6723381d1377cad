"""Verdicts on made values with a known difference, with models as clusters."""

import numpy as np
import pytest
from cheap_rankers import Noisy, made
from scipy import stats

from gapboost.analysis.estimates import Estimate, clustered, holm, noncentrality, overlapping_folds
from gapboost.comparison import compare_rankers
from gapboost.comparison.verdicts import AHEAD, BEHIND, INCONCLUSIVE, Verdict, verdicts

# Queries of each fold, as unequal as those of LETOR's collections.
SIZES = (40, 40, 36, 30, 54)
MEASURES = ("gap", "ndcg", "map")
# Share of comparisons that find a true difference, as the report states it.
STATED = 0.8
SPREAD, OF_MODELS = 0.2, 0.02


def values_of_pair(rng, sizes=SIZES, ahead=0.0, of_models=OF_MODELS, spread=SPREAD):
    """Draw values of two rankers on the queries of each fold: the first one's models are shifted."""
    folds = []
    for n in sizes:
        theirs = rng.uniform(0.2, 0.8, n)
        ours = theirs + ahead + rng.normal(scale=of_models) + rng.normal(scale=spread, size=n)
        folds.append((ours, theirs))
    return folds


def verdict_on(folds, confidence=0.95):
    (verdict,) = verdicts({("a", "b", "gap"): folds}, confidence)
    return verdict


def true_error(sizes, of_models=OF_MODELS, spread=SPREAD):
    sizes = np.array(sizes)
    return np.sqrt(of_models**2 * (sizes**2).sum() / sizes.sum() ** 2 + spread**2 / sizes.sum())


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize("sizes", [SIZES, (25,) * 10, (150, 150, 150), (100, 20, 20, 20, 20, 20)], ids=str)
@pytest.mark.parametrize("of_models", [0.0, 0.02, 0.1])
def test_two_equal_rankers_differ_in_one_of_twenty_comparisons(sizes, of_models):
    rng = np.random.default_rng(0)
    p = [verdict_on(values_of_pair(rng, sizes, of_models=of_models)).p for _ in range(500)]
    assert np.mean(np.array(p) < 0.05) <= 0.07
    assert np.mean(np.array(p) < 0.5) > 0.4


@pytest.mark.slow
def test_two_equal_rankers_differ_by_any_measure_in_one_of_twenty_comparisons():
    rng = np.random.default_rng(1)
    alarms = 0
    for _ in range(400):
        found = verdicts({("a", "b", measure): values_of_pair(rng) for measure in MEASURES})
        alarms += any(verdict.verdict != INCONCLUSIVE for verdict in found)
    assert 0.02 <= alarms / 400 <= 0.07


@pytest.mark.slow
def test_seeds_are_no_further_clusters():
    """Models of a fold share its rows: only their mean counts as a cluster."""
    rng = np.random.default_rng(2)
    by_fold, by_model = 0, 0
    for _ in range(300):
        seeds = []
        for n in SIZES:
            of_fold = rng.normal(scale=0.05)
            seeds.append(of_fold + rng.normal(scale=0.01, size=(3, 1)) + rng.normal(scale=0.1, size=n))
        means = [(differences.mean(axis=0), np.zeros(differences.shape[1])) for differences in seeds]
        by_fold += verdict_on(means).verdict != INCONCLUSIVE
        by_model += clustered([model for fold in seeds for model in fold]).p < 0.05
    assert by_fold / 300 <= 0.07
    assert by_model / 300 > 0.2


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize("confidence", [0.8, 0.95])
@pytest.mark.parametrize("of_models", [0.0, 0.05])
def test_intervals_cover_what_they_claim(confidence, of_models):
    rng = np.random.default_rng(3)
    covered = 0
    for _ in range(600):
        low, high = verdict_on(values_of_pair(rng, ahead=0.03, of_models=of_models), confidence).interval
        covered += low < 0.03 < high
    assert covered / 600 == pytest.approx(confidence, abs=0.03)


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize("sizes", [(40,) * 5, (25,) * 10], ids=str)
@pytest.mark.parametrize("sign", [1, -1])
def test_a_planted_difference_is_found_as_often_as_stated(sizes, sign):
    rng = np.random.default_rng(4)
    planted = sign * Estimate(0.0, true_error(sizes), len(sizes) - 1).detectable()
    found = [verdict_on(values_of_pair(rng, sizes, ahead=planted)).verdict for _ in range(500)]
    assert found.count(AHEAD if sign > 0 else BEHIND) / 500 == pytest.approx(STATED, abs=0.05)
    assert found.count(BEHIND if sign > 0 else AHEAD) == 0


@pytest.mark.slow
def test_with_the_needed_queries_a_difference_is_found_as_often_as_stated():
    rng = np.random.default_rng(5)
    seen = Estimate(0.02, true_error((40,) * 5, of_models=0.0), 4)
    needed = Verdict("a", "b", "gap", seen, 200, seen.p, 0.95, 1).queries_needed
    sizes = (round(needed / 5),) * 5
    found = [verdict_on(values_of_pair(rng, sizes, ahead=0.02, of_models=0.0)).verdict for _ in range(300)]
    assert needed > 200
    assert found.count(AHEAD) / 300 == pytest.approx(STATED, abs=0.06)


def test_what_is_stated_counts_all_verdicts():
    folds = values_of_pair(np.random.default_rng(6), ahead=0.01)
    alone = verdict_on(folds)
    several = verdicts({("a", "b", measure): folds for measure in MEASURES})
    assert [verdict.p for verdict in several] == pytest.approx([min(1.0, 3 * alone.p)] * 3)
    assert several[0].interval == alone.interval
    assert several[0].queries_needed > alone.queries_needed


def test_equal_folds_are_a_t_test_of_their_means():
    folds = values_of_pair(np.random.default_rng(7), (30,) * 6, ahead=0.01)
    verdict = verdict_on(folds)
    tested = stats.ttest_1samp([(a - b).mean() for a, b in folds], 0.0)
    assert verdict.p == pytest.approx(tested.pvalue, rel=1e-9)
    assert verdict.interval == pytest.approx(tuple(tested.confidence_interval(0.95)), rel=1e-9)


def test_the_error_is_the_one_of_bell_and_mccaffrey():
    """Compute it in matrices, as they define it for any regression: on a constant, with unequal folds."""
    folds = [ours - theirs for ours, theirs in values_of_pair(np.random.default_rng(11), (50, 20, 9, 4))]
    n = sum(map(len, folds))
    beyond = np.eye(n) - 1 / n
    residuals, begin, variance, columns = np.concatenate(folds) - np.concatenate(folds).mean(), 0, 0.0, []
    for fold in folds:
        rows = slice(begin, begin := begin + len(fold))
        values, vectors = np.linalg.eigh(beyond[rows, rows])
        weights = (vectors / np.sqrt(values)) @ vectors.T @ np.full(len(fold), 1 / n)
        variance += (weights @ residuals[rows]) ** 2
        columns.append(beyond[:, rows] @ weights)
    products = np.array(columns) @ np.array(columns).T
    estimate = clustered(folds)
    assert estimate.error == pytest.approx(np.sqrt(variance), rel=1e-9)
    assert estimate.freedom == pytest.approx(np.trace(products) ** 2 / (products**2).sum(), rel=1e-9)


def test_folds_that_share_training_queries():
    """The corrected resampled t-test as Nadeau and Bengio (2003) define it: (1/k + n_test/n_train) s^2."""
    means = np.array([0.01, 0.03, 0.02, -0.01, 0.02])
    estimate = overlapping_folds(means, 20, 60)
    t = means.mean() / np.sqrt((1 / 5 + 20 / 60) * means.var(ddof=1))
    assert estimate.freedom == 4
    assert estimate.p == pytest.approx(2 * stats.t.sf(abs(t), 4), rel=1e-12)
    independent = stats.ttest_1samp(means, 0.0).confidence_interval(0.95)
    wider = np.diff(estimate.interval()) / np.diff(independent)
    assert wider == pytest.approx(np.sqrt(1 + 5 / 3), rel=1e-12)


@pytest.mark.slow
def test_folds_without_an_effect_differ_in_one_of_twenty_comparisons():
    """Each fold has noise of its queries and, as its training sets overlap, noise that all folds share."""
    rng = np.random.default_rng(13)
    shared = rng.normal(scale=np.sqrt(0.25), size=(4000, 1))
    folds = rng.normal(scale=np.sqrt(0.75), size=(4000, 5)) + shared
    # A correlation of n_test / (n_test + n_train), which the correction assumes.
    alarms = [overlapping_folds(means, 20, 60).p < 0.05 for means in folds]
    assert np.mean(alarms) == pytest.approx(0.05, abs=0.012)


def test_one_fold_is_a_t_test_of_its_queries():
    (fold,) = values_of_pair(np.random.default_rng(8), (50,), ahead=0.05)
    assert verdict_on([fold]).p == pytest.approx(stats.ttest_rel(*fold).pvalue)


def test_nothing_differs():
    values = np.random.default_rng(9).random(20)
    verdict = verdict_on([(values, values * (1 + 1e-15))] * 4)
    assert (verdict.verdict, verdict.p, verdict.queries_needed) == (INCONCLUSIVE, 1.0, np.inf)


@pytest.mark.parametrize("freedom", [4, 9, 40.5])
@pytest.mark.parametrize("level", [0.05, 0.01])
def test_power_is_that_of_the_non_central_t(freedom, level):
    delta, critical = noncentrality(freedom, level), stats.t.ppf(1 - level / 2, freedom)
    assert stats.nct.sf(critical, freedom, delta) == pytest.approx(STATED, abs=2e-3)


def test_against_statsmodels():
    multitest = pytest.importorskip("statsmodels.stats.multitest")
    power = pytest.importorskip("statsmodels.stats.power")
    regression = pytest.importorskip("statsmodels.regression.linear_model")
    p = np.random.default_rng(10).random(12) ** 3
    assert list(holm(dict(enumerate(p))).values()) == pytest.approx(
        sorted(multitest.multipletests(p, method="holm")[1]), rel=1e-12
    )
    for n in (5, 10, 41):
        effect = power.TTestPower().solve_power(nobs=n, alpha=0.05, power=STATED)
        assert noncentrality(n - 1) == pytest.approx(effect * np.sqrt(n), rel=2e-3)
    # With folds of equal size Bell and McCaffrey's variance is the one of clusters times n / (n - 1).
    folds = [ours - theirs for ours, theirs in values_of_pair(np.random.default_rng(12), (30,) * 6)]
    groups = {"groups": np.repeat(np.arange(6), 30), "use_correction": False}
    fitted = regression.OLS(np.concatenate(folds), np.ones(180)).fit(cov_type="cluster", cov_kwds=groups)
    assert clustered(folds).error == pytest.approx(fitted.bse[0] * np.sqrt(6 / 5), rel=1e-9)


# -------------------------------------------------------------------------------------------------- whole comparisons


@pytest.mark.slow
def test_a_ranker_beside_itself_with_other_seeds():
    """200 comparisons of three measures, trained and tested: any of them says ahead or behind in at most 7 %."""
    alarms = 0
    for number in range(200):
        X, y, qid = made(40, 5, seed=number)
        rankers = {"one": Noisy(0.5, 2 * number), "itself": Noisy(0.5, 2 * number + 1)}
        found = compare_rankers(X, y, qid, rankers, measures=["gap", "ndcg@10", "map"], cv=5, seeds=1, progress=False)
        alarms += any(verdict.verdict != INCONCLUSIVE for verdict in found.verdicts())
    assert alarms / 200 <= 0.07
