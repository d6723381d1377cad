"""The effectiveness study: it resumes, it chooses on validation alone, and it trains what the rankers train."""

import re
from functools import partial

import numpy as np
import numpy.testing as npt
import pytest

import gapboost as gb
from benchmarks.studies import boosters
from benchmarks.studies.boosters import Fold, Trees
from benchmarks.studies.effectiveness import __main__ as study
from benchmarks.studies.effectiveness import report, runs, side_studies
from benchmarks.studies.effectiveness.comparisons import COLUMNS, MEAN, compare, load
from benchmarks.studies.effectiveness.competitors import COMPETITORS, UNTUNED
from benchmarks.studies.effectiveness.data import FILES, FOLDS, LAST, Collection, collections, dealt
from benchmarks.studies.effectiveness.results import CHOICES, KEY, MEASURES, Results, Task, rows_of
from benchmarks.studies.effectiveness.runs import STEP, Plan, candidates, measures
from benchmarks.studies.tables import interval_text
from gapboost.analysis.estimates import clustered, holm, independent
from gapboost.comparison import compare_rankers
from gapboost.datasets import RankingSplit, load_digits_ranking
from gapboost.lightgbm import LGBMGAPRanker
from gapboost.xgboost import XGBGAPRanker

PLAN = Plan(seeds=2, candidates=3, rounds=20)
NAMES = ["LightGBM lambdarank", "LightGBM GAP", "XGBoost rank:map", "XGBoost GAP"]


def digits():
    """A small task: 36 queries, 12 of them in each fold's test part."""
    return dealt(load_digits_ranking((36, 1, 1), 12, random_state=0)[0], np.random.default_rng(0))[0]


SPLIT = digits()
N_GRADES = int(max(part.y.max() for part in SPLIT))


@pytest.fixture(scope="module")
def fold():
    return Fold(SPLIT, N_GRADES)


def tasks(study_name="tuned", names=NAMES):
    return [Task(study_name, "small digits", 1, name, runs.version(study_name, name)) for name in names]


def train(directory, fold, wanted=None):
    do = partial(runs.main_task, fold=fold, plan=PLAN)
    runs.finish(wanted or tasks(), do, Results(directory), directory / "locks")


@pytest.fixture(scope="module")
def done(tmp_path_factory, fold):
    directory = tmp_path_factory.mktemp("results")
    train(directory, fold)
    return directory


def test_every_candidate_is_saved_and_the_best_on_validation_chosen_and_trained_again(done):
    fits = list(Results(done).fits)
    for name in NAMES:
        first = [row for row in fits if row["competitor"] == name and row["seed"] == "1"]
        assert [row["candidate"] for row in first] == ["0", "1", "2"]
        for choice, column in zip(CHOICES, ("vali nDCG@10", "vali mean"), strict=True):
            (chosen,) = (row for row in first if choice in row["chosen by"].split())
            assert float(chosen[column]) == max(float(row[column]) for row in first)
            again = [row for row in fits if row["competitor"] == name and row["seed"] == "2"]
            assert chosen["candidate"] in [row["candidate"] for row in again]
    rows = [row for row in Results(done).values if row["competitor"] == NAMES[0]]
    assert [row["choice"] for row in rows] == list(CHOICES)
    assert all(len(row[m].split()) == len(np.unique(SPLIT.test.qid)) for row in rows for m in MEASURES)


def as_they_are(name, row):
    """A ranker of ours with the settings of a fit."""
    leaves, rate, features, penalty, min_data, min_hessian, drawn = (float(v) for v in row["setting"].split())
    shared = {"n_estimators": int(row["trees by nDCG@10"]), "learning_rate": rate, "colsample_bytree": features}
    # The seed is that of the booster alone: an objective as a value brings its own seed for the order of ties.
    objective = gb.LambdaRank(gb.GAP(g=(1 / N_GRADES,) * N_GRADES))
    shared |= {"reg_lambda": penalty, "objective": objective, "n_jobs": 1, "random_state": int(row["seed"])}
    if name.startswith("LightGBM"):
        shared |= {"num_leaves": int(leaves), "min_child_samples": int(min_data), "max_bin": boosters.BINS}
        return LGBMGAPRanker(extra_trees=bool(drawn), verbose=-1, **shared)
    trees = {"grow_policy": "lossguide", "max_depth": 0, "max_leaves": int(leaves), "max_bin": boosters.BINS}
    return XGBGAPRanker(min_child_weight=min_hessian, **trees, **shared)


