"""The pictures of the page and of the README, on white, which light and dark pages both show."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import MaxNLocator

from benchmarks.studies.effectiveness.data import FILES
from benchmarks.studies.effectiveness.side_studies import MEASURES, N_TEST, ORDERS, SIZES
from benchmarks.studies.effectiveness.statistics import Comparison, Queries, means

STYLES = (
    ("#c2410c", "o", "-"),
    ("#1d4ed8", "s", (0, (4, 1.5))),
    ("#15803d", "^", (0, (1, 0.8))),
    ("#6b21a8", "D", (0, (5, 1, 1, 1))),
)
ALL = "all queries"


def draw(panels: Mapping[str, Mapping[str, Comparison]], path: Path) -> None:
    """Differences on each collection and all together, 95 % intervals; `panels`: {title: {label: comparison}}."""
    compared = [c for panel in panels.values() for c in panel.values()]
    sizes = {name: max(len(c.differences.get(name, ())) for c in compared) for name in FILES}
    names = [ALL, *(name for name, size in sizes.items() if size)]
    sizes[ALL] = max(c.n_queries for c in compared)
    lines = max(map(len, panels.values()))
    figure, axes = plt.subplots(
        1, len(panels), figsize=(11, (0.2 * lines + 0.15) * len(names) + 1.5), sharex=True, sharey=True, squeeze=False
    )
    for axis, (title, panel) in zip(axes[0], panels.items(), strict=True):
        for number, ((label, c), (colour, marker, dashes)) in enumerate(zip(panel.items(), STYLES, strict=False)):
            for row, name in enumerate(names):
                if name != ALL and name not in c.differences:
                    continue
                r = c.of(data=None if name == ALL else name)
                y = row + 0.24 * (number - (len(panel) - 1) / 2)
                axis.plot(r.interval, (y, y), color=colour, ls=dashes, lw=2.4 if name == ALL else 1.4)
                axis.plot(r.difference, y, marker, ms=6 if name == ALL else 5, color=colour)
            axis.plot([], [], color=colour, marker=marker, ls=dashes, label=label)
        axis.axvline(0, color="#64748b", lw=1, zorder=0)
        axis.axhspan(-0.5, 0.5, color="#f1f5f9", zorder=-1)
        axis.set_title(title, fontsize=10)
        axis.set_xlabel("difference in the mean of six measures")
        axis.xaxis.set_major_locator(MaxNLocator(5))
        axis.legend(
            loc="upper center", bbox_to_anchor=(0.5, -0.7 / figure.get_figheight()), frameon=False, handlelength=4
        )
        bare(axis)
    axes[0][0].set_yticks(range(len(names)), [f"{name} ({sizes[name]})" for name in names])
    axes[0][0].set_ylim(len(names) - 0.5, -0.5)
    save(figure, path)


def draw_less_data(found: Mapping[str, Queries], path: Path) -> None:
    """The mean of the measures against the number of training queries, one line a training measure."""
    figure, axis = plt.subplots(figsize=(7, 4.2))
    for name, (colour, marker, dashes) in zip(MEASURES, STYLES, strict=True):
        points = [(n, means(found[key])[-1]) for n in SIZES if (key := f"{name} from {n} queries") in found]
        if points:
            axis.plot(*np.array(points).T, color=colour, marker=marker, ls=dashes, label=f"trained for {name}")
    axis.set_xscale("log")
    axis.set_xticks(SIZES, [str(n) for n in SIZES])
    axis.minorticks_off()
    axis.set_title(
        f"MQ2007, LightGBM: {N_TEST} test queries, mean of {ORDERS} draws of the training queries", fontsize=10
    )
    axis.set(xlabel="training queries", ylabel="mean of six measures, test")
    axis.legend(loc="center left", bbox_to_anchor=(1, 0.5), frameon=False, handlelength=4)
    bare(axis)
    save(figure, path)


def bare(axis: Any) -> None:
    """Without a box."""
    for side in ("top", "right"):
        axis.spines[side].set_visible(False)


def save(figure: Any, path: Path) -> None:
    """Write it."""
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, dpi=110, facecolor="white", bbox_inches="tight")
    plt.close(figure)
