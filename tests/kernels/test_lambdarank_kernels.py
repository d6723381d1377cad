"""LambdaRank's compiled pass, pair by pair and by running sums, against the sum over all pairs."""

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pair_sum import changes_by_parts, summed_pairs, swap_changes
from rankings import spread_scores, thresholds

import gapboost as gb
from gapboost._boosters.gradients import Gradients
from gapboost._kernels import threads
from gapboost._kernels.lambdarank.exponentials import NEAR, factors, fitted_exponentials
from gapboost.data.query_data import group_by_query
from gapboost.evaluation import QueryValues
from gapboost.objectives import lambdarank

# True visits every pair, False uses running sums; None is the choice of the library.
AUTO, DIRECT, SWEEP = None, True, False


MEASURES = {
    "gap": lambda n_grades, k, rng: gb.GAP(g=thresholds(n_grades, rng), k=k),
    "xgap": lambda n_grades, k, rng: gb.xGAP(g=thresholds(n_grades, rng), k=k),
    "egap": lambda n_grades, k, rng: gb.eGAP(g=thresholds(n_grades, rng), k=k),
    "ap": lambda n_grades, k, rng: gb.AP(rel=int(rng.integers(1, n_grades + 1)), k=k),
    "ndcg": lambda n_grades, k, rng: gb.nDCG(k=k),
    "kendall": lambda n_grades, k, rng: gb.KendallTau(k=k and max(k, 2)),
    "p": lambda n_grades, k, rng: gb.Precision(k=k or 7),
    "rbp": lambda n_grades, k, rng: gb.RBP(p=0.9),
    "accuracy": lambda n_grades, k, rng: gb.PairwiseAccuracy(k=40),
    "sum": lambda n_grades, k, rng: (
        0.7 * gb.GAP(g=thresholds(n_grades, rng), k=k) + 0.3 * gb.nDCG(k=10)
    ),
}


def prepared_pass(measure, grades, way, sizes=None, n_jobs=1, **options):
    """Return a pass that takes all lists one way."""
    sizes = [len(grades)] if sizes is None else sizes
    data = group_by_query(grades, np.repeat(np.arange(len(sizes)), sizes))
    objective = gb.LambdaRank(measure, **{"normalize": False, "score_distance": None, **options})
    choice = lambdarank.quicker_by_pairs if way is AUTO else lambda *_: np.full(len(sizes), way)
    with patch.object(lambdarank, "quicker_by_pairs", choice):
        return objective.prepared(data, n_jobs)


def gradients(measure, grades, scores, way, sizes=None, **options):
    grad, hess = np.empty((2, len(grades)))
    prepared_pass(measure, grades, way, sizes, **options)(np.asarray(scores, float), grad, hess)
    return grad, hess


def assert_agree(found, expected, tolerance=1e-9):
    for ours, theirs in zip(found, expected, strict=True):
        assert np.isfinite(ours).all()
        # Where no swap changes anything (P@k of a list shorter than k) what is left is the rounding
        # of sums of as many changes of order 1 as there are documents.
        scale = max(np.abs(theirs).max(), 1e-5, 1e-6 * len(theirs))
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=tolerance * scale)


OPTIONS = {
    "name": st.sampled_from(sorted(MEASURES)),
    "n": st.integers(1, 400),
    "n_grades": st.integers(1, 31),
    "k": st.none() | st.integers(1, 450),
    "truncation": st.none() | st.integers(1, 450),
    "width": st.sampled_from([0.0, 1e-12, 1e-3, 1.0, 5.0, 40.0, 1e3, 1e6]),
    "shape": st.sampled_from(["even", "bell", "tied", "outlier", "equal"]),
    "sigma": st.sampled_from([0.1, 1.0, 3.0]),
    "seed": st.integers(0, 2**32 - 1),
}


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(**OPTIONS)
@example("xgap", 300, 4, None, None, 5.0, "bell", 1.0, 0)
def test_both_ways_agree(name, n, n_grades, k, truncation, width, shape, sigma, seed):
    rng = np.random.default_rng(seed)
    measure = MEASURES[name](n_grades, k, rng)
    grades, scores = rng.integers(0, n_grades + 1, n), spread_scores(n, width, shape, rng)
    one, other = (
        gradients(measure, grades, scores, way, sigma=sigma, truncation=truncation)
        for way in (DIRECT, SWEEP)
    )
    # The hessian carries sigma twice.
    for found in (one, other):
        found[1][:] /= max(sigma, 1)
    assert_agree(one, other)


