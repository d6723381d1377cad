"""The pictures of PAPERS.md, drawn from saved results: at most five lines each, told apart by style as well as colour."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd

from benchmarks.studies.papers.results import load
from benchmarks.workload import FIGURES
from gapboost._pictures import line

mpl.use("Agg")
from matplotlib import pyplot as plt

# By name: the picture `papers_NAME.png` and how it is drawn.
PICTURES: dict[str, Callable[[], Any]] = {}


def picture(draw: Callable[[], Any]) -> Callable[[], Any]:
    """A picture that is called as the function is."""
    PICTURES[draw.__name__] = draw
    return draw


def draw_all(directory: Path = FIGURES) -> None:
    """Draw every picture; a white ground serves light and dark pages."""
    for name, draw in PICTURES.items():
        figure = draw()
        figure.savefig(directory / f"papers_{name}.png", dpi=110, facecolor="white")
        plt.close(figure)


def panels(n: int, height: float = 3.6, **options: Any) -> tuple[Any, list[Any]]:
    """Axes in one row, or in two where a page would shrink one of more than three."""
    rows = 1 if n <= 3 else 2
    size = (4.6 * n / rows, height * rows)
    figure, axes = plt.subplots(rows, n // rows, figsize=size, layout="constrained", squeeze=False, **options)
    for ax in axes.flat:
        ax.grid(alpha=0.25)
        for side in ("top", "right"):
            ax.spines[side].set_visible(False)
    return figure, list(axes.flat)


def legend_below(figure: Any, ax: Any) -> None:
    """One legend for all panels, outside of them."""
    figure.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=5, frameon=False, fontsize=9)


@picture
def informativeness() -> Any:
    """RMS error against g_1, the two panels of the paper's figure."""
    from benchmarks.studies.papers.robertson2010 import robust

    t, _ = robust()
    figure, axes = panels(2)
    for rel, ax in enumerate(axes, 1):
        values = t[f"rms {rel}"]
        for number, family in enumerate(("GAP", "xGAP", "eGAP")):
            curve = by_g(values, family)
            style = line(number) if len(curve) > 1 else line(number) | {"linestyle": ""}
            ax.plot(curve.index, curve, label=family, **style)
        for number, (name, label) in enumerate(
            (("nDCG", "nDCG, gain $2^i-1$"), ("nDCG, linear gain", "nDCG, gain $i$")), 3
        ):
            ax.axhline(values[name], label=label, **line(number, marked=False))
        title = ("relevant and highly relevant", "only highly relevant")[rel - 1]
        ax.set(xlabel="$g_1$   ($g_2 = 1 - g_1$)", title=f"Robust 2003: {title}")
        ax.set_ylabel("mean RMS error (lower is better)")
    legend_below(figure, axes[0])
    return figure


def by_g(values: pd.Series, family: str) -> pd.Series:
    """The values of one family, labelled such as ``GAP 0.2``, by g_1."""
    own = values[values.index.str.startswith(f"{family} ")]
    return own.set_axis(own.index.str.split().str[1].astype(float))


@picture
def balance() -> Any:
    """Where the best g is, on three collections."""
    from benchmarks.studies.papers.robertson2010 import robust

    figure, (ax,) = panels(1, 4.0)
    curves = {"Robust 2003": robust()[0]}
    for name, rows in load("informativeness_elsewhere").groupby("collection", sort=False):
        curves[str(name)] = rows.set_index("measure")
    for number, (name, t) in enumerate(curves.items()):
        curve = by_g(t[["rms 1", "rms 2"]].mean(axis=1), "GAP")
        ax.plot(curve.index, curve, label=name, **line(number))
        ax.plot(curve.idxmin(), curve.min(), color=line(number)["color"], marker="o", markersize=11, fillstyle="none")
    ax.set(xlabel="$g_1$   ($g_2 = 1 - g_1$)", ylabel="mean RMS error of both (lower is better)")
    ax.set_title("GAP on three collections, the best g ringed", fontsize=10)
    legend_below(figure, ax)
    return figure


