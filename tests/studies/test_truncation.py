"""The study of truncation: its gradients are those of the boosters, it resumes, and its page is what is saved."""

import json

import lightgbm
import numpy as np
import numpy.testing as npt
import pytest
import xgboost
from scipy import stats

import gapboost as gb
from benchmarks.studies.truncation import gradients, lists, report, trainings
from benchmarks.studies.truncation.boosters import (
    different_pairs,
    drawn_pairs,
    gap_swaps,
    lightgbm_lambdarank,
    ndcg_swaps,
    pair_sums,
    top_pairs,
    xgboost_lambdarank,
)
from benchmarks.studies.truncation.lists import Made, Real
from gapboost.datasets import RankingData
from gapboost.lightgbm import LGBMGAPRanker

SIZES = (40, 2, 75)


def made_lists(spread, top=4, seed=0):
    """Grades and scores of three lists; scores that float32 holds, some of them equal; all of them equal where `spread` is 0."""
    rng = np.random.default_rng(seed)
    n = sum(SIZES)
    return rng.integers(0, top + 1, n), spread * np.float32(rng.normal(size=n)).astype(np.float64).round(1)


def lists_of(*columns):
    """Their rows list by list."""
    return zip(*(np.split(column, np.cumsum(SIZES)[:-1]) for column in columns), strict=True)


def gradients_of_lightgbm(grades, scores, **own):
    """From a tree with a leaf for each row, whose leaves LightGBM fits again, twice: each is -gradient / (hessian + penalty)."""
    rows = np.arange(len(grades), dtype=np.float64)[:, None]
    leaves = {
        "num_leaves": len(rows), "min_data_in_leaf": 1, "min_data_in_bin": 1, "min_sum_hessian_in_leaf": 0.0,
        "learning_rate": 1.0, "verbose": -1, "num_threads": 1,
    }  # fmt: skip
    tree = lightgbm.train({**leaves, "objective": "regression"}, lightgbm.Dataset(rows, rows.ravel() ** 2), 1)

    def refitted(penalty):
        tree.params = {**leaves, **own, "objective": "lambdarank", "lambda_l2": penalty}
        again = tree.refit(rows, grades, decay_rate=0.0, group=list(SIZES), init_score=scores)
        return again.predict(rows, raw_score=True)

    first, second = refitted(1.0), refitted(2.0)
    moved = first != second
    hess = np.divide(2 * second - first, first - second, out=np.zeros(len(rows)), where=moved)
    return -first * (hess + 1), hess, moved


def leaf_sums_of_xgboost(grades, scores, **own):
    """The leaf of each row in one tree of XGBoost, and each leaf's sum of gradients and of hessians."""
    rows = np.arange(len(grades), dtype=np.float64)[:, None]
    params = {
        "max_depth": 0, "max_leaves": 200, "grow_policy": "lossguide", "max_bin": 256, "min_child_weight": 0.0,
        "reg_lambda": 0.0, "learning_rate": 1.0, "nthread": 1, **own,
    }  # fmt: skip
    data = xgboost.DMatrix(rows, grades, group=list(SIZES), base_margin=scores)
    tree = xgboost.train(params, data, 1)
    model = json.loads(tree.save_raw("json"))["learner"]["gradient_booster"]["model"]["trees"][0]
    weights, values = np.array(model["sum_hessian"]), np.array(model["base_weights"])
    leaf = tree.predict(data, pred_leaf=True).ravel().astype(int)
    return leaf, {k: (-values[k] * weights[k], weights[k]) for k in np.unique(leaf)}


def assert_same_sums(leaf, of_leaf, grad, hess):
    """Leaves hold the sums of these gradients; enough of them that hardly one could be wrong alone."""
    assert len(of_leaf) > len(grad) / 3
    for k, (gradient, hessian) in of_leaf.items():
        here = leaf == k
        npt.assert_allclose(gradient, grad[here].sum(), atol=1e-5 * np.abs(grad).max())
        npt.assert_allclose(hessian, hess[here].sum(), atol=1e-5 * np.abs(hess).max())