@pytest.mark.parametrize("score_distance", [None, 0.01, 0.3])
@pytest.mark.parametrize("name", sorted(MEASURES))
def test_equals_the_sum_over_all_pairs(name, score_distance):
    """Lists of 2 to 1,000 documents, both ways, with truncation and without."""
    rng = np.random.default_rng(1)
    for n, width in ((2, 1.0), (9, 0.01), (100, 3.0), (301, 1.0), (1_000, 4.0)):
        for way, sigma, truncation in ((DIRECT, 1.0, None), (SWEEP, 2.0, None), (SWEEP, 1.0, 30)):
            measure = MEASURES[name](4, None, rng)
            grades, scores = rng.integers(0, 5, n), width * rng.standard_normal(n)
            options = {"sigma": sigma, "truncation": truncation, "score_distance": score_distance}
            if score_distance and n < 300:
                way = DIRECT  # a sum of fewer pairs is less exact
            found = gradients(measure, grades, scores, way, **options)
            grad, hess = summed_pairs(measure, grades, scores, **options)
            assert_agree(found[:1], [grad], 1e-8 if score_distance else 1e-10)
            assert_agree(found[1:], [hess], 1e-8 if score_distance else 1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("score_distance", [None, 0.01])
def test_long_lists_equal_the_sum_over_all_pairs(score_distance):
    rng = np.random.default_rng(2)
    grades = rng.choice(5, p=(0.6, 0.25, 0.1, 0.04, 0.01), size=20_000)
    scores = grades + 2 * rng.standard_normal(20_000)
    for measure in (gb.GAP(g=(0.1, 0.2, 0.3, 0.4)), gb.xGAP(g=(0.1, 0.2, 0.3, 0.4)), gb.nDCG()):
        found = gradients(measure, grades, scores, AUTO, score_distance=score_distance)
        expected = summed_pairs(measure, grades, scores, score_distance=score_distance)
        assert_agree(found[:1], expected[:1], 1e-8)
        assert_agree(found[1:], expected[1:], 1e-8)


def test_the_parts_of_a_swap_are_those_of_swap_changes():
    """The oracle's own oracle."""
    rng = np.random.default_rng(3)
    for make in MEASURES.values():
        measure, grades = make(3, None, rng), rng.integers(0, 4, 30)
        ranks = np.arange(30)
        changes = np.triu(changes_by_parts(measure, grades)(ranks[:, None], ranks), 1)
        np.testing.assert_allclose(changes, np.triu(swap_changes(measure, grades), 1), atol=1e-12)


def test_equal_scores_are_not_divided():
    rng = np.random.default_rng(4)
    measure, grades = gb.nDCG(), rng.integers(0, 5, 200)
    equal = np.zeros(200)
    for sigma in (1.0, 3.0):
        one, *others = (
            gradients(measure, grades, equal, AUTO, score_distance=distance, sigma=sigma)
            for distance in (None, 0.01, 1e-4)
        )
        for other in others:
            assert_agree(one, other)


ORDERS = {
    "even": lambda grades, rng: rng.random(len(grades)),
    "related": lambda grades, rng: grades + 2.0 * rng.standard_normal(len(grades)),
    "right": lambda grades, rng: grades + rng.random(len(grades)),
    "wrong": lambda grades, rng: rng.random(len(grades)) - grades,
    "clusters": lambda grades, rng: (
        rng.integers(0, 6, len(grades)) + 1e-6 * rng.random(len(grades))
    ),
}


@pytest.mark.slow(keep=3)
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("distance", [1.0, 1e3, 1e4])
@pytest.mark.parametrize(
    ("sigma", "score_distance"),
    [(0.5, 0.005), (0.5, 5.0), (1.0, 0.01), (1.0, 1e-4), (1e-3, 1e-4), (10.0, 0.01), (10.0, 50.0)],
)
def test_running_sums_for_any_distance(sigma, score_distance, distance, order):
    rng = np.random.default_rng(9)
    grades = rng.choice(5, p=(0.5, 0.25, 0.15, 0.05, 0.05), size=700)
    scores = ORDERS[order](grades, rng)
    scores *= distance / np.ptp(scores)
    options = {"sigma": sigma, "score_distance": score_distance}
    for measure in (gb.xGAP(g=(0.1, 0.2, 0.3, 0.4)), gb.nDCG()):
        found = gradients(measure, grades, scores, SWEEP, **options)
        expected = summed_pairs(measure, grades, scores, **options)
        # In the right order few pairs count, and the largest gradient is small.
        assert_agree(found, expected, 3e-8 if order == "right" else 1e-8)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sigma", "score_distance", "distance"),
    [
        (1.0, 1e-12, 1e2),
        (1e-50, 1e-50, 1.0),
        (1e80, 1e80, 1.0),
        (1.0, 0.01, 1e30),
        (1.0, 1.0, 1e99),
    ],
)
def test_distances_of_any_size(sigma, score_distance, distance):
    rng = np.random.default_rng(4)
    grades, scores = rng.integers(0, 5, 500), distance * rng.random(500)
    options = {"sigma": sigma, "score_distance": score_distance}
    found = gradients(gb.nDCG(), grades, scores, SWEEP, **options)
    expected = summed_pairs(gb.nDCG(), grades, scores, **options)
    size = np.abs(expected).max(axis=1, keepdims=True)
    assert_agree(found / size, expected / size, 1e-8)


