"""All results have a data frame and a picture."""

import pickle

import matplotlib
import numpy as np
import pandas as pd
import pytest

import gapboost as gb
from gapboost import analysis
from gapboost.analysis.result import short_labels

matplotlib.use("Agg")
from matplotlib import pyplot as plt

G = (0.5, 0.5)
FEATURES = (np.arange(12.0).reshape(6, 2) % 5, [0, 1, 2, 0, 1, 1], [1, 1, 1, 2, 2, 2])


def lists():
    rng = np.random.default_rng(0)
    grades = [rng.permutation(np.repeat([0, 1, 2], [10, 3, 2])).astype(np.int32) for _ in range(2)]
    return [analysis.RankedList(i, found, np.array([10, 3, 2])) for i, found in enumerate(grades)]


def values():
    rng = np.random.default_rng(1)
    measures = (gb.GAP(g=G), "50% of {x}_1 & more")
    return analysis.SystemValues(measures, ("a", "b_1", "c"), tuple("12345"), rng.random((2, 3, 5)))


def collection():
    rng = np.random.default_rng(2)
    qrels = {str(t): {f"d{i}": int(rng.integers(0, 3)) for i in range(12)} for t in range(3)}
    runs = {
        s: {t: {d: float(rng.random()) for d in judged} for t, judged in qrels.items()}
        for s in "abc"
    }
    return qrels, runs


RESULTS = {
    "curve": lambda: analysis.precision_recall(gb.GAP(g=G), [2, 0, 1], [3, 2, 1]),
    "mean curve": lambda: analysis.mean_curve([RESULTS["curve"]()]),
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
        [gb.AP()], [1, 2], *FEATURES, n_directions=2, n_jobs=1
    ),
    "significance": lambda: analysis.significance([0.5, 0.7, 0.4], [0.4, 0.3, 0.5]),
}


@pytest.fixture(params=RESULTS, scope="module")
def result(request):
    return RESULTS[request.param]()


def test_data_frame_and_pickle(result):
    table = result.to_pandas()
    assert isinstance(result, analysis.Result)
    assert isinstance(table, pd.DataFrame)
    assert len(table) > 0
    assert not table.isna().all().any()
    pd.testing.assert_frame_equal(pickle.loads(pickle.dumps(result)).to_pandas(), table)


@pytest.mark.slow(keep=3)
def test_picture(result):
    figure, ax = plt.subplots()
    assert result.plot(ax) is ax
    assert ax.has_data()
    own = result.plot()
    assert own is not ax
    figure.canvas.draw()
    own.figure.canvas.draw()
    labels = own.get_legend_handles_labels()[1]
    assert len(set(labels)) == len(labels)
    legend = own.get_legend()
    if legend is not None:
        assert not legend.get_window_extent().overlaps(own.get_window_extent())
    plt.close("all")


def test_pictures_have_options():
    ax = RESULTS["significance"]().plot(title="GAP: A − B")
    assert ax.get_title() == "GAP: A − B"
    plt.close("all")


def test_numbers_of_the_tables():
    assert RESULTS["curve"]().to_pandas().index.tolist() == [1, 3]
    assert RESULTS["robustness"]().to_pandas().loc[("AP", 1.0), "tau"] == pytest.approx(1)
    entropy = RESULTS["entropy"]()
    np.testing.assert_array_equal(entropy.to_pandas().to_numpy(), entropy.probabilities)
    assert values().to_pandas()["GAP"].tolist() == values().means[0].tolist()
    significance = RESULTS["significance"]()
    shown = significance.to_pandas()["value"]
    assert shown[["queries better", "queries equal", "queries worse"]].tolist() == [2, 0, 1]
    assert shown["p, Wilcoxon"] == significance.wilcoxon


def test_labels_are_short_and_differ():
    measures = [gb.GAP(g=G), gb.nDCG(k=10), gb.AP(), gb.AP(rel=2), gb.RBP(p=0.5), "bpref"]
    assert short_labels(measures) == ["GAP", "nDCG@10", "AP", "AP(rel=2)", "RBP(p=0.5)", "bpref"]
    several = [gb.GAP(g=G), gb.GAP(g=(1.0, 0.0)), gb.xGAP(), 0.5 * gb.AP() + 0.5 * gb.nDCG()]
    assert short_labels(several) == [str(several[0]), str(several[1]), "xGAP", str(several[3])]
