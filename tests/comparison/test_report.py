"""What a comparison says: leaks, equal rankers, identical repeats, margins, and its page."""

import itertools

import browser
import lightgbm
import numpy as np
import numpy.testing as npt
import pandas as pd
import polars as pl
import pytest
from cheap_rankers import Noisy, made
from scipy import sparse, stats
from sklearn.linear_model import Ridge
from sklearn.model_selection import GroupKFold

import gapboost as gb
from gapboost.comparison import compare_rankers
from gapboost.comparison.data import find_leaks, shuffled
from gapboost.comparison.report import GUIDE, MARKS, decide
from gapboost.comparison.result import compare_pair
from gapboost.data import RankingDataset

X, Y, QID = made()
PAIR = {"one": Noisy(0.2, 1), "other": Noisy(0.6, 2)}


@pytest.fixture(scope="module")
def comparison():
    return compare_rankers(X, Y, QID, PAIR, cv=4, repeats=2)


def decision(found, baseline, **given):
    return " ".join(decide(found.summary(baseline, **given), found.decisive, found.leaks))


def test_equal_rankers_are_called_equal_and_none_is_recommended():
    rankers = {name: Noisy(0.0, offset) for offset, name in enumerate(("one", "other", "third"))}
    found = compare_rankers(X, Y, QID, rankers, cv=3, repeats=2)
    assert set(found.summary()["verdict"]) == {"equal"}
    assert (found.summary()["p"] == 1).all()
    text = decision(found, "one")
    for measure in found.measures:
        assert f"{measure}, compared with one: other equal (" in text
    assert not {"Use", "Keep"} & set(text.split())


def test_a_leak_is_found_before_training_and_nothing_is_recommended():
    given = {"rankers": PAIR, "cv": 3, "repeats": 1, "measures": "map"}
    with pytest.warns(UserWarning, match=r"rank like the grades, such as 'X\[:, 5\]'"):
        found = compare_rankers(np.column_stack([X, Y]), Y, QID, **given)
    assert list(found.leaks) == ["X[:, 5]"]
    text = decision(found, "one")
    assert text.startswith("Remove leaked features first.")
    assert not {"Use", "Keep"} & set(text.split())


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize("form", [sparse.csr_matrix, pd.DataFrame, pl.DataFrame])
def test_a_leak_is_found_among_many_features(form):
    rare = sparse.random(len(Y), 600, 0.001, random_state=0).toarray()
    table = form(np.column_stack([rare, X, Y]))
    data = shuffled(RankingDataset.of(table, Y, QID).grouped(), 0)
    assert list(find_leaks(data).values()) == [1.0]


def test_leaks_are_those_of_at_most_300_queries():
    features, y, qid = made(599)
    leak = y + np.random.default_rng(0).normal(scale=0.35, size=len(y))
    data = RankingDataset.of(np.column_stack([features, leak]), y, qid).grouped()
    data = shuffled(data, 0)
    found = find_leaks(data)
    assert 0.95 < found["X[:, 5]"] < 1
    assert found == find_leaks(data.select(np.arange(0, 599, 2)))


def test_identical_repeats_are_announced(tmp_path):
    folds = list(GroupKFold(3).split(X, Y, QID))
    trees = lightgbm.LGBMRanker(n_estimators=2, n_jobs=1, verbose=-1)
    rankers = {"trees": trees, "line": Ridge(), "noisy": Noisy()}
    with pytest.warns(UserWarning, match=r"^repeats is 2, but those of trees, line are identical"):
        found = compare_rankers(X, Y, QID, rankers, cv=folds, repeats=2, shuffle=False)
    assert found.identical_repeats == ["trees", "line"]
    # Trees depend on the order of the documents, which each repeat draws.
    with pytest.warns(UserWarning, match=r"^repeats is 2, but those of line are identical"):
        compare_rankers(X, Y, QID, rankers, cv=folds, repeats=2)
    assert compare_rankers(X, Y, QID, rankers, cv=3, repeats=2).identical_repeats == []


def test_the_decision(comparison):
    (row,) = comparison.summary("other").query("measure == 'gap'").itertuples()
    assert row.verdict == "ahead"
    text = decision(comparison, "other")
    assert text.startswith("Use one. It is ahead of other in gap.")
    shown = f"one ahead ({row.difference:+.4f}, {row.low:+.4f} to {row.high:+.4f})"
    assert f"gap, compared with other: {shown}." in text
    assert decision(comparison, "one").startswith("Keep one. Every other ranker is behind it")


