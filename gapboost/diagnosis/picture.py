"""Picture of the distribution of a measure over queries."""

from typing import Any

import numpy as np

from gapboost._kernels import Array
from gapboost._pictures import COLORS

BINS = 10


def histogram(ax: Any, name: str, test: Array, training: Array | None) -> None:
    """Draw the share of queries by their value; training queries as a line."""
    bounds = np.linspace(min(0.0, test.min()), max(1.0, test.max()), BINS + 1)
    weights = np.full(len(test), 1 / len(test))
    ax.hist(test, bounds, weights=weights, color=COLORS[0], edgecolor="#808080", linewidth=0.5)
    ax.axvline(test.mean(), color=ax.title.get_color(), linewidth=1.5)
    if training is not None:
        style = {"color": COLORS[1], "linewidth": 1.5, "linestyle": "--"}
        ax.hist(
            training,
            bounds,
            weights=np.full(len(training), 1 / len(training)),
            histtype="step",
            **style,
        )
    ax.set_title(name, fontsize=10)
    ax.set_xlabel("value of a query", fontsize=9)
    ax.set_ylabel("share of queries", fontsize=9)
    ax.spines[["top", "right"]].set_visible(False)
