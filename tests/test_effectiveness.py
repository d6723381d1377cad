"""The effectiveness study: it resumes, it chooses on validation alone, and it trains what the rankers train."""

import numpy as np
import numpy.testing as npt
import pytest

import gapboost as gb
from benchmarks.effectiveness import pairs, report, runs
from benchmarks.effectiveness.competitors import COMPETITORS
from benchmarks.effectiveness.data import Source, dealt
from benchmarks.effectiveness.runs import MEASURES, Plan, Results, candidates, measures, read
from benchmarks.effectiveness.statistics import COLUMNS, holm, load, pooled
from gapboost._data.queries import judged
from gapboost.datasets import load_digits_ranking
from gapboost.lightgbm import LGBMGAPRanker
from gapboost.xgboost import XGBGAPRanker

PLAN = Plan(seeds=1, candidates=2, rounds=6, folds=(1,))
NAMES = ["LightGBM lambdarank", "LightGBM GAP", "XGBoost rank:map", "XGBoost GAP, g chosen"]


class Digits(Source):
    """A smaller task under the name of a data set."""

    def splits(self, seed):
        return [load_digits_ranking((20, 10, 12), 12, random_state=seed)] * 5


DIGITS = Digits("small digits")


def study(directory, names=NAMES):
    results = Results("tuned", directory)
    runs.run("tuned", names, [DIGITS], PLAN, results)
    return results


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    directory = tmp_path_factory.mktemp("results")
    study(directory)
    return directory


def test_every_candidate_of_every_competitor_is_saved_and_the_best_on_validation_chosen(done):
    fits = list(read(done / "tuned_fits.csv"))
    for name in NAMES:
        rows = [row for row in fits if row["competitor"] == name]
        assert sorted(row["candidate"] for row in rows) == ["0", "1"]
        (chosen,) = (row for row in rows if row["chosen"] == "1")
        assert float(chosen["vali nDCG@10"]) == max(float(row["vali nDCG@10"]) for row in rows)
    test = DIGITS.splits(1)[0].test
    assert sum(row["competitor"] == NAMES[0] for row in read(done / "tuned_queries.csv")) == test.n_queries


@pytest.mark.parametrize("name", ["LightGBM GAP", "XGBoost GAP, g chosen"])
def test_the_values_are_those_of_the_ranker(name, done):
    train, vali, test = DIGITS.splits(1)[0]
    (row,) = (r for r in read(done / "tuned_fits.csv") if r["competitor"] == name and r["chosen"] == "1")
    leaves, rate, features, penalty, drawn, *g = (float(v) for v in row["setting"].split())
    n_grades = int(max(part.y.max() for part in (train, vali, test)))
    shared = {"n_estimators": int(row["trees"]), "learning_rate": rate, "colsample_bytree": features, "n_jobs": 1}
    shared |= {"reg_lambda": penalty, "g": g or (1 / n_grades,) * n_grades}
    if name.startswith("LightGBM"):
        # `seed` alone: `random_state` would seed the keys that order ties too
        ranker = LGBMGAPRanker(num_leaves=int(leaves), extra_trees=bool(drawn), seed=1, verbose=-1, **shared)
    else:
        trees = {"grow_policy": "lossguide", "max_depth": 0, "max_leaves": int(leaves), "seed": 1}
        ranker = XGBGAPRanker(**trees, **shared)
    scores = ranker.fit(train.X, train.y, train.qid).predict(test.X)
    found = {r["qid"]: r for r in read(done / "tuned_queries.csv") if r["competitor"] == name}
    for label, measure in measures(n_grades).items():
        values = gb.evaluate(measure, test.y, scores, test.qid, per_query=True)
        npt.assert_allclose([float(found[str(q)][label]) for q in values.qid], values[measure], atol=1e-6)
    target = measures(n_grades)["GAP"]
    value = gb.evaluate(target, vali.y, ranker.predict(vali.X), vali.qid)[target]
    assert float(row["vali GAP"]) == pytest.approx(value, abs=1e-6)


def test_a_finished_study_trains_nothing(done, monkeypatch):
    def refuse(*_):
        raise AssertionError("trained again")

    before = (done / "tuned_fits.csv").read_bytes()
    monkeypatch.setattr(runs, "tuned", refuse)
    study(done)
    assert (done / "tuned_fits.csv").read_bytes() == before


def test_an_interrupted_study_goes_on(done, tmp_path):
    whole = {name: (done / name).read_text() for name in ("tuned_fits.csv", "tuned_queries.csv")}
    for name, text in whole.items():
        (tmp_path / name).write_text(text[:-40])  # within the last row
    study(tmp_path)

    def rows(directory):
        fits = {(r["competitor"], r["candidate"]): {**r, "seconds": ""} for r in read(directory / "tuned_fits.csv")}
        return fits, load(directory / "tuned_queries.csv", DIGITS.name, NAMES).of

    (fits, values), (expected_fits, expected) = rows(tmp_path), rows(done)
    assert fits == expected_fits
    for name in NAMES:
        npt.assert_array_equal(values[name], expected[name])


