"""Figures of matplotlib in the color of the page's text."""

import io
import re
from collections.abc import Callable
from typing import Any

from gapboost._optional import imported

# Placeholder for the color of the page's text.
INK = "#010203"


def svg(draw: Callable[[Any], Any], height: float, name: str) -> str:
    """Return a drawing as SVG.

    Parameters
    ----------
    draw : function of the axes
    height : float
        In inches; the width is 4 inches.
    name : str
        Names the parts of the drawing: two drawings of a page need two names.
    """
    matplotlib = imported("matplotlib", "plot", "for the report's pictures")
    figures = imported("matplotlib.figure", "plot", "for the report's pictures")
    ink = dict.fromkeys(
        ("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color"), INK
    )
    with matplotlib.rc_context(
        {**ink, "svg.fonttype": "none", "svg.hashsalt": name, "font.family": "sans-serif"}
    ):
        figure = figures.Figure(figsize=(4.0, height), layout="constrained")
        draw(figure.subplots())
        stream = io.StringIO()
        figure.savefig(stream, format="svg", transparent=True, metadata={"Date": None})
    drawn = stream.getvalue().split("?>", 1)[1].partition(">")[2].replace(INK, "currentColor")
    # Each figure has the ids figure_1, axes_1, ...; a page may hold an id once.
    used = set(re.findall(r"#(\w+)", drawn))
    return re.sub(r' id="([^"]*)"', lambda found: found[0] if found[1] in used else "", drawn)
