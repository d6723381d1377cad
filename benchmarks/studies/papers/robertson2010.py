# ruff: noqa: E501  (sentences of the page)
"""Rows of [robertson2010]: GAP."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from benchmarks.studies.papers.qin2008 import complete
from benchmarks.studies.papers.results import load, saved
from benchmarks.studies.papers.rows import folded, markdown, table, verdict

# Tables 1 and 2: nDCG@10, AP and P@10 by objective and training measure.
PAPER = {
    "Table 1": {
        ("SoftRank", "nDCG"): (0.6162, 0.6084, 0.5329),
        ("SoftRank", "GAP"): (0.6290, 0.6276, 0.5478),
        ("SoftRank", "AP"): (0.6129, 0.6195, 0.5421),
        ("LambdaRank", "nDCG"): (0.6301, 0.6158, 0.5355),
        ("LambdaRank", "GAP"): (0.6363, 0.6287, 0.5388),
        ("LambdaRank", "AP"): (0.6296, 0.6217, 0.5360),
    },
    "Table 2": {
        ("SoftRank", "nDCG"): (0.4665, 0.4452, 0.4986),
        ("SoftRank", "GAP"): (0.4747, 0.4478, 0.5001),
        ("SoftRank", "AP"): (0.4601, 0.4448, 0.4900),
        ("LambdaRank", "nDCG"): (0.4585, 0.4397, 0.5005),
        ("LambdaRank", "GAP"): (0.4665, 0.4432, 0.5042),
        ("LambdaRank", "AP"): (0.4528, 0.4408, 0.4881),
    },
}


KEPT = {
    "GAP, g = (0, 1)": "GAP 0",
    "GAP, (0.2, 0.8)": "GAP 0.2",
    "GAP, (0.5, 0.5)": "GAP 0.5",
    "GAP, (0.7, 0.3)": "GAP 0.7",
    "GAP, (0.8, 0.2)": "GAP 0.8",
    "GAP, (1, 0), which is AP": "GAP 1",
    "xGAP, (0.5, 0.5)": "xGAP 0.5",
    "eGAP, (0.5, 0.5)": "eGAP 0.5",
    "nDCG, gain 2^i - 1": "nDCG",
    "nDCG, gain i": "nDCG, linear gain",
}


def robust() -> tuple[pd.DataFrame, str]:
    """Mean RMS errors on Robust by measure, of all lists if they are computed and else kept from before; and which it is."""
    if not saved("informativeness_robust"):
        kept = load("kept_informativeness").set_index("measure").rename(index=KEPT)
        return kept, "251 lists, kept from 2026-11-20, all solutions converged"
    t = load("informativeness_robust")
    t = t[t["lists"] > 0]
    lists = t.groupby("measure", sort=False)["lists"].sum()
    columns = [c for c in t.columns if c.startswith("rms")]
    total = t[columns].multiply(t["lists"], axis=0).groupby(t["measure"], sort=False).sum()
    return total.div(
        lists, axis=0
    ), f"{int(lists.iloc[0])} lists, {int(t['not converged'].sum())} solutions not converged"


def best_g() -> dict[str, float]:
    """The g_1 of the most informative GAP on each collection."""
    t, _ = robust()
    found = {"Robust": float(t[t.index.str.startswith("GAP ")][["rms 1", "rms 2"]].mean(axis=1).idxmin()[4:])}
    for name, rows in load("informativeness_elsewhere").groupby("collection", sort=False):
        rows = rows[rows["measure"].str.startswith("GAP ")].set_index("measure")
        found[str(name)] = float(rows[["rms 1", "rms 2"]].mean(axis=1).idxmin()[4:])
    return found


def figure_2() -> tuple[str, str]:
    """Informativeness against g."""
    t, which = robust()
    gap = t[t.index.str.startswith("GAP ")]
    worst = gap["rms 2"].idxmax()
    gives = (
        f"Robust 2003, 12 runs, {which}. Left panel: {gap['rms 1'].max():.3f} at g_1 = 0 falling to {gap['rms 1'].min():.3f} at "
        f"{gap['rms 1'].idxmin()[4:]} (the paper's axis: 0.12 to 0.24). Right panel: {t.loc['GAP 0', 'rms 2']:.3f} and "
        f"{t.loc['GAP 1', 'rms 2']:.3f} at the ends, within its axis (0.15 to 0.21), but {t.loc[worst, 'rms 2']:.3f} at g_1 = {worst[4:]}"
    )
    first = verdict(gap["rms 1"].loc["GAP 0"] == gap["rms 1"].max() and gap["rms 1"].iloc[-1] < gap["rms 1"].median())
    second = verdict(gap["rms 2"].idxmin() == "GAP 0", "holds at g = (0, 1) alone")
    beats = [
        verdict(t.loc["GAP 0.5", f"rms {rel}"] < t.loc["nDCG", f"rms {rel}"], "holds", "**not**") for rel in (1, 2)
    ]
    more = verdict(t.loc["GAP 0.5", "rms 1"] < t.loc["GAP 1", "rms 1"])
    return gives, (
        f"(1) high g_1 summarises all relevant documents: {first}; high g_2 the highly relevant: {second}. (2) balanced g is the "
        f"best compromise: see the next row. (3) balanced GAP beats nDCG: {beats[0]} for all relevant, {beats[1]} for highly relevant "
        f"ones. Balanced GAP tells more of all relevant documents than AP (TREC 9, 10): {more}"
    )


def compromise() -> tuple[str, str]:
    """Whether balanced g is best, on several collections."""
    best = best_g()
    listed = ", ".join(f"({g:g}, {1 - g:.2g}) on {name}" for name, g in best.items())
    even = all(0.4 <= g <= 0.6 for g in best.values())
    return f"best g of both panels: {listed}", verdict(even)


def footnote() -> tuple[str, str]:
    """The gain and the discount of nDCG."""
    every, which = robust()
    exponential, linear = every.loc[["nDCG", "nDCG, linear gain"], "rms 1"]
    t = load("gain_and_discount").set_index("measure")
    log, other = t.loc[["nDCG", "nDCG, linear gain"]], t.drop(["nDCG", "nDCG, linear gain"])
    log_wins = bool((log["rms 1"].to_numpy() < other["rms 1"].to_numpy()).all())
    moved = abs(exponential - linear)
    gain = verdict(moved < 0.02, "holds", "**contradicted**")
    return (
        f"{which}: {exponential:.3f} with gains 2^i − 1, {linear:.3f} with gains i. {int(t['lists'].iloc[0])} of them: "
        + ", ".join(f"{name} {value:.3f}" for name, value in t["rms 1"].items()),
        f"the log discount is more informative: {verdict(log_wins)}; the gain hardly matters: {gain}, it moves the error by {moved:.3f}",
    )


def told_apart(collection: str, top: int, measure: str) -> float:
    """Share of pairs with ASL below 0.05."""
    t = load("discrimination")
    rows = t[(t["collection"] == collection) & (t["top"] == top) & (t["measure"] == measure)]
    return float((rows["asl"] < 0.05).mean())


def figure_3() -> tuple[str, str]:
    """Discriminative power."""
    cells, wins = [], []
    for name, top in (("Robust", 0), ("Robust", 6), ("DBpedia", 10), ("DBpedia", 0)):
        gap, ndcg, ap = (told_apart(name, top, m) for m in ("GAP", "nDCG", "AP"))
        cells.append(f"{name}, {f'best {top}' if top else 'all'}: GAP {gap:.0%}, nDCG {ndcg:.0%}, AP {ap:.0%}")
        wins.append(gap > ndcg)
    return "pairs told apart at ASL < 0.05. " + "; ".join(cells), (
        f"GAP tells more pairs apart than nDCG, on TREC 12 of all systems: {verdict(wins[0])}; of the best, everywhere: TREC 12 "
        f"{verdict(wins[1])}, DBpedia {verdict(wins[2])}. Of all systems of TREC 9 and 10 the paper finds the opposite"
    )


def best_of(t: pd.DataFrame, models: list[str], tests: tuple[str, ...]) -> tuple[int, int]:
    """In how many cells GAP is the best of the three to train for, and of how many."""
    won, of = 0, 0
    for model in models:
        for objective in ("SoftRank", "LambdaRank"):
            if all((model, objective, m) in t.index for m in ("nDCG", "GAP", "AP")):
                for test in tests:
                    values = {m: t.loc[(model, objective, m), test] for m in ("nDCG", "GAP", "AP")}
                    won, of = won + (max(values, key=values.__getitem__) == "GAP"), of + 1
    return won, of


def table_1() -> tuple[str, str]:
    """Trained on a web collection."""
    t = complete("MQ2007")
    won, of = best_of(t, ["trees"], ("nDCG@10", "AP", "P@10"))
    return (
        f"MQ2007, {int(t['folds'].max())} folds: GAP best in {won} of {of} cells. Numbers below",
        f"GAP is the best to train for: {verdict(won == of)}",
    )


def distance(t: pd.DataFrame, test: str, place: int) -> float:
    """Mean absolute difference of the cells of Table 2 from ours, for one test measure."""
    cells = [
        abs(t.loc[(model, *key), test] - values[place])
        for model in ("linear", "trees")
        for key, values in PAPER["Table 2"].items()
        if (model, *key) in t.index
    ]
    return float(np.mean(cells))


def table_2() -> tuple[str, str]:
    """Trained on OHSUMED."""
    t = complete("OHSUMED")
    gains = {"nDCG@10": "2^i − 1", "nDCG@10, linear gain": "i"}
    won, of = best_of(t, ["linear", "trees"], ("nDCG@10, linear gain", "AP", "P@10"))
    said = ", ".join(f"{distance(t, name, 0):.3f} with gains {gain}" for name, gain in gains.items())
    return (
        f"linear models and trees, five folds, numbers below. Mean distance of the paper's cells from ours: nDCG@10 {said}; "
        f"AP {distance(t, 'AP', 1):.3f}, P@10 {distance(t, 'P@10', 2):.3f}"
    ), f"GAP is the best to train for: {verdict(won == of)} in all cells, in {won} of {of}"


def beside(number: str, t: pd.DataFrame, models: tuple[str, ...], gain: str) -> str:
    """A table of the paper with ours beside it."""
    body = []
    for (objective, trained), values in PAPER[number].items():
        ours = [
            f"{t.loc[(model, objective, trained), test]:.4f}" if (model, objective, trained) in t.index else "—"
            for model in models
            for test in (gain, "AP", "P@10")
        ]
        body.append([f"{objective} for {trained}", *(f"{v:.4f}" for v in values), *ours])
    names = ["nDCG@10", "AP", "P@10"]
    head = ["", *(f"paper: {n}" for n in names), *(f"{model}: {n}" for model in models for n in names)]
    return table(head, body)


def details() -> Iterator[str]:
    """Pictures and folded tables."""
    yield from (
        markdown("informativeness", "RMS error against g"),
        markdown("balance", "The most informative g on three collections"),
        markdown("discrimination", "Achieved significance levels"),
        markdown("curves_of_one_list", "Graded precision and recall"),
    )
    gain = "nDCG@10, linear gain"
    yield folded(
        f"Table 2 beside ours, {gain}; five folds", beside("Table 2", complete("OHSUMED"), ("linear", "trees"), gain)
    )
    yield folded(
        "Table 1 beside MQ2007 (other queries: only the order can be compared)",
        beside("Table 1", complete("MQ2007"), ("trees",), "nDCG@10"),
    )
    t, which = robust()
    body = [[str(m), *(f"{r[c]:.3f}" for c in ("rms 1", "rms 2"))] for m, r in t.iterrows()]
    yield folded(f"Figure 2 in numbers, by g_1: {which}", table(["measure", "grades 1 and 2", "grade 2 only"], body))