@pytest.mark.parametrize("spread", [0.0, 1.0])
@pytest.mark.parametrize("norm", [True, False])
@pytest.mark.parametrize("truncation", [5, 30, 1000])
def test_lightgbm_sums_these_gradients(truncation, norm, spread):
    grades, scores = made_lists(spread)
    grad, hess, moved = gradients_of_lightgbm(
        grades, scores, lambdarank_truncation_level=truncation, lambdarank_norm=norm
    )
    found = [lightgbm_lambdarank(y, s, truncation, norm) for y, s in lists_of(grades, scores)]
    expected_grad, expected_hess = np.concatenate(found, axis=1)
    # LightGBM reads its logistic function from a table with steps of 5e-5.
    npt.assert_allclose(grad, expected_grad, atol=5e-5 * np.abs(expected_grad).max())
    npt.assert_allclose(hess[moved], expected_hess[moved], atol=5e-5 * expected_hess.max())
    assert moved.sum() > len(grades) / 2


@pytest.mark.parametrize("spread", [0.0, 1.0])
@pytest.mark.parametrize(("normalization", "score_normalization"), [(True, True), (True, False), (False, True)])
@pytest.mark.parametrize(("objective", "k"), [("rank:ndcg", 5), ("rank:ndcg", 32), ("rank:map", 5)])
def test_xgboost_sums_these_gradients_of_its_top_pairs(objective, k, normalization, score_normalization, spread):
    grades, scores = made_lists(spread, 1 if objective == "rank:map" else 4)
    leaf, sums = leaf_sums_of_xgboost(
        grades, scores, objective=objective, lambdarank_pair_method="topk", lambdarank_num_pair_per_sample=k,
        lambdarank_normalization=normalization, lambdarank_score_normalization=score_normalization,
    )  # fmt: skip
    found = [
        xgboost_lambdarank(
            (lambda ranked: gap_swaps(ranked, (1.0,))) if objective == "rank:map" else (lambda ranked: ndcg_swaps(ranked, k)),
            lambda ranked: top_pairs(len(ranked), 0, k), y, s, None, normalization, score_normalization,
        )
        for y, s in lists_of(grades, scores)
    ]  # fmt: skip
    assert_same_sums(leaf, sums, *np.concatenate(found, axis=1))


class MinimalStandard:
    """`std::minstd_rand` and libstdc++'s `uniform_int_distribution` on it, which XGBoost draws pairs with."""

    def __init__(self, seed):
        self.state = seed

    def draw(self, bound, size):
        return np.array([self.below(bound) for _ in range(size)], dtype=int)

    def below(self, bound):
        scaling = (2**31 - 3) // bound
        while True:
            self.state = self.state * 48271 % (2**31 - 1)
            if self.state - 1 < bound * scaling:
                return (self.state - 1) // scaling


# The test repeats XGBoost's random draws, and the study was run with XGBoost 3.2.
@pytest.mark.skipif(
    tuple(map(int, xgboost.__version__.split(".")[:2])) >= (3, 4),
    reason="XGBoost 3.4 and later draw other pairs than MinimalStandard",
)
@pytest.mark.parametrize("normalization", [True, False])
@pytest.mark.parametrize(("objective", "k"), [("rank:ndcg", 1), ("rank:ndcg", 4), ("rank:map", 2)])
def test_xgboost_sums_these_gradients_of_drawn_pairs(objective, k, normalization):
    grades, scores = made_lists(1.0, 1 if objective == "rank:map" else 4)
    leaf, sums = leaf_sums_of_xgboost(
        grades, scores, objective=objective, lambdarank_pair_method="mean", lambdarank_num_pair_per_sample=k,
        lambdarank_normalization=normalization,
    )  # fmt: skip
    found = []
    for number, (y, s) in enumerate(lists_of(grades, scores)):
        draw = MinimalStandard(len(SIZES) + number).draw
        found.append(
            xgboost_lambdarank(
                (lambda ranked: gap_swaps(ranked, (1.0,))) if objective == "rank:map" else ndcg_swaps,
                lambda ranked, draw=draw: drawn_pairs(ranked, k, draw), y, s, k, normalization,
            )
        )  # fmt: skip
    assert_same_sums(leaf, sums, *np.concatenate(found, axis=1))


