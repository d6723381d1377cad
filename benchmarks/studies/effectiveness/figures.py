"""The pictures of the page; the first one is the README's too."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.ticker import MaxNLocator

from benchmarks.studies.effectiveness.comparisons import MEAN, Comparison, Values
from benchmarks.studies.effectiveness.side_studies import MEASURES, N_TEST, ORDERS, SIZES
from benchmarks.studies.pictures import legend_below, line, panels, save

TOP, EACH = "nDCG@10", "mean of six, on each collection"


def draw(shown: Sequence[Comparison], path: Path) -> None:
    """Differences with their intervals in two measures, a panel for each ranker; the collections' means are small marks."""
    by_first: dict[str, list[Comparison]] = {}
    for c in shown:
        by_first.setdefault(c.first, []).append(c)
    figure, axes = panels(len(by_first), 2.3, sharex=True)
    for axis, (first, comparisons) in zip(axes, by_first.items(), strict=True):
        for row, c in enumerate(comparisons):
            means = [np.concatenate(c.among([data]).models(MEAN)).mean() for data in c.collections]
            axis.plot(means, np.full(len(means), row - 0.18), "|", ms=6, color="#94a3b8", label=label(row, EACH))
            for number, (measure, shift) in enumerate(((MEAN, -0.18), (TOP, 0.18))):
                estimate, style = c.over_models(measure), line(number)
                axis.plot(estimate.interval(), (row + shift,) * 2, color=style["color"], lw=1.8)
                axis.plot(estimate.mean, row + shift, **style | {"linestyle": ""}, label=label(row, measure))
        axis.axvline(0, color="#64748b", lw=1, zorder=0)
        names = [c.second.replace(", ", ",\n") for c in comparisons]
        axis.set_yticks(range(len(comparisons)), names, fontsize=8)
        axis.set_ylim(len(comparisons) - 0.5, -0.5)
        axis.set_title(f"{first} minus", fontsize=9, loc="left")
        axis.xaxis.set_major_locator(MaxNLocator(6))
        axis.tick_params(labelsize=8)
        axis.set_xlabel("difference, and its 95 % interval over pairs of models", fontsize=8)
    legend_below(figure, axes[0])
    save(figure, path)


def label(row: int, text: str) -> str | None:
    """One entry of the legend for all rows."""
    return None if row else text


def draw_less_data(values: Values, path: Path) -> None:
    """The mean of the measures against the number of training queries, one line a training measure."""
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
