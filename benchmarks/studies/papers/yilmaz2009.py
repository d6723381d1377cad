# ruff: noqa: E501  (sentences of the page)
"""Rows of [yilmaz2009]: which measure to train for."""

from collections.abc import Iterator
from itertools import product

import numpy as np
import pandas as pd

import gapboost as gb
from benchmarks.studies.papers.grid import chosen
from benchmarks.studies.papers.qin2008 import complete
from benchmarks.studies.papers.results import load
from benchmarks.studies.papers.rows import folded, markdown, table, verdict

# A measure of the whole list, and the one of the top that it stands in for.
PAIRS = (("AP", "P@10"), ("nDCG", "nDCG@10"))
OBJECTIVES = ("SoftRank", "LambdaRank")
# Tables 2, 3 and 4, in percent: AP, P@10 and nDCG@10 by training measure.
PAPER = {
    "Table 2, LambdaRank": {"AP": (62.91, 54.96, 63.03), "P@10": (62.28, 54.44, 62.24), "nDCG": (62.82, 54.92, 62.98), "nDCG@10": (62.30, 54.72, 62.41)},
    "Table 3, SoftRank": {"AP": (61.95, 54.21, 61.29), "P@10": (59.99, 52.73, 61.81), "nDCG": (61.30, 53.27, 62.90), "nDCG@10": (60.82, 52.77, 62.37)},
    "Table 4, 30 000 queries": {"AP": (64.36, 56.40, 64.94), "P@10": (63.98, 56.12, 64.65), "nDCG": (64.14, 55.96, 65.55), "nDCG@10": (63.77, 55.95, 65.31)},
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


def informative(collection: str, objective: str) -> dict[str, tuple[float, float]]:
    """Whole-list measure minus the one of the top, tested by that: mean over folds and its standard error."""
    rows, found = chosen(collection).set_index(["model", "objective", "trained", "fold"]).sort_index(), {}
    trained = set(rows.index.droplevel("fold"))
    for model, (whole, top) in product(("linear", "trees"), PAIRS):
        if {(model, objective, whole), (model, objective, top)} <= trained:
            one, other = (rows.loc[(model, objective, m), top] for m in (whole, top))
            error = (one - other).std() / np.sqrt(len(one))
            found[f"{collection}, {model}, {whole} instead of {top}"] = float((one - other).mean()), float(error)
    return found


def tables(objective: str, names: tuple[str, ...]) -> tuple[str, str]:
    """Tables 2 and 3 in kind."""
    found = {case: values for name in names for case, values in informative(name, objective).items()}
    won = sum(mean > 0 for mean, _ in found.values())
    apart = sum(abs(mean) > 2 * error for mean, error in found.values())
    return (
        "five folds, in the measure of the top; the round is chosen by the training measure, which makes no difference in the paper. "
        + "; ".join(f"{case} {mean:+.4f} ± {error:.4f}" for case, (mean, error) in found.items()),
        f"the informative measure is better to train for: in {won} of {len(found)}, {verdict(won == len(found))}; more than two standard "
        f"errors apart in {apart}. (Of OHSUMED the paper says that it does not matter)",
    )


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


def optima() -> pd.DataFrame:
    """Means over folds by objective, what was trained and tested, and on which data."""
    t = load("local_optima")
    return t.groupby(["objective", "trained", "tested", "data"], sort=False)[
        ["gradient left", "> 0", "> 0.003", "largest"]
    ].mean()


def table_5() -> tuple[str, str]:
    """Alterations of linear models."""
    gives, claims = [], []
    for objective in OBJECTIVES:
        t = optima().loc[objective]
        train, test = (t.xs(data, level="data") for data in ("training", "test"))
        counts = [
            f"{trained} by {top} "
            + ", ".join(
                f"{part.loc[(trained, top), '> 0']:.0f} / {part.loc[(trained, top), '> 0.003']:.0f}"
                for part in (train, test)
            )
            for whole, top in PAIRS
            for trained in (whole, top)
        ]
        gives.append(f"{objective}, at most {t['gradient left'].max():.1%} of the gradient left: " + "; ".join(counts))
        own = [train.loc[(m, m), "> 0.003"] == 0 for pair in PAIRS for m in pair]
        other = [train.loc[pair, "> 0.003"] == 0 for pair in PAIRS]
        fewer = [test.loc[(whole, top), "> 0"] < test.loc[(top, top), "> 0"] for whole, top in PAIRS]
        claims.append(
            f"{objective}: what is trained for is at an epsilon-optimum on training data in {sum(own)} of 4, so is the top where the whole list "
            f"is trained for in {sum(other)} of 2; on test data the whole list leaves fewer improvements in {sum(fewer)} of 2"
        )
    return "improvements > 0 / > 0.003 on training, then on test data. " + ". ".join(gives), ". ".join(claims)


def table_2() -> tuple[str, str]:
    """Trained by LambdaRank."""
    return tables("LambdaRank", ("OHSUMED", "MQ2007"))


def table_3() -> tuple[str, str]:
    """Trained by SoftRank."""
    return tables("SoftRank", ("OHSUMED",))


def details() -> Iterator[str]:
    """Pictures and folded tables."""
    yield from (
        markdown("correlation_with_p10", "P@10 against AP and nDCG"),
        markdown("inferred", "Inferred P@10"),
        markdown("learning_curves", "Learning curves"),
        markdown("two_features", "All directions of two features"),
    )
    tests = ["AP", "P@10", "nDCG@10"]
    for name in ("OHSUMED", "MQ2007"):
        t = complete(name)
        body = [
            [*key, *(f"{100 * r[test]:.2f}" for test in tests)] for key, r in t.iterrows() if key[1] != "ApproxRank"
        ]
        yield folded(
            f"Tables 2 and 3 in kind: {name}, {int(t['folds'].max())} folds, in percent",
            table(["model", "objective", "trained for", *tests], body),
        )
    names = list(PAPER)
    body = [[trained, *(f"{v:.2f}" for name in names for v in PAPER[name][trained])] for trained in PAPER[names[0]]]
    head = ["trained for", *(f"{name}: {test}" for name in names for test in tests)]
    yield folded("Tables 2 to 4 of the paper", table(head, body))
    t, body = optima(), []
    for key in dict.fromkeys(t.index.droplevel("data")):
        cells = [f"{t.loc[(*key, 'training'), 'gradient left']:.4f}"]
        for data in ("training", "test"):
            r = t.loc[(*key, data)]
            cells += [f"{r['> 0']:.0f} / {r['> 0.003']:.0f}", f"{max(r['largest'], 0):.4f}"]
        body.append([*key, *cells])
    columns = [f"{data}: {what}" for data in ("training", "test") for what in ("> 0 / > 0.003", "largest")]
    yield folded(
        "Table 5: improvements of 4 600 alterations, means of two folds",
        table(["objective", "trained", "tested", "gradient left", *columns], body),
    )
