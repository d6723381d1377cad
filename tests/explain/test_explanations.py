"""Results of pairs, queries and measures: their numbers, data frames and pictures."""

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot
from twins import LIGHTGBM, TEST, TRAIN, XGBOOST, twins

import gapboost as gb
from gapboost import explain

RANKER = LIGHTGBM.fitted(n_estimators=20)
NAMES = [f"feature {i}" for i in range(23)]
FRAME = pd.DataFrame(TEST.X, columns=NAMES)


# --- pairs ----------------------------------------------------------------------------------------


def test_a_pair_as_a_data_frame():
    found = explain.pair(RANKER, FRAME, 4, 9)
    table = found.to_pandas()
    assert table.index.name == "feature"
    assert list(table.columns) == ["a", "b", "contribution"]
    assert sorted(table.index) == sorted(NAMES)
    assert table["contribution"].abs().is_monotonic_decreasing
    scores = RANKER.predict(FRAME)
    np.testing.assert_allclose(table["contribution"].sum(), scores[4] - scores[9], atol=1e-12)
    np.testing.assert_array_equal(table["a"].loc[NAMES], TEST.X[4])
    np.testing.assert_array_equal(table["b"].loc[NAMES], TEST.X[9])


def test_a_pair_the_other_way_round_has_the_opposite_contributions():
    one, other = explain.pair(RANKER, FRAME, 4, 9), explain.pair(RANKER, FRAME, 9, 4)
    np.testing.assert_array_equal(one.contributions, -other.contributions)


def test_a_feature_that_no_tree_splits_by_contributes_nothing():
    constant = TRAIN.X.copy()
    constant[:, 3] = 1.0
    ranker = XGBOOST.ranker().fit(constant, TRAIN.y, qid=TRAIN.qid)
    assert not explain.query(ranker, TEST.X).contributions[:, 3].any()


@pytest.mark.parametrize(("features", "bars"), [(5, 5), (11, 11), (12, 11), (23, 11)])
def test_a_waterfall_ends_at_the_score_difference(features, bars):
    """All others are one bar; a single other feature has its own."""
    ranker = LIGHTGBM.ranker().fit(TRAIN.X[:, :features], TRAIN.y, qid=TRAIN.qid)
    found = explain.pair(ranker, FRAME.iloc[:, :features], 4, 9)
    ax = found.plot()
    total = found.score_a - found.score_b
    *contributions, last = ax.patches
    assert len(contributions) == bars
    np.testing.assert_allclose([last.get_x(), last.get_width()], [0, total], atol=1e-12)
    starts = np.array([bar.get_x() for bar in contributions])
    ends = starts + [bar.get_width() for bar in contributions]
    np.testing.assert_allclose(starts, [0, *ends[:-1]], atol=1e-12)
    np.testing.assert_allclose(ends[-1], total, atol=1e-12)
    labels = [label.get_text() for label in ax.get_yticklabels()]
    assert labels[-1] == "score difference"
    others = features - 10
    assert (labels[-2] == f"{others} other features") == (bars < features)
    assert "row 4 minus score of row 9" in ax.get_title(loc="right")
    # Numbers tell the sign without color.
    assert ax.texts[-1].get_text() == f"{total:+.{len(ax.texts[0].get_text().partition('.')[2])}f}"
    assert ax.get_legend() is None


def test_a_waterfall_in_given_axes_with_fewer_bars():
    _, ax = pyplot.subplots()
    assert explain.pair(RANKER, FRAME, 4, 9).plot(ax, max_display=3) is ax
    assert len(ax.patches) == 5


def test_a_pair_of_equal_rows_is_drawn():
    ax = explain.pair(RANKER, FRAME, 4, 4).plot()
    assert {bar.get_width() for bar in ax.patches} == {0.0}


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ((400, 0), "a is 400, but X has 400 rows; expected a row from 0 to 399"),
        ((0, -1), "b is -1; expected a row of X"),
        ((0, 1.0), "b is 1.0; expected a row of X"),
        ((True, 1), "a is True; expected a row of X"),
    ],
)
def test_refuses_rows(rows, message):
    with pytest.raises(ValueError, match=message):
        explain.pair(RANKER, TEST.X, *rows)


# --- queries --------------------------------------------------------------------------------------