@pytest.mark.parametrize("verdicts", [*itertools.product(MARKS, repeat=2)])
def test_one_that_is_ahead_is_used_and_all_behind_keep_the_baseline(verdicts):
    numbers = {"difference": [0.1, 0.2], "low": 0.0, "high": 0.3}
    rows = {"baseline": "old", "measure": "gap", "ranker": ["less", "more"], "verdict": verdicts}
    decided = decide(pd.DataFrame({**rows, **numbers}), "gap", {})[0].split(".")[0]
    expected = "No ranker is ahead of old in gap"
    if "ahead" in verdicts:
        expected = f"Use {'more' if verdicts[1] == 'ahead' else 'less'}"
    elif set(verdicts) == {"behind"}:
        expected = "Keep old"
    assert decided == expected


def test_an_inconclusive_comparison_decides_nothing():
    rankers = {"one": Noisy(0.5, 1), "another-one": Noisy(0.5, 2)}
    found = compare_rankers(X, Y, QID, rankers, cv=4, repeats=2, measures="map")
    (row,) = found.summary("one").itertuples()
    assert row.verdict == "inconclusive"
    text = decision(found, "one")
    assert "map, compared with one: another-one inconclusive (" in text
    assert f"{row.high:+.4f}" in text
    assert not {"Use", "Keep"} & set(text.split())
    assert found.summary(margin=0.5)["verdict"].tolist() == ["equivalent"]
    assert "another-one equivalent (" in decision(found, "one", margin=0.5)
    assert found.summary(margin=1e-6)["verdict"].tolist() == ["inconclusive"]


def test_a_summary_on_request(comparison):
    plain = comparison.summary("one")
    full = comparison.summary("one", difference=0.01, t_test=True)
    assert "t-test p" not in plain
    assert full[plain.columns].equals(plain)
    npt.assert_array_equal(full["queries needed"], np.ceil(60 * (full["detectable"] / 0.01) ** 2))
    by_query = comparison.to_pandas().groupby(["measure", "ranker", "query"])["value"].mean()
    for row in full.itertuples():
        one, other = (by_query[row.measure, name] for name in ("one", "other"))
        expected = stats.ttest_rel(other, one).pvalue
        assert full.loc[row.Index, "t-test p"] == pytest.approx(expected)
    for given in ({"margin": 0}, {"difference": -1}, {"t_test": 3}, {"confidence": 95}):
        with pytest.raises(ValueError, match=next(iter(given))):
            comparison.summary(**given)


def test_each_measure_is_a_family():
    rankers = {**PAIR, "third": Noisy(0.4, 3)}
    found = compare_rankers(X, Y, QID, rankers, cv=4, repeats=2)
    alone, together = found.summary("one"), found.summary()
    split_queries = [split.test for split in found.training.splits]
    for table, family in ((alone, 2), (together, 3)):
        row = table[(table["ranker"] == "other") & (table["baseline"] == "one")].iloc[0]
        values = zip(*(found.values(name, "gap") for name in ("other", "one")), strict=True)
        expected = compare_pair([*values], split_queries, 0.95, family)
        assert (row["low"], row["p"]) == (expected["low"], expected["p"])
    assert alone["low"][0] > together["low"][0]


# --- page and picture -----------------------------------------------------------------------------


def test_the_page_shows_differences_means_rankers_and_versions(comparison, tmp_path):
    comparison.report(tmp_path / "report.html", "other", margin=0.001)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert page.count("<svg") == 3
    for difference in comparison.summary("other")["difference"]:
        assert f">{difference:.4f}<".replace("-", "−") in page
    said = ("GAP(g=(0.5, 0.5))", "Noisy(noise=0.2", f"gapboost {gb.__version__}", ">0.001<")
    for part in (*said, "Use one. It is ahead of other in gap.", GUIDE):
        assert part in page, part


@pytest.mark.slow
@pytest.mark.skipif(browser.CHROMIUM is None, reason="Chromium is not installed")
def test_the_page_fits_the_window(tmp_path):
    """Wide tables scroll in wide and narrow windows, and the page loads nothing."""
    rankers = {
        "a ranker whose name is long: objective='rank:pairwise'": Noisy(0.2, 1),
        "<other> & $more$": lightgbm.LGBMRanker(n_estimators=2, n_jobs=1, verbose=-1),
    }
    measures = ["gap", "ndcg@10", "map", "p@5"]
    found = compare_rankers(X, Y, QID, {**PAIR, **rankers}, measures=measures, cv=4, repeats=1)
    found.report(tmp_path / "report.html")
    asked = [("report.html", width) for width in (1400, 390)]
    for (_, width), seen in zip(asked, browser.measure(tmp_path, asked)["pages"], strict=True):
        assert seen["page"] <= width
        assert (seen["pictures"], seen["away"]) == ([], [])


def test_the_picture(comparison):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("Agg")
    figure = comparison.plot()
    assert [ax.get_title() for ax in figure.axes] == ["gap", "ndcg@10", "map"]
    for ax, row in zip(figure.axes, comparison.summary("one").itertuples(), strict=True):
        npt.assert_allclose(ax.lines[0].get_xdata(), (row.low, row.high))
    pyplot.close(figure)