@pytest.mark.parametrize(
    ("measure", "swaps_of"),
    [
        (gb.nDCG(), ndcg_swaps),
        (gb.AP(), lambda ranked: gap_swaps(ranked, (1.0, 0.0, 0.0, 0.0))),
        (gb.GAP(g=(0.25,) * 4), lambda ranked: gap_swaps(ranked, (0.25,) * 4)),
    ],
)
@pytest.mark.parametrize("truncation", [7, None])
def test_selected_pairs_are_those_of_gapboost(measure, swaps_of, truncation):
    grades, scores = next(iter(lists_of(*made_lists(1.0))))
    scores = np.sort(scores + 1e-9 * np.arange(len(scores)))[::-1]
    n = len(grades)
    plain, _ = pair_sums(swaps_of(grades), scores, top_pairs(n, 0, truncation or n))
    how = gb.LambdaRank(measure, truncation=truncation, normalize=False)
    grad, hess = how.gradients(grades, scores)
    npt.assert_allclose(plain.gradient, grad, atol=1e-8)
    npt.assert_allclose(plain.hessian, hess, atol=1e-8)
    if truncation is None:
        again = pair_sums(swaps_of(grades), scores, different_pairs(grades))
        parts = [pair_sums(swaps_of(grades), scores, top_pairs(n, *band)) for band in ((0, 7), (7, n))]
        for whole, first, second in zip(again, *parts, strict=True):
            npt.assert_allclose(whole.gradient, (first + second).gradient, atol=1e-12)
            assert whole.size == pytest.approx((first + second).size)


def test_lists_shorter_than_the_truncation_lose_nothing():
    part = Made(30, 10).training(1)
    target = gradients.Target("GAP", 4)
    rng = np.random.default_rng(0)
    rows = list(gradients.stage_rows(part, target, gradients.bins(part.X), rng.normal(size=len(part.y)), 10))
    values = {(selection, kind): dict(zip(gradients.VALUES[4:], row, strict=True)) for selection, kind, *row in rows}
    assert set(values) == {(s, k) for s in gradients.SELECTIONS for k in "01"}
    for column in ("cosine", "cosine of trees"):
        whole = {s: float(values[s, "0"][column]) for s in gradients.SELECTIONS}
        assert whole["all"] == whole["top 30"] == whole["top 100"] == pytest.approx(1)
        assert whole["mean 1"] < whole["mean 32"] < 1
        assert whole["top 10"] < 1
    assert float(values["all", "1"]["cosine with divided"]) == pytest.approx(1)
    assert values["all", "1"]["cosine"] == values["top 30", "1"]["cosine"] != "1"
    assert values["top 30", "0"]["signal"] == values["all", "0"]["signal"]
    assert 0 < float(values["mean 32", "0"]["chance"]) < float(values["mean 1", "0"]["chance"]) < 1


def test_expectation_of_drawn_pairs_of_two_grades_is_all_pairs():
    """Every pair is drawn by either of its documents: k / R + k / (n - R) times, the same for all pairs."""
    part = Made(30, 10).training(1)
    part.y[:] = part.y > 0
    rows = gradients.stage_rows(part, gradients.Target("AP", 1), gradients.bins(part.X), part.X[:, 0], 200)
    values = {(selection, kind): row[-2:] for selection, kind, *row in rows}
    assert [float(values[f"mean {k}", "0"][0]) for k in (1, 32)] == pytest.approx([1, 1], abs=0.02)


def test_a_finished_task_is_not_computed_again_and_half_of_one_is(tmp_path, monkeypatch):
    monkeypatch.setattr(gradients, "WORLDS", (1, 2))
    monkeypatch.setattr(gradients, "MEASURES", ("AP",))
    monkeypatch.setattr(gradients, "ROUNDS", 10)
    path = tmp_path / "results" / "gradients.csv"
    gradients.run([Made(100, 10)], path, tmp_path / "lists.csv")
    whole = path.read_text()
    lines = whole.splitlines(keepends=True)
    assert len(lines) == 1 + 2 * len(gradients.STAGES) * len(gradients.SELECTIONS) * 2
    path.write_text("".join(lines[:-3]) + lines[-3][:10])
    monkeypatch.setattr(
        gradients, "stages", lambda part, measure, old=gradients.stages: once.append(1) or old(part, measure)
    )
    once = []
    gradients.run([Made(100, 10)], path, tmp_path / "lists.csv")
    assert len(once) == 1
    assert path.read_text() == whole


