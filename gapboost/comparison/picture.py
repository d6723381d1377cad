"""Picture of the differences from one ranker; needs matplotlib."""

import textwrap
from collections.abc import Sequence
from typing import Any

from gapboost._optional import imported
from gapboost._pictures import COLORS
from gapboost.analysis.estimates import AHEAD, BEHIND, INCONCLUSIVE
from gapboost.comparison.verdicts import Verdict

# Marks differ without color: filled triangles that point to their side, and an empty circle.
MARKS = {
    AHEAD: {"marker": ">", "color": COLORS[0], "markerfacecolor": COLORS[0]},
    BEHIND: {"marker": "<", "color": COLORS[1], "markerfacecolor": COLORS[1]},
    INCONCLUSIVE: {"marker": "o", "color": "#808080", "markerfacecolor": "none"},
}


def draw(verdicts: Sequence[Verdict], measures: Sequence[str]) -> Any:
    """Return a figure with a panel for each measure, and below them a legend of the marks."""
    pyplot = imported("matplotlib.pyplot", "plot", "to plot")
    n_rows = len(verdicts) // len(measures)
    size = (2.2 + 2.9 * len(measures), 1.5 + 0.34 * n_rows)
    figure, panels = pyplot.subplots(
        1, len(measures), sharey=True, squeeze=False, figsize=size, layout="constrained"
    )
    for ax, measure in zip(panels[0], measures, strict=True):
        panel(ax, [v for v in verdicts if v.measure == measure])
    figure.suptitle(f"compared with {verdicts[0].beside}", fontsize=11)
    handles = [
        panels[0][0].plot([], [], linewidth=1.5, markersize=7, label=verdict, **mark)[0]
        for verdict, mark in MARKS.items()
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=3, frameon=False)
    return figure


def panel(ax: Any, verdicts: Sequence[Verdict]) -> None:
    """Draw the verdicts of one measure, the first at the top."""
    for place, verdict in enumerate(verdicts):
        ax.plot(
            verdict.interval, (place, place), linewidth=1.5, color=MARKS[verdict.verdict]["color"]
        )
        ax.plot(
            [verdict.difference], [place], markersize=7, linestyle="none", **MARKS[verdict.verdict]
        )
    ax.axvline(0, color="#808080", linewidth=0.8)
    # A long name takes two lines, to leave space for the marks; tables hold the whole name.
    names = [
        "\n".join(textwrap.wrap(v.ranker, 24, max_lines=2, placeholder=" …")) for v in verdicts
    ]
    ax.set_yticks(range(len(verdicts)), names, fontsize=9, parse_math=False)
    ax.set_ylim(len(verdicts) - 0.5, -0.5)
    ax.margins(x=0.08)
    ax.locator_params(axis="x", nbins=4)
    ax.set_title(verdicts[0].measure, fontsize=10)
    ax.set_xlabel(f"difference, simultaneous {verdicts[0].confidence:.0%} interval", fontsize=9)
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.tick_params(axis="y", length=0)
