"""What the figures look like: on white, which light and dark pages both show, and without boxes."""

from pathlib import Path
from typing import Any

import matplotlib as mpl

from gapboost._pictures import line

mpl.use("Agg")
from matplotlib import pyplot as plt

__all__ = ["bare", "legend_below", "line", "panels", "plt", "save"]


def panels(n: int, height: float = 3.6, **options: Any) -> tuple[Any, list[Any]]:
    """Axes in one row, or in two where a page would shrink one of more than three."""
    rows = 1 if n <= 3 else 2
    size = (4.6 * n / rows, height * rows)
    figure, axes = plt.subplots(rows, -(-n // rows), figsize=size, layout="constrained", squeeze=False, **options)
    for ax in axes.flat[n:]:
        ax.remove()
    for ax in axes.flat[:n]:
        ax.grid(alpha=0.25)
        bare(ax)
    return figure, list(axes.flat[:n])


def bare(ax: Any) -> None:
    """Without a box."""
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)


def legend_below(figure: Any, ax: Any, columns: int = 5) -> None:
    """One legend for all panels, outside of them."""
    figure.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=columns, frameon=False, fontsize=9)


def save(figure: Any, path: Path) -> None:
    """Write it."""
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, dpi=110, facecolor="white", bbox_inches="tight")
    plt.close(figure)
