"""Figures of the page. The first one is in the README too."""

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.ticker import MaxNLocator

from benchmarks.studies.effectiveness.comparisons import MEAN, Comparison, Values
from benchmarks.studies.effectiveness.side_studies import MEASURES, N_TEST, ORDERS, SIZES
from benchmarks.studies.pictures import legend_below, line, panels, save

TOP, EACH = "nDCG@10", "mean of six, on each collection"


def draw(shown: Sequence[tuple[Comparison, int]], path: Path) -> None:
    """Draw differences with simultaneous intervals, given the size of each comparison's family.

    A panel holds our rankers of one library, with defaults or tuned. Small marks are the means of
    single collections.
    """
    by_panel: dict[str, list[tuple[Comparison, int]]] = {}
    for c, size in shown:
        by_panel.setdefault(c.first.replace("extra_trees=False", ""), []).append((c, size))
    figure, axes = panels(len(by_panel), 3.2, sharex=True)
    for axis, (first, comparisons) in zip(axes, by_panel.items(), strict=True):
        for row, (c, size) in enumerate(comparisons):
            means = [np.concatenate(c.among([data]).models(MEAN)).mean() for data in c.collections]
            y = np.full(len(means), row - 0.18)
            axis.plot(means, y, "|", ms=6, color="#94a3b8", label=label(row, EACH))
            for number, (measure, shift) in enumerate(((MEAN, -0.18), (TOP, 0.18))):
                estimate, style = c.over_models(measure), line(number)
                ends = estimate.interval(family=size)
                axis.plot(ends, (row + shift,) * 2, color=style["color"], lw=1.8)
                style |= {"linestyle": "", "label": label(row, measure)}
                axis.plot(estimate.mean, row + shift, **style)
        axis.axvline(0, color="#64748b", lw=1, zorder=0)
        names = [second(c, first) for c, _ in comparisons]
        axis.set_yticks(range(len(comparisons)), names, fontsize=8)
        axis.set_ylim(len(comparisons) - 0.5, -0.5)
        axis.set_title(f"{first} minus", fontsize=9, loc="left")
        axis.xaxis.set_major_locator(MaxNLocator(6))
        axis.tick_params(labelsize=8)
        axis.set_xlabel("difference, simultaneous 95 % interval", fontsize=8)
    legend_below(figure, axes[0])
    save(figure, path)


def second(c: Comparison, panel: str) -> str:
    """Return the name of the second ranker, and that of the first where the panel has another."""
    name = re.sub(r"\((?=objective|min_child)", "(\n", c.second)
    return name if c.first == panel else f"{name},\nours with extra_trees=False"


def label(row: int, text: str) -> str | None:
    """Return an entry of the legend, once for all rows."""
    return None if row else text


def draw_less_data(values: Values, path: Path) -> None:
    """Draw the mean of the measures by number of training queries, a line for each measure."""
    figure, (axis,) = panels(1, 4.2)
    for number, name in enumerate(MEASURES):
        points = [(n, values[key].values()) for n in SIZES if (key := f"{name} from {n} queries") in values]
        if points:
            means = [np.concatenate(list(of_models)).mean(axis=0)[-1] for _, of_models in points]
            axis.plot([n for n, _ in points], means, label=f"trained for {name}", **line(number))
    axis.set_xscale("log")
    axis.set_xticks(SIZES, [str(n) for n in SIZES])
    axis.minorticks_off()
    axis.set_title(f"MQ2007, LightGBM: {N_TEST} test queries, mean of {ORDERS} draws", fontsize=10)
    axis.set(xlabel="training queries", ylabel="mean of six measures, test")
    figure.legend(*axis.get_legend_handles_labels(), loc="outside lower center", ncols=2, frameon=False, fontsize=9)
    save(figure, path)
