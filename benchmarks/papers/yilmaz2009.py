# ruff: noqa: E501  (sentences of the page)
"""Rows of [yilmaz2009]: which measure to train for."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

import gapboost as gb
from benchmarks.papers.figures import markdown, saved
from benchmarks.papers.qin2008 import complete
from benchmarks.papers.results import load
from benchmarks.papers.robertson2010 import robust
from benchmarks.papers.rows import STATUSES, folded, paragraphs, table, verdict

# A measure of the whole list, and the one of the top that it stands in for.
PAIRS = (("AP", "P@10"), ("nDCG", "nDCG@10"))
# Tables 2, 3 and 4, in percent: AP, P@10 and nDCG@10 by training measure.
PAPER = {
    "Table 2, LambdaRank": {"AP": (62.91, 54.96, 63.03), "P@10": (62.28, 54.44, 62.24), "nDCG": (62.82, 54.92, 62.98), "nDCG@10": (62.30, 54.72, 62.41)},
    "Table 3, SoftRank": {"AP": (61.95, 54.21, 61.29), "P@10": (59.99, 52.73, 61.81), "nDCG": (61.30, 53.27, 62.90), "nDCG@10": (60.82, 52.77, 62.37)},
    "Table 4, LambdaRank on 30 000 queries": {"AP": (64.36, 56.40, 64.94), "P@10": (63.98, 56.12, 64.65), "nDCG": (64.14, 55.96, 65.55), "nDCG@10": (63.77, 55.95, 65.31)},
}  # fmt: skip


def agreement(x: pd.Series, y: pd.Series) -> str:
    """RMS difference and Kendall's tau."""
    return f"{np.sqrt(np.mean((x - y) ** 2)):.3f}, {x.corr(y, method='kendall'):.2f}"


def example() -> tuple[str, str]:
    """Two rankings of twenty documents, five of them relevant."""
    values = []
    for ranks in ((1, 2, 11, 12, 13), (8, 9, 18, 19, 20)):
        y = np.isin(np.arange(1, 21), ranks).astype(int)
        values.append(gb.evaluate([gb.Precision(k=10), gb.AP()], y, -np.arange(20.0), n_jobs=1))
    (p1, a1), (p2, a2) = (list(v.values()) for v in values)
    return f"P@10 {p1:.1f} and {p2:.1f}, AP {a1:.3f} and {a2:.3f}", verdict(p1 == p2 and a1 > a2)


def figure_1() -> tuple[str, str]:
    """P@10 beside AP and nDCG."""
    cells, nearer = [], []
    for name, rows in load("correlation_with_p10").groupby("collection", sort=False):
        cells.append(f"{name}: AP {agreement(rows['AP'], rows['P@10'])}; nDCG {agreement(rows['nDCG'], rows['P@10'])}")
        tau = {m: rows[m].corr(rows["P@10"], method="kendall") for m in ("AP", "nDCG")}
        nearer.append(f"{name} {verdict(tau['nDCG'] > tau['AP'])}")
    return "RMS and tau with P@10 over systems. " + ". ".join(
        cells
    ), "nDCG goes with P@10 more than AP does, by tau: " + ", ".join(nearer)


def by_source(name: str) -> pd.DataFrame:
    """Mean errors over lists, by the measure that is known."""
    t = load("inferred").dropna()
    t = t[t["collection"] == name]
    columns = ["rms", "mae"]
    weighted = (
        t[columns].multiply(t["lists"], axis=0).assign(**{"from": t["from"], "lists": t["lists"]}).groupby("from").sum()
    )
    return weighted[columns].div(weighted["lists"], axis=0).assign(lists=weighted["lists"])


def collections() -> list[str]:
    """Those that are computed."""
    return list(dict.fromkeys(load("inferred")["collection"]))


def table_1() -> tuple[str, str]:
    """Errors of inferred curves."""
    if not saved("inferred"):
        ap, ndcg = robust()[0].loc[["GAP 1", "nDCG"], "rms 1"]
        gives = f"Robust, 251 lists with five documents of each grade: RMS {ap:.3f} from AP, {ndcg:.3f} from nDCG; MAE is not computed yet"
        return gives, f"AP tells more of binary relevance than nDCG: {verdict(ap < ndcg)}"
    cells, better = [], []
    for name in collections():
        t = by_source(name)
        cells.append(
            f"{name}, {int(t['lists'].iloc[0])} lists: "
            + ", ".join(f"{m} {r['rms']:.3f} / {r['mae']:.3f}" for m, r in t.iterrows())
        )
        better.append(bool((t.loc["AP", ["rms", "mae"]] < t.loc["nDCG", ["rms", "mae"]]).all()))
    return "RMS / MAE. " + "; ".join(cells), f"AP tells more of binary relevance than nDCG: {verdict(all(better))}"


