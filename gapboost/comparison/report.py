"""A comparison as sentences, plots, and tables of a page."""

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from gapboost.analysis.standard_errors import AHEAD, BEHIND, EQUAL, EQUIVALENT, INCONCLUSIVE
from gapboost.comparison.rankers import describe, versions
from gapboost.comparison.training import Trainer
from gapboost.optional import DataFrame, Figure, frame, imported
from gapboost.page import COLORS

GRAY = "#808080"
# Marks differ without color: filled triangles that point to their side, and empty shapes.
MARKS = {
    AHEAD: {"marker": ">", "color": COLORS[0], "markerfacecolor": COLORS[0]},
    BEHIND: {"marker": "<", "color": COLORS[1], "markerfacecolor": COLORS[1]},
    EQUIVALENT: {"marker": "s", "color": COLORS[2], "markerfacecolor": "none"},
    EQUAL: {"marker": "d", "color": GRAY, "markerfacecolor": "none"},
    INCONCLUSIVE: {"marker": "o", "color": GRAY, "markerfacecolor": "none"},
}
KEY = "▶ ahead, ◀ behind, ○ inconclusive, ◇ equal, □ equivalent"
# Page of the documentation that says how to read verdicts and intervals.
GUIDE = "docs/guide/compare.md"
READING = f"How to read verdicts and intervals: {GUIDE} in the documentation."


def decide(table: DataFrame, measure: str, leaks: Mapping[str, float]) -> list[str]:
    """Return the sentences of the decision.

    Parameters
    ----------
    table : pandas.DataFrame
        `Comparison.summary` with one baseline.
    measure : str
        The measure that decides.
    leaks : mapping {feature: float}
        As `find_leaks` returns them.
    """
    if leaks:
        named = ", ".join(f"{name} ({low:.3f})" for name, low in list(leaks.items())[:5])
        found = f"Each alone ranks like the grades, with this average precision at least: {named}."
        return [f"Remove leaked features first. {found}"]
    baseline = table["baseline"][0]
    decisive = table[table["measure"] == measure].sort_values("difference", ascending=False)
    ahead = decisive.loc[decisive["verdict"] == AHEAD, "ranker"]
    if len(ahead):
        decision = f"Use {ahead.iloc[0]}. It is ahead of {baseline} in {measure}."
    elif (decisive["verdict"] == BEHIND).all():
        decision = f"Keep {baseline}. Every other ranker is behind it in {measure}."
    else:
        decision = f"No ranker is ahead of {baseline} in {measure}."
    lines = []
    for name, rows in table.groupby("measure", sort=False):
        in_order = rows.sort_values("difference", ascending=False).itertuples()
        lines.append(f"{name}, compared with {baseline}: {'; '.join(map(_described, in_order))}.")
    return [
        decision,
        *lines,
        "An inconclusive difference could be anything in its interval. Equal rankers have the same "
        "value on every test query.",
    ]


def _described(row: Any) -> str:
    """Return a ranker with its verdict, difference and interval."""
    numbers = f"{row.difference:+.4f}, {row.low:+.4f} to {row.high:+.4f}".replace("-", "−")
    return f"{row.ranker} {row.verdict} ({numbers})"


def plot(table: DataFrame, confidence: float) -> Figure:
    """Return a figure of a `summary` with one baseline, with a panel for each measure."""
    pyplot = imported("matplotlib.pyplot", "plot", "to plot")
    by_measure = table.groupby("measure", sort=False)
    n, height = len(by_measure), 1.3 + 0.34 * len(table) / len(by_measure)
    figure: Figure = pyplot.figure(figsize=(1.1 + 2.9 * n, height), layout="constrained")
    panels = figure.subplots(1, n, sharey=True, squeeze=False)[0]
    for ax, (measure, rows) in zip(panels, by_measure, strict=True):
        for place, row in enumerate(rows.itertuples()):
            mark = MARKS[row.verdict]
            ax.plot((row.low, row.high), (place, place), linewidth=1.5, color=mark["color"])
            ax.plot([row.difference], [place], markersize=7, linestyle="none", **mark)
        ax.axvline(0, color=GRAY, linewidth=0.8)
        # A long name takes two lines, to leave space for the marks; tables hold the whole name.
        wrapper = textwrap.TextWrapper(24, max_lines=2, placeholder=" …")
        names = map(wrapper.fill, rows["ranker"])
        ax.set_yticks(range(len(rows)), names, fontsize=9, parse_math=False)
        ax.set_ylim(len(rows) - 0.5, -0.5)
        ax.margins(x=0.08)
        ax.locator_params(axis="x", nbins=4)
        ax.set_title(measure, fontsize=10)
        difference = f"difference from {rows['baseline'].iloc[0]}"
        ax.set_xlabel(f"{difference},\nsimultaneous {confidence:.0%} interval", fontsize=9)
        ax.spines[["top", "right", "left"]].set_visible(False)
        ax.tick_params(axis="y", length=0)
    return figure


def means_table(means: DataFrame, n_measures: int) -> DataFrame:
    """Return `Comparison.means` for a page; the costs follow the measures."""
    for name in means.columns[n_measures:]:
        means[name] = [f"{value:.3g}" if value == value else "" for value in means[name]]
    return means


def differences_table(table: DataFrame) -> DataFrame:
    """Return `Comparison.summary` with one baseline for a page."""
    differences = table.drop(columns=["baseline", "queries"])
    differences["p"] = ["< 0.001" if p < 0.001 else f"{p:.3f}" for p in table["p"]]
    return differences


def settings_table(training: Trainer, identical: Sequence[str], margin: float | None) -> DataFrame:
    """Return settings and versions; `identical` are the rankers whose repeats are identical."""
    data, splits = training.data, training.splits
    found = {
        "documents": len(data),
        "queries": len(data.query_data.queries),
        "features": data.n_features,
        **{f"measure {name}": measure for name, measure in training.measures.items()},
        "folds": 1 + max(split.fold for split in splits),
        "repeats": max(max(split.repeats) for split in splits),
        "candidates of each ranker": max(map(len, training.candidates.values()), default=1),
        "trees are chosen": training.choose_trees,
        "chosen by": training.choose_by,
        "identical in all repeats": ", ".join(identical) or "none",
        "margin": margin,
        "versions": versions(training.rankers.values()),
        **{f"ranker {name}": describe(ranker) for name, ranker in training.rankers.items()},
    }
    return frame({"setting": list(found), "value": list(map(str, found.values()))})
