"""Parts that the three pictures share: bars, numbers, and the features that are shown."""

from typing import Any

import numpy as np

from gapboost._data.arguments import whole
from gapboost._kernels import Array
from gapboost._optional import axes
from gapboost._pictures import COLORS

# Bars above and below 0, which differ without color too.
POSITIVE_NEGATIVE: tuple[dict[str, Any], dict[str, Any]] = (
    {"color": COLORS[5]},
    {"color": "white", "hatch": "////"},
)


def top_features(sizes: Array, max_display: int) -> tuple[Array, Array]:
    """Return the features with the largest absolute values, in descending order, and all others.

    A single other feature would have a bar of its own: it is among the first.
    """
    most = whole(max_display, "max_display")
    order = np.argsort(-np.abs(sizes), kind="stable")
    most = most + 1 if len(order) == most + 1 else most
    return order[:most], order[most:]


def axes_of_height(ax: Any, n_bars: int) -> Any:
    """Return `ax`, or the axes of a new figure that is high enough for horizontal bars."""
    if ax is not None:
        return ax
    ax = axes()
    ax.figure.set_size_inches(7.0, 1.6 + 0.32 * n_bars)
    return ax


def number(value: float, among: Any) -> str:
    """Return a signed number, with three digits of the largest among those of the picture."""
    largest = float(np.abs(among).max())
    digits = int(np.clip(2 - np.floor(np.log10(largest)), 0, 9)) if largest > 0 else 0
    return f"{value:+.{digits}f}"


def short(name: str, most: int = 32) -> str:
    """Return the name, or the beginning of a long one."""
    return name if len(name) <= most else f"{name[: most - 1]}…"