def test_scores_that_are_exactly_the_score_distance_apart():
    """Vectors hold documents above the upper one too, at a distance of 0 with its sign."""
    grades, scores = np.arange(20) % 3, -0.25 * np.arange(20.0)
    found = gradients(gb.nDCG(), grades, scores, DIRECT, score_distance=0.25)
    assert_agree(found, summed_pairs(gb.nDCG(), grades, scores, score_distance=0.25), 1e-12)


@pytest.mark.parametrize("epsilon", [1e-12, 1e-5, 0.009, 0.01, 0.025, 0.1, 1.0, 3.0, 50.0, 1e4])
@pytest.mark.parametrize("farthest", [NEAR, 1e3, 1e6])
def test_sums_of_exponentials_are_as_exact_as_they_say(epsilon, farthest):
    x = np.append(np.geomspace(1e-4 * epsilon, farthest, 20_001), np.linspace(0.0, 30.0, 3_001))
    sums = fitted_exponentials(epsilon, farthest)
    distance, allowed = epsilon + x, 1e-9
    if sums.visits == 1:
        distance, allowed = np.minimum(epsilon + x, 4.0), 3e-9
    error = errors_of_sums(x, sums) * distance[:, None]
    assert error.max() < allowed


def test_sums_of_powers_are_as_exact_as_they_say():
    x = np.concatenate([np.linspace(0.0, 40.0, 100_001), [1e3, 1e300]])
    errors = errors_of_sums(x, fitted_exponentials(0.0))
    assert (errors.max(axis=0) < (1.2e-12, 1.2e-12, 1.4e-11)).all()
    assert errors[-1].max() == 0.0


def errors_of_sums(x, sums):
    """Errors of the sums of exponentials at x, by factor."""
    rates, *coefficients = sums.numbers.swapaxes(0, 1).reshape(4, -1)
    with np.errstate(over="ignore"):
        found = np.exp(-np.outer(x, rates)) @ np.transpose(coefficients)
    return np.abs(found - factors(x, sums.epsilon))