@pytest.mark.parametrize("name", ["LightGBM GAP", "XGBoost GAP"])
def test_the_values_are_those_of_the_ranker(name, done):
    rows = [r for r in Results(done).fits if r["competitor"] == name and "nDCG@10" in r["chosen by"]]
    assert [row["seed"] for row in rows] == ["1", "2"]
    found = []
    for row in rows:
        scores = as_they_are(name, row).fit(SPLIT.train.X, SPLIT.train.y, SPLIT.train.qid)
        values = gb.evaluate(
            list(measures(N_GRADES).values()),
            SPLIT.test.y,
            scores.predict(SPLIT.test.X),
            SPLIT.test.qid,
            per_query=True,
        )
        assert values.qid.tolist() == sorted(values.qid.tolist())
        found.append([values[m] for m in measures(N_GRADES).values()])
        vali = gb.evaluate(measures(N_GRADES)["GAP"], SPLIT.vali.y, scores.predict(SPLIT.vali.X), SPLIT.vali.qid)
        assert float(row["vali GAP"]) == pytest.approx(vali[measures(N_GRADES)["GAP"]], abs=5.1e-5)
    saved = load(Results(done).values, "tuned", "nDCG@10")[name]["small digits", 1]
    npt.assert_allclose(saved[:, :-1].T, np.mean(found, axis=0), atol=5.1e-5)
    npt.assert_allclose(saved[:, -1], saved[:, :-1].mean(axis=1))


def test_a_finished_study_trains_nothing(done, fold, monkeypatch):
    def refuse(*_):
        raise AssertionError("trained again")

    before = (done / "fits.csv").read_bytes()
    monkeypatch.setattr(runs, "tuned", refuse)
    train(done, fold)
    assert (done / "fits.csv").read_bytes() == before


def test_an_interrupted_study_goes_on(done, fold, tmp_path):
    for name in ("fits.csv", "values.csv"):
        (tmp_path / name).write_text((done / name).read_text()[:-40])  # within the last row
    train(tmp_path, fold)
    for choice in CHOICES:
        found, expected = (load(Results(d).values, "tuned", choice) for d in (tmp_path, done))
        assert list(found) == list(expected) == NAMES
        for name in NAMES:
            npt.assert_array_equal(found[name]["small digits", 1], expected[name]["small digits", 1])


def test_results_of_other_gradients_do_not_count(done, monkeypatch):
    monkeypatch.setattr(runs, "fingerprint", lambda library: "other")
    left = [task for task in tasks() if task.key not in Results(done).values.done()]
    assert [task.competitor for task in left] == ["LightGBM GAP", "XGBoost GAP"]


def test_what_is_loaded_is_of_the_present_gradients(done, monkeypatch):
    monkeypatch.setattr("benchmarks.studies.effectiveness.comparisons.version", lambda study, name: "own")
    assert list(load(Results(done).values, "tuned", "mean")) == ["LightGBM lambdarank", "XGBoost rank:map"]


# CatBoost would compile the metric where numba is, and says that it cannot.
@pytest.mark.filterwarnings("ignore:Can't optimze method")
def test_catboost_is_watched_tree_by_tree(fold):
    pytest.importorskip("catboost")
    (competitor,) = (c for c in COMPETITORS if c.name == "CatBoost YetiRank")
    seen = []

    def watch(scores):
        seen.append(np.array(scores))
        return len(seen) < 7

    predict = boosters.train(competitor, fold, Trees(8, 0.1, 1.0, 1.0, 5, 1.0, False), 20, 1, watch)
    assert len(seen) == 7
    for n in (1, 7):
        npt.assert_allclose(seen[n - 1], predict(fold.vali.X, n), atol=1e-6)


def test_estimators_as_they_come(fold, tmp_path):
    names = ["LGBMGAPRanker()", "XGBRanker(objective='rank:map')"]
    train(tmp_path, fold, tasks("untuned", names))
    found = load(Results(tmp_path).values, "untuned", "none")
    assert list(found) == names
    target = measures(N_GRADES)["AP"]
    values = []
    for seed in (1, 2):
        ranker = LGBMGAPRanker(random_state=seed, verbose=-1, n_jobs=1)
        scores = ranker.fit(SPLIT.train.X, SPLIT.train.y, qid=SPLIT.train.qid).predict(SPLIT.test.X)
        values.append(gb.evaluate(target, SPLIT.test.y, scores, SPLIT.test.qid, per_query=True)[target])
    saved = found[names[0]]["small digits", 1][:, MEASURES.index("AP")]
    npt.assert_allclose(saved, np.mean(values, axis=0), atol=5.1e-5)