@pytest.fixture(scope="module")
def fold():
    return trainings.Fold(*(Made(60, 20).part(1, number, 20) for number in (1, 2, 3)))


def ranker_of(name):
    """The estimator that trains as a competitor does."""
    shared = {"n_estimators": 10, "max_bin": trainings.BINS, "learning_rate": trainings.RATE, "n_jobs": 1}
    leaves = {"num_leaves": trainings.LEAVES, "verbose": -1}
    if name == "GAP top 10":
        how = gb.LambdaRank(gb.GAP(g=(0.25,) * 4), truncation=10)
        return LGBMGAPRanker(objective=how, extra_trees=False, **leaves, **shared)
    if name == "lambdarank top 30 no norm":
        return lightgbm.LGBMRanker(lambdarank_norm=False, **leaves, **shared)
    shape = {"grow_policy": "lossguide", "max_depth": 0, "max_leaves": trainings.LEAVES}
    return xgboost.XGBRanker(lambdarank_pair_method="mean", **shape, **shared)


@pytest.mark.parametrize("name", ["GAP top 10", "lambdarank top 30 no norm", "rank:ndcg mean 1"])
def test_a_competitor_is_the_training_that_its_name_says(fold, name):
    competitor = next(c for c in trainings.COMPETITORS if c.name == name)
    training = fold.training(competitor)
    scores = [training.grow() for _ in range(10)][-1]
    ranker = ranker_of(name).fit(fold.train.X, fold.train.y, group=fold.train.sizes)
    npt.assert_allclose(scores, ranker.predict(fold.vali.X), atol=1e-5)
    npt.assert_allclose(training.predict(fold.test.X, 10), ranker.predict(fold.test.X), atol=1e-5)
    expected = gb.evaluate(["ndcg@10", "ndcg", "ap"], fold.vali.y, scores, fold.vali.qid)
    npt.assert_allclose(fold.values(fold.vali, scores)[:3], list(expected.values()))


def test_trainings_go_on_where_they_stopped(tmp_path, monkeypatch):
    monkeypatch.setattr(trainings, "ROUNDS", 5)
    monkeypatch.setattr(trainings, "WORLDS", (1,))
    monkeypatch.setattr(trainings, "COMPETITORS", trainings.COMPETITORS[:3])
    monkeypatch.setattr(Made, "trio", lambda self, world: [self.part(world, k, 20) for k in (1, 2, 3)])
    path = tmp_path / "quality.csv"
    trainings.run([Made(60, 20)], path)
    whole = path.read_text()
    path.write_text("".join(whole.splitlines(keepends=True)[:2]) + "made")
    trainings.run([Made(60, 20)], path)
    without_seconds = [[line.rsplit(",", 1)[0] for line in text.splitlines()] for text in (whole, path.read_text())]
    assert without_seconds[0] == without_seconds[1]
    assert len(without_seconds[0]) == 4


def test_the_page_is_what_is_saved(tmp_path):
    """Change either, and this fails until `python -m benchmarks.studies.truncation --redraw`."""
    report.redraw(tmp_path / "page.md", tmp_path, tmp_path / "intervals.csv")
    assert (tmp_path / "page.md").read_text(encoding="utf-8") == report.PAGE.read_text(encoding="utf-8")
    assert (tmp_path / "intervals.csv").read_text(encoding="utf-8") == report.INTERVALS.read_text(encoding="utf-8")
    assert (tmp_path / "truncation.png").stat().st_size > 0


def test_what_the_page_says_of_directions_is_what_was_measured():
    """T / R explains half-learnt scores; before the first tree it explains less, for nDCG less than T / n."""
    found = report.Gradients()

    def explained(measure, by, stage):
        return report.fit(found, measure, by, stage).explained

    for measure in ("nDCG", "AP", "GAP"):
        half, none = (explained(measure, report.n_relevant, stage) for stage in (report.HALF, report.UNLEARNT))
        assert half > 0.9 > 0.5 > explained(measure, lambda source: source.length, report.HALF)
        assert none < half - 0.2
        fitted = report.fit(found, measure, report.n_relevant).fitted
        assert (np.diff(fitted) >= 0).all()
    by_length = explained("nDCG", lambda source: source.length, report.UNLEARNT)
    assert explained("nDCG", report.n_relevant, report.UNLEARNT) < by_length


