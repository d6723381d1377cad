"""Paired tests over queries."""

import itertools
import tracemalloc
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import gapboost as gb
from gapboost.analysis import significance, tau_ap
from gapboost.evaluation import PerQuery


@pytest.fixture(scope="module")
def pair():
    rng = np.random.default_rng(0)
    a = rng.beta(2, 3, size=40)
    b = np.clip(a - 0.03 + 0.1 * rng.normal(size=40), 0, 1)
    b[:5] = a[:5]
    return a, b


def test_the_tests_are_scipys(pair):
    a, b = pair
    result = significance(a, b, random_state=0)
    reference = stats.ttest_rel(a, b)
    assert result.difference == pytest.approx((a - b).mean())
    assert result.t == pytest.approx(reference.pvalue)
    assert result.interval == pytest.approx(tuple(reference.confidence_interval(0.95)))
    assert result.effect_size == pytest.approx((a - b).mean() / (a - b).std(ddof=1))
    assert result.wilcoxon == pytest.approx(stats.wilcoxon((a - b)[a != b]).pvalue)
    better, equal, worse = result.counts
    assert (better, equal, worse) == ((a > b).sum(), 5, (a < b).sum())
    assert result.sign == pytest.approx(stats.binomtest(better, better + worse).pvalue)
    assert result.randomization == pytest.approx(result.t, abs=0.02)
    half = significance(a, b, confidence=0.5, random_state=0).interval
    assert half == pytest.approx(tuple(reference.confidence_interval(0.5)))


@pytest.mark.parametrize(
    "d",
    [
        [0.1, 0.2, -0.3, 0.05, -0.05],
        [0.3, -0.1, -0.2],
        [1e-3, 0.4, 0.4, -0.4, -0.4],
        [0.1, 0.1, 0.1, 0.7, 0.2, 0.2],
    ],
)
def test_randomization_takes_sums_that_differ_by_rounding_for_equal(d):
    """Compare with exact fractions over all signs; sums that cancel are equally far from 0."""
    exact = [Fraction(str(x)) for x in d]
    sums = [
        sum(s * x for s, x in zip(signs, exact, strict=True))
        for signs in itertools.product((1, -1), repeat=len(d))
    ]
    expected = np.mean([abs(total) >= abs(sum(exact)) for total in sums])
    assert significance(d, np.zeros(len(d))).randomization == expected


def test_randomization_is_exact_up_to_n_resamples_and_drawn_beyond():
    d = np.arange(1.0, 7.0)
    exact = significance(d, np.zeros(6), n_resamples=64, random_state=0).randomization
    assert exact == 2 / 64
    drawn = significance(d, np.zeros(6), n_resamples=63, random_state=0).randomization
    assert drawn * 64 == round(drawn * 64) >= 1  # the observed signs are one of 64


@pytest.mark.slow
def test_many_queries_need_little_memory():
    d = np.random.default_rng(0).normal(0.01, 1, 5000)
    tracemalloc.start()
    result, again = (
        significance(d, np.zeros(len(d)), n_resamples=800, random_state=0) for _ in range(2)
    )
    assert tracemalloc.get_traced_memory()[1] < 200e6
    tracemalloc.stop()
    assert again.randomization == result.randomization
    assert result.randomization == pytest.approx(result.t, abs=0.1)


# --- rounding is no win ---------------------------------------------------------------------------


def test_rounding_is_no_win():
    """Sums in another order are equal on all 300 queries, and nothing is significant."""
    # P@10 as a count over ten and as a sum of tenths. Python's sum has no rounding from 3.12 on.
    counts = np.random.default_rng(0).integers(1, 11, 300)
    by_count, by_sum = counts / 10, np.cumsum(np.full(10, 0.1))[counts - 1]
    assert (by_count != by_sum).sum() > 100
    for first, second in ((by_count, by_sum), (by_sum, by_count)):
        result = significance(first, second, random_state=0)
        assert result.counts == (0, 300, 0)
        assert (result.t, result.wilcoxon, result.sign, result.randomization) == (1, 1, 1, 1)
        assert result.difference == 0
        assert np.isnan(result.interval).all()


def test_rounding_does_not_tell_tied_differences_apart():
    """Differences such as .9 - .8 and .4 - .3 are tied: all tests give what whole numbers give."""
    rng = np.random.default_rng(1)
    a, b = rng.integers(0, 11, (2, 40))
    found, exact = significance(a / 10, b / 10, random_state=0), significance(a, b, random_state=0)
    assert len(set((a / 10 - b / 10).tolist())) > len(set((a - b).tolist()))
    assert found.counts == exact.counts
    assert (found.wilcoxon, found.sign, found.randomization) == (
        exact.wilcoxon,
        exact.sign,
        exact.randomization,
    )
    assert found.t == pytest.approx(exact.t)


def test_many_small_differences_do_not_hide_each_other():
    """Differences are closer to each other than rounding, as for two similar rankers."""
    d = np.linspace(0, 1e-10, 1001)
    _, equal, worse = significance(0.5 + d, np.full(1001, 0.5)).counts
    assert (equal in (5, 6), worse) == (True, 0)  # 5e-13 is rounding beside values of one half


