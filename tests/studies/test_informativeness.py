"""The study of informativeness: gains and effects are those that made the data, and the page is what is saved."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from benchmarks.studies.informativeness import doses, report, response, runs
from benchmarks.studies.informativeness.data import CASCADES, JUDGES, MEASURES, PRIMARY, RESPLITS
from gapboost.analysis.estimates import Estimate
from gapboost.datasets import load_digits_ranking

NAMES = list(MEASURES)
DOSE, OWN, SPREAD = 0.010, 0.012, 0.25


def at(records, path):
    return dataclasses.replace(records, path=path / records.path.name)


@pytest.fixture
def made(tmp_path, monkeypatch):
    """Values in which informativeness, and training for what is tested, are worth what is said above."""
    monkeypatch.setattr(doses, "RESULTS", at(doses.RESULTS, tmp_path))
    monkeypatch.setattr(runs, "RESULTS", at(runs.RESULTS, tmp_path))
    monkeypatch.setattr(response, "EFFECTS", tmp_path / "effects.csv")
    monkeypatch.setattr(report, "EFFECTS", tmp_path / "effects.csv")
    rng = np.random.default_rng(0)
    errors = rng.uniform(0.1, 0.3, len(NAMES))
    of_measures = rng.normal(0, 0.002, len(NAMES))
    dose = (errors.mean() - errors) / errors.std()
    for source in PRIMARY:
        told = {"rms 1": errors - 0.01, "rms 2": errors + 0.01, "spread": SPREAD}
        rows = [{k: float(np.broadcast_to(v, len(NAMES))[i]) for k, v in told.items()} for i in range(len(NAMES))]
        rows = [{"collection": source.name, "measure": name, **row} for name, row in zip(NAMES, rows, strict=True)]
        rows += [
            {"collection": source.name, "measure": name, "rms 1": None, "rms 2": None, "spread": SPREAD}
            for name in CASCADES
        ]
        doses.RESULTS.add(rows)
        for resplit in range(3):
            for size in source.sizes:
                noise = rng.normal(0, 0.003, (len(NAMES), 1)) + rng.normal(0, 0.003, (len(NAMES), len(NAMES)))
                value = (
                    0.4 + noise + rng.normal(0, 0.05) + (DOSE * dose + of_measures)[:, None] + OWN * np.eye(len(NAMES))
                )
                runs.RESULTS.add(
                    [
                        {"collection": source.name, "resplit": resplit, "size": size, "trained": name, "trees": 10}
                        | dict(zip(NAMES, value[i], strict=True)) | dict.fromkeys(CASCADES, value[i, 0])
                        for i, name in enumerate(NAMES)
                    ]
                )  # fmt: skip
    return tmp_path


def test_gains_are_told_beside_the_mean_of_all_training_measures(made):
    rows = response.gains(response.values(PRIMARY))
    assert len(rows) == sum(len(source.sizes) for source in PRIMARY) * len(NAMES) ** 2
    sums = rows.groupby(["collection", "size", "tested"])["gain"].sum()
    assert np.abs(sums).max() < 1e-8
    line = np.polyfit(rows["dose"], rows["gain"], 1)[0]
    assert line == pytest.approx(100 * DOSE / SPREAD, abs=0.6)
    own = rows.groupby("own")["gain"].mean()
    assert own[1.0] - own[0.0] == pytest.approx(100 * OWN / SPREAD, abs=0.5)
    assert rows.groupby("size")["step"].first().to_dict() == pytest.approx(
        {12: np.log(0.24) / np.log(4), 50: 0.0, 200: 1.0}
    )
    assert rows.loc[rows["cut"] == 1, "trained"].unique().tolist() == ["GAP@10", "AP@10", "nDCG@10", "nDCG@3", "P@10"]


def test_informative_measures_have_high_doses(made):
    known = response.dosed().loc[PRIMARY[0].name].loc[NAMES]
    assert known["rms"].idxmin() == known["dose"].idxmax()
    assert known["dose"].mean() == pytest.approx(0)
    assert known["dose"].std(ddof=0) == pytest.approx(1)


def test_resplits_that_are_not_whole_are_left_out(made):
    runs.RESULTS.add(
        [
            {"collection": "ohsumed", "resplit": 3, "size": 12, "trained": "GAP", "trees": 10}
            | dict.fromkeys([*NAMES, *CASCADES], 0.9)
        ]
    )
    assert sorted(response.values(PRIMARY)["resplit"].unique()) == [0, 1, 2]
    assert response.values((JUDGES,)).empty


@pytest.mark.slow
def test_the_model_gives_what_made_the_data(made):
    pytest.importorskip("statsmodels")
    from benchmarks.studies.informativeness import model

    rows = response.gains(response.values(PRIMARY))
    effects, *_ = model.fitted(rows[rows["collection"] != "mq2007"])
    for name, true in (("dose", DOSE), ("own", OWN)):
        low, high = effects[name].interval()
        assert 0 < low < 100 * true / SPREAD < high
    low, high = effects["dose:step"].interval()
    assert low < 0 < high


@pytest.mark.parametrize(("estimate", "word"), [(0.5, "ahead"), (-0.5, "behind"), (0.1, "inconclusive")])
def test_one_word_for_each_interval(estimate, word):
    half = 0.2
    effect = report.Effect(estimate, estimate - half, estimate + half, 0.5, half / stats.t.ppf(0.975, 14), 14, 1)
    assert effect.verdict == word


def test_simultaneous_intervals_are_wider():
    error = 0.2 / stats.t.ppf(0.975, 14)
    assert report.Effect(0.25, 0, 0, 0.5, error, 14, 1).verdict == "ahead"
    assert report.Effect(0.25, 0, 0, 0.5, error, 14, 5).verdict == "inconclusive"


def test_cells_of_one_family_are_left_out(made):
    model = pytest.importorskip("benchmarks.studies.informativeness.model")
    rows = response.gains(response.values(PRIMARY))
    left_out = rows[model.same_family(rows)]
    pairs = set(zip(left_out["trained"], left_out["tested"], strict=True))
    assert {("GAP", "GAP@10"), ("nDCG@3", "nDCG")} <= pairs
    assert not {("GAP", "GAP"), ("GAP", "AP"), ("Q", "GAP")} & pairs
    assert len(pairs) == 5 * 4 + 2 * 1 + 3 * 2 + 2 * 1


def test_the_line_through_measures_is_least_squares():
    model = pytest.importorskip("benchmarks.studies.informativeness.model")
    rng = np.random.default_rng(5)
    points = pd.DataFrame(rng.normal(size=(16, 3)), columns=["gain", "dose", "cut"])
    alone, known = model.line(points), stats.linregress(points["dose"], points["gain"])
    assert (alone.mean, alone.error, alone.freedom) == pytest.approx((known.slope, known.stderr, 14))
    # The slope beside a covariate is that of residuals on residuals (Frisch and Waugh).
    dose, gain = (
        points[name] - np.polyval(np.polyfit(points["cut"], points[name], 1), points["cut"])
        for name in ("dose", "gain")
    )
    beside = model.line(points, ("cut",))
    assert beside.mean == pytest.approx((dose @ gain) / (dose @ dose))
    assert beside.freedom == 13


def test_the_interval_of_a_ratio_holds_what_is_not_significant():
    model = pytest.importorskip("benchmarks.studies.informativeness.model")
    first, second, covariance = Estimate(0.3, 0.1, 14), Estimate(0.8, 0.2, 14), 0.004
    for r in model.ratio(first, second, covariance):
        error = np.sqrt(first.error**2 - 2 * r * covariance + (r * second.error) ** 2)
        assert Estimate(first.mean - r * second.mean, error, 14).p == pytest.approx(0.05)


def test_a_study_that_is_cut_short_holds_whole_resplits(monkeypatch):
    monkeypatch.setattr(type(PRIMARY[0].collection), "there", True)
    keys = list(runs.tasks())
    one = sum(len(source.sizes) for source in PRIMARY) * len(NAMES)
    assert [key[1] for key in keys[: 5 * one]] == [str(r) for r in range(5) for _ in range(one)]
    assert len(keys) == len(RESPLITS) * one + 5 * len(JUDGES.sizes) * len(NAMES)


@pytest.mark.slow
@pytest.mark.parametrize("real", [False, True], ids=["grades", "real grades"])
def test_a_task_is_trained_and_tested(monkeypatch, real):
    split = load_digits_ranking((12, 6, 6), 15)
    parts = [
        type(part)(part.X, np.minimum(part.y, 2) * (2 / 3 if real and k < 2 else 1), part.qid)
        for k, part in enumerate(split)
    ]
    monkeypatch.setattr(runs, "split", lambda source, resplit, size: type(split)(*parts))
    runs.fold.cache_clear()
    (row,) = runs.task(PRIMARY[0], 0, 12, "xGAP")
    runs.fold.cache_clear()
    assert set(row) == {"trees", *MEASURES, *CASCADES}
    assert row["trees"] in range(runs.STEP, runs.ROUNDS + 1, runs.STEP)
    assert all(0 < row[name] <= 1 for name in (*MEASURES, *CASCADES))


def test_every_saved_value_is_of_a_task_and_there_once():
    found = pd.read_csv(runs.RESULTS.path)
    assert not found.duplicated(list(runs.RESULTS.key)).any()
    sizes = {source.name: source.sizes for source in (*PRIMARY, JUDGES)}
    assert all(size in sizes[name] for name, size in zip(found["collection"], found["size"], strict=True))
    assert set(found["trained"]) == set(MEASURES)


def test_the_page_is_what_the_saved_results_give(tmp_path):
    """Change either, and this fails until `python -m benchmarks.studies.informativeness --redraw`."""
    report.redraw(tmp_path / "page.md", tmp_path)
    assert (tmp_path / "page.md").read_text(encoding="utf-8") == report.PAGE.read_text(encoding="utf-8")
    assert (tmp_path / "informativeness.png").stat().st_size > 0


@pytest.mark.slow
def test_the_effects_are_what_the_saved_values_give(tmp_path):
    pytest.importorskip("statsmodels")
    from benchmarks.studies.informativeness import model

    model.run(tmp_path / "effects.csv")
    own, saved = (pd.read_csv(path) for path in (tmp_path / "effects.csv", response.EFFECTS))
    assert own[["model", "effect"]].equals(saved[["model", "effect"]])
    # The likelihood is flat around its maximum: versions of the optimizer stop at slightly different variances.
    np.testing.assert_allclose(own["estimate"], saved["estimate"], atol=0.05)