@twins
def test_contributions_of_a_query_are_centered(twin):
    """Contributions are centered in any order of rows."""
    order = np.random.default_rng(0).permutation(len(TEST.y))
    ranker = twin.fitted(n_estimators=20)
    ids = np.array([f"query {q}" for q in TEST.qid])[order]
    found = explain.query(ranker, FRAME.iloc[order].to_numpy(), ids)
    table = found.to_pandas()
    assert table.index.names == ["qid", "row"]
    np.testing.assert_array_equal(table.index.get_level_values("row"), np.arange(len(ids)))
    scores = pd.Series(ranker.predict(TEST.X[order]).astype(float))
    expected = scores - scores.groupby(ids).transform("mean")
    np.testing.assert_allclose(table.sum(axis=1), expected, atol=1e-6)
    np.testing.assert_allclose(table.groupby("qid").mean(), 0, atol=1e-12)
    np.testing.assert_array_equal(found.qid, ids)


def test_query_ids_in_a_column():
    by_column = explain.query(RANKER, FRAME.assign(qid=TEST.qid))
    np.testing.assert_array_equal(
        by_column.contributions, explain.query(RANKER, FRAME, TEST.qid).contributions
    )
    with pytest.raises(ValueError, match="qid is given, and X has a column 'qid' too"):
        explain.query(RANKER, FRAME.assign(qid=TEST.qid), TEST.qid)


def test_ids_that_are_tuples():
    ids = [("a", q) for q in TEST.qid]
    table = explain.query(RANKER, FRAME, ids).to_pandas()
    assert table.index.nlevels == 2
    assert table.index[0] == (("a", TEST.qid[0]), 0)


def test_a_heat_map_of_one_query():
    found = explain.query(RANKER, FRAME, TEST.qid)
    chosen = TEST.qid[25]
    ax = found.plot(qid=chosen)
    rows = np.flatnonzero(TEST.qid == chosen)
    order = rows[np.argsort(-found.scores[rows], kind="stable")]
    cells = ax.images[0].get_array()
    assert cells.shape == (20, 11)
    np.testing.assert_allclose(
        cells.sum(axis=1), found.contributions[order].sum(axis=1), atol=1e-12
    )
    assert [label.get_text().partition(":")[0] for label in ax.get_yticklabels()] == [
        f"row {r}" for r in order
    ]
    assert ax.get_xticklabels()[-1].get_text() == "13 other features"
    # Each cell has its number: the picture can be read without color.
    assert [float(text.get_text()) for text in ax.texts] == pytest.approx(
        cells.ravel().tolist(), abs=0.01
    )
    assert f"query {chosen}" in ax.get_title()


def test_a_heat_map_of_the_first_documents():
    found = explain.query(RANKER, FRAME)
    ax = found.plot(max_documents=5, max_display=2)
    assert ax.images[0].get_array().shape == (5, 3)
    assert "first 5 of 400 documents" in ax.get_title()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "qid is None, but the result has 20 queries; expected the id of one of them"),
        ({"qid": "no such"}, "qid is 'no such'; expected one of the query ids"),
        ({"qid": TEST.qid[0], "max_display": 0}, "max_display is 0; expected a whole number >= 1"),
        (
            {"qid": TEST.qid[0], "max_documents": 0},
            "max_documents is 0; expected a whole number >= 1",
        ),
    ],
)
def test_heat_map_refuses(options, message):
    with pytest.raises(ValueError, match=message):
        explain.query(RANKER, FRAME, TEST.qid).plot(**options)


# --- measures -------------------------------------------------------------------------------------