def figure_3() -> tuple[str, str]:
    """P@10 inferred."""
    t, cells, better = load("inferred").dropna(), [], []
    for name in collections():
        one = {m: t[(t["collection"] == name) & (t["from"] == m)] for m in ("AP", "nDCG")}
        cells.append(
            f"{name}, {len(one['AP'])} systems: "
            + "; ".join(f"from {m} {agreement(r['inferred P@10'], r['P@10'])}" for m, r in one.items())
        )
        tau = {m: r["inferred P@10"].corr(r["P@10"], method="kendall") for m, r in one.items()}
        better.append(f"{name} {verdict(tau['AP'] > tau['nDCG'])}")
    return "RMS and tau over systems of inferred and real P@10. " + ". ".join(
        cells
    ), "AP tells more of P@10 than nDCG, by tau: " + ", ".join(better)


def informative(collection: str, objective: str) -> tuple[str, int, int]:
    """Whole-list measure minus the one of the top, tested by that: the numbers, how often above 0, of how many."""
    t, cells, won, of = complete(collection), [], 0, 0
    folds = int(t["folds"].max())
    for model in dict.fromkeys(t.index.get_level_values(0)):
        for whole, top in PAIRS:
            keys = [(model, objective, m) for m in (whole, top)]
            if all(key in t.index for key in keys):
                difference = t.loc[keys[0], top] - t.loc[keys[1], top]
                cells.append(f"{model}, {whole} instead of {top} {difference:+.4f}")
                won, of = won + (difference > 0), of + 1
    return f"{collection}, {folds} test fold{'s' * (folds > 1)}: " + (", ".join(cells) or "not computed yet"), won, of


def tables(objective: str, names: tuple[str, ...]) -> tuple[str, str]:
    """Tables 2 and 3 in kind."""
    found = [informative(name, objective) for name in names if saved(f"trained_{name.lower()}")]
    if not any(o for *_, o in found):
        return STATUSES[-1], "—"
    found = [one for one in found if one[2]]
    won, of = sum(w for _, w, _ in found), sum(o for *_, o in found)
    return "in the measure of the top. " + "; ".join(
        text for text, *_ in found
    ), f"the informative measure is better to train for: in {won} of {of}, {verdict(won == of)}"


def two_features() -> tuple[str, str]:
    """The best direction for each measure, and what it is worth by the other."""
    t, cells, lost = load("two_features"), [], []
    for whole, top in PAIRS:
        gain = []
        for _, fold in t.groupby("fold"):
            by_whole, by_top = (fold.loc[fold[f"training {m}"].idxmax(), f"test {top}"] for m in (whole, top))
            gain.append(by_whole - by_top)
        gain = np.array(gain)
        cells.append(f"{whole} instead of {top} {gain.mean():+.4f} ± {gain.std(ddof=1) / np.sqrt(len(gain)):.4f}")
        lost.append(abs(gain.mean()) < 2 * gain.std(ddof=1) / np.sqrt(len(gain)))
    return f"OHSUMED, all 720 directions, mean of five folds, in {PAIRS[0][1]} and {PAIRS[1][1]} on test: " + "; ".join(
        cells
    ), (f"with two features the choice does not matter: {verdict(all(lost))}")


def figure_5() -> tuple[str, str]:
    """Learning curves."""
    t, cells, close = load("learning_curves"), [], []
    for whole, top in PAIRS:
        rows = t[t["tested by"] == top]
        best = {m: one["training"].max() for m, one in rows.groupby("trained for")}
        vali = {m: one["validation"].max() for m, one in rows.groupby("trained for")}
        cells.append(
            f"{top} on training data {best[whole]:.4f} for {whole}, {best[top]:.4f} for itself; on validation {vali[whole]:.4f}, {vali[top]:.4f}"
        )
        close.append(abs(best[whole] - best[top]) < 0.01)
    return "OHSUMED fold 1, gblinear, best of 150 rounds: " + "; ".join(
        cells
    ), f"training for the whole list raises the top as training for the top does: {verdict(all(close))}, within 0.01"


