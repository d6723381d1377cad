"""The policy of statistics: tables equal saved results, and the simulation has its components."""

import shutil

import numpy as np
import pandas as pd
import pytest

from benchmarks.studies.policy import report, simulation
from benchmarks.studies.policy.__main__ import HALVES, SELVES, SIMULATED
from benchmarks.studies.policy.simulation import CANDIDATES, draw_differences, draw_folds

OF = simulation.Components(query=0.01, influence=0.0, model=1e-4)
SIMULATION = pd.read_csv(SIMULATED.path)


def test_the_tables_of_the_page_are_those_of_the_results(tmp_path):
    page = tmp_path / "page"
    shutil.copy(report.PAGE, page)
    report.write_page(SIMULATED, SELVES, HALVES, page)
    assert page.read_text(encoding="utf-8") == report.PAGE.read_text(encoding="utf-8")


def test_the_chosen_estimate_follows_the_rule():
    """The estimate has at most .06 false alarms at each size, and the most power of these.

    Within .01 of power the simplest is chosen.
    """
    by_size = SIMULATION.groupby("queries").mean(numeric_only=True)
    qualified = [name for name in CANDIDATES if (by_size[f"alarms of {name}"] <= 0.06).all()]
    power = {name: by_size[f"power of {name}"].mean() for name in qualified}  # the simplest first
    best = [name for name in power if power[name] >= max(power.values()) - 0.01]
    assert best[0] == "repeats"
    assert (by_size["power of repeats"] >= 1.25 * by_size["power of seeds"]).all()


def test_real_rankers_beside_themselves_have_few_false_alarms():
    real = pd.read_csv(SELVES.path)
    alarms = (real["verdict"] != "inconclusive").groupby(real["queries"]).mean()
    assert set(alarms.index) == {50, 200, 1000}
    assert (alarms <= 0.06).all()


def test_halves_agree():
    halves = pd.read_csv(HALVES.path)
    key = ["collection", "draw", "ranker", "measure"]
    by_half = halves.pivot(index=key, columns="half")
    decided = (by_half["verdict"] != "inconclusive").to_numpy()
    same = (by_half["difference"][0] * by_half["difference"][1] > 0).to_numpy()[:, None] & decided
    assert decided.sum() > 0
    assert same.sum() >= 0.95 * decided.sum()


@pytest.mark.parametrize("name", ["repeats", "components"])
def test_errors_are_those_of_the_simulated_components(name):
    """The mean variance is that of the means, apart from chance: 300 comparisons of 60 queries."""
    rng = np.random.default_rng(0)
    found = []
    for _ in range(300):
        folds = draw_folds(60, rng, repeated=True)
        found.append(CANDIDATES[name](draw_differences(OF, 0.5, folds, rng), folds))
    expected = 0.5 * OF.query / 60 + 0.5 * OF.query / 180 + OF.model / 15
    assert np.mean([e.error**2 for e in found]) == pytest.approx(expected, rel=0.15)
    assert np.var([e.mean for e in found]) == pytest.approx(expected, rel=0.2)


def test_models_that_do_not_vary_leave_the_error_of_the_queries():
    """The error is that of the mean over queries if each repeat has equal values."""
    rng = np.random.default_rng(1)
    folds = draw_folds(40, rng, repeated=True)
    differences = np.tile(rng.normal(size=40), (3, 1))
    expected = np.sqrt(differences[0].var(ddof=1) / 40)
    assert CANDIDATES["components"](differences, folds).error == pytest.approx(expected)


def test_allowance_and_correction_make_errors_larger():
    rng = np.random.default_rng(2)
    folds = draw_folds(100, rng, repeated=True)
    differences = draw_differences(simulation.Components(0.01, 0.0, 0.01), 0.5, folds, rng)
    names = ("components", "components with allowance", "corrected components")
    plain, allowed, corrected = (CANDIDATES[name](differences, folds).error for name in names)
    assert plain < allowed < corrected
    assert simulation.mean_allowance() == pytest.approx(0.131, abs=0.0005)
