"""A comparison as sentences, pictures and a page."""

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gapboost._described import describe, versions
from gapboost._optional import frame, imported
from gapboost._page import Section, write_page
from gapboost._pictures import COLORS
from gapboost.analysis.estimates import AHEAD, BEHIND, EQUAL, EQUIVALENT, INCONCLUSIVE
from gapboost.comparison.statistics import Verdict

if TYPE_CHECKING:
    from gapboost.comparison.result import Comparison

# A ranker that takes so many times as long to train as the baseline is named with its gain.
NOTED_SLOWDOWN = 5
# Marks differ without color: filled triangles that point to their side, and empty shapes.
MARKS = {
    AHEAD: {"marker": ">", "color": COLORS[0], "markerfacecolor": COLORS[0]},
    BEHIND: {"marker": "<", "color": COLORS[1], "markerfacecolor": COLORS[1]},
    EQUIVALENT: {"marker": "s", "color": COLORS[2], "markerfacecolor": "none"},
    EQUAL: {"marker": "d", "color": "#808080", "markerfacecolor": "none"},
    INCONCLUSIVE: {"marker": "o", "color": "#808080", "markerfacecolor": "none"},
}
READING = (
    "A difference is the mean over all test queries of ranker minus baseline; ties count their "
    "expected value. The intervals of a measure hold together, by Bonferroni's correction. A "
    "ranker is ahead if its interval is above 0, behind if it is below 0, and equal if no test "
    "query has another value. Otherwise nothing was decided: the interval says what difference "
    "could still be there. Four of five such comparisons find a true difference as large as "
    "detectable says."
)
MARGIN = (
    "The user named the margin {:g}. A ranker is equivalent if two one-sided tests find the "
    "difference within it. This is a second test beside the interval, corrected for the same "
    "number of comparisons."
)
SENTENCES = {
    AHEAD: "Ahead of {}: {}.",
    EQUAL: "Equal to {} on every test query, so that these data do not tell them apart: {}.",
    EQUIVALENT: "Equivalent to {} within the margin: {}.",
    INCONCLUSIVE: "Nothing was decided about the difference from {}, which could be anything in "
    "the interval: {}.",
    BEHIND: "Behind {}: {}.",
}


def decide(comparison: "Comparison", verdicts: Sequence[Verdict]) -> list[str]:
    """Return the sentences of the decision, by the measure that decides on the best ranker.

    Parameters
    ----------
    comparison : Comparison
    verdicts : sequence of Verdict
        Comparisons with one baseline.
    """
    if comparison.leaks:
        named = ", ".join(f"{name} ({low:.3f})" for name, low in list(comparison.leaks.items())[:5])
        return [
            f"Remove leaked features first. These rank like the grades, each alone: {named}. The "
            "numbers are their average precision, at least. No difference below says which ranker "
            "is better."
        ]
    measure, baseline = comparison.decisive, verdicts[0].baseline
    ordered = sorted((v for v in verdicts if v.measure == measure), key=lambda v: -v.difference)
    by_word = {word: [v for v in ordered if v.verdict == word] for word in MARKS}
    sentences = []
    if by_word[AHEAD]:
        best = by_word[AHEAD][0]
        sentences.append(f"Use {best.ranker}. It is ahead of {baseline} in {measure}.")
        times = comparison.means()["fit seconds"]
        if times[best.ranker] >= NOTED_SLOWDOWN * times[baseline]:
            times_as_long = times[best.ranker] / times[baseline]
            sentences.append(f"It takes {times_as_long:.0f} times as long to train.")
    elif len(by_word[BEHIND]) == len(ordered):
        sentences.append(f"Keep {baseline}. Every other ranker is behind it in {measure}.")
    else:
        sentences.append(f"No ranker is ahead of {baseline} in {measure}.")
    for word, text in SENTENCES.items():
        if by_word[word]:
            sentences.append(text.format(baseline, ", ".join(map(_shown, by_word[word]))))
    others = [v for v in verdicts if v.measure != measure and v.verdict in (AHEAD, BEHIND)]
    if others:
        listed = ", ".join(f"{v.ranker} is {v.verdict} in {v.measure}" for v in others)
        sentences.append(f"By other measures: {listed}.")
    return sentences


def _shown(verdict: Verdict) -> str:
    """Return a ranker with its difference and interval."""
    if verdict.verdict == EQUAL:
        return verdict.ranker
    low, high = map(_signed, verdict.interval)
    interval = f"{low} to {high}" if verdict.estimate.error else "on every query"
    return f"{verdict.ranker} ({_signed(verdict.difference)}, {interval})"


def _signed(value: float) -> str:
    """Return a number with four decimals, or in powers of ten if they would all be 0."""
    text = f"{value:+.4f}" if value == 0 or abs(value) >= 5e-5 else f"{value:+.1e}"
    return text.replace("-", "−")


