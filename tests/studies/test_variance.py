"""The study of variance: its components are those that made the data, and its page is what is saved."""

import shutil

import numpy as np
import pytest
from scipy import stats

from benchmarks.studies.effectiveness.data import Collection
from benchmarks.studies.effectiveness.results import Results
from benchmarks.studies.records import Records
from benchmarks.studies.variance import components, report, resplits, sources
from benchmarks.studies.variance.components import TOP, Components
from gapboost.datasets import RankingData

pytestmark = pytest.mark.slow

SIZES = (30, 40, 50)


def made(rng, query, model, n_competitors=8):
    """Differences of competitors whose values have a model's deviation on each fold and a query's own on each query."""
    values = {
        str(k): [rng.normal(0, (model / 2) ** 0.5) + rng.normal(0, (query / 2) ** 0.5, n) for n in SIZES]
        for k in range(n_competitors)
    }
    names = list(values)
    return {
        (a, b): [x - y for x, y in zip(values[a], values[b], strict=True)]
        for i, a in enumerate(names)
        for b in names[i + 1 :]
    }


def test_components_are_those_that_made_the_data():
    rng = np.random.default_rng(0)
    found = [made(rng, query=0.04, model=0.002) for _ in range(150)]
    of = [components.components(one) for one in found]
    assert np.mean([one.query for one in of]) == pytest.approx(0.04, rel=0.03)
    assert np.mean([components.between(one) for one in found]) == pytest.approx(0.002, rel=0.1)
    assert {one.n_queries for one in of} == {120}
    assert all(one.interval[0] <= one.model <= one.interval[1] for one in of)


def test_models_that_all_rank_alike_have_no_variance_of_their_own():
    rng = np.random.default_rng(1)
    found = [components.between(made(rng, query=0.04, model=0.0)) for _ in range(150)]
    assert abs(np.mean(found)) < 2e-4
    assert min(found) < 0
    parts = components.components(made(np.random.default_rng(5), query=0.04, model=0.0))
    assert parts.model >= 0


def test_a_detectable_difference_is_found_four_times_of_five():
    rng, n_studies = np.random.default_rng(2), 20_000
    error = Components(120, query=0.04, model=0.002, interval=(0.0, 0.0)).over(3)
    assert error.error == pytest.approx((0.002 / 3 + 0.04 / 120) ** 0.5)
    assert error.critical() == pytest.approx(4.30 * error.error, rel=1e-3)
    assert error.detectable() == pytest.approx(5.65 * error.error, rel=1e-3)
    deviations = rng.normal(0, (0.002 + 0.04 / 40) ** 0.5, (n_studies, 3))
    found = stats.ttest_1samp(error.detectable() + deviations, 0, axis=1).pvalue < 0.05
    assert found.mean() == pytest.approx(0.8, abs=0.01)


def test_an_interval_of_the_jackknife_is_that_of_a_mean():
    values = np.random.default_rng(0).normal(size=(20, 3))
    without = (values.sum(axis=0) - values) / 19
    low, high = components.jackknife(values.mean(axis=0), without)
    expected = stats.t.interval(0.95, 19, values.mean(axis=0), stats.sem(values))
    np.testing.assert_allclose((low, high), expected)


def test_a_test_that_another_fold_contradicts_is_counted_once():
    noise = np.linspace(-0.1, 0.1, 21)
    of = {
        ("a", "b"): [noise + 1, noise - 1, noise + 0.001],
        ("a", "c"): [noise + 1, noise + 1, noise + 0.5],
    }
    # The first pair's third fold is not significant; each of its first two contradicts the other.
    assert components.reversed_tests(of) == (2 + 3, 2)


def test_every_two_objectives_of_one_booster_are_compared():
    found = components.pairs()
    assert len(found) == len(set(found)) == 15 + 10
    assert all(a.split()[0] == b.split()[0] for a, b in found)
    assert not any("regression" in name or "CatBoost" in name for pair in found for name in pair)


MADE = {"training queries": 0.004, "tuning": 0.002, "seed": 0.001}


def resplit_of(rng, n=60, query=0.02, interaction=0.03):
    """Differences of two halves, two draws and two seeds, by levels of known variance; queries differ in each model too."""
    shapes = {"training queries": (2, 1, 1), "tuning": (2, 2, 1), "seed": (2, 2, 2)}
    means = sum(rng.normal(0, MADE[name] ** 0.5, shape) for name, shape in shapes.items())
    own = sum(rng.normal(0, (interaction / 3) ** 0.5, (*shape, n)) for shape in shapes.values())
    return means[..., None] + rng.normal(0, query**0.5, n) + own


