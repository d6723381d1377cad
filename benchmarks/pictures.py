"""Style of the figures: white, which light and dark pages show, without boxes."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")
from matplotlib import pyplot as plt

# Okabe and Ito's colors, which color-blind readers tell apart, without black and yellow.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
STYLES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 3)))
MARKERS = ("o", "s", "^", "D", "v", "x")


def line(number: int, marked: bool = True) -> dict[str, Any]:
    """Return color, line style and marker of a numbered line; the first 36 differ."""
    # Shifted after each pass through the colors, so that no color meets the same style again.
    shape = (number + number // len(COLORS)) % len(STYLES)
    style: dict[str, Any] = {"color": COLORS[number % len(COLORS)], "linestyle": STYLES[shape]}
    return {**style, "marker": MARKERS[number % len(MARKERS)], "markersize": 4} if marked else style


def panels(n: int, height: float = 3.6, **options: Any) -> tuple[Any, list[Any]]:
    """Return a figure and n axes, in one row up to three and in two rows beyond."""
    rows = 1 if n <= 3 else 2
    options |= {"figsize": (4.6 * n / rows, height * rows), "layout": "constrained"}
    figure, axes = plt.subplots(rows, -(-n // rows), squeeze=False, **options)
    for ax in axes.flat[n:]:
        ax.remove()
    for ax in axes.flat[:n]:
        ax.grid(alpha=0.25)
        ax.spines[["top", "right"]].set_visible(False)
    return figure, list(axes.flat[:n])


def log_log(points: Iterable[tuple[str, str, str, str, str]], x: str) -> Any:
    """Return a figure with a panel for each title and its lines by label, on logarithmic axes.

    A point has the title of its panel, the label of the y axis, the label of its line, x and y.
    Points without a positive y are left out. `x` is the label of the x axis.
    """
    lines: dict[tuple[str, str], dict[str, list[tuple[float, float]]]] = {}
    for title, y, label, *point in points:
        a, b = map(float, point)
        of_line = lines.setdefault((title, y), {}).setdefault(label, [])
        of_line += [(a, b)] * (b > 0)
    figure, axes = panels(len(lines))
    for ax, ((title, y), by_label) in zip(axes, lines.items(), strict=True):
        for number, (label, of_line) in enumerate(by_label.items()):
            ax.loglog(*zip(*of_line, strict=True), label=label, **line(number))
        ax.set(title=title, xlabel=x, ylabel=y)
        ax.legend(fontsize=7, frameon=False)
    return figure


def legend_below(figure: Any, ax: Any, columns: int = 5) -> None:
    """Draw one legend for all panels, below them."""
    handles, labels = ax.get_legend_handles_labels()
    below = "outside lower center"
    figure.legend(handles, labels, loc=below, ncols=columns, frameon=False, fontsize=9)


def save(figure: Any, path: Path) -> None:
    """Write the figure."""
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, dpi=110, facecolor="white", bbox_inches="tight")
    plt.close(figure)