@pytest.mark.parametrize("measure", ["ndcg@10", gb.GAP(g=(0.5, 0.5))], ids=str)
@twins
def test_losses_of_a_measure(twin, measure):
    ranker = twin.fitted(n_estimators=20)
    found = explain.measure(ranker, FRAME.to_numpy(), TEST.y, TEST.qid, measure)
    values = gb.evaluate(measure, TEST.y, ranker.predict(TEST.X), TEST.qid, per_query=True)
    np.testing.assert_array_equal(found.values, values[found.measure])
    np.testing.assert_array_equal(found.qid, values.qid)
    centered = explain.query(ranker, TEST.X, TEST.qid).contributions
    feature = int(np.abs(found.contributions).mean(axis=0).argmax())
    # Scores without the feature differ by more than rounding here.
    left = np.delete(centered, feature, axis=1).sum(axis=1).round(9)
    without = gb.evaluate(measure, TEST.y, left, TEST.qid, per_query=True)[found.measure]
    np.testing.assert_allclose(found.contributions[:, feature], found.values - without, atol=1e-9)
    assert np.abs(found.contributions[:, feature]).max() > 0.01
    unused = ~centered.any(axis=0)
    assert not found.contributions[:, unused].any()
    table = found.to_pandas()
    assert table.index.name == "qid"
    assert table.shape == (20, 23)


@pytest.mark.parametrize("vendor", [False, True], ids=["ours", "vendor"])
@twins
def test_without_the_only_feature_all_documents_are_tied(twin, vendor):
    """The value that is left is the expected one over all orders."""
    X = TRAIN.X[:, :1]
    ranker = (
        twin.ranker() if not vendor else twin.vendor(n_estimators=5, n_jobs=1, **twin.parameters)
    )
    queries = {"group": np.full(40, 20)} if vendor and twin is LIGHTGBM else {"qid": TRAIN.qid}
    ranker.fit(X, TRAIN.y, **queries)
    found = explain.measure(ranker, TEST.X[:, :1], TEST.y, TEST.qid, "gap")
    tied = gb.evaluate("gap", TEST.y, np.zeros(len(TEST.y)), TEST.qid, per_query=True)
    (expected,) = tied.values()
    np.testing.assert_allclose(found.contributions[:, 0], found.values - expected, atol=1e-12)


@twins
def test_sums_that_differ_by_rounding_are_tied(twin):
    """Documents that differ in one feature of an additive model are tied without that feature."""
    rng = np.random.default_rng(0)
    # Pairs of documents that differ in the first feature only, in which a higher grade has a higher
    # value.
    others = np.repeat(rng.normal(size=(400, 4)), 2, axis=0)
    first = np.tile([0.0, 1.0], 400) + rng.random(800) / 2
    X, y, qid = np.column_stack((first, others)), np.tile([0, 1], 400), np.repeat(np.arange(100), 8)
    stumps = {"num_leaves": 2, "extra_trees": False} if twin is LIGHTGBM else {"max_depth": 1}
    ranker = twin.ranker(n_estimators=60, **stumps).fit(X, y + (others[:, 0] > 0), qid=qid)
    pairs = np.repeat(np.arange(400), 2)
    found = explain.measure(ranker, X, y, pairs, "ap")
    # Each query is one pair: right with all contributions, and tied without the first, (1 + 1/2) /
    # 2.
    right = found.values == 1
    assert right.mean() > 0.9
    np.testing.assert_allclose(found.contributions[right, 0], 0.25, atol=1e-12)
    assert not found.contributions[:, 1:].any()


def test_mean_losses_as_bars():
    found = explain.measure(RANKER, FRAME, TEST.y, TEST.qid)
    means = found.contributions.mean(axis=0)
    ax = found.plot(max_display=4)
    order = np.argsort(-np.abs(means), kind="stable")[:4]
    np.testing.assert_allclose([bar.get_width() for bar in ax.patches], means[order])
    assert [label.get_text() for label in ax.get_yticklabels()] == [NAMES[i] for i in order]
    assert "Loss of nDCG(k=10) without a feature's contribution" in ax.get_title(loc="right")
    assert "mean of 20 queries; 4 of 23 features" in ax.get_title(loc="right")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"y": TEST.y[:-1]}, "y_true has 399 rows|qid has 400 rows"),
        ({"qid": TEST.qid[:-1]}, "qid has 399 rows but X has 400; expected one query id a row"),
        ({"measure": "no such"}, "no such"),
        ({"X": TEST.X[:0]}, "X has 0 rows; expected at least one document"),
        ({"X": TEST.X[0]}, r"X has shape \(23,\); expected rows and columns"),
    ],
)
def test_measure_refuses(changes, message):
    with pytest.raises(ValueError, match=message):
        explain.measure(RANKER, **{"X": TEST.X, "y": TEST.y, "qid": TEST.qid, **changes})
