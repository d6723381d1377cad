"""All results are frozen, have a pandas view and a picture, and import optional libraries late."""

import copy
import dataclasses
import importlib
import subprocess
import sys

import matplotlib
import numpy as np
import pandas as pd
import pytest
from installed import needs

import gapboost as gb
from gapboost import analysis
from gapboost._data.arguments import seed
from gapboost._pictures import line
from gapboost.model_selection import GSearchCV
from gapboost.plotting import plot_g

matplotlib.use("Agg")
from matplotlib import pyplot as plt

G = (0.5, 0.5)


def lists():
    rng = np.random.default_rng(0)
    grades = [rng.permutation(np.repeat([0, 1, 2], [10, 3, 2])).astype(np.int32) for _ in range(2)]
    return [analysis.RankedList(i, found, np.array([10, 3, 2])) for i, found in enumerate(grades)]


def values():
    rng = np.random.default_rng(1)
    return analysis.SystemValues(
        (gb.GAP(g=G), "other"), ("a", "b", "c"), tuple("12345"), rng.random((2, 3, 5))
    )


def collection():
    rng = np.random.default_rng(2)
    qrels = {str(t): {f"d{i}": int(rng.integers(0, 3)) for i in range(12)} for t in range(3)}
    runs = {
        s: {t: {d: float(rng.random()) for d in judged} for t, judged in qrels.items()}
        for s in "abc"
    }
    return qrels, runs


FEATURES = (np.arange(12.0).reshape(6, 2) % 5, [0, 1, 2, 0, 1, 1], [1, 1, 1, 2, 2, 2])

RESULTS = {
    "curve": lambda: analysis.precision_recall(gb.GAP(g=G), [2, 0, 1], [3, 2, 1]),
    "mean curve": lambda: analysis.PrecisionRecallCurve.mean([RESULTS["curve"]()]),
    "entropy": lambda: analysis.maximum_entropy(gb.GAP(g=G), 0.7, [17, 2, 1]),
    "informativeness": lambda: analysis.informativeness(
        [gb.AP(), gb.nDCG()], lists(), minimum=2, n_jobs=1
    ),
    "sweep": lambda: analysis.threshold_sweep(lists(), grid=[(0, 1), (1, 0)], minimum=2, n_jobs=1),
    "systems": values,
    "discrimination": lambda: analysis.discriminative_power(values(), random_state=0),
    "correlation": lambda: analysis.correlation(values()),
    "robustness": lambda: analysis.robustness(
        [gb.AP()], *collection(), fractions=(1, 0.5), repeats=2, n_jobs=1
    ),
    "optimality": lambda: analysis.local_optimality(
        [gb.AP()], [1, 2], {"x": FEATURES}, n_directions=2, n_jobs=1
    ),
    "significance": lambda: analysis.significance([0.5, 0.7, 0.4], [0.4, 0.3, 0.5]),
}


@pytest.fixture(params=RESULTS, scope="module")
def result(request):
    return RESULTS[request.param]()


def test_frozen(result):
    first = dataclasses.fields(result)[0].name
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(result, first, None)


def test_pandas_view(result):
    table = result.to_pandas()
    assert isinstance(table, pd.DataFrame)
    assert len(table) > 0
    assert not table.isna().all().any()


@pytest.mark.slow(keep=3)
def test_picture(result):
    figure, ax = plt.subplots()
    assert result.plot(ax) is ax
    assert ax.has_data()
    own = result.plot()
    assert own is not ax
    figure.canvas.draw()
    own.figure.canvas.draw()
    legend = own.get_legend()
    if legend is not None:
        assert not legend.get_window_extent().overlaps(own.get_window_extent()), (
            "a legend over the data"
        )
    for drawn in own.get_lines():
        assert drawn.get_color() not in ("black", "k", "white"), "not seen on a dark or light page"
    plt.close("all")


def test_a_difference_says_of_what():
    ax = RESULTS["significance"]().plot(title="GAP: A − B")
    assert ax.get_title() == "GAP: A − B"
    assert any("p = " in text.get_text() for text in ax.get_legend().get_texts())
    plt.close("all")


def test_a_sweep_marks_the_g_it_calls_best():
    sweep = RESULTS["sweep"]()
    for rel in (1, 2):
        lines = {drawn.get_label(): drawn for drawn in sweep.plot(rel=rel).get_lines()}
        (marked,) = (
            drawn for label, drawn in lines.items() if label.startswith("best in the mean")
        )
        assert sweep.grid[int(marked.get_xdata()[0])] == sweep.best
    plt.close("all")


def test_lines_of_a_picture_differ_in_style():
    styles = [str(sorted(line(number, marked=False).items(), key=str)) for number in range(36)]
    assert len(set(styles)) == 36
    plain = [str(line(number)["linestyle"]) + line(number)["marker"] for number in range(36)]
    assert plain[0] != plain[6], "only their color tells these apart"


