# ruff: noqa: E501  (sentences of the page)
"""Rows of [yilmaz2009]: which measure to train for."""

import warnings
from collections.abc import Iterator

import numpy as np
import pandas as pd

import gapboost as gb
from benchmarks.studies.inference import bootstrapped
from benchmarks.studies.papers import topics
from benchmarks.studies.papers.grid import difference, means
from benchmarks.studies.papers.results import load
from benchmarks.studies.papers.rows import (
    Claim,
    Interval,
    Said,
    above,
    alike,
    cells,
    counted,
    every,
    exact,
    shown,
    span,
)
from benchmarks.studies.tables import folded, picture, table
from gapboost._kernels import Array
from gapboost.analysis.estimates import Estimate, independent

# A measure of the whole list, and the one of the top that it stands in for.
PAIRS = (("AP", "P@10"), ("nDCG", "nDCG@10"))
OBJECTIVES = ("SoftRank", "LambdaRank")
# Tables 2, 3 and 4, in percent: AP, P@10 and nDCG@10 by training measure.
PAPER = {
    "Table 2, LambdaRank": {"AP": (62.91, 54.96, 63.03), "P@10": (62.28, 54.44, 62.24), "nDCG": (62.82, 54.92, 62.98), "nDCG@10": (62.30, 54.72, 62.41)},
    "Table 3, SoftRank": {"AP": (61.95, 54.21, 61.29), "P@10": (59.99, 52.73, 61.81), "nDCG": (61.30, 53.27, 62.90), "nDCG@10": (60.82, 52.77, 62.37)},
    "Table 4, 30 000 queries": {"AP": (64.36, 56.40, 64.94), "P@10": (63.98, 56.12, 64.65), "nDCG": (64.14, 55.96, 65.55), "nDCG@10": (63.77, 55.95, 65.31)},
}  # fmt: skip
# Differences of measures up to this are none.
NONE = 0.01


def rms(x: pd.Series, y: pd.Series) -> float:
    """Root of the mean squared difference."""
    return float(np.sqrt(np.mean((x - y) ** 2)))


def example() -> Said:
    """Two rankings of twenty documents, five of them relevant."""
    values = []
    for ranks in ((1, 2, 11, 12, 13), (8, 9, 18, 19, 20)):
        y = np.isin(np.arange(1, 21), ranks).astype(int)
        values.append(list(gb.evaluate([gb.Precision(k=10), gb.AP()], y, -np.arange(20.0), n_jobs=1).values()))
    (p1, a1), (p2, a2) = values
    return f"P@10 {p1:.1f} and {p2:.1f}, AP {a1:.3f} and {a2:.3f}", [
        Claim("P@10 cannot tell, AP can", exact(p1 == p2 and a1 > a2))
    ]


def figure_1() -> Said:
    """P@10 beside AP and nDCG."""
    rows, told, claims = load("correlation_with_p10"), [], []
    for name in dict.fromkeys(rows["collection"]):
        systems = rows[(rows["collection"] == name) & rows["system"].notna()]
        (ap, _), (ndcg, _) = (topics.read(rows, m, collection=name) for m in ("AP", "nDCG"))
        _, interval = topics.read(rows, "nDCG minus AP", collection=name)
        errors = ", ".join(f"{m} {rms(systems[m], systems['P@10']):.3f}" for m in ("AP", "nDCG"))
        told.append(
            f"{name}, {len(systems)} systems: AP {ap:.2f}, nDCG {ndcg:.2f}, nDCG more by {span(interval, 2)} (RMS {errors})"
        )
        claims.append(Claim(f"nDCG goes with P@10 more than AP does, {name}", above(interval)))
    return "tau with P@10 over systems. " + ". ".join(told), claims


def inferred(name: str) -> pd.DataFrame:
    """Errors of inferred curves and P@10, one row a list and the measure that is known."""
    rows = load("inferred")
    return rows[rows["collection"] == name]