def test_a_course_keeps_the_best_number_of_trees_of_either_choice(fold):
    rng = np.random.default_rng(0)
    steps = [rng.normal(size=len(fold.vali.y)) + 0.2 * n * fold.vali.y for n in (1, 3, 2)]
    course = runs.Course(fold.vali, list(measures(N_GRADES).values()))
    for scores in steps:
        for _ in range(STEP):
            assert course(scores)
    for best in course.best.values():
        assert best.trees == 2 * STEP
    assert course.best["mean"].value == pytest.approx(np.mean(course.best["mean"].means))
    # of the first fifty trees after the best, only the last ends the training
    assert [course(steps[0]) for _ in range(runs.PATIENCE - STEP)] == [True] * (runs.PATIENCE - STEP - 1) + [False]


def test_candidates_are_the_same_for_all_and_differ():
    found = candidates("ohsumed", 3, 16)
    assert found == candidates("ohsumed", 3, 16)
    assert len(set(found)) == 16
    assert found != candidates("ohsumed", 2, 16)
    assert found != candidates("mslr", 3, 16)
    for trees in candidates("ohsumed", 1, 300):
        assert trees.leaves in runs.LEAVES
        for name, (low, high) in {
            "learning_rate": runs.LEARNING_RATES, "features": runs.FEATURES, "penalty": runs.PENALTIES,
            "min_data": runs.MIN_DATA, "min_hessian": runs.MIN_HESSIANS,
        }.items():  # fmt: skip
            assert low <= getattr(trees, name) <= high


def test_every_query_is_tested_once_and_never_trained_on_there():
    data = load_digits_ranking((25, 1, 1), 10)[0]
    splits = dealt(data, np.random.default_rng(0))
    assert len(splits) == len(FOLDS)
    for split in splits:
        queries = [set(part.qid.tolist()) for part in split]
        assert sum(len(q) for q in queries) == 25
        assert set.union(*queries) == set(data.qid.tolist())
    assert sorted(q for split in splits for q in set(split.test.qid.tolist())) == sorted(set(data.qid.tolist()))


def test_the_queue_is_balanced_with_the_last_collection_and_then_catboost_last():
    queue = study.tasks(collections())
    assert len(queue) == len(set(queue))
    last = ["CatBoost" in task.competitor for task in queue]
    assert last == sorted(last)
    of_last = [task.data == LAST for task in queue if "CatBoost" not in task.competitor]
    assert of_last == sorted(of_last)
    main = [task for task in queue if task.study in ("untuned", "tuned") and "CatBoost" not in task.competitor]
    folds = [task.fold for task in main if task.data != LAST]
    assert folds == sorted(folds)
    for kind, names in (("tuned", {c.name for c in COMPETITORS}), ("untuned", set(UNTUNED))):
        of_kind = {(t.data, t.fold, t.competitor) for t in queue if t.study == kind}
        assert of_kind == {(data, fold, name) for data in FILES for fold in FOLDS for name in names}


@pytest.fixture(scope="module")
def small():
    """As large as the study of less data needs, with the grades of MQ2007."""
    data = load_digits_ranking((40, 1, 1), 8, random_state=1)[0]

    class Small(Collection):
        n_grades = 2

    source = Small("mq2007", ())
    vars(source)["data"] = type(data)(data.X, np.minimum(data.y, 2), data.qid)
    return source


