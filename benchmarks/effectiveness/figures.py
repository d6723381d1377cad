"""The two pictures of the page, on white, which light and dark pages both show."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

from benchmarks.effectiveness.data import FILES
from benchmarks.effectiveness.side_studies import MEASURES, SIZES
from benchmarks.effectiveness.statistics import Comparison, Queries, means

STYLES = (
    ("#c2410c", "o", "-"),
    ("#1d4ed8", "s", (0, (4, 1.5))),
    ("#15803d", "^", (0, (1, 0.8))),
    ("#6b21a8", "D", (0, (5, 1, 1, 1))),
)
ALL = "all queries"


def draw(compared: Sequence[Comparison], path: Path) -> None:
    """GAP minus the booster's own on each collection and all together: mean of the measures, 95 % intervals."""
    boosters = sorted({c.first for c in compared})
    names = [ALL, *(name for name in FILES if any(name in c.differences for c in compared))]
    figure, axes = plt.subplots(
        1, max(len(boosters), 1), figsize=(11, 0.75 * len(names) + 2), sharey=True, squeeze=False
    )
    for axis, booster in zip(axes[0], boosters, strict=False):
        shown = [c for c in compared if c.first == booster]
        for number, (c, (colour, marker, dashes)) in enumerate(zip(shown, STYLES, strict=False)):
            for row, name in enumerate(names):
                if name != ALL and name not in c.differences:
                    continue
                r = c.of(data=None if name == ALL else name)
                y = row + 0.24 * (number - (len(shown) - 1) / 2)
                width = 2.4 if name == ALL else 1.4
                axis.plot(r.interval, (y, y), color=colour, ls=dashes, lw=width)
                axis.plot(r.difference, y, marker, ms=6 if name == ALL else 5, color=colour)
            label = f"beside {c.second.split(' ', 1)[1]}"
            axis.plot([], [], color=colour, marker=marker, ls=dashes, label=label)
        axis.axvline(0, color="#64748b", lw=1, zorder=0)
        axis.axhspan(-0.5, 0.5, color="#f1f5f9", zorder=-1)
        axis.set_title(f"{booster} minus {booster.split()[0]}'s own", fontsize=10)
        axis.set_xlabel("difference in the mean of six measures")
        axis.legend(loc="upper center", bbox_to_anchor=(0.5, -0.09), frameon=False, handlelength=4)
        bare(axis)
    sizes = {name: max((len(c.differences.get(name, ())) for c in compared), default=0) for name in names}
    sizes[ALL] = max((c.n_queries for c in compared), default=0)
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