@picture
def discrimination() -> Any:
    """Achieved significance levels by pair."""
    table = load("discrimination")
    figure, axes = panels(2, sharey=True)
    for ax, name in zip(axes, ("Robust", "DBpedia"), strict=True):
        rows = table[(table["collection"] == name) & (table["top"] == 0)]
        for number, measure in enumerate(("GAP", "xGAP", "AP", "nDCG", "P@10")):
            curve = rows[rows["measure"] == measure]
            ax.plot(100 * (curve["pair"] + 1) / len(curve), curve["asl"], label=measure, **line(number, marked=False))
        ax.axhline(0.05, color="grey", linewidth=0.8)
        ax.set(ylim=(0, 0.1), xlabel="pairs of systems by falling ASL, %", title=f"{name}, all {len(curve)} pairs")
    axes[0].set_ylabel("achieved significance level")
    legend_below(figure, axes[0])
    return figure


@picture
def curves_of_one_list() -> Any:
    """Graded precision and recall, of the paper and of Kekäläinen and Järvelin."""
    figure, (ax,) = panels(1, 4.2)
    names = {"GAP": "graded, g = (0.5, 0.5)", "AP": "binary"}
    names |= {f"gains {g}": f"Kekäläinen and Järvelin, gains {g}" for g in ("0, 1, 2", "0, 1, 3")}
    for number, (name, rows) in enumerate(load("curves_of_one_list").groupby("curve", sort=False)):
        ax.plot(rows["recall"], rows["precision"], label=names[name], **line(number, marked=False))
    ax.set(xlabel="recall", ylabel="precision", title="fub03IeOLKe3 on topic 650")
    figure.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=1, frameon=False, fontsize=9)
    return figure


@picture
def correlation() -> Any:
    """Tau with AP against g_1, on all topics and on those with few highly relevant documents."""
    table = load("correlation")
    figure, axes = panels(4, sharey=True)
    cases = [(name, subset) for name in ("Robust", "DBpedia") for subset in ("all", "few of grade 2")]
    for ax, (name, subset) in zip(axes, cases, strict=True):
        runs = {"Robust": 9, "DBpedia": 15}[name]
        rows = table[(table["collection"] == name) & (table["runs"] == runs) & (table["topics"] == subset)]
        for number, (family, one) in enumerate(rows.groupby("measure", sort=False)):
            ax.plot(one["g"].str.split().str[0].astype(float), one["AP"], label=family, **line(number))
        which = f"{rows['of topics'].iloc[0]} topics" + (", few highly relevant" if subset != "all" else "")
        ax.set(xlabel="$g_1$   ($g_2 = 1 - g_1$)", title=f"{name}, {runs} runs, {which}")
        ax.title.set_fontsize(9)
    figure.supylabel("Kendall's tau with AP", fontsize=10)
    legend_below(figure, axes[0])
    return figure


@picture
def robustness() -> Any:
    """Tau with the complete ranking against the share of judgements."""
    table = load("robustness")
    cases = sorted(dict.fromkeys(zip(table["collection"], table["topics"], strict=True)), reverse=True)
    figure, axes = panels(len(cases), sharey=True)
    for ax, (name, subset) in zip(axes, cases, strict=True):
        rows = table[(table["collection"] == name) & (table["topics"] == subset)]
        for number, measure in enumerate(("GAP", "xGAP", "eGAP", "nDCG", "bpref")):
            one = rows[rows["measure"] == measure]
            ax.plot(100 * one["kept"], one["tau"], label=measure, **line(number))
        ax.invert_xaxis()
        ax.set(xlabel="judgements kept, %", title=f"{name}, {subset} ({rows['of topics'].iloc[0]} topics)")
        ax.title.set_fontsize(9)
    figure.supylabel("Kendall's tau with the complete ranking", fontsize=10)
    legend_below(figure, axes[0])
    return figure


def scatter(axes: list[Any], pairs: list[tuple[str, pd.Series, pd.Series]], labels: tuple[str, str]) -> None:
    """Points of systems with tau and RMS in the title, and the diagonal."""
    for ax, (title, x, y) in zip(axes, pairs, strict=True):
        rms, tau = np.sqrt(np.mean((x - y) ** 2)), x.corr(y, method="kendall")
        ax.plot(x, y, **(line(0) | {"linestyle": ""}))
        low, high = min(x.min(), y.min()), max(x.max(), y.max())
        ax.plot([low, high], [low, high], color="grey", linewidth=0.8)
        ax.set(xlabel=labels[0].format(title.split(", ")[0]), ylabel=labels[1])
        ax.set_title(f"{title}: RMS {rms:.3f}, tau {tau:.2f}", fontsize=10)
        ax.locator_params(nbins=6)