def test_less_data_trains_on_the_first_queries_of_each_order(small, monkeypatch):
    for name, value in {"N_TEST": 10, "N_VALI": 10, "ORDERS": 3, "ROUNDS": 10}.items():
        monkeypatch.setattr(side_studies, name, value)
    seen = []
    fitted = side_studies.fitted

    def spy(fold, measure, *rest, **options):
        seen.append((fold, measure))
        return fitted(fold, measure, *rest, **options)

    monkeypatch.setattr(side_studies, "fitted", spy)
    for name, expected in (("P@10", gb.Precision(k=10)), ("GAP", gb.GAP(g=(0.5, 0.5)))):
        seen.clear()
        fits, tested = side_studies.less_data(Task("less data", "mq2007", 0, f"{name} from 5 queries", ""), small)
        assert [measure for _, measure in seen] == [expected] * 3
        trained = [set(fold.train.qid.tolist()) for fold, _ in seen]
        assert all(len(queries) == 5 for queries in trained)
        assert len(set.union(*trained)) > 5
        others = {q for fold, _ in seen for part in (fold.vali, fold.test) for q in part.qid.tolist()}
        assert len(others) == 20
        assert not others & set.union(*trained)
        assert len(fits) == len(tested["mean"]) == 3


def test_g_of_the_data(small):
    fold = Fold(RankingSplit(small.data, small.data, small.data), 2)
    counts = np.bincount(small.data.y)[1:]
    assert side_studies.frequencies(fold)[0] == pytest.approx(counts[0] / counts.sum(), abs=0.05)
    fits, tested = side_studies.choice_of_g(Task("g", "mq2007", 1, "g = 0.3 0.7", ""), fold)
    assert {fit["setting"] for fit in fits} == {"0.3 0.7"}
    assert len(tested["mean"]) == len(side_studies.G_SEEDS)


def saved(directory, of, study_name="tuned", choice="nDCG@10"):
    """Values of competitors: {(data, fold, name): one value a query, for every measure}."""
    results = Results(directory)
    for (data, fold, name), values in of.items():
        task = Task(study_name, data, fold, name, runs.version(study_name, name))
        (row,) = rows_of({choice: [[np.array(values)] * len(MEASURES)]})
        results.values.add([{**dict(zip(KEY, task.key, strict=True)), **row}])
    return results


def test_competitors_are_compared_on_the_folds_that_both_have_finished(tmp_path):
    a, b = "LightGBM GAP", "LightGBM lambdarank"
    of = {
        ("mslr", 1, a): [0.1, 0.2, 0.3],
        ("mslr", 1, b): [0.2, 0.2, 0.1],
        ("mslr", 2, a): [0.9],
        ("cranfield", 1, b): [0.2, 0.4],
        ("cranfield", 1, a): [0.4, 0.5],
    }
    values = load(saved(tmp_path, of).values, "tuned", "nDCG@10")
    c = compare(values, a, b)
    assert c.n_queries == 5
    npt.assert_allclose(c.differences["mslr", 1][:, COLUMNS.index("AP")], [-0.1, 0, 0.2])
    mslr, cranfield = np.array([-0.1, 0, 0.2]), np.array([0.2, 0.1])
    for estimate, expected in (
        (c.over_models("AP"), clustered([cranfield, mslr])),
        (c.over_queries(), independent(np.concatenate([cranfield, mslr]))),
        (c.over_collections(), independent(np.array([cranfield.mean(), mslr.mean()]))),
        (c.among(["mslr"]).over_queries(), independent(mslr)),
    ):
        npt.assert_allclose(estimate.interval(), expected.interval())
    assert c.by_signs() == pytest.approx(0.5)  # totals .3 and .1: two of four changes of signs are as far
    assert compare(values, a, "LightGBM AP").n_queries == 0


def test_a_lower_value_on_one_collection_is_listed(tmp_path):
    a, b = report.TUNED[0]
    rng = np.random.default_rng(0)
    of = {}
    for data, shift in (("mslr", -0.2), ("cranfield", 0.2)):
        base = rng.uniform(0.3, 0.6, 40)
        for fold in (1, 2):
            noise = rng.normal(0, 0.05, 40)
            of |= {(data, fold, b): base, (data, fold, a): base + shift + noise}
    found = report.families(saved(tmp_path, of))
    listed = [line.split(" | ")[3] for line in report.lower(found).splitlines() if "mslr" in line]
    assert listed == list(COLUMNS)
    assert "cranfield" not in report.lower(found)
    rows = [row for row in report.every(found) if row["over"] == "mslr"]
    assert [row["comparisons"] for row in rows] == ["42"] * 6 + ["6"]


