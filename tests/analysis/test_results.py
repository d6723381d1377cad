"""All results have a data frame and a picture."""

import pickle

import matplotlib
import numpy as np
import pandas as pd
import pytest
from good_calls import FUNCTIONS

import gapboost as gb
from gapboost import analysis
from gapboost.analysis.result import short_labels

matplotlib.use("Agg")
from matplotlib import pyplot as plt

G = (0.5, 0.5)
RESULTS = [
    *("precision_recall", "mean_curve", "maximum_entropy", "informativeness", "threshold_sweep"),
    *("system_values", "discriminative_power", "correlation", "robustness", "local_optimality"),
    "significance",
]


def result_of(name, **others):
    function, arguments = FUNCTIONS[name]
    return function(**{**arguments, **others})


@pytest.fixture(params=RESULTS, scope="module")
def result(request):
    return result_of(request.param)


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
    ax = result_of("significance").plot(title="GAP: A − B")
    assert ax.get_title() == "GAP: A − B"
    plt.close("all")


def test_numbers_of_the_tables():
    curve = result_of("precision_recall", y_true=[2, 0, 1], y_score=[3, 2, 1])
    assert curve.to_pandas().index.tolist() == [1, 3]
    robustness = result_of("robustness", fractions=(1, 0.5))
    assert robustness.to_pandas().loc[("AP", 1.0), "tau"] == pytest.approx(1)
    entropy = result_of("maximum_entropy")
    np.testing.assert_array_equal(entropy.to_pandas().to_numpy(), entropy.probabilities)
    values = result_of("system_values")
    assert values.to_pandas()["AP"].tolist() == values.means[0].tolist()
    significance = result_of("significance")
    shown = significance.to_pandas()["value"]
    assert shown[["queries better", "queries equal", "queries worse"]].tolist() == [3, 0, 0]
    assert shown["p, Wilcoxon"] == significance.wilcoxon


def test_labels_are_short_and_differ():
    measures = [gb.GAP(g=G), gb.nDCG(k=10), gb.AP(), gb.AP(rel=2), gb.RBP(p=0.5), "bpref"]
    assert short_labels(measures) == ["GAP", "nDCG@10", "AP", "AP(rel=2)", "RBP(p=0.5)", "bpref"]
    several = [gb.GAP(g=G), gb.GAP(g=(1.0, 0.0)), gb.xGAP(), 0.5 * gb.AP() + 0.5 * gb.nDCG()]
    assert short_labels(several) == [str(several[0]), str(several[1]), "xGAP", str(several[3])]
