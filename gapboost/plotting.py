"""The choice of g as a plot; needs matplotlib (``pip install 'gapboost[plot]'``)."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from gapboost.data import Array
from gapboost.measures import Measure, as_measure
from gapboost.optional import Figure, imported

# Where g = (1, 0, 0), (0, 1, 0) and (0, 0, 1) stand: an equilateral triangle, the highest grade at
# the top.
CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(0.75)]])
GRADES = ("g₁ = 1", "g₂ = 1", "g₃ = 1")
STAR: dict[str, Any] = {"marker": "*", "markersize": 15, "color": "C3", "linestyle": ""}
THIN: dict[str, Any] = {"markersize": 4, "capsize": 2, "linewidth": 1.2, "elinewidth": 0.8}


def plot_g(
    search: Any, *, measure: str | Measure | None = None, figure: "Figure | None" = None
) -> Figure:
    """Draw the cross-validated target measure over g.

    A line with error bars for 2 positive grades, a ternary heat map for 3, one panel a grade
    beyond. Where a search varied more than g, each g shows the best mean that the other parameters
    reach with it.

    Parameters
    ----------
    search : GSearchCV, scikit-learn search, or its ``cv_results_``
        Over g, of a ranker or of a ranker in a pipeline.
    measure : Measure or str, optional
        Which of several measures; by default the one that chose the best.
    figure : matplotlib Figure or SubFigure, optional
        Where to draw; None makes a figure.

    Returns
    -------
    Figure or SubFigure

    Raises
    ------
    ValueError
        If the results hold no g, g of different lengths or for one grade only, or no such
        measure.
    ImportError
        If matplotlib is missing.

    Notes
    -----
    Error bars are standard errors over the folds of the difference from the fold's mean over all g:
    some folds are harder than others for every g, and that says nothing about the choice.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> import gapboost as gb
    >>> from gapboost.datasets import load_digits_ranking
    >>> from gapboost.lightgbm import LGBMGAPRanker
    >>> from gapboost.model_selection import GSearchCV, simplex_grid
    >>> train = load_digits_ranking((40, 20, 20)).train
    >>> ranker = LGBMGAPRanker(n_estimators=5, n_jobs=1, verbose=-1)
    >>> search = GSearchCV(
    ...     ranker, {"g": simplex_grid(2, 2)}, scoring="ndcg@10", cv=3, progress=False
    ... )
    >>> type(gb.plotting.plot_g(search.fit(train.X, train.y, qid=train.qid))).__name__
    'Figure'
    """
    pyplot = imported("matplotlib.pyplot", "plot", "to plot")
    results = search if isinstance(search, Mapping) else search.cv_results_
    name, label = _target_of(search, results, measure)
    points, scores = _best_by_g(results, name)
    n_grades = points.shape[1]
    if figure is None:
        figure = pyplot.figure(
            figsize=(min(2.6 * n_grades, 13) if n_grades > 3 else 6, 4), layout="constrained"
        )
    best = int(scores.mean(axis=1).argmax())
    figure.suptitle(f"best: g = ({', '.join(f'{x:.3g}' for x in points[best])})", fontsize=10)
    draw = _ternary if n_grades == 3 else _panels
    draw(figure, points, scores, best, f"{label}, mean of {scores.shape[1]} folds")
    return figure


def _target_of(search: object, results: Mapping[str, object], measure: Any) -> tuple[str, str]:
    """Return the measure's name in the results, and its name in the plot."""
    scoring, refit = getattr(search, "scoring", None), getattr(search, "refit", None)
    names = [key.removeprefix("mean_test_") for key in results if key.startswith("mean_test_")]
    if measure is None:
        name = refit if isinstance(refit, str) else next(iter(names), None)
    else:
        name = measure if measure in names else as_measure(measure).name
    if name not in names:
        raise ValueError(f"measure is {measure!r}; expected one of {names}, as in search")
    # A search by one measure calls its values "score".
    return name, str(getattr(scoring, "measure", scoring) or name) if name == "score" else name


def _best_by_g(results: Mapping[str, Any], name: str) -> tuple[Array, Array]:
    """Return each g, ascending, and the fold scores of its best candidate.

    The shapes are (n, c) and (n, n_folds).
    """
    keys = {key for params in results["params"] for key in params if key.rpartition("__")[2] == "g"}
    if len(keys) != 1:
        raise ValueError(
            f"search varies {sorted(results['params'][0])}; expected g among the parameters"
        )
    key = keys.pop()
    n_folds = sum(k.startswith("split") and k.endswith(f"_test_{name}") for k in results)
    scores = np.column_stack([results[f"split{i}_test_{name}"] for i in range(n_folds)])
    best: dict[tuple[float, ...], Array] = {}
    for params, of_folds in zip(results["params"], scores, strict=True):
        if params.get(key) is not None:
            g = tuple(params[key])
            if g not in best or of_folds.mean() > best[g].mean():
                best[g] = of_folds
    if len({len(g) for g in best}) != 1 or len(next(iter(best))) < 2:
        raise ValueError(
            f"search tried the g {sorted(best)}; expected g for the same 2 or more positive grades"
        )
    return np.array(sorted(best)), np.array([best[g] for g in sorted(best)])


def _ternary(figure: Any, points: Array, scores: Array, best: int, label: str) -> None:
    axes = figure.add_subplot()
    centers = points @ CORNERS
    axes.plot(*CORNERS[[0, 1, 2, 0]].T, color="0.3", linewidth=1)
    # Hexagons about as wide as the lattice is.
    apart = np.linalg.norm(centers[:, None] - centers, axis=2)
    spacing = apart[apart > 1e-9].min(initial=0.5)
    cells = axes.scatter(
        *centers.T, c=scores.mean(axis=1), s=(230 * spacing) ** 2, marker="h", clip_on=False
    )
    axes.plot(*centers[best], **STAR)
    below = 0.06 + 0.6 * spacing
    for (x, y), dy, text in zip(CORNERS, (-below, -below, below), GRADES, strict=True):
        axes.text(x, y + dy, text, ha="center", va="center")
    axes.set_aspect("equal")
    axes.axis("off")
    figure.colorbar(cells, ax=axes, shrink=0.8, label=label)


def _panels(figure: Figure, points: Array, scores: Array, best: int, label: str) -> None:
    means = scores.mean(axis=1)
    errors = (scores - scores.mean(axis=0)).std(axis=1, ddof=1) / np.sqrt(scores.shape[1])
    # Of 2 grades, the second entry is 1 minus the first.
    shares = points.T[:1] if points.shape[1] == 2 else points.T
    panels = figure.subplots(1, len(shares), sharey=True, squeeze=False)[0]
    for k, (axes, share) in enumerate(zip(panels, shares, strict=True), 1):
        axes.plot(share, means, ".", color="0.7", markersize=4, label="one g")
        # What is left to win or lose by this entry once all others are chosen for it.
        values = np.unique(share)
        tops = np.array([np.flatnonzero(share == v)[means[share == v].argmax()] for v in values])
        axes.errorbar(values, means[tops], errors[tops], marker="o", label="best with it", **THIN)
        axes.plot(share[best], means[best], **STAR)
        axes.set_xlabel(f"$g_{{{k}}}$")
    panels[0].set_ylabel(label)
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