def optima(data: str) -> pd.DataFrame:
    """Mean counts of improvements by what was trained and tested."""
    t = load("local_optima")
    return t[t["data"] == data].groupby(["trained", "tested"])[["> 0", "> 0.003", "largest"]].mean()


def trees_of_50_rounds() -> tuple[str, str]:
    """What is kept of trees, which are far from converged."""
    t = load("kept_tree_optima").groupby(["trained", "tested", "data"])[["any", "more"]].mean()

    def counts(trained: str, tested: str) -> str:
        both = [t.loc[(trained, tested, data)] for data in ("training", "test")]
        return f"{trained} tested by {tested}: " + ", ".join(f"{r['any']:.0f} / {r['more']:.0f}" for r in both)

    cells = [counts(trained, top) for pair in PAIRS for trained, top in (pair, pair[1:] * 2)]
    fewer = [t.loc[(whole, top, "test"), "any"] < t.loc[(top, top, "test"), "any"] for whole, top in PAIRS]
    return (
        "trees of 50 rounds, kept from 2026-11-20 (the linear models are not computed yet); improvements > 0 / > 0.003 of 4 600, on training, "
        "then on test data, mean of five folds and two boosters. " + "; ".join(cells)
    ), (
        f"all are epsilon-optima on training data: {verdict(bool((t['more'] == 0).all()))}, 50 rounds are far from convergence; on test data "
        f"the whole list leaves fewer improvements: {verdict(all(fewer))}"
    )


def table_5() -> tuple[str, str]:
    """Alterations of linear models."""
    if not saved("local_optima"):
        return trees_of_50_rounds()
    train, test = optima("training"), optima("test")
    cells = [
        f"{trained} tested by {top}: {train.loc[(trained, top), '> 0']:.0f} / {train.loc[(trained, top), '> 0.003']:.0f}, "
        f"{test.loc[(trained, top), '> 0']:.0f} / {test.loc[(trained, top), '> 0.003']:.0f}"
        for whole, top in PAIRS
        for trained in (whole, top)
    ]
    none = (train["> 0.003"] == 0).all()
    there = all(test.loc[(whole, top), "> 0"] < test.loc[(top, top), "> 0"] for whole, top in PAIRS)
    return "of 4 600 alterations, improvements > 0 / > 0.003 on training, then on test data. " + "; ".join(cells), (
        f"all are epsilon-optima on training data: {verdict(none)}; on test data the whole list leaves fewer improvements: {verdict(there)}"
    )


def table_2() -> tuple[str, str]:
    """Trained by LambdaRank."""
    return tables("LambdaRank", ("OHSUMED", "MSLR", "MQ2007"))


def table_3() -> tuple[str, str]:
    """Trained by SoftRank."""
    return tables("SoftRank", ("OHSUMED", "MQ2007"))


def details() -> Iterator[str]:
    """Pictures and folded tables."""
    yield from paragraphs(
        markdown("correlation_with_p10", "P@10 against AP and nDCG"),
        markdown("inferred", "Inferred P@10"),
        markdown("learning_curves", "Learning curves"),
        markdown("two_features", "All directions of two features"),
    )
    for name in ("OHSUMED", "MSLR", "MQ2007"):
        if saved(f"trained_{name.lower()}"):
            t = complete(name)
            body = [
                [
                    model,
                    objective,
                    trained,
                    *(f"{100 * t.loc[(model, objective, trained), test]:.2f}" for test in ("AP", "P@10", "nDCG@10")),
                ]
                for model, objective, trained in t.index
                if objective != "ApproxRank"
            ]
            paper = [
                [label, "paper", trained, *(f"{v:.2f}" for v in values)]
                for label, by in PAPER.items()
                for trained, values in by.items()
            ]
            shown = body if name != "MSLR" else body + paper
            yield folded(
                f"Tables 2 to 4 in kind: {name}, {int(t['folds'].max())} test folds, in percent"
                + (", and the paper's" if name == "MSLR" else ""),
                table(["model", "objective", "trained for", "AP", "P@10", "nDCG@10"], shown),
            )
    trees = load("kept_tree_optima")
    body = [
        [r["tested"], r["trained"], r["booster"], r["data"], f"{r['any']}", f"{r['more']}"] for _, r in trees.iterrows()
    ]
    yield folded(
        "Table 5 with trees of 50 rounds, which are far from any optimum (kept from 2026-11-20)",
        table(["tested", "trained for", "booster", "data", "> 0", "> 0.003"], body),
    )
