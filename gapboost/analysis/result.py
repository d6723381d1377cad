"""The result of every analysis: a table, a plot, and the arrays behind them; long work."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import joblib
import numpy as np

from gapboost.measures import Measure
from gapboost.optional import Axes, DataFrame, frame, imported, progress_bar
from gapboost.page import COLORS
from gapboost.validation import Seed, resolve_n_jobs, seed

STYLES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 3)))
MARKERS = ("o", "s", "^", "D", "v", "x")
# 36 lines that differ. After each pass through the colors the styles are shifted by one, so that no
# color meets the same style again.
LINES = {
    "color": COLORS * 6,
    "linestyle": [STYLES[(number + number // 6) % 6] for number in range(36)],
    "marker": MARKERS * 6,
    "markersize": [4] * 36,
}


class Result:
    """Result of an analysis: a data frame, a plot, and attributes that the analysis names.

    Parameters
    ----------
    columns : {name: values}
        Columns of the data frame.
    index : sequence of str
        Names of the columns that are its index.
    draw : callable
        ``draw(result, ax, **options)`` draws the result on matplotlib's axes.
    **attributes
        As documented by the function that returns the result; the columns are attributes too.

    Examples
    --------
    >>> from gapboost import analysis
    >>> result = analysis.precision_recall("ap", [1, 0, 1], [3.0, 2.0, 1.0])
    >>> result.to_pandas().precision.round(3).tolist(), round(result.area, 3)
    ([1.0, 0.667], 0.833)
    """

    def __init__(
        self,
        columns: Mapping[str, object],
        index: Sequence[str],
        draw: Callable[..., None],
        **attributes: object,
    ) -> None:
        self._columns, self._index, self._draw = columns, index, draw
        vars(self).update({**columns, **attributes})

    if TYPE_CHECKING:  # the attributes

        def __getattr__(self, name: str) -> Any: ...

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(k for k in vars(self) if k[0] != '_')})"

    def to_pandas(self) -> DataFrame:
        """Return the table as a pandas data frame."""
        return frame(self._columns, self._index)

    def plot(self, ax: "Axes | None" = None, **options: Any) -> Axes:
        """Draw the result; return the matplotlib axes, which are new ones without `ax`."""
        if ax is None:
            pyplot = imported("matplotlib.pyplot", "plot", "to plot")
            ax = pyplot.subplots(layout="constrained")[1]
        if not ax.lines:
            ax.set_prop_cycle(**LINES)
        self._draw(self, ax, **options)
        if ax.get_legend_handles_labels()[0]:
            # To the right of the axes.
            ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), fontsize="small")
        return ax


def draw_columns(table: DataFrame, ax: Axes) -> None:
    """Draw a line for each column of a data frame, over its index."""
    for name in table:
        ax.plot(table.index, table[name], label=name)
    if isinstance(table.index[0], str):
        ax.tick_params(axis="x", rotation=60)


def short_labels(measures: Sequence[object], hidden: tuple[str, ...] = ("g", "k")) -> list[str]:
    """Return measures as tables name them: ``GAP``, ``nDCG@10``, ``AP(rel=2)``.

    `hidden` parameters are left out, unless two measures would get the same label.
    """
    labels = [_short_label(measure, hidden) for measure in measures]
    return [
        label if labels.count(label) == 1 else str(measure)
        for label, measure in zip(labels, measures, strict=True)
    ]


def full_labels(measures: Sequence[object]) -> list[str]:
    """Return measures with all parameters, as in ``GAP(g=(0.5, 0.5))@10``."""
    return short_labels(measures, ("k",))


def _short_label(measure: Any, hidden: tuple[str, ...]) -> str:
    simple = isinstance(measure, Measure) and measure.terms == ((1.0, measure),)
    if not simple or measure.label_column is not None:
        return str(measure)
    values = {f.name: getattr(measure, f.name) for f in fields(measure) if f.name not in hidden}
    defaults = {f.name: f.default for f in fields(measure)}
    given = [f"{name}={value!r}" for name, value in values.items() if value != defaults[name]]
    cutoff = "" if measure.k is None else f"@{measure.k}"
    return type(measure).__name__ + (f"({', '.join(given)})" if given else "") + cutoff


def over_items(
    function: Callable[[Any], Any],
    items: Sequence[Any],
    n_jobs: int | None,
    progress: bool | None = False,
    label: str = "",
) -> list[Any]:
    """Return ``[function(item) for item in items]``, the same for every `n_jobs`.

    `progress` and `label` are those of `progress_bar`.
    """
    processes = joblib.Parallel(min(resolve_n_jobs(n_jobs), len(items)) or 1, return_as="generator")
    found = []
    with progress_bar(len(items), progress, label) as advance:
        for result in processes(joblib.delayed(function)(item) for item in items):
            found.append(result)
            advance(1)
    return found


def generators(random_state: Seed, number: int) -> list[np.random.Generator]:
    """Return independent generators, one for each item of work, whatever its order."""
    children = np.random.SeedSequence(seed(random_state)).spawn(number)
    return [np.random.default_rng(child) for child in children]
