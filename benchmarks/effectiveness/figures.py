"""One picture a data set: every competitor on every measure, as a difference from what people use today."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.lines import Line2D

from benchmarks.effectiveness.competitors import COMPETITORS
from benchmarks.effectiveness.statistics import COLUMNS, Values, holm

REFERENCE = "LightGBM lambdarank"
COLOURS = {True: "#c2410c", False: "#334155"}


def draw(values: Values, path: Path) -> None:
    """Mean difference from `REFERENCE` with its 95 % interval; filled where Holm-corrected t-tests of the column differ."""
    ours = {c.name: c.ours for c in COMPETITORS}
    names = [n for n in values.names if n != REFERENCE]
    names.sort(key=lambda n: values.means(n)[-1])
    figure, axes = plt.subplots(1, len(COLUMNS), figsize=(17, 7.2), sharey=True)
    for axis, column in zip(axes, COLUMNS, strict=True):
        results = {n: values.compare(n, REFERENCE, column) for n in names}
        p = holm({n: r.t for n, r in results.items()})
        for row, name in enumerate(names):
            result, colour = results[name], COLOURS[ours[name]]
            axis.plot(result.interval, (row, row), color=colour, lw=1.4, alpha=0.8, solid_capstyle="butt")
            face = colour if p[name] < 0.05 else "white"
            axis.plot(result.difference, row, "o", ms=6, color=colour, markerfacecolor=face)
        axis.axvline(0, color="#94a3b8", lw=1, zorder=0)
        base = values.means(REFERENCE)[COLUMNS.index(column)]
        axis.set_title(f"{column}\nzero is {base:.4f}", fontsize=9)
        axis.grid(axis="y", color="#e2e8f0", lw=0.7)
        axis.set_axisbelow(True)
        axis.tick_params(axis="x", labelsize=8)
        axis.locator_params(axis="x", nbins=4)
        for side in ("top", "right", "left"):
            axis.spines[side].set_visible(False)
        axis.tick_params(axis="y", length=0)
    axes[0].set_yticks(range(len(names)), names)
    for label, name in zip(axes[0].get_yticklabels(), names, strict=True):
        label.set_color(COLOURS[ours[name]])
    axes[0].set_ylim(-0.7, len(names) - 0.3)
    figure.suptitle(
        f"{values.data}: difference from {REFERENCE} on {values.n_queries} test queries, "
        f"mean of {len(values.seeds)} seeds, 95 % intervals over queries",
        fontsize=12,
    )
    marks = [
        Line2D([], [], color=COLOURS[True], marker="o", label="gapboost"),
        Line2D([], [], color=COLOURS[False], marker="o", label="the libraries' own"),
        Line2D([], [], color="#64748b", marker="o", lw=0, label="differs (t-test, Holm over the column)"),
        Line2D([], [], color="#64748b", marker="o", markerfacecolor="white", lw=0, label="no proven difference"),
    ]
    figure.legend(handles=marks, loc="lower center", ncols=4, frameon=False, fontsize=9)
    figure.tight_layout(rect=(0, 0.035, 1, 0.99))
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, dpi=100)
    plt.close(figure)


Lines = dict[str, tuple[np.ndarray, np.ndarray]]


def draw_gain(fractions: np.ndarray, panels: dict[str, dict[str, Lines]], path: Path) -> None:
    """Gain against the amount of training data: a row a test measure, a column a number of features."""
    figure, axes = plt.subplots(len(panels), 3, figsize=(12, 3.4 * len(panels)), sharex=True, sharey=True)
    for row, (tested, columns) in zip(axes, panels.items(), strict=True):
        for axis, (title, lines) in zip(row, columns.items(), strict=True):
            for number, (name, (mean, half)) in enumerate(lines.items()):
                shift = (number - (len(lines) - 1) / 2) * 1.4
                axis.errorbar(100 * fractions + shift, mean, half, fmt="o-", ms=4, lw=1.3, capsize=2, label=name)
            axis.axhline(0, color="#94a3b8", lw=1, zorder=0)
            axis.set_title(f"{title}, tested by {tested}", fontsize=10)
            for side in ("top", "right"):
                axis.spines[side].set_visible(False)
        row[0].set_ylabel(f"gain in {tested}")
        row[-1].legend(frameon=False, fontsize=8)
    for axis in axes[-1]:
        axis.set_xlabel("training queries used, %")
    figure.tight_layout()
    figure.savefig(path, dpi=100)
    plt.close(figure)
