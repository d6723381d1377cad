"""`reliability`: bins, intervals over queries, and how much queries differ."""

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot
from scipy import stats

from gapboost.analysis.estimates import clustered, share_interval
from gapboost.calibration import reliability


def judged(n_queries=200, n_docs=20, spread=0.0, seed=0):
    """Grades that follow probabilities up to a shift of each query; probabilities, query ids.

    Rows are in a random order.
    """
    rng = np.random.default_rng(seed)
    probability = rng.uniform(0.2, 0.8, n_queries * n_docs)
    shift = np.repeat(spread * rng.choice([-1, 1], n_queries), n_docs)
    y = (rng.random(len(probability)) < probability + shift).astype(int)
    order = rng.permutation(len(y))
    return y[order], probability[order], np.repeat(np.arange(n_queries), n_docs)[order]


def test_bins_against_pandas():
    y, probability, qid = judged()
    found = reliability(y * 2, probability, qid, grade=2, n_bins=5)
    table = pd.DataFrame(
        {"y": y, "p": probability, "qid": qid, "bin": pd.qcut(probability, 5, labels=False)}
    )
    groups = table.groupby("bin")
    np.testing.assert_allclose(found.predicted, groups["p"].mean())
    np.testing.assert_allclose(found.observed, groups["y"].mean())
    np.testing.assert_array_equal(found.n_documents, groups.size())
    np.testing.assert_array_equal(found.n_queries, groups["qid"].nunique())
    expected = (groups["y"].mean() - groups["p"].mean()).abs() @ groups.size() / len(y)
    assert found.calibration_error == pytest.approx(expected)
    frame = found.to_pandas()
    assert list(frame.columns) == [
        "predicted",
        "observed",
        "low",
        "high",
        "n_documents",
        "n_queries",
    ]
    assert ((frame["low"] < frame["observed"]) & (frame["observed"] < frame["high"])).all()


def test_equal_probabilities_share_a_bin():
    y, _, qid = judged(20)
    found = reliability(y, np.where(np.arange(400) < 350, 0.5, 0.25), qid)
    np.testing.assert_array_equal(found.n_documents, [50, 350])
    np.testing.assert_allclose(found.predicted, [0.25, 0.5])


def test_a_bin_of_one_query_has_no_interval():
    found = reliability([0, 1, 0, 1], [0.1, 0.2, 0.8, 0.9], [1, 1, 2, 2], n_bins=2)
    assert np.isnan(found.low).all()
    assert np.isnan(found.high).all()
    assert found.bias.mean == pytest.approx(0.0)


def test_bias_is_the_mean_difference_with_its_error_over_queries():
    y, probability, qid = judged(40, spread=0.1)
    found = reliability(y, probability, qid)
    expected = clustered([(y - probability)[qid == query] for query in range(40)])
    assert found.bias.mean == pytest.approx(expected.mean)
    assert found.bias.error == pytest.approx(expected.error)
    # As if documents were independent.
    assert found.bias.error > 1.3 * (y - probability).std() / np.sqrt(len(y))


@pytest.mark.parametrize("spread", [0.0, 0.1, 0.2])
def test_the_spread_of_queries(spread):
    """The standard deviation of the shift of each query, apart from sampling."""
    found = reliability(*(judged(2000, spread=spread)[i] for i in (0, 1, 2)))
    # The variance of p (1 - p) for p uniform in 0.2 to 0.8 is 0.25 - 0.03 in the mean, over 20
    # documents.
    assert found.spread_by_sampling == pytest.approx(np.sqrt(0.22 / 20), rel=0.01)
    assert found.spread_of_queries == pytest.approx(spread, abs=0.03 if spread == 0 else 0.01)
    assert found.spread >= 0.95 * found.spread_by_sampling


# --- intervals over queries -----------------------------------------------------------------------


def test_intervals_of_independent_values_are_those_of_clopper_and_pearson():
    """Case: with one value a cluster."""
    values = np.arange(50) < 15
    low, high = share_interval([np.array([value]) for value in values])
    exact = stats.binomtest(15, 50).proportion_ci(0.95, "exact")
    # Of 49 in place of 50 in the variance.
    assert (low, high) == pytest.approx((exact.low, exact.high), abs=0.003)


@pytest.mark.parametrize("value", [True, False])
def test_intervals_without_any_difference_count_clusters(value):
    low, high = share_interval([np.full(100, value)] * 10)
    exact = stats.binomtest(10 * value, 10).proportion_ci(0.95, "exact")
    assert (low, high) == pytest.approx((exact.low, exact.high))


def test_intervals_hold_the_share_nine_times_in_ten_at_least():
    """Clusters differ in size and in their shares, of .1 in the mean."""
    rng = np.random.default_rng(0)
    held = 0
    for _ in range(400):
        sizes, shares = rng.integers(2, 30, 25), rng.beta(0.5, 4.5, 25)
        low, high = share_interval(
            [rng.random(n) < share for n, share in zip(sizes, shares, strict=True)]
        )
        held += low <= 0.1 <= high
    assert held >= 0.93 * 400


# --- picture --------------------------------------------------------------------------------------


def test_the_picture_shows_bins_intervals_and_the_spread():
    pyplot.switch_backend("Agg")
    y, probability, qid = judged(50, spread=0.1)
    found = reliability(y, probability, qid, n_bins=4)
    _, ax = pyplot.subplots()
    assert found.plot(ax) is ax
    (container,) = ax.containers
    np.testing.assert_allclose(
        container.lines[0].get_xydata(), np.column_stack((found.predicted, found.observed))
    )
    ends = np.array(container.lines[2][0].get_segments())[:, :, 1]
    np.testing.assert_allclose(ends, np.column_stack((found.low, found.high)))
    assert (
        f"Queries differ by ±{found.spread:.2g}; sampling explains ±{found.spread_by_sampling:.2g}"
        in ax.get_title("left")
    )
    pyplot.close("all")


# --- refused --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"y_prob": [0.1, 1.2, 0.3, 0.4]},
            "^y_prob holds 1 values outside of 0 to 1, such as 1.2; expected",
        ),
        (
            {"y_prob": [0.1, np.nan, 0.3, 0.4]},
            "^y_prob holds 1 values outside of 0 to 1, such as nan; expected",
        ),
        ({"y_prob": [0.1]}, "^y_prob has 1 rows but y_true has 4; expected"),
        ({"y_prob": [[0.1, 0.2]] * 4}, r"^y_prob has shape \(4, 2\); expected one value a row"),
        ({"qid": [1, 1, 1, 1]}, "^qid holds 1 query; expected at least two"),
        ({"qid": None}, "^qid holds 1 query; expected at least two"),
        ({"grade": 0}, "^grade is 0; expected a finite number > 0"),
        ({"n_bins": 1}, "^n_bins is 1; expected a whole number >= 2"),
        ({"y_true": [0, 1, -1, 0]}, "^y_true holds the negative grade"),
    ],
)
def test_refuses(changes, message):
    good = {"y_true": [0, 1, 0, 1], "y_prob": [0.1, 0.2, 0.3, 0.4], "qid": [1, 1, 2, 2]}
    with pytest.raises(ValueError, match=message):
        reliability(**{**good, **changes})
