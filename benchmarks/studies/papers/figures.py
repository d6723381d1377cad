"""The pictures of PAPERS.md, drawn from saved results: at most five lines each."""

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.harness import FIGURES
from benchmarks.pictures import legend_below, line, panels, save
from benchmarks.studies.papers.page import algorithm_1, trained
from benchmarks.studies.papers.results import load


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


def discrimination() -> Any:
    """Achieved significance levels by pair."""
    figure, axes = panels(2, sharey=True)
    for ax, name in zip(axes, ("Robust", "DBpedia"), strict=True):
        for number, measure in enumerate(("GAP", "xGAP", "AP", "nDCG", "P@10")):
            curve = load("discrimination", collection=name, top=0, measure=measure)
            share = 100 * (curve["pair"] + 1) / len(curve)
            ax.plot(share, curve["asl"], label=measure, **line(number, marked=False))
        ax.axhline(0.05, color="gray", linewidth=0.8)
        ax.set(ylim=(0, 0.1), xlabel="pairs of systems by falling ASL, %")
        ax.set_title(f"{name}, all {len(curve)} pairs")
    axes[0].set_ylabel("achieved significance level")
    legend_below(figure, axes[0])
    return figure


def correlation() -> Any:
    """Tau with AP against g_1, on all topics and on those with few highly relevant documents."""
    figure, axes = panels(4, sharey=True)
    cases = product(("Robust", "DBpedia"), ("all", "few of grade 2"))
    for ax, (name, subset) in zip(axes, cases, strict=True):
        rows = load("correlation", collection=name, topics=subset)
        rows = rows[rows["g"].str.count(" ") == 1]  # two numbers, and no difference
        for number, family in enumerate(("GAP", "xGAP", "eGAP")):
            one = rows[rows["quantity"] == f"{family} with AP"]
            g = one["g"].str.split().str[0].astype(float)
            ax.plot(g, one["value"], label=family, **line(number))
            band = {"color": line(number)["color"], "alpha": 0.1, "linewidth": 0}
            ax.fill_between(g, one["low"], one["high"], **band)
        runs, n = rows[["runs", "of topics"]].iloc[0]
        few = ", few highly relevant" if subset != "all" else ""
        ax.set(xlabel="$g_1$   ($g_2 = 1 - g_1$)", title=f"{name}, {runs} runs, {n} topics{few}")
        ax.title.set_fontsize(9)
    figure.supylabel("Kendall's tau with AP", fontsize=10)
    legend_below(figure, axes[0])
    return figure


# Three topics.
SMALL = ("MSLR", "few of grade 2")


def robustness() -> Any:
    """Tau with the complete ranking against the share of judgments."""
    table = load("robustness")
    cases = dict.fromkeys(zip(table["collection"], table["topics"], strict=True))
    cases.pop(SMALL)
    figure, axes = panels(len(cases), sharey=True)
    for ax, (name, subset) in zip(axes, cases, strict=True):
        rows = load("robustness", collection=name, topics=subset)
        for number, measure in enumerate(("GAP", "xGAP", "eGAP", "nDCG", "bpref")):
            one = rows[rows["measure"] == measure]
            ax.plot(100 * one["kept"], one["tau"], label=measure, **line(number))
        ax.invert_xaxis()
        title = f"{name}, {subset} ({rows['of topics'].iloc[0]} topics)"
        ax.set(xlabel="judgments kept, %", title=title)
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


def correlation_with_p10() -> Any:
    """P@10 of systems against their AP and nDCG."""
    figure, axes = panels(4)
    pairs = []
    for name, measure in product(("Robust", "DBpedia"), ("AP", "nDCG")):
        rows = load("correlation_with_p10", collection=name).dropna(subset="system")
        pairs.append((f"{measure}, {name}", rows[measure], rows["P@10"]))
    scatter(axes, pairs, ("{}", "P@10"))
    return figure


def inferred() -> Any:
    """P@10 of systems against P@10 inferred from AP and nDCG."""
    figure, axes = panels(4)
    pairs = []
    for name, measure in product(("Robust", "DBpedia"), ("AP", "nDCG")):
        of_systems = load("inferred", collection=name, measure=measure).groupby("system")
        rows = of_systems[["P@10", "inferred P@10"]].mean()
        pairs.append((f"{measure}, {name}", rows["P@10"], rows["inferred P@10"]))
    scatter(axes, pairs, ("P@10", "inferred P@10"))
    for ax, (title, *_) in zip(axes, pairs, strict=True):
        ax.set(xlabel="P@10", ylabel=f"P@10 inferred from {title.split(', ')[0]}")
    return figure


def accuracy() -> Any:
    """Distance of the approximation by epoch of Algorithm 1."""
    table = load("accuracy")
    table = table[table["query"].isna()]
    cases = table.groupby(["collection", "measure", "fixed"], sort=False)
    figure, axes = panels(len(cases), 3.4)
    for ax, ((name, measure, fixed), rows) in zip(axes, cases, strict=True):
        varied = "beta" if fixed == "alpha" else "alpha"
        for number, (steepness, one) in enumerate(rows.groupby("steepness")):
            ax.plot(one["epoch"], one["distance"], label=f"{steepness:g}", **line(number))
        held = {"alpha": ", alpha = 100", "beta": ", beta = 10"}[fixed] if measure == "AP" else ""
        ax.set(xlabel="epoch", ylabel=f"mean |smooth − {measure}|", yscale="log")
        ax.set_title(f"{name}: Approx{measure} by {varied}{held}", fontsize=10)
    legend_below(figure, axes[0])
    figure.legends[0].set_title("alpha, or beta in the middle")
    return figure


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
    ax.set(xlabel="k", ylabel="nDCG@k, LETOR's discount", xticks=range(1, 11))
    ax.set_title("OHSUMED, mean of five folds")
    legend_below(figure, ax, 1)
    return figure


PICTURES = (informativeness, discrimination, correlation, robustness, correlation_with_p10)
PICTURES += (inferred, accuracy, ndcg_at)


def draw_all(directory: Path = FIGURES) -> None:
    """Draw every picture, in a file `papers_NAME.png` with the name of its function."""
    for draw in PICTURES:
        save(draw(), directory / f"papers_{draw.__name__}.png")
