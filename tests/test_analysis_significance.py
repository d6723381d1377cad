"""Paired tests over queries."""

import itertools

import numpy as np
import pytest
from scipy import stats

from gapboost.analysis import significance


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
    assert significance(a, b, confidence=0.5, random_state=0).interval == pytest.approx(
        tuple(reference.confidence_interval(0.5))
    )


def test_randomization_over_all_signs():
    a, b = np.array([0.9, 0.5, 0.7, 0.8, 0.3, 0.6]), np.array([0.5, 0.4, 0.75, 0.5, 0.3, 0.2])
    d = a - b
    means = [np.mean(d * signs) for signs in itertools.product((1, -1), repeat=6)]
    expected = np.mean([abs(mean) >= abs(d.mean()) - 1e-12 for mean in means])
    assert significance(a, b).randomization == pytest.approx(expected)


def test_sampled_randomization_is_near_the_t_test(pair):
    first, again = (significance(*pair, random_state=7) for _ in range(2))
    assert first.randomization == again.randomization
    assert first.randomization == pytest.approx(first.t, abs=0.02)


def test_symmetric(pair):
    a, b = pair
    one, other = significance(a, b, random_state=0), significance(b, a, random_state=0)
    assert one.difference == -other.difference
    assert (one.t, one.wilcoxon, one.sign) == pytest.approx((other.t, other.wilcoxon, other.sign))


def test_significant_only_where_three_tests_agree(pair):
    a, b = pair
    result = significance(a, b, random_state=0)
    least = max(result.t, result.wilcoxon, result.sign)
    assert result.significant(least * 1.001)
    assert not result.significant(least)


def test_queries_without_a_value_are_left_out():
    result = significance([0.5, np.nan, 0.7, 0.2], [0.4, 0.3, np.nan, 0.3])
    assert result.differences.tolist() == pytest.approx([0.1, -0.1])


def test_degenerate_differences():
    same = significance([0.5, 0.6, 0.7], [0.5, 0.6, 0.7])
    assert (same.difference, same.interval, same.effect_size) == (0, (0, 0), 0)
    assert (same.t, same.wilcoxon, same.sign, same.randomization) == (1, 1, 1, 1)
    constant = significance([0.5, 0.75, 1.0], [0.25, 0.5, 0.75])
    assert (constant.effect_size, constant.t) == (np.inf, 0)
    assert constant.sign == 0.25


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1.0, 2.0], [1.0]), "first has 2 values but second has 1"),
        (([1.0], [2.0]), "1 queries have values"),
        (([1.0, np.nan], [2.0, 1.0]), "1 queries have values"),
        (([1.0, np.inf], [2.0, 1.0]), "finite values"),
        (([[1.0]], [[2.0]]), r"first has shape \(1, 1\)"),
    ],
)
def test_bad_input(arguments, message):
    with pytest.raises(ValueError, match=message):
        significance(*arguments)
    with pytest.raises(ValueError, match="confidence is 95"):
        significance([1, 2], [2, 4], confidence=95)