@pytest.mark.parametrize("score_distance", [None, 0.01])
@pytest.mark.parametrize("sigma_times_range", [1e-300, 1.0, 79.0, 709.0, 1e12, 1e300])
@pytest.mark.parametrize("way", [SWEEP, DIRECT])
def test_nothing_overflows(way, sigma_times_range, score_distance):
    rng = np.random.default_rng(0)
    grades = rng.integers(0, 4, 500)
    for shape in ("even", "bell", "tied", "outlier", "equal"):
        scores = spread_scores(500, sigma_times_range, shape, rng)
        measure = gb.GAP(g=(0.3, 0.3, 0.4))
        grad, hess = gradients(measure, grades, scores, way, score_distance=score_distance)
        assert np.isfinite(grad).all()
        assert np.isfinite(hess).all()
        assert (hess > 0).all()


def test_as_many_grades_as_there_may_be():
    rng = np.random.default_rng(2)
    grades = rng.permutation(256) % 64
    measure = gb.GAP(g=tuple(np.full(63, 1 / 63)))
    scores = grades / 12 + rng.standard_normal(256)
    expected = summed_pairs(measure, grades, scores)
    for way in (SWEEP, DIRECT):
        assert_agree(gradients(measure, grades, scores, way), expected)


def test_lists_of_mixed_lengths_do_not_disturb_each_other():
    rng = np.random.default_rng(3)
    sizes = rng.permutation([1, 2, 3, 7, 8, 9, 63, 64, 65, 127, 128, 129, 700, 1, 1500])
    grades = rng.integers(0, 5, sizes.sum())
    scores = rng.standard_normal(sizes.sum())
    for measure in (gb.eGAP(g=(0.1, 0.2, 0.3, 0.4)), gb.ERR(top=4)):
        for distance in (None, 0.01):
            together = gradients(measure, grades, scores, AUTO, sizes, score_distance=distance)
            for end, size in zip(np.cumsum(sizes), sizes, strict=True):
                rows = slice(end - size, end)
                alone = gradients(
                    measure, grades[rows], scores[rows], AUTO, score_distance=distance
                )
                np.testing.assert_array_equal(np.array(together)[:, rows], alone)


def test_tables_that_are_not_kept_give_the_same(monkeypatch):
    """Tables of many grades are made anew, for some queries at a time."""
    rng = np.random.default_rng(5)
    sizes = np.full(60, 40)
    grades, scores = rng.integers(0, 60, sizes.sum()), rng.standard_normal(sizes.sum())
    kept = gradients(gb.nDCG(gains="linear"), grades, scores, AUTO, sizes)
    data = group_by_query(grades, np.repeat(np.arange(60), sizes))
    keeping = QueryValues([gb.nDCG(), gb.RR()], data)
    values = keeping(scores)
    for name in ("KEPT_BYTES", "KEPT_BYTES_PER_DOCUMENT"):
        monkeypatch.setattr(threads, name, 0)
    making = QueryValues([gb.nDCG(), gb.RR()], data)
    np.testing.assert_array_equal([making(scores), keeping(scores)], [values, values])
    assert (len(making.kept), len(keeping.kept)) == (0, len(keeping.tasks))
    made = prepared_pass(gb.nDCG(gains="linear"), grades, AUTO, sizes)
    assert made.kept is None
    found = np.empty((2, sizes.sum()))
    made(scores, *found)
    np.testing.assert_array_equal(found, kept)


def test_scores_that_are_float32_and_read_only_are_read_and_results_are_rounded_at_the_end():
    rng = np.random.default_rng(6)
    grades, scores = rng.integers(0, 5, 300), rng.standard_normal(300).astype(np.float32)
    scores.flags.writeable = False
    objective, data = gb.LambdaRank(gb.nDCG()), group_by_query(grades, None)
    found = Gradients(objective, data)(scores)
    assert [array.dtype for array in found] == [np.float32, np.float32]
    expected = objective.gradients(grades, scores.astype(float))
    np.testing.assert_array_equal(found, np.float32(expected))