COLLECTIONS = ("Robust", "DBpedia")


def table_1() -> Said:
    """Errors of inferred curves."""
    told, claims = [], []
    for name in COLLECTIONS:
        rows = inferred(name)
        mean = rows.groupby("measure")[["rms", "mae"]].mean()
        more = {c: topics.difference(rows, {"nDCG": 1.0, "AP": -1.0}, c) for c in ("rms", "mae")}
        errors = ", ".join(f"{m} {r['rms']:.3f} / {r['mae']:.3f}" for m, r in mean.iterrows())
        told.append(
            f"{name}, {rows['list'].nunique()} lists: {errors}; nDCG errs more by {' / '.join(span(interval) for _, interval in more.values())}"
        )
        claims.append(
            Claim(
                f"AP tells more of binary relevance than nDCG, {name}",
                every(above(interval) for _, interval in more.values()),
            )
        )
    return "RMS / MAE, up to 20 lists of a system, drawn from those with five relevant documents. " + "; ".join(
        told
    ), claims


def figure_3() -> Said:
    """P@10 inferred."""
    told, claims = [], []
    for name in COLLECTIONS:
        rows = inferred(name)
        by = {m: rows[rows["measure"] == m].groupby("system")[["inferred P@10", "P@10"]].mean() for m in ("AP", "nDCG")}
        ap, ndcg = (
            (one["inferred P@10"].corr(one["P@10"], method="kendall"), rms(one["inferred P@10"], one["P@10"]))
            for one in by.values()
        )
        tau, error = nearer(rows)
        told.append(
            f"{name}, {len(by['AP'])} systems: from AP {ap[0]:.2f}, {ap[1]:.3f}; from nDCG {ndcg[0]:.2f}, {ndcg[1]:.3f}; AP nearer by {span(tau, 2)} in tau, {span(error)} in RMS"
        )
        claims.append(Claim(f"AP tells more of P@10 than nDCG by tau, {name}", above(tau)))
        claims.append(Claim("by RMS", above(error)))
    return "tau and RMS over systems of inferred and real P@10, the lists of Table 1. " + ". ".join(
        told
    ) + ". (By RMS the paper has AP ahead on TREC 9, and nDCG on TREC 10, for two outliers)", claims


def nearer(rows: pd.DataFrame) -> tuple[Interval, Interval]:
    """How much nearer P@10 is to what AP implies than to what nDCG does, by tau and RMS; topics are drawn with replacement."""
    names = sorted(rows["topic"].unique())
    cube = {}
    for column in ("inferred P@10", "P@10"):
        for m in ("AP", "nDCG"):
            wide = rows[rows["measure"] == m].pivot_table(
                index="system", columns="topic", values=column, aggfunc="mean"
            )
            cube[column, m] = wide.reindex(columns=names).to_numpy()

    def of(drawn: Array, what: str) -> float:
        found = []
        for m in ("AP", "nDCG"):
            with np.errstate(invalid="ignore"):
                x, y = (np.nanmean(cube[column, m][:, drawn], axis=1) for column in ("inferred P@10", "P@10"))
            seen = ~np.isnan(x) & ~np.isnan(y)
            x, y = pd.Series(x[seen]), pd.Series(y[seen])
            found.append(x.corr(y, method="kendall") if what == "tau" else -rms(x, y))
        return found[0] - found[1]

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # a system without a list among the topics drawn
        tau, error = (
            bootstrapped(lambda drawn, what=what: of(drawn, what), len(names), 500) for what in ("tau", "rms")
        )
    return tau, error