def test_sources_of_chance_are_those_that_made_the_data():
    rng = np.random.default_rng(0)
    saved = [{name: str(v) for name, v in resplits.summary(resplit_of(rng)).items()} for _ in range(4000)]
    found = sources.sources(saved)
    assert (len(found.query), found.n_queries) == (4000, 60)
    assert found.query.mean() == pytest.approx(0.05, rel=0.02)
    for name, variance in MADE.items():
        assert found.parts[name].mean() == pytest.approx(variance, rel=0.1), name
        assert found.single[name].mean() == pytest.approx(0.01, rel=0.02), name
    assert found.model(seeds=2) == pytest.approx(0.0065, rel=0.05)
    low, high = found.interval(seeds=2)
    assert low < found.model(seeds=2) < high
    assert found.redrawn() == pytest.approx(0.6, rel=0.02)
    shares = found.shares(n_queries=90, seeds=2)
    assert sum(share for share, _, _ in shares.values()) == pytest.approx(1)
    assert all(low < share < high for share, low, high in shares.values())
    assert shares["test queries"][0] == pytest.approx(0.045 / 90 / (0.045 / 90 + 0.0065), rel=0.05)
    # Fifteen pairs of models, three for each of 100 queries: .02 of a query is in all three.
    repeated = found.over(15, 100, repeats=3)
    assert repeated.error == pytest.approx((0.007 / 15 + (0.02 + 0.03 / 3) / 100) ** 0.5, rel=0.03)
    assert repeated.freedom == 14


def test_the_predicted_rate_of_false_alarms_is_observed():
    rng = np.random.default_rng(1)
    n = 60
    saved = [resplits.summary(resplit_of(rng, n)) for _ in range(2000)]
    found = sources.sources({name: str(v) for name, v in row.items()} for row in saved)
    rate, *without = found.false_alarms(n)
    low, high = components.jackknife(rate, np.array(without))
    assert low < rate < high
    assert rate == pytest.approx(0.51, abs=0.02)
    assert found.significant.mean() == pytest.approx(rate, abs=0.025)


def test_levels_that_move_nothing_are_told_as_none():
    rng = np.random.default_rng(0)
    same = np.broadcast_to(rng.normal(0, 0.1, (20, 1, 1, 1, 30)), (20, 2, 2, 2, 30))
    found = sources.sources({name: str(v) for name, v in resplits.summary(d).items()} for d in same)
    for of_level in (found.parts, found.single):
        means = [of_level[name].mean() for name in resplits.LEVELS]
        assert means == pytest.approx([0, 0, 0], abs=1e-5)
    assert not found.contradicted.any()


def test_a_t_test_that_the_other_half_contradicts_is_counted_once():
    row = {"queries": "9", "query": "1", "training queries": "0", "tuning": "0", "seed": "0"}
    first, second = "0.1 0 0 0 -0.1 0 0 0", "0.1 0 0 0 0.1 0 0 0"
    found = sources.sources(
        [{**row, "p": p, "means": m} for p, m in (("0.01 0.9", first), ("0.9 0.01", first), ("0.04 0.01", second))]
    )
    assert found.significant.tolist() == [True, False, True]
    assert found.contradicted.tolist() == [True, False, False]