def test_intervals_of_a_family_are_those_of_bonferroni():
    rows = report.judged(report.Quality())
    assert len({(row["family"], row["lists"], row["first"], row["second"], row["measured by"]) for row in rows}) == len(
        rows
    )
    for row in rows:
        mean, error, freedom, low, high, p = (
            float(row[name]) for name in ("mean", "error", "freedom", "low", "high", "p of the family")
        )
        half = stats.t.ppf(1 - 0.025 / int(row["comparisons"]), freedom) * error
        assert (low, high) == pytest.approx((mean - half, mean + half), abs=2e-5)
        assert (p < 0.05) == (low > 0 or high < 0)


def test_other_repeats_deal_the_same_queries_otherwise(monkeypatch):
    qid = np.repeat(np.arange(10), 2)
    data = RankingData(np.zeros((20, 1)), np.zeros(20, dtype=np.int32), qid)
    monkeypatch.setattr(lists, "collection", lambda name: data)
    deals = [
        [[set(part.qid) for part in Real("mslr", repeat).trio(fold)] for fold in (1, 2, 3, 4, 5)]
        for repeat in (0, 1, 2)
    ]
    for deal in deals:
        assert all(set.union(*fold) == set(range(10)) and sum(map(len, fold)) == 10 for fold in deal)
        assert set.union(*(fold[2] for fold in deal)) == set(range(10))
    assert deals[0] != deals[1] != deals[2]


def test_a_comparison_of_repeats_takes_all_of_them(tmp_path):
    rows = [",".join((*trainings.LONG_KEY, *trainings.VALUES))]
    for source in trainings.REPEATS:
        for fold in (1, 2, 3, 4, 5):
            for competitor in trainings.LONG:
                rows.append(f"{source.repeat},robust03,{fold},{competitor.name},10,0.5,0.1,0.1,0.1,0.1,1.0")
    path = tmp_path / "long_lists.csv"
    for dropped, n in ((0, 5 * len(trainings.REPEATS)), (len(trainings.LONG), 0)):
        path.write_text("\n".join(rows[: len(rows) - dropped]) + "\n", encoding="utf-8")
        quality = report.Quality(tmp_path / "none.csv", path)
        assert len(quality.differences(report.LONG, "nDCG top 13", "nDCG all")) == n


def test_lists_of_all_pairs_are_worth_themselves():
    found = report.Gradients()
    one = found.lists_for_one(Made(1_000, None), "GAP", gradients.ALL)
    assert (one.mean, one.error) == pytest.approx((0, 0), abs=1e-12)
    assert found.lists_for_one(Made(1_000, None), "GAP", "top 30").interval()[0] > 0


def saved_quality(path, differences):
    """A file with T = 30 and all pairs of each source, apart by these differences in all four measures."""
    lines = [",".join((*trainings.KEY, *trainings.VALUES))]
    for source, apart in differences.items():
        for world, difference in enumerate(apart, 1):
            for name, value in (("GAP all", 0.5), ("GAP top 30", 0.5 + difference)):
                lines.append(f"{source},{world},{name},10,0.5,{','.join([str(value)] * 4)},1.0")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return report.Quality(path, path.with_name("none.csv"))


def test_collections_weigh_the_same_and_vary_within_themselves(tmp_path):
    first, second = [0.01, 0.02, 0.03, 0.04, 0.05], [-0.1, -0.1, -0.1, -0.1, -0.1]
    quality = saved_quality(tmp_path / "quality.csv", {"ohsumed": first, "mslr": second, "cranfield": first[:3]})
    one = quality.over([Real(name) for name in ("ohsumed", "mslr", "cranfield")], "GAP top 30", "GAP all")
    assert one.mean == pytest.approx((0.03 - 0.1) / 2)
    # Nadeau and Bengio's correction of five folds that test on one part and train on three.
    assert one.error == pytest.approx(np.std(first, ddof=1) / 5**0.5 / 2 * (1 + 5 / 3) ** 0.5)
    assert one.freedom == 8
    assert len(quality.differences(Real("cranfield"), "GAP top 30", "GAP all")) == 0