def trained(objective: str) -> Said:
    """Tables 2 and 3: the paper's claim on MQ2007, and its other one on OHSUMED."""
    told, claims = [], []
    there = means("MQ2007").index
    for pair in PAIRS:
        if ("trees", objective, pair[0]) not in there:
            continue
        one = difference("MQ2007", "trees", objective, pair, pair[1])
        told.append(f"MQ2007, trees, {pair[0]} instead of {pair[1]} {shown(one)}")
        claims.append(Claim(f"{pair[0]} is better to train for than {pair[1]}, by that", above(one.interval())))
    for model in ("linear", "trees"):
        found = [difference("OHSUMED", model, objective, pair, pair[1]) for pair in PAIRS]
        told.append(f"OHSUMED, {model}, {', '.join(shown(one) for one in found)}")
        claims.append(
            Claim(
                f"on OHSUMED it does not matter, ± {NONE}, {model}", every(alike(one.interval(), NONE) for one in found)
            )
        )
    return "; ".join(told), claims


def table_2() -> Said:
    """Trained by LambdaRank."""
    return trained("LambdaRank")


def table_3() -> Said:
    """Trained by SoftRank."""
    return trained("SoftRank")


def whole_lists() -> Said:
    """AP beside nDCG, by measures of binary relevance."""
    found = {test: difference("MQ2007", "trees", "LambdaRank", ("AP", "nDCG"), test) for test in ("P@10", "AP")}
    return "MQ2007, trees, LambdaRank, AP instead of nDCG, t over folds: " + "; ".join(
        f"by {test} {shown(one)}" for test, one in found.items()
    ), [Claim("AP is better to train for than nDCG by P@10", above(found["P@10"].interval()))]


def tops() -> Said:
    """The measure nDCG@10 beside P@10."""
    found = {
        (o, test): difference("MQ2007", "trees", o, ("nDCG@10", "P@10"), test)
        for o in OBJECTIVES
        for test in ("P@10", "nDCG@10", "AP")
    }
    return "MQ2007, trees, nDCG@10 instead of P@10, t over folds. " + "; ".join(
        f"{o}, by {test} {shown(one)}" for (o, test), one in found.items()
    ), [Claim("training for nDCG@10 outperforms P@10", cells(list(found.values())))]


def few_queries(features: int, pair: tuple[str, str]) -> dict[int, Estimate]:
    """Training for the whole list instead of its top, by that of the top, by number of training queries; t over folds."""
    rows = load("less_data")
    rows = rows[rows["features"] == features]
    wide = rows.pivot_table(index=["queries", "fold"], columns="trained", values=pair[1], aggfunc="mean")
    apart = wide[pair[0]] - wide[pair[1]]
    return {int(n): independent(one.to_numpy()) for n, one in apart.groupby(level="queries")}


def figure_4() -> Said:
    """By amount of training data and number of features."""
    told, claims = [], []
    for features in (2, 9, 46):
        found = [few_queries(features, pair) for pair in PAIRS]
        every_one = [one for by_size in found for one in by_size.values()]
        fewer = [one for by_size in found for n, one in by_size.items() if n < max(by_size)]
        told.append(f"{features} features: {counted(every_one)}")
        if features == 2:
            claims.append(
                Claim(f"with two it does not matter, ± {NONE}", every(alike(one.interval(), NONE) for one in every_one))
            )
        elif features == 9:
            claims.append(Claim("with nine the whole list is better but from all queries", cells(fewer)))
        else:
            claims.append(Claim("with all features it is better from any number", cells(every_one)))
    return (
        "MQ2007, trees, AP instead of P@10 and nDCG instead of nDCG@10, by the measure of the top, from 12, 50, 200 and 800 queries, five folds, t over folds "
        "(in the picture); the round is chosen by the test measure on validation. " + "; ".join(told)
    ), claims


def two_features() -> Said:
    """The best direction for each measure, and what it is worth by the other."""
    t, told, claims = load("two_features"), [], []
    for whole, top in PAIRS:
        apart = []
        for _, fold in t.groupby("fold"):
            by_whole, by_top = (fold.loc[fold[f"training {m}"].idxmax(), f"test {top}"] for m in (whole, top))
            apart.append(by_whole - by_top)
        one = independent(np.array(apart))
        told.append(f"{whole} instead of {top} {shown(one)}")
        claims.append(Claim(f"{whole} or {top} does not matter, ± {NONE}", alike(one.interval(), NONE)))
    return "OHSUMED, all 720 directions, five folds, by the measure of the top on test, t over folds: " + "; ".join(
        told
    ), claims