def test_a_difference_as_a_latex_table():
    result = RESULTS["significance"]()
    table = result.to_pandas().to_latex()
    assert "%" not in table
    assert r"queries better & 2 \\" in table
    better, equal, worse = (
        result.to_pandas().loc[f"queries {name}", "value"] for name in ("better", "equal", "worse")
    )
    assert (better, equal, worse) == result.counts
    p_values = [row for row in result.to_pandas().index if row.startswith("p, ")]
    assert p_values == ["p, t-test", "p, Wilcoxon", "p, sign test", "p, randomisation"]


def test_results_print_short():
    assert (
        repr(RESULTS["discrimination"]())
        == "DiscriminativePower(GAP(g=(0.5, 0.5)): 0 of 3 pairs, other: 0 of 3 pairs; ASL < 0.05)"
    )
    assert (
        repr(RESULTS["correlation"]())
        == "Correlation(2 measures, 3 systems, 5 topics; tau from -1.00 to -1.00)"
    )


def test_numbers_of_the_pandas_views():
    curve = RESULTS["curve"]().to_pandas()
    assert curve.index.tolist() == [1, 3]
    assert RESULTS["correlation"]().to_pandas().shape == (2, 2)
    robust = RESULTS["robustness"]().to_pandas()
    assert robust.loc[("AP(rel=1)", 1.0), "tau"] == pytest.approx(1)
    power = analysis.discriminative_power(values(), random_state=0)
    assert power.to_pandas()["share with ASL < 0.05"].tolist() == power.share.tolist()
    optimality = RESULTS["optimality"]()
    assert optimality.to_pandas()["> 0"].tolist() == optimality.improved.ravel().tolist()
    entropy = RESULTS["entropy"]()
    np.testing.assert_array_equal(entropy.to_pandas().to_numpy(), entropy.probabilities)


def search_with_progress():
    from gapboost.lightgbm import LGBMGAPRanker

    search = GSearchCV(
        LGBMGAPRanker(n_estimators=1), {"g": [(1.0,)]}, scoring=gb.AP(), cv=2, progress=True
    )
    search.fit(np.zeros((8, 1)), [0, 1] * 4, qid=np.arange(8) // 2)


@pytest.mark.parametrize(
    "given",
    [5, np.int64(5), None, np.random.RandomState(0), np.random.default_rng(0)],
    ids=lambda given: type(given).__name__,
)
def test_seeds_come_from_every_kind_of_random_state(given):
    """An int is the seed itself; a generator gives the same seeds from the same state.

    Seeds of a generator differ from draw to draw.
    """
    if not isinstance(given, np.random.RandomState | np.random.Generator):
        assert seed(given) == (None if given is None else 5)
        return
    again = copy.deepcopy(given)
    seeds = [seed(given) for _ in range(3)]
    assert seeds == [seed(again) for _ in range(3)]
    assert len(set(seeds)) == 3


@pytest.mark.parametrize(
    ("library", "use"),
    [
        ("pandas", lambda: values().to_pandas()),
        ("matplotlib.pyplot", lambda: values().plot()),
        ("tqdm.auto", lambda: analysis.discriminative_power(values(), progress=True)),
        pytest.param("tqdm.auto", search_with_progress, marks=needs("lightgbm")),
        ("matplotlib.pyplot", lambda: plot_g({})),
        (
            "ir_measures",
            lambda: analysis.system_values([3], {"1": {"a": 1}}, {"x": {"1": {"a": 1.0}}}),
        ),
    ],
)
def test_a_missing_library_is_named_with_its_extra(library, use, monkeypatch):
    found = importlib.import_module

    def without(name, *rest):
        if name == library:
            raise ImportError(name)
        return found(name, *rest)

    monkeypatch.setattr(importlib, "import_module", without)
    with pytest.raises(
        ImportError,
        match=rf"{library} is needed .*pip install 'gapboost\[(analysis|plot|progress)\]'",
    ):
        use()


@pytest.mark.slow
def test_importing_needs_none_of_them():
    # pandas is not asked about: scikit-learn imports it where it finds it
    code = (
        "import sys, gapboost.analysis; print([m for m in ('lightgbm', 'xgboost', 'matplotlib', "
        "'ir_measures', 'tqdm') if m in sys.modules])"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"


def test_progress(capsys):
    analysis.local_optimality(
        [gb.AP()], [1, 2], {"x": FEATURES}, n_directions=3, n_jobs=1, progress=True
    )
    assert "directions: 100%" in capsys.readouterr().err
    analysis.local_optimality([gb.AP()], [1, 2], {"x": FEATURES}, n_directions=3, n_jobs=1)
    assert capsys.readouterr().err == ""