def test_results_of_other_gradients_do_not_count(done, monkeypatch):
    monkeypatch.setattr(runs, "version", lambda name: "other" if name == "LightGBM GAP" else "own")
    left = [t for t in runs.tasks(NAMES[:2], [DIGITS], PLAN) if t.key not in Results("tuned", done).done]
    assert [t.competitor for t in left] == ["LightGBM GAP"]


def test_candidates_are_the_same_for_all_and_differ():
    found = candidates("OHSUMED", 3, 5, 2)
    assert found == candidates("OHSUMED", 3, 5, 2)
    assert len({trees for trees, _ in found}) == 5
    assert found[0][1] == (0.5, 0.5)
    assert all(sum(g) == pytest.approx(1) for _, g in found)
    assert found != candidates("OHSUMED", 4, 5, 2)


def test_dealt_parts_are_disjoint_and_complete():
    data = load_digits_ranking((25, 1, 1), 10)[0]
    splits = dealt(data, np.random.default_rng(0))
    for split in splits:
        queries = [set(part.qid.tolist()) for part in split]
        assert [len(q) for q in queries] == [15, 5, 5]
        assert set.union(*queries) == set(data.qid.tolist())
    assert sorted(q for split in splits for q in set(split.test.qid.tolist())) == sorted(set(data.qid.tolist()))


def saved(path, of):
    """A file of query values: {(competitor, seed): {query: value of every measure}}."""
    runs.start(path, runs.QUERIES)
    for (name, seed), values in of.items():
        runs.append(path, [["some", seed, 1, name, "own", q, *[v] * len(MEASURES)] for q, v in values.items()])


def test_seeds_count_where_every_competitor_has_finished_them(tmp_path):
    path = tmp_path / "queries.csv"
    a, b = "LightGBM lambdarank", "XGBoost rank:ndcg"
    saved(
        path,
        {
            (a, 1): {"x": 0.1, "y": 0.2, "z": 0.9},
            (b, 1): {"x": 0.3, "y": 0.1, "z": 0.5},
            (a, 2): {"z": 0.7, "y": 0.4, "x": 0.3},
            (b, 2): {"z": 0.7, "y": 0.4, "x": 0.3},
            (a, 3): {"x": 0.5, "y": 0.5, "z": 0.5},
            (b, 3): {"x": 0.5},
        },
    )
    values = load(path, "some", [a, b])
    assert values.seeds == [1, 2]
    npt.assert_allclose(values.of[a], [[0.2] * len(COLUMNS), [0.3] * len(COLUMNS), [0.8] * len(COLUMNS)])
    result = values.compare(a, b, "AP")
    assert result.difference == pytest.approx((-0.1 + 0.05 + 0.2) / 3)
    assert result.counts == (2, 0, 1)
    both = pooled([values, values])
    assert both.n_queries == 6
    assert both.compare(a, b, "AP").difference == pytest.approx(result.difference)
    text = report.means(values)
    assert "| LightGBM lambdarank | **0.4333** |" in text
    assert "+0.0500" in report.differences(values, [(a, b)], "mean of all")


def test_holm():
    """Holm (1979): the smallest p-value times their number, the next times one less, never falling."""
    assert holm({"a": 0.01, "b": 0.04, "c": 0.03, "d": 0.005}) == pytest.approx(
        {"d": 0.02, "a": 0.03, "c": 0.06, "b": 0.06}
    )
    assert holm({"a": 0.9, "b": 0.8}) == {"b": 1.0, "a": 1.0}


def test_text_goes_between_its_markers(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- a -->old<!-- end of a -->\nafter\n")
    report.write("a", "new", page)
    report.write("a", "newer", page)
    assert page.read_text() == "before\n<!-- a -->\n\nnewer\n\n<!-- end of a -->\nafter\n"
    with pytest.raises(ValueError, match="holds <!-- b --> 0 times"):
        report.write("b", "new", page)


def test_ours_and_theirs_are_compared_on_both_boosters():
    assert len(COMPETITORS) == len({c.name for c in COMPETITORS}) == 22
    assert sum(c.ours for c in COMPETITORS) == 12
    names = {c.name for c in COMPETITORS}
    assert all({*pair} <= names for pair in report.library_pairs() + report.measure_pairs())


@pytest.mark.slow
@pytest.mark.parametrize("measure", [gb.GAP(g=(0.2, 0.3, 0.5)), gb.xGAP(g=(0.2, 0.3, 0.5)), gb.nDCG()])
def test_pairs_that_all_weigh_the_same_give_the_gradients_of_lambdarank(measure):
    rng = np.random.default_rng(0)
    data = judged(rng.integers(0, 4, 200), np.repeat(np.arange(5), 40)).up_to_grade(3)
    scores = rng.normal(size=200).round(1)
    found, expected = (np.empty((2, 200)) for _ in range(2))
    pairs.weighted(measure, data, pairs.inverse, 1e12, False)(scores, *found)
    gb.LambdaRank(measure, normalize=False).prepared(data, 1)(scores, *expected)
    npt.assert_allclose(1e12 * found[0], expected[0], rtol=0, atol=1e-9)
    npt.assert_allclose(1e12 * found[1], expected[1], rtol=0, atol=1e-9)
