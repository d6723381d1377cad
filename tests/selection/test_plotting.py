"""Pictures of the choice of g hold the numbers of the search."""

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot
from ranking_task import RANKERS, task

import gapboost as gb
from gapboost.model_selection import GSearchCV, simplex_grid
from gapboost.plotting import plot_g

mpl.use("Agg")


@pytest.fixture(autouse=True)
def figures_are_closed():
    yield
    pyplot.close("all")


def results(gs, key="g", name="score", n_folds=4, seed=0):
    """Two candidates for each g, the second one better by 0.1; folds differ by 1."""
    rng = np.random.default_rng(seed)
    params = [{key: g, "n_estimators": n} for g in gs for n in (10, 20)]
    scores = rng.random((len(params), n_folds)) * 0.01 + np.arange(n_folds)
    scores[1::2] += 0.1
    splits = {f"split{i}_test_{name}": scores[:, i] for i in range(n_folds)}
    return {"params": params, **splits, f"mean_test_{name}": scores.mean(axis=1)}, scores[1::2]


def test_two_grades_are_a_line_with_paired_errors():
    gs = simplex_grid(2, 4)
    found, best = results(gs)
    (axes,) = plot_g(found).axes
    line = axes.containers[0]
    np.testing.assert_allclose(line[0].get_xdata(), [g[0] for g in gs])
    np.testing.assert_allclose(line[0].get_ydata(), best.mean(axis=1))
    relative = best - best.mean(axis=0)
    (bars,) = line[2]
    heights = [np.ptp(segment[:, 1]) / 2 for segment in bars.get_segments()]
    np.testing.assert_allclose(heights, relative.std(axis=1, ddof=1) / 2)
    top = gs[best.mean(axis=1).argmax()]
    assert axes.figure.get_suptitle() == f"best: g = ({top[0]:.3g}, {top[1]:.3g})"


def test_three_grades_are_a_triangle():
    gs = simplex_grid(3, 5)
    found, best = results(gs)
    axes = plot_g(found).axes[0]
    (cells,) = [c for c in axes.collections if c.get_array() is not None]
    np.testing.assert_allclose(cells.get_array(), best.mean(axis=1))
    by_g = dict(zip(gs, np.asarray(cells.get_offsets()), strict=True))
    sides = [
        np.linalg.norm(by_g[a] - by_g[b])
        for a, b in [((1, 0, 0), (0, 1, 0)), ((0, 1, 0), (0, 0, 1)), ((0, 0, 1), (1, 0, 0))]
    ]
    np.testing.assert_allclose(sides, 1)
    np.testing.assert_allclose(
        by_g[(0.2, 0.4, 0.4)], 0.2 * by_g[(1, 0, 0)] + 0.4 * by_g[(0, 1, 0)] + 0.4 * by_g[(0, 0, 1)]
    )


@pytest.mark.parametrize("n_grades", [4, 6])
def test_more_grades_are_a_panel_each(n_grades):
    gs = simplex_grid(n_grades, 3)
    found, best = results(gs)
    axes = plot_g(found).axes
    assert len(axes) == n_grades
    means = best.mean(axis=1)
    for k, panel in enumerate(axes):
        share = np.array(gs)[:, k]
        np.testing.assert_allclose(panel.lines[0].get_ydata(), means)
        tops = [means[share == v].max() for v in np.unique(share)]
        np.testing.assert_allclose(panel.containers[0][0].get_ydata(), tops)


def test_a_search_and_its_measures():
    X, y, qid = task()
    targets = [gb.nDCG(k=10), gb.AP()]
    search = GSearchCV(RANKERS[0], {"g": simplex_grid(2, 2)}, scoring=targets, cv=3).fit(
        X, y, qid=qid
    )
    assert plot_g(search).axes[0].get_ylabel() == "ndcg@10, mean of 3 folds"
    figure = pyplot.figure(layout="constrained")
    left, right = figure.subfigures(1, 2)
    plot_g(search, figure=left)
    plot_g(search, measure=gb.AP(), figure=right)
    assert [a.get_ylabel()[:4] for a in figure.axes] == ["ndcg", "ap, "]
    found, _ = results(simplex_grid(2, 3), key="lgbmgapranker__g", name="ap")
    assert plot_g(found).axes[0].get_ylabel() == "ap, mean of 4 folds"


@pytest.mark.parametrize(
    ("found", "options", "message"),
    [
        (results([(1.0, 0.0)], key="sigma")[0], {}, "^search "),
        (results([(1.0,), (0.5, 0.5)])[0], {}, "^search "),
        (results([(1.0,)])[0], {}, "^search "),
        (results(simplex_grid(2, 2))[0], {"measure": gb.AP()}, "^measure "),
        ({"params": []}, {}, "^measure "),
    ],
)
def test_refuses(found, options, message):
    with pytest.raises(ValueError, match=message):
        plot_g(found, **options)
