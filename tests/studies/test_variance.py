"""The study of variance: its components are those that made the data, and its page is what is saved."""

import numpy as np
import pytest

from benchmarks.studies.variance import components, report
from benchmarks.studies.variance.components import TOLD, Components

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


def test_the_page_is_what_the_saved_values_give(tmp_path):
    """Change either, and this fails until `python -m benchmarks.studies.variance`."""
    report.redraw(tmp_path / "page.md", tmp_path, tmp_path)
    assert (tmp_path / "page.md").read_text(encoding="utf-8") == report.PAGE.read_text(encoding="utf-8")
    assert (tmp_path / "components.csv").read_bytes() == (report.RESULTS / "components.csv").read_bytes()
    assert (tmp_path / "variance.png").stat().st_size > 0
