"""The pictures of PAPERS.md, drawn from saved results: at most five lines each."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.harness import FIGURES
from benchmarks.pictures import legend_below, line, panels, save
from benchmarks.studies.papers.page import algorithm_1, trained
from benchmarks.studies.papers.results import load

# By name: the picture `papers_NAME.png` and how it is drawn.
PICTURES: dict[str, Callable[[], Any]] = {}


def picture(draw: Callable[[], Any]) -> Callable[[], Any]:
    """Register a picture under the name of its function."""
    PICTURES[draw.__name__] = draw
    return draw


def draw_all(directory: Path = FIGURES) -> None:
    """Draw every picture."""
    for name, draw in PICTURES.items():
        save(draw(), directory / f"papers_{name}.png")


@picture
def informativeness() -> Any:
    """RMS error of GAP against g_1 and of nDCG, on all and on highly relevant documents."""
    table = load("informativeness")
    names = list(dict.fromkeys(table["collection"]))
    figure, axes = panels(2)
    for rel, ax in enumerate(axes, 1):
        for number, name in enumerate(names):
            mean = table[table["collection"] == name].groupby("measure")[f"rms {rel}"].mean()
            curve = mean[mean.index.str.startswith("GAP ")]
            curve = curve.set_axis(curve.index.str.split().str[1].astype(float)).sort_index()
            ax.plot(curve.index, curve, label=f"GAP, {name}", **line(number))
            style = line(number, marked=False) | {"linewidth": 0.9}
            ax.axhline(mean["nDCG"], label=f"nDCG, {name}", **style)
        which = ("relevant and highly relevant", "highly relevant alone")[rel - 1]
        ax.set(xlabel="$g_1$   ($g_2 = 1 - g_1$)", title=which)
    axes[0].set_ylabel("mean RMS error (lower is better)")
    legend_below(figure, axes[0], 3)
    return figure


@picture
def discrimination() -> Any:
    """Achieved significance levels by pair."""
    table = load("discrimination")
    figure, axes = panels(2, sharey=True)
    for ax, name in zip(axes, ("Robust", "DBpedia"), strict=True):
        rows = table[(table["collection"] == name) & (table["top"] == 0) & table["asl"].notna()]
        for number, measure in enumerate(("GAP", "xGAP", "AP", "nDCG", "P@10")):
            curve = rows[rows["measure"] == measure]
            ax.plot(
                100 * (curve["pair"] + 1) / len(curve),
                curve["asl"],
                label=measure,
                **line(number, marked=False),
            )
        ax.axhline(0.05, color="gray", linewidth=0.8)
        ax.set(
            ylim=(0, 0.1),
            xlabel="pairs of systems by falling ASL, %",
            title=f"{name}, all {len(curve)} pairs",
        )
    axes[0].set_ylabel("achieved significance level")
    legend_below(figure, axes[0])
    return figure


@picture
def correlation() -> Any:
    """Tau with AP against g_1, on all topics and on those with few highly relevant documents."""
    table = load("correlation")
    figure, axes = panels(4, sharey=True)
    cases = [
        (name, subset) for name in ("Robust", "DBpedia") for subset in ("all", "few of grade 2")
    ]
    for ax, (name, subset) in zip(axes, cases, strict=True):
        runs = {"Robust": 9, "DBpedia": 15}[name]
        rows = table[
            (table["collection"] == name)
            & (table["topics"] == subset)
            & (table["g"].str.count(" ") == 1)
        ]
        for number, family in enumerate(("GAP", "xGAP", "eGAP")):
            one = rows[rows["quantity"] == f"{family} with AP"]
            g = one["g"].str.split().str[0].astype(float)
            ax.plot(g, one["value"], label=family, **line(number))
            ax.fill_between(
                g, one["low"], one["high"], color=line(number)["color"], alpha=0.1, linewidth=0
            )
        which = f"{rows['of topics'].iloc[0]} topics" + (
            ", few highly relevant" if subset != "all" else ""
        )
        ax.set(xlabel="$g_1$   ($g_2 = 1 - g_1$)", title=f"{name}, {runs} runs, {which}")
        ax.title.set_fontsize(9)
    figure.supylabel("Kendall's tau with AP", fontsize=10)
    legend_below(figure, axes[0])
    return figure


# Three topics.
SMALL = ("MSLR", "few of grade 2")


@picture
def robustness() -> Any:
    """Tau with the complete ranking against the share of judgments."""
    table = load("robustness")
    cases = [
        case
        for case in dict.fromkeys(zip(table["collection"], table["topics"], strict=True))
        if case != SMALL
    ]
    figure, axes = panels(len(cases), sharey=True)
    for ax, (name, subset) in zip(axes, cases, strict=True):
        rows = table[(table["collection"] == name) & (table["topics"] == subset)]
        for number, measure in enumerate(("GAP", "xGAP", "eGAP", "nDCG", "bpref")):
            one = rows[rows["measure"] == measure]
            ax.plot(100 * one["kept"], one["tau"], label=measure, **line(number))
        ax.invert_xaxis()
        ax.set(
            xlabel="judgments kept, %",
            title=f"{name}, {subset} ({rows['of topics'].iloc[0]} topics)",
        )
        ax.title.set_fontsize(9)
    figure.supylabel("Kendall's tau with the complete ranking", fontsize=10)
    legend_below(figure, axes[0])
    return figure


def scatter(
    axes: list[Any], pairs: list[tuple[str, pd.Series, pd.Series]], labels: tuple[str, str]
) -> None:
    """Draw points of systems and the diagonal, with tau and RMS in the title."""
    for ax, (title, x, y) in zip(axes, pairs, strict=True):
        rms, tau = np.sqrt(np.mean((x - y) ** 2)), x.corr(y, method="kendall")
        ax.plot(x, y, **(line(0) | {"linestyle": ""}))
        low, high = min(x.min(), y.min()), max(x.max(), y.max())
        ax.plot([low, high], [low, high], color="gray", linewidth=0.8)
        ax.set(xlabel=labels[0].format(title.split(", ")[0]), ylabel=labels[1])
        ax.set_title(f"{title}: RMS {rms:.3f}, tau {tau:.2f}", fontsize=10)
        ax.locator_params(nbins=6)


@picture
def correlation_with_p10() -> Any:
    """P@10 of systems against their AP and nDCG."""
    table = load("correlation_with_p10")
    table = table[table["system"].notna()]
    figure, axes = panels(4)
    pairs = [
        (f"{measure}, {name}", rows[measure], rows["P@10"])
        for name in ("Robust", "DBpedia")
        for rows in [table[table["collection"] == name]]
        for measure in ("AP", "nDCG")
    ]
    scatter(axes, pairs, ("{}", "P@10"))
    return figure


@picture
def inferred() -> Any:
    """P@10 of systems against P@10 inferred from AP and nDCG."""
    table = load("inferred")
    names = list(dict.fromkeys(table["collection"]))
    figure, axes = panels(2 * len(names))
    pairs = [
        (f"{measure}, {name}", rows["P@10"], rows["inferred P@10"])
        for name in names
        for measure in ("AP", "nDCG")
        for chosen in [table[(table["collection"] == name) & (table["measure"] == measure)]]
        for rows in [chosen.groupby("system")[["P@10", "inferred P@10"]].mean()]
    ]
    scatter(axes, pairs, ("P@10", "inferred P@10"))
    for ax, (title, *_) in zip(axes, pairs, strict=True):
        ax.set(xlabel="P@10", ylabel=f"P@10 inferred from {title.split(', ')[0]}")
    return figure


@picture
def accuracy() -> Any:
    """Distance of the approximation by epoch of Algorithm 1."""
    table = load("accuracy")
    table = table[table["query"].isna()]
    cases = list(
        dict.fromkeys(zip(table["collection"], table["measure"], table["fixed"], strict=True))
    )
    figure, axes = panels(len(cases), 3.4)
    for ax, (name, measure, fixed) in zip(axes, cases, strict=True):
        rows = table[
            (table["collection"] == name)
            & (table["measure"] == measure)
            & (table["fixed"] == fixed)
        ]
        varied = "beta" if fixed == "alpha" else "alpha"
        for number, (steepness, one) in enumerate(rows.groupby("steepness")):
            ax.plot(one["epoch"], one["distance"], label=f"{steepness:g}", **line(number))
        held = {"alpha": ", alpha = 100", "beta": ", beta = 10"}[fixed] if measure == "AP" else ""
        ax.set(xlabel="epoch", ylabel=f"mean |smooth − {measure}|", yscale="log")
        ax.set_title(f"{name}: Approx{measure} by {varied}{held}", fontsize=10)
    legend_below(figure, axes[0])
    figure.legends[0].set_title("alpha, or beta in the middle")
    return figure


@picture
def ndcg_at() -> Any:
    """Means of nDCG at 1 to 10 with LETOR's discount: Figures 4 and 5 of [qin2008]."""
    figure, (ax,) = panels(1, 4.4)
    columns = [f"nDCG@{k}, LETOR" for k in range(1, 11)]
    one = algorithm_1()[columns].droplevel(["model", "objective"])
    means = trained("OHSUMED")
    lines = {
        "Algorithm 1 for nDCG": one.loc["nDCG"],
        "Algorithm 1 for AP": one.loc["AP"],
        "gblinear, ApproxRank(nDCG)": means.loc[("linear", "ApproxRank", "nDCG")],
        "gblinear, SoftRank(nDCG)": means.loc[("linear", "SoftRank", "nDCG")],
        "trees, LambdaRank(GAP)": means.loc[("trees", "LambdaRank", "GAP")],
    }
    for number, (label, values) in enumerate(lines.items()):
        ax.plot(range(1, 11), values[columns].astype(float), label=label, **line(number))
    ax.set(
        xlabel="k",
        ylabel="nDCG@k, LETOR's discount",
        title="OHSUMED, mean of five folds",
        xticks=range(1, 11),
    )
    legend_below(figure, ax, 1)
    return figure