def test_values_that_cancel_to_zero_but_for_rounding():
    """Rounding is relative to the largest value, not to values near 0.

    Kendall's tau of 0 adds up to some 1e-17.
    """
    a, b = np.array([1e-17, 0.0, 0.5, -2e-17]), np.array([0.0, -1e-17, 0.25, 0.0])
    assert significance(a, b).counts == (1, 3, 0)


def test_queries_without_a_value_are_left_out():
    result = significance([0.5, np.nan, 0.7, 0.2], [0.4, np.nan, 0.8, 0.3])
    assert result.differences.tolist() == pytest.approx([0.1, -0.1, -0.1])
    assert result.to_pandas().loc["df, t-test", "value"] == result.df == 2


@pytest.mark.parametrize(
    ("form", "named"),
    [
        (list, "row 1, from 0 on"),
        (lambda values: pd.Series(values, list("abc")), "query b"),
        (lambda values: PerQuery({"ap": np.array(values)}, np.array([7, 8, 9])), "query 8"),
    ],
)
def test_a_query_with_a_value_in_one_ranker_alone_is_refused(form, named):
    full, lacking = form([0.4, 0.3, 0.7]), form([0.5, np.nan, 0.1])
    for pair, name in (((lacking, full), "first"), ((full, lacking), "second")):
        with pytest.raises(ValueError, match=f"^{name} has NaN for {named}, "):
            significance(*pair)


# --- paired by query id ---------------------------------------------------------------------------

AP, GAP = gb.AP(), gb.GAP(g=(0.5, 0.5))


def test_queries_are_paired_by_id_not_by_the_order_of_rows():
    """Two evaluations of the same queries whose rows come in another order."""
    rng = np.random.default_rng(0)
    y, qid = rng.integers(0, 3, 200), np.repeat([f"q{i}" for i in range(20)], 10)
    first, second = rng.normal(size=(2, 200)) + 0.3 * y
    order = rng.permutation(200)
    a = gb.evaluate([GAP, AP], y, first, qid, per_query=True)
    b = gb.evaluate([AP, GAP], y, second, qid, per_query=True)
    mixed = gb.evaluate([GAP, AP], y[order], second[order], qid[order], per_query=True)
    assert mixed.qid.tolist() != a.qid.tolist()
    expected = significance(a[GAP], b[GAP], random_state=0)
    found = significance(a, mixed, measure=GAP, random_state=0)
    np.testing.assert_allclose(found.differences, expected.differences, rtol=0, atol=1e-15)
    assert (found.t, found.wilcoxon, found.randomization) == pytest.approx(
        (expected.t, expected.wilcoxon, expected.randomization)
    )


def of(qid, *measures):
    return PerQuery({measure: np.arange(len(qid)) / 9 for measure in measures}, np.array(list(qid)))


@pytest.mark.parametrize(
    ("values", "named"), [(of("aab", AP), "second"), (of("abc", AP, GAP), "measure")]
)
def test_values_that_cannot_be_paired(values, named):
    with pytest.raises(ValueError, match=named):
        significance(values, values)


def test_series_are_paired_by_their_index():
    first = pd.Series([0.5, 0.7, 0.9, 0.1], index=list("abcd"))
    second = pd.Series([0.4, 0.5, 0.8, 0.2], index=list("abcd"))
    expected = significance(first.to_numpy(), second.to_numpy(), random_state=0).differences
    for other in (second, second[::-1], second.sample(frac=1, random_state=0)):
        found = significance(first, other, random_state=0)
        np.testing.assert_array_equal(found.differences, expected)
        assert tau_ap(first, other) == tau_ap(first.to_numpy(), second.to_numpy())
    twice = pd.Series([0.4, 0.5, 0.8, 0.2], index=list("aabb"))
    np.testing.assert_array_equal(
        significance(first.set_axis(list("aabb")), twice).differences, expected
    )
    for wrong in (second.set_axis(list("abce")), second.reset_index(drop=True), twice, second[:3]):
        for compare in (significance, tau_ap):
            with pytest.raises(ValueError, match="index"):
                compare(first, wrong)
    # Position decides where one has no index.
    np.testing.assert_array_equal(significance(first, second.to_numpy()).differences, expected)


@pytest.mark.parametrize("n", [2, 3, 40])
@pytest.mark.parametrize("shift", [0.25, -0.1, 1e-9])
def test_differences_that_do_not_vary_have_no_t_and_no_interval(n, shift):
    """The other tests need no deviation: they count how many queries agree."""
    a = np.linspace(0.3, 0.7, n)
    result = significance(a + shift, a, random_state=0)
    assert np.isnan([result.t, result.effect_size, *result.interval]).all()
    assert result.difference == pytest.approx(shift)
    assert result.sign == pytest.approx(2 * 0.5**n)
    assert result.randomization == pytest.approx(max(2 * 0.5**n, 1 / 20_001))
    assert result.to_pandas().loc["p, t-test", "value"] != 0


NOT_PAIRS = [
    ([1.0, 2.0], [1.0]),
    ([1.0, np.nan], [2.0, np.nan]),
    ([1.0, 2.0, np.inf], [2.0, 1.0, np.inf]),
    ([1.0, 1.7e308], [2.0, -1.7e308]),
]


@pytest.mark.parametrize("arguments", NOT_PAIRS)
def test_bad_input(arguments):
    with pytest.raises(ValueError, match=r"first|queries have values"):
        significance(*arguments)
