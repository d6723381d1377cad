"""Styles of all pictures: lines that differ in style and color, legends next to the data."""

from typing import Any

# Okabe and Ito's colors, which color-blind readers tell apart, without black and yellow: they
# must show on light and dark.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
STYLES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 3)))
MARKERS = ("o", "s", "^", "D", "v", "x")


def line(number: int, marked: bool = True) -> dict[str, Any]:
    """Return color, line style and marker of a numbered line; the first 36 differ."""
    # Shifted after each pass through the colors, so that no color meets the same style again.
    shape = (number + number // len(COLORS)) % len(STYLES)
    style: dict[str, Any] = {"color": COLORS[number % len(COLORS)], "linestyle": STYLES[shape]}
    return {**style, "marker": MARKERS[number % len(MARKERS)], "markersize": 4} if marked else style


def legend(ax: Any) -> None:
    """Draw a legend to the right of the axes."""
    ax.legend(
        loc="upper left",
        bbox_to_anchor=(1.01, 1.0),
        borderaxespad=0.0,
        fontsize="small",
        frameon=False,
    )