def test_g_is_chosen_on_validation_in_each_fold(tmp_path):
    names = [f"g = {k / 10:.1f} {1 - k / 10:.1f}" for k in range(11)]
    rng = np.random.default_rng(1)
    values = {("mq2007", 1, name): rng.uniform(size=5) for name in names}
    results = saved(tmp_path, values, "g", "mean")
    for number, name in enumerate(names):
        fit = {"study": "g", "data": "mq2007", "fold": 1, "competitor": name, "gradients": ""}
        results.fits.add([fit | {"vali mean": 0.9 if number == 3 else 0.5}])
    of_g = report.values_of(report.FAMILIES["g"], results)
    npt.assert_allclose(of_g[report.CHOSEN]["mq2007", 1][:, 0], values["mq2007", 1, names[3]], atol=5.1e-5)


def test_the_page_is_what_is_saved(tmp_path):
    """Change a table or a result, and this fails until `python -m benchmarks.studies.effectiveness --redraw`."""
    page, text = tmp_path / "page.template", report.PAGE.read_text(encoding="utf-8")
    page.write_text(text, encoding="utf-8")
    report.redraw(study.tasks(collections()), Results(), page, tmp_path, tmp_path)
    assert page.read_text(encoding="utf-8") == text
    written = (report.RESULTS / "comparisons.csv").read_text(encoding="utf-8")
    assert (tmp_path / "comparisons.csv").read_text(encoding="utf-8") == written
    assert (tmp_path / "effectiveness.png").stat().st_size > 0


def test_a_page_that_lacks_trainings_says_so(tmp_path):
    a, b = report.TUNED[0]
    of = {("mslr", fold, name): [0.1 * fold, 0.2, 0.6] for fold in (1, 2) for name in (a, b)}
    queue = study.tasks(collections())
    page = tmp_path / "page.template"
    page.write_text(report.PAGE.read_text(encoding="utf-8"), encoding="utf-8")
    report.redraw(queue, saved(tmp_path, of), page, tmp_path, tmp_path)
    text = page.read_text(encoding="utf-8")
    assert f"Provisional: {len(queue) - 4} of {len(queue)} tasks are missing" in text
    assert "| +0.0000 (+0.0000 … +0.0000) |" in text


@pytest.fixture(scope="module")
def of():
    return report.families(Results())


def test_a_verdict_is_that_of_the_simultaneous_interval(of):
    """The page's words are those of `Estimate`, with all comparisons of a family."""
    assert {name: len(of[name]) for name in of} == {name: len(f.pairs) for name, f in report.FAMILIES.items()}
    text = report.PAGE.read_text(encoding="utf-8")
    for name in (*report.DEFAULTS, *report.ALIKE):
        for c in of[name]:
            size, estimates = len(of[name]), [c.over_models(m) for m in (MEAN, report.TOP)]
            ends = [interval_text(one.interval(family=size)) for one in estimates]
            words = ", ".join(one.verdict(family=size, margin=0.003) for one in estimates)
            names = f"{report.competitor(c.first)} | {report.competitor(c.second)}"
            family = f"{report.FAMILIES[name].title} ({size})"
            (row,) = (line for line in text.splitlines() if line.startswith(f"| {family} | {names} |"))
            assert row.endswith(f"({ends[1]}) | {words} |")
            assert f"({ends[0]})" in row


def test_the_numbers_of_the_page_in_words(of):
    """The page rounds values of the study outside its tables."""
    text = " ".join(report.PAGE.read_text(encoding="utf-8").split())
    pairs = {(name, c.first, c.second): c for name in of for c in of[name]}
    for name, first, second, difference in (
        ("defaults", *report.LEADS[0], "by .0093"),
        ("defaults", *report.LEADS[1], "by .0093"),
        ("defaults", "XGBGAPRanker()", "CatBoostRanker()", "by .0056"),
        ("defaults", "LGBMGAPRanker(extra_trees=False)", "LGBMRanker()", "lead of .0037"),
        ("own parameters", "LGBMRanker(extra_trees=True)", "LGBMRanker()", "by .0052"),
        ("g", report.CHOSEN, report.UNIFORM, "by .0021"),
        ("others", "LightGBM GAP", "LightGBM nDCG", "LightGBM by +.0008"),
        ("others", "XGBoost GAP", "XGBoost nDCG", "XGBoost by +.0029"),
    ):
        assert difference in text
        assert float(difference.split()[-1]) == round(abs(pairs[name, first, second].over_models().mean), 4)
    lead = pairs["defaults", *report.LEADS[1]].over_collections()
    found = report.cell(lead, lead.interval()).replace("0.", ".").replace(" …", " to")
    assert f"inconclusive: {found}" in text
    one = pairs["others", "XGBoost GAP", "XGBoost nDCG"].over_models()
    low, high = (f"{end:+.4f}".replace("0.", ".") for end in one.interval())
    assert f"the interval ({low} to {high}) and p {one.p:.3f}".replace(" 0.", " .") in text
    assert f"In its family of ten, p is {10 * one.p:.3f}".replace(" 0.", " .") in text
    there = pairs["tuned", "LightGBM GAP", "LightGBM rank_xendcg"].among([LAST])
    p = f"{6 * there.over_queries().p:.3f} over queries, and {there.over_models().p:.2f} over the three"
    assert f"lower than LightGBM rank_xendcg by {-there.over_queries().mean:.4f}".replace(" 0.", " .") in text
    assert f"The p-value is {p}".replace(" 0.", " .") in text