def draw(verdicts: Sequence[Verdict], measures: Sequence[str]) -> Any:
    """Return a figure with a panel for each measure, and below them a legend of the marks."""
    pyplot = imported("matplotlib.pyplot", "plot", "to plot")
    n_rows = len(verdicts) // len(measures)
    size = (2.2 + 2.9 * len(measures), 1.5 + 0.34 * n_rows)
    figure, panels = pyplot.subplots(
        1, len(measures), sharey=True, squeeze=False, figsize=size, layout="constrained"
    )
    for ax, measure in zip(panels[0], measures, strict=True):
        _panel(ax, [v for v in verdicts if v.measure == measure])
    figure.suptitle(f"compared with {verdicts[0].baseline}", fontsize=11)
    handles = [
        panels[0][0].plot([], [], linewidth=1.5, markersize=7, label=word, **mark)[0]
        for word, mark in MARKS.items()
        if any(v.verdict == word for v in verdicts)
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=3, frameon=False)
    return figure


def _panel(ax: Any, verdicts: Sequence[Verdict]) -> None:
    """Draw the verdicts of one measure, the first at the top."""
    for place, verdict in enumerate(verdicts):
        mark = MARKS[verdict.verdict]
        ax.plot(verdict.interval, (place, place), linewidth=1.5, color=mark["color"])
        ax.plot([verdict.difference], [place], markersize=7, linestyle="none", **mark)
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


def write_report(
    path: Any, comparison: "Comparison", verdicts: Sequence[Verdict], table: Any
) -> None:
    """Write the page of `Comparison.report`; `table` is its summary."""
    figures = imported("matplotlib.figure", "plot", "for the report's pictures")
    pictures = []
    for measure in comparison.measures:
        chosen = [v for v in verdicts if v.measure == measure]
        figure = figures.Figure(figsize=(4.0, 1.1 + 0.34 * len(chosen)), layout="constrained")
        _panel(figure.subplots(), chosen)
        pictures.append(figure)
    means = comparison.means()
    for name in means.columns[len(comparison.measures) :]:
        means[name] = [f"{value:.3g}" if value == value else "" for value in means[name]]
    table = table.drop(columns=["baseline", "queries"])
    table["p"] = ["< 0.001" if p < 0.001 else f"{p:.3f}" for p in table["p"]]
    rankers = comparison.training.rankers
    described = {"ranker": list(rankers), "parameters": [describe(r) for r in rankers.values()]}
    key = "▶ ahead, ◀ behind, ○ inconclusive, ◇ equal, □ equivalent"
    margin, baseline = verdicts[0].margin, verdicts[0].baseline
    sections = [
        Section(
            "Decision",
            [
                *decide(comparison, verdicts),
                pictures,
                f"Differences from {baseline}: {key}",
            ],
        ),
        Section("Means", [means]),
        Section(
            f"Differences from {baseline}",
            [
                table,
                READING,
                *([] if margin is None else [MARGIN.format(margin)]),
                _errors(comparison),
            ],
        ),
        Section("Settings", [_settings(comparison)]),
        Section("Parameters of the rankers", [frame(described)], collapsed=True),
    ]
    write_page(path, "Which ranker ranks better?", sections)


def _errors(comparison: "Comparison") -> str:
    """Return a sentence on the variation that the errors of this comparison include."""
    splits = comparison.training.splits
    if len(splits) == 1:
        return (
            "There is one given fold: the intervals hold for the models that were trained, not for "
            "others that are trained alike."
        )
    if all(split.repeats == splits[0].repeats for split in splits):
        return (
            f"Each of the {len(splits)} folds is a cluster, as the same models ranked its queries. "
            "No interval counts that folds share training queries."
        )
    return (
        f"Errors count queries and the models of {len(splits)} sets of training queries, as "
        "two-way clusters. No interval counts that these sets overlap."
    )


def _settings(comparison: "Comparison") -> Any:
    training = comparison.training
    documents, splits = training.documents, training.splits
    found = {
        "documents": f"{len(documents.numbers):,}",
        "queries": f"{len(documents.sizes):,}",
        "features": f"{documents.X.shape[1]:,}",
        "measures": "; ".join(f"{name} is {value}" for name, value in training.measures.items()),
        "folds": 1 + max(split.fold for split in splits),
        "repeats": max(max(split.repeats) for split in splits),
        "candidates of each ranker": max(map(len, training.candidates.values()), default=1),
        "trees are chosen": training.choose_trees,
        "chosen by": training.choose_by,
        "identical in all repeats": ", ".join(comparison.identical_repeats) or "none",
        "versions": versions(),
    }
    return frame({"setting": list(found), "value": [str(value) for value in found.values()]})
