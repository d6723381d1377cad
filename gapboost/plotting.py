"""The choice of g as a picture; needs matplotlib (``pip install 'gapboost[plot]'``)."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import numpy as np

from gapboost._kernels import Array
from gapboost._optional import imported
from gapboost.measures import as_measure

# Where g = (1, 0, 0), (0, 1, 0) and (0, 0, 1) stand: an equilateral triangle, the highest grade at
# the top.
CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(0.75)]])


def plot_g(search: Any, *, measure: Any = None, figure: Any = None) -> Any:
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
    if n_grades == 2:
        _line(figure, points, scores, label)
    elif n_grades == 3:
        _ternary(figure, points, scores, label)
    else:
        _panels(figure, points, scores, label)
    return figure


def _spelled(measure: Any, names: list[str]) -> str:
    """Return a measure as it is written in `names`; names of other searches may be any text."""
    if isinstance(measure, str) and measure not in names:
        with suppress(ValueError):
            return str(as_measure(measure))
    return str(measure)


def _target_of(search: Any, results: Mapping[str, Any], measure: Any) -> tuple[str, str]:
    """Return the measure's name in the results, and its name in the picture."""
    names = [key.removeprefix("mean_test_") for key in results if key.startswith("mean_test_")]
    if not names:
        raise ValueError(
            f"search has the results {sorted(results)}; expected those of a search, with "
            "mean_test_..."
        )
    name = names[0] if measure is None else _spelled(measure, names)
    scoring = getattr(search, "scoring", None)
    if measure is None and isinstance(getattr(search, "refit", None), str):
        name = search.refit
    if measure is not None and names == ["score"] and name == _spelled(scoring, names):
        name = "score"
    if name not in names:
        raise ValueError(f"measure is {measure!r}; expected one of {', '.join(names)}")
    label = name if name != "score" else str(getattr(scoring, "measure", scoring) or "score")
    return name, label


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
    splits = sorted(
        (k for k in results if k.startswith("split") and k.endswith(f"_test_{name}")),
        key=_split_number,
    )
    scores = np.column_stack([results[k] for k in splits])
    best: dict[tuple[float, ...], int] = {}
    means = scores.mean(axis=1)
    for number, params in enumerate(results["params"]):
        if params.get(key) is not None:
            g = tuple(params[key])
            if g not in best or means[number] > means[best[g]]:
                best[g] = number
    if len({len(g) for g in best}) != 1 or len(next(iter(best))) < 2:
        raise ValueError(
            f"search tried the g {sorted(best)}; expected g for the same 2 or more positive grades"
        )
    ordered = sorted(best)
    return np.array(ordered), scores[[best[g] for g in ordered]]


def _split_number(key: str) -> int:
    return int(key.removeprefix("split").partition("_")[0])


def _standard_errors(scores: Array) -> Array:
    relative = scores - scores.mean(axis=0)
    errors: Array = relative.std(axis=1, ddof=1) / np.sqrt(scores.shape[1])
    return errors


def _text(g: Array) -> str:
    return "(" + ", ".join(f"{x:.3g}" for x in g) + ")"


def _line(figure: Any, points: Array, scores: Array, label: str) -> None:
    axes = figure.add_subplot()
    means, best = scores.mean(axis=1), int(scores.mean(axis=1).argmax())
    x = points[:, 0]
    axes.errorbar(
        x,
        means,
        _standard_errors(scores),
        marker="o",
        markersize=4,
        capsize=2,
        linewidth=1.2,
        elinewidth=0.8,
    )
    axes.plot(
        x[best],
        means[best],
        "*",
        markersize=15,
        color="C3",
        zorder=3,
        label=f"best: g = {_text(points[best])}",
    )
    axes.set_xlabel("g₁: share of users who accept grade 1   (g₂ = 1 − g₁)")
    axes.set_ylabel(f"{label}, mean of {scores.shape[1]} folds")
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)


def _ternary(figure: Any, points: Array, scores: Array, label: str) -> None:
    from matplotlib.collections import PolyCollection
    from matplotlib.patches import Polygon

    axes = figure.add_subplot()
    means, best = scores.mean(axis=1), int(scores.mean(axis=1).argmax())
    centers = points @ CORNERS
    # Hexagons as wide as the lattice fill the triangle; cut at its edge, where g has a 0.
    apart = np.linalg.norm(centers[:, None] - centers[None], axis=2)
    spacing = apart[apart > 1e-9].min(initial=0.5)
    angles = np.arange(6) * np.pi / 3 + np.pi / 6
    hexagon = np.column_stack((np.cos(angles), np.sin(angles))) * spacing / np.sqrt(3) * 1.005
    cells = PolyCollection(centers[:, None] + hexagon, array=means, cmap="viridis")
    axes.add_collection(cells)
    edge = Polygon(CORNERS, fill=False, edgecolor="0.3", linewidth=1)
    axes.add_patch(edge)
    cells.set_clip_path(edge)
    axes.plot(
        *centers[best],
        "*",
        markersize=15,
        color="C3",
        markeredgecolor="white",
        clip_on=False,
        zorder=3,
    )
    for corner, grade, (dx, dy), vertical in zip(
        CORNERS,
        ("g₁ = 1", "g₂ = 1", "g₃ = 1"),
        ((0, -8), (0, -8), (0, 8)),
        ("top", "top", "bottom"),
        strict=True,
    ):
        axes.annotate(grade, corner, (dx, dy), textcoords="offset points", ha="center", va=vertical)
    axes.set_title(f"best: g = {_text(points[best])}", fontsize=10, pad=26)
    axes.set_xlim(-0.08, 1.08)
    axes.set_ylim(-0.02, CORNERS[2, 1] + 0.02)
    axes.set_aspect("equal")
    axes.axis("off")
    figure.colorbar(cells, ax=axes, shrink=0.8, label=f"{label}, mean of {scores.shape[1]} folds")


def _panels(figure: Any, points: Array, scores: Array, label: str) -> None:
    means, best = scores.mean(axis=1), int(scores.mean(axis=1).argmax())
    for k, axes in enumerate(figure.subplots(1, points.shape[1], sharey=True)):
        share = points[:, k]
        axes.plot(share, means, ".", color="0.7", markersize=4, label="one g" if k == 0 else None)
        # What is left to win or lose by this entry once all others are chosen for it.
        values = np.unique(share)
        tops = np.array([np.flatnonzero(share == v)[means[share == v].argmax()] for v in values])
        axes.errorbar(
            values,
            means[tops],
            _standard_errors(scores)[tops],
            marker="o",
            markersize=3,
            capsize=2,
            linewidth=1.2,
            elinewidth=0.8,
            label="best with this entry" if k == 0 else None,
        )
        axes.plot(share[best], means[best], "*", markersize=13, color="C3", zorder=3)
        axes.set_xlabel(f"g{chr(0x2081 + k)}" if k < 9 else f"g[{k + 1}]")
        axes.grid(alpha=0.3)
        if k == 0:
            axes.set_ylabel(f"{label}, mean of {scores.shape[1]} folds")
    figure.legend(loc="outside lower center", ncols=2, frameon=False)
    figure.suptitle(f"best: g = {_text(points[best])}", fontsize=10)
