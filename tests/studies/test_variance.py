"""The study of variance: its components are those that made the data, and its page is what is saved."""

import numpy as np
import pytest

from benchmarks.studies.effectiveness.data import Collection
from benchmarks.studies.records import Records
from benchmarks.studies.variance import components, report, resplits, sources
from benchmarks.studies.variance.components import TOLD, TOP, Components
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


def test_a_difference_that_is_provable_is_told_four_times_of_five():
    parts = Components(120, query=0.04, model=0.002, interval=(0.0, 0.0))
    least, rng = parts.provable(3, 120), np.random.default_rng(2)
    assert least == pytest.approx(2.80 * (0.002 / 3 + 0.04 / 120) ** 0.5, rel=1e-3)
    means = least + rng.normal(0, 0.002**0.5, (20_000, 3)).mean(axis=1) + rng.normal(0, (0.04 / 120) ** 0.5, 20_000)
    assert (means > 1.96 * least / TOLD).mean() == pytest.approx(0.8, abs=0.01)
    assert parts.provable(1, np.inf) == pytest.approx(TOLD * 0.002**0.5)


def test_a_t_test_that_another_fold_contradicts_is_counted():
    noise = np.linspace(-0.1, 0.1, 21)
    of = {("a", "b"): [noise + 1, noise - 1, noise + 0.001], ("a", "c"): [noise + 1, noise + 1, noise + 0.5]}
    # The first pair's third fold proves nothing; the second contradicts both others, and one of them it.
    assert components.reversed_signs(of) == (4 + 6, 3)


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
    assert (found.n_resplits, found.n_queries) == (4000, 60)
    assert found.query == pytest.approx(0.05, rel=0.02)
    for name, variance in MADE.items():
        assert found.level(name) == pytest.approx(variance, rel=0.1), name
    assert found.model(seeds=2) == pytest.approx(0.0065, rel=0.05)
    low, high = found.interval(seeds=2)
    assert low < found.model(seeds=2) < high
    shares = found.shares()
    assert sum(shares.values()) == pytest.approx(1)
    assert shares["test queries"] == pytest.approx(0.05 / 60 / (0.05 / 60 + 0.007), rel=0.05)


def test_levels_that_move_nothing_are_told_as_none():
    rng = np.random.default_rng(0)
    same = np.broadcast_to(rng.normal(0, 0.1, (20, 1, 1, 1, 30)), (20, 2, 2, 2, 30))
    found = sources.sources({name: str(v) for name, v in resplits.summary(d).items()} for d in same)
    assert [found.level(name) for name in resplits.LEVELS] == [0, 0, 0]
    assert found.contradicted == 0


def test_a_t_test_that_the_other_half_contradicts_is_counted_once():
    row = {"queries": "9", "query": "1", "training queries": "0", "tuning": "0", "seed": "0"}
    first, second = "0.1 0 0 0 -0.1 0 0 0", "0.1 0 0 0 0.1 0 0 0"
    found = sources.sources(
        [{**row, "p": p, "means": m} for p, m in (("0.01 0.9", first), ("0.9 0.01", first), ("0.04 0.01", second))]
    )
    assert (found.proven, found.contradicted) == (2, 1)


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
    assert sources.by_collection(resplits.RESULTS, TOP)["small"].n_resplits == 1


def test_every_resplit_is_saved_once():
    keys = [(row["collection"], int(row["resplit"]), row["measure"]) for row in resplits.RESULTS]
    assert len(keys) == len(set(keys))
    names = {name for name, _, _ in keys}
    assert len(names) == 7
    assert set(keys) == {(n, r, m) for n in names for r in range(resplits.RESPLITS) for m in report.MEASURES}


def test_the_page_is_what_the_saved_values_give(tmp_path):
    """Change either, and this fails until `python -m benchmarks.studies.variance --redraw`."""
    report.redraw(tmp_path / "page.md", tmp_path, tmp_path)
    assert (tmp_path / "page.md").read_text(encoding="utf-8") == report.PAGE.read_text(encoding="utf-8")
    assert (tmp_path / "components.csv").read_bytes() == (report.RESULTS / "components.csv").read_bytes()
    assert (tmp_path / "variance.png").stat().st_size > 0