def test_what_holm_s_correction_would_add(of):
    """The page names each comparison on which the protocol's correction and the intervals differ."""
    text = " ".join(report.PAGE.read_text(encoding="utf-8").split())
    more = []
    for name in (*report.DEFAULTS, *report.ALIKE):
        family = report.FAMILIES[name]
        for m in (MEAN, report.TOP):
            p_values = holm({(c.first, c.second): c.over_models(m).p for c in of[name]})
            for c in of[name]:
                low, high = family.interval(c.over_models(m))
                if p_values[c.first, c.second] < 0.05 and low <= 0 <= high:
                    p = f"{p_values[c.first, c.second]:.3f}".lstrip("0")
                    more.append(f"`{c.first}` beside `{c.second}` (p {p})")
    assert len(more) == 3
    assert all(one in text for one in more)


def test_the_numbers_of_the_readme(of):
    """Every difference that it prints is one of the study's, with its interval."""
    text = (report.PAGE.parents[1] / "README.md").read_text(encoding="utf-8")
    printed = re.findall(r"[+−]0\.\d{4} \([+−]0\.\d{4} … [+−]0\.\d{4}\)", " ".join(text.split()))
    known = {
        report.cell(one, report.FAMILIES[name].interval(one))
        for name in (*report.DEFAULTS, *report.ALIKE)
        for c in of[name]
        for one in [c.over_models()]
    }
    (lead,) = (c for c in of["defaults"] if (c.first, c.second) == report.LEADS[1])
    over_collections = lead.over_collections()
    known.add(report.cell(over_collections, over_collections.interval()))
    assert len(printed) >= 4
    assert set(printed) <= known


def test_what_is_compared_is_trained():
    assert len({c.name for c in COMPETITORS}) == len(COMPETITORS)
    trained = {"tuned": {c.name for c in COMPETITORS}, "untuned": set(UNTUNED)}
    for family in report.FAMILIES.values():
        if family.study in trained:
            assert {name for pair in family.pairs for name in pair} <= trained[family.study]


AS_THEY_COME = ["LGBMGAPRanker()", "LGBMRanker()", "XGBGAPRanker()", "XGBRanker()"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ohsumed", "cranfield"])
def test_compare_rankers_comes_to_the_values_that_are_saved(name):
    """Estimators as they come, on the folds of the study, its order of rows and its seeds: the same to the last digit."""
    collection = next(each for each in collections() if each.name == name)
    if not collection.there:
        pytest.skip(f"shared/data/{FILES[name][0]} is not there")
    data = collection.data
    rankers = {competitor: kind(**given) for competitor in AS_THEY_COME for kind, given in [UNTUNED[competitor]]}
    wanted = measures(collection.n_grades)
    fold = tuple(np.flatnonzero(np.isin(data.qid, part.qid)) for part in collection.splits[0])
    found = compare_rankers(
        data.X, data.y, data.qid, rankers, measures=list(wanted.values()), cv=[fold], repeats=3, shuffle=False
    )
    saved = {
        row["competitor"]: row
        for row in Results().values
        if row["study"] == "untuned" and row["data"] == name and row["fold"] == "1"
        if row["competitor"] in rankers and row["gradients"] == runs.version("untuned", row["competitor"])
    }
    assert set(saved) == set(rankers)
    for competitor, row in saved.items():
        for column, measure in zip(MEASURES, found.measures, strict=True):
            (values,) = found.values.of(competitor, measure)
            npt.assert_array_equal(np.rint(1e4 * values).astype(int), list(map(int, row[column].split())))