def figure_5() -> Said:
    """Learning curves."""
    t, told, claims = load("learning_curves"), [], []
    best = t.groupby(["tested by", "trained for", "fold"])[["training", "validation"]].max()
    for whole, top in PAIRS:
        apart = best.loc[(top, whole)] - best.loc[(top, top)]
        one, vali = (independent(apart[c].to_numpy()) for c in ("training", "validation"))
        told.append(
            f"{top} on training data, trained for {whole} instead of itself {shown(one)}; on validation {shown(vali)}"
        )
        claims.append(
            Claim(f"training for {whole} raises {top} as training for it does, ± {NONE}", alike(one.interval(), NONE))
        )
    return "OHSUMED, five folds, gblinear, best of 150 rounds, t over folds: " + "; ".join(told), claims


def table_5() -> Said:
    """Alterations of trained models."""
    t, told, claims = load("local_optima"), [], []
    for (model, objective), rows in t.groupby(["model", "objective"], sort=False):
        means_of = rows.groupby(["trained", "tested", "data"])[["> 0", "> 0.003"]].mean()
        on_training = rows[rows["data"] == "training"].set_index(["trained", "tested"]).sort_index()["> 0.003"]
        kind = f"{model}, {objective}"
        counts = [
            f"{a} by {top} {means_of.loc[(a, top, 'training'), '> 0']:.0f} / {means_of.loc[(a, top, 'training'), '> 0.003']:.0f}, "
            f"{means_of.loc[(a, top, 'test'), '> 0']:.0f} / {means_of.loc[(a, top, 'test'), '> 0.003']:.0f}"
            for whole, top in PAIRS
            for a in (whole, top)
        ]
        told.append(f"{kind}: {'; '.join(counts)}")
        own, other = (
            int(sum((on_training.loc[[pair]] == 0).sum() for pair in pairs))
            for pairs in ([(m, m) for p in PAIRS for m in p], PAIRS)
        )
        n = rows["fold"].nunique()
        test = rows[rows["data"] == "test"].set_index(["trained", "tested", "fold"]).sort_index()["> 0"]
        fewer = [independent((test.loc[(top, top)] - test.loc[(whole, top)]).to_numpy()) for whole, top in PAIRS]
        claims += [
            Claim(f"{kind}: at an optimum of what is trained for, in {own} of {4 * n}", exact(own == 4 * n)),
            Claim(f"of the top too where the whole list is trained for, in {other} of {2 * n}", exact(other == 2 * n)),
            Claim("on test data the whole list leaves fewer improvements", cells(fewer)),
        ]
    return (
        "OHSUMED, means of three folds of 63 training queries, where one document more in one top 10 is worth .0016; improvements > 0 / > .003 on training data, then on test data. "
        + ". ".join(told),
        claims,
    )


def details() -> Iterator[str]:
    """Pictures and folded tables."""
    yield from (
        picture("papers_correlation_with_p10", "P@10 against AP and nDCG"),
        picture("papers_inferred", "Inferred P@10"),
        picture("papers_less_data", "The whole list instead of its top, by training queries and features"),
        picture("papers_learning_curves", "Learning curves"),
        picture("papers_two_features", "All directions of two features"),
    )
    tests = ["AP", "P@10", "nDCG@10"]
    names = list(PAPER)
    body = [[trained, *(f"{v:.2f}" for name in names for v in PAPER[name][trained])] for trained in PAPER[names[0]]]
    head = ["trained for", *(f"{name}: {test}" for name in names for test in tests)]
    yield folded("Tables 2 to 4 of the paper, in percent", table(head, body))