@picture
def correlation_with_p10() -> Any:
    """P@10 of systems against their AP and nDCG."""
    table = load("correlation_with_p10")
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
    """P@10 of systems against what AP and nDCG let one infer."""
    table = load("inferred").dropna()
    names = list(dict.fromkeys(table["collection"]))
    figure, axes = panels(2 * len(names))
    pairs = [
        (f"{measure}, {name}", rows["P@10"], rows["inferred P@10"])
        for name in names
        for measure in ("AP", "nDCG")
        for rows in [table[(table["collection"] == name) & (table["from"] == measure)]]
    ]
    scatter(axes, pairs, ("P@10", "inferred P@10"))
    for ax, (title, *_) in zip(axes, pairs, strict=True):
        ax.set(xlabel="P@10", ylabel=f"P@10 inferred from {title.split(', ')[0]}")
    return figure


@picture
def learning_curves() -> Any:
    """Training measure, test measure on training and validation data, by round."""
    table = load("learning_curves")
    cases = list(dict.fromkeys(zip(table["trained for"], table["tested by"], strict=True)))
    figure, axes = panels(len(cases))
    for ax, (trained, tested) in zip(axes, cases, strict=True):
        rows = table[(table["trained for"] == trained) & (table["tested by"] == tested)]
        columns = {"trained": "training measure, training data", "training": "test measure, training data"}
        columns |= {"validation": "test measure, validation data"}
        for number, (column, label) in enumerate(columns.items()):
            ax.plot(rows["round"], rows[column], label=label, **line(number, marked=False))
        ax.set(xlabel="round", title=f"trained for {trained}, tested by {tested}")
        ax.title.set_fontsize(10)
    figure.supylabel("mean of the queries", fontsize=10)
    legend_below(figure, axes[0])
    return figure


@picture
def two_features() -> Any:
    """Measures of all directions of two features; means over folds would be the same for training and test data."""
    table = load("two_features")
    table = table[table["fold"] == 1].set_index("angle")
    figure, axes = panels(2, sharex=True, sharey=True)
    for ax, part in zip(axes, ("training", "test"), strict=True):
        for number, name in enumerate(("AP", "P@10", "nDCG@10")):
            values = table[f"{part} {name}"]
            ax.plot(np.degrees(table.index), values, label=name, **line(number, marked=False))
            ax.plot(np.degrees(values.idxmax()), values.max(), **line(number))
        ax.set(xlabel="direction of the two weights, degrees", title=f"OHSUMED, fold 1, {part} data; the best marked")
        ax.title.set_fontsize(10)
    axes[0].set_ylabel("mean of the queries")
    legend_below(figure, axes[0])
    return figure


@picture
def accuracy() -> Any:
    """Distance of the approximation by epoch of Algorithm 1."""
    table = load("accuracy")
    cases = list(dict.fromkeys(zip(table["collection"], table["measure"], table["fixed"], strict=True)))
    figure, axes = panels(len(cases), 3.4)
    for ax, (name, measure, fixed) in zip(axes, cases, strict=True):
        rows = table[(table["collection"] == name) & (table["measure"] == measure) & (table["fixed"] == fixed)]
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
    """The measure nDCG at 1 to 10 with LETOR's discount: Figures 4 and 5 of the paper."""
    from benchmarks.studies.papers.qin2008 import algorithm, complete

    figure, (ax,) = panels(1, 4.4)
    columns = [f"nDCG@{k}, LETOR" for k in range(1, 11)]
    trained, one = complete("OHSUMED"), algorithm("OHSUMED")
    lines = {
        "Algorithm 1 for nDCG": one.loc["nDCG"],
        "Algorithm 1 for AP": one.loc["AP"],
        "gblinear, ApproxRank(nDCG)": trained.loc[("linear", "ApproxRank", "nDCG")],
        "gblinear, SoftRank(AP)": trained.loc[("linear", "SoftRank", "AP")],
        "trees, LambdaRank(GAP)": trained.loc[("trees", "LambdaRank", "GAP")],
    }
    for number, (label, values) in enumerate(lines.items()):
        ax.plot(range(1, 11), values[columns].astype(float), label=label, **line(number))
    ax.set(xlabel="k", ylabel="nDCG@k, LETOR's discount", title="OHSUMED, mean of five folds", xticks=range(1, 11))
    figure.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=1, frameon=False, fontsize=9)
    return figure