@pytest.fixture
def small():
    """Thirty queries whose grades have something to do with two features."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 4)).round(2)
    y = np.clip(np.digitize(X[:, 0] + rng.normal(size=600), [0, 1]), 0, 2)
    found = Collection("small", ())
    found.__dict__["data"] = RankingData(X, y, np.repeat(np.arange(30), 20))
    return found


def test_halves_share_no_query(small):
    for resplit in range(3):
        first, second = resplits.halves(small, resplit)
        parts = [set(part.qid.tolist()) for part in (*first[:2], *second[:2], first.test)]
        assert [len(part) for part in parts] == [9, 3, 9, 3, 6]
        assert len(set.union(*parts)) == 30
        np.testing.assert_array_equal(first.test.qid, second.test.qid)


def test_a_resplit_is_trained_and_saved(small, tmp_path, monkeypatch):
    monkeypatch.setattr(resplits, "ROUNDS", 10)
    monkeypatch.setattr(resplits, "CANDIDATES", 2)
    monkeypatch.setattr(resplits, "RESULTS", Records(tmp_path / "resplits.csv", ("collection", "resplit")))
    monkeypatch.setattr(resplits, "LOCKS", tmp_path)
    monkeypatch.setattr(resplits, "tasks", lambda: {("small", "0"): lambda: resplits.task(small, 0)})
    resplits.run()
    (row,) = (r for r in resplits.RESULTS if r["measure"] == TOP)
    assert row["queries"] == "6"
    assert len(row["means"].split()) == 8
    assert sources.by_collection(resplits.RESULTS, TOP)["small"].n_queries == 6


def test_every_resplit_is_saved_once():
    keys = [(row["collection"], int(row["resplit"]), row["measure"]) for row in resplits.RESULTS]
    assert len(keys) == len(set(keys))
    names = {name for name, _, _ in keys}
    assert len(names) == 7
    assert set(keys) == {(n, r, m) for n in names for r in range(resplits.RESPLITS) for m in report.MEASURES}


def test_tables_and_results_are_those_of_the_saved_values(tmp_path):
    """Change either, and this fails until `python -m benchmarks.studies.variance --redraw`."""
    shutil.copy(report.PAGE, tmp_path / "page.md")
    report.redraw(tmp_path / "page.md", tmp_path, tmp_path)
    assert (tmp_path / "page.md").read_text("utf-8") == report.PAGE.read_text("utf-8")
    for name in ("components", "pairs", "sources", "false_alarms"):
        path = report.RESULTS / f"{name}.csv"
        assert (tmp_path / path.name).read_bytes() == path.read_bytes()
    assert (tmp_path / "variance.png").stat().st_size > 0


def test_sentences_of_the_page_have_the_numbers_of_the_results():
    page = " ".join(report.PAGE.read_text("utf-8").split())
    rows = report.computed(components.tuned_values(Results()))
    top, mean = (report.of_measure(rows, measure) for measure in report.MEASURES)
    of_both = (report.alarm_rates(of).items() for of in (top, mean))
    rates, in_mean = ({name: report.share_text(rate) for name, rate in of} for of in of_both)
    tests, significant, _ = report.alarms(top)
    assert f"predict {rates['predicted']}. Observed are {rates['observed']}: " in page
    assert f": {significant} of {tests} tests." in page
    assert f"measures {in_mean['predicted']} are predicted" in page
    assert f"are predicted, and {in_mean['observed']} observed." in page
    assert f"predict {rates['predicted for a third of the queries and 3 seeds']}." in page

    n, n_pairs = sum(row.significant for row in top), sum(len(row.pairs) for row in top)
    assert f"{3 * n_pairs} such t-tests" in page
    assert f"In {n} of them p < .05, {n / (3 * n_pairs):.0%}" in page
    assert f"Of these {n} tests {sum(row.contradicted for row in top)} have the other sign" in page
    k = report.significant_pairs(top)
    assert f"p < .05 for {k} of these {n_pairs} differences, {k / n_pairs:.0%}" in page

    larger = sum(row.of_resplits.model(3) > row.parts.model for row in top)
    assert f"T of the resplits is larger on {larger} of 7" in page
    above = [sum(row.shares[name][1] > 0 for row in top) for name in sources.SOURCES]
    queries, training, tuning, seed = above
    assert f"above 0 for test queries on {queries} of 7 collections, for tuning on {tuning}" in page
    assert f"for training queries on {training} and for the seed on {seed}." in page
    half = sum(row.shares["test queries"][1] < 0.5 < row.shares["test queries"][2] for row in top)
    assert f"On {half} of 7 the interval of test queries contains one half." in page
    drawn = [row.of_resplits.redrawn() for row in top]
    assert f"draw {min(drawn):.0%} to {max(drawn):.0%} of S² anew" in page

    for error, text in ((top[0].three, ("4.30", "5.65")), (top[0].repeated, ("2.14", "3.01"))):
        sizes = error.critical() / error.error, error.detectable() / error.error
        assert tuple(f"{v:.2f}" for v in sizes) == text
        assert all(v in page for v in text)
    published = [line.split("|") for line in report.table_of_published(rows).splitlines()[2:]]
    assert all(float(gap) < float(least) for *_, gap, least, _ in published)  # as the page says
