"""Claims of [yilmaz2009]: which measure to train for."""

import warnings
from collections.abc import Iterator
from itertools import product

import numpy as np
import pandas as pd

import gapboost as gb
from benchmarks.studies.inference import bootstrapped
from benchmarks.studies.papers import topics
from benchmarks.studies.papers.claims import Claim, Fact, Result, difference, least, simultaneous, within
from benchmarks.studies.papers.grid import FIFTH, over_folds
from benchmarks.studies.papers.grid import difference as trained_difference
from benchmarks.studies.papers.results import load
from benchmarks.studies.tables import folded, picture, signed, table
from gapboost._kernels import Array
from gapboost.analysis.estimates import Estimate, overlapping_folds

# A measure of the whole list, and the one of the top that it stands in for.
PAIRS = (("AP", "P@10"), ("nDCG", "nDCG@10"))
OBJECTIVES = ("SoftRank", "LambdaRank")
TESTS = ("AP", "P@10", "nDCG@10")
# Tables 2, 3 and 4, in percent: the measures of `TESTS` by training measure.
PAPER = {
    "Table 2, LambdaRank": {
        "AP": (62.91, 54.96, 63.03),
        "P@10": (62.28, 54.44, 62.24),
        "nDCG": (62.82, 54.92, 62.98),
        "nDCG@10": (62.30, 54.72, 62.41),
    },
    "Table 3, SoftRank": {
        "AP": (61.95, 54.21, 61.29),
        "P@10": (59.99, 52.73, 61.81),
        "nDCG": (61.30, 53.27, 62.90),
        "nDCG@10": (60.82, 52.77, 62.37),
    },
    "Table 4, 30 000 queries": {
        "AP": (64.36, 56.40, 64.94),
        "P@10": (63.98, 56.12, 64.65),
        "nDCG": (64.14, 55.96, 65.55),
        "nDCG@10": (63.77, 55.95, 65.31),
    },
}
TABLES = {name.split(", ")[1]: name for name in PAPER}
# Table 5: improvements > 0 and > .003 on training data, then on test data.
ALTERED = {
    "AP": "325 / 0, 271 / 0",
    "P@10": "252 / 0, 539 / 15",
    "nDCG": "226 / 0, 590 / 17",
    "nDCG@10": "150 / 0, 670 / 22",
}
# Differences of measures up to this are none.
NONE = 0.01
SYSTEMS = ("Robust", "DBpedia", "OHSUMED", "MSLR")
LISTS = ("Robust", "DBpedia")


def rms(x: pd.Series, y: pd.Series) -> float:
    """Return the root of the mean squared difference."""
    return float(np.sqrt(np.mean((x - y) ** 2)))


def inferred(name: str) -> pd.DataFrame:
    """Return errors of inferred curves and P@10, one row for each list and known measure."""
    rows = load("inferred")
    return rows[rows["collection"] == name]


def nearer(rows: pd.DataFrame, by: str) -> Result:
    """Return how much nearer P@10 is if inferred from AP than from nDCG, by "tau" or "RMS"."""
    names = sorted(rows["topic"].unique())
    cube = {}
    for column, m in product(("inferred P@10", "P@10"), ("AP", "nDCG")):
        wide = rows[rows["measure"] == m].pivot_table(index="system", columns="topic", values=column, aggfunc="mean")
        cube[column, m] = wide.reindex(columns=names).to_numpy()

    def gain(drawn: Array) -> float:
        found = []
        for m in ("AP", "nDCG"):
            x, y = (np.nanmean(cube[column, m][:, drawn], axis=1) for column in ("inferred P@10", "P@10"))
            seen = ~np.isnan(x) & ~np.isnan(y)
            x, y = pd.Series(x[seen]), pd.Series(y[seen])
            found.append(x.corr(y, method="kendall") if by == "tau" else -rms(x, y))
        return found[0] - found[1]

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # a system without a list among the topics drawn
        return Result(gain(np.arange(len(names))), *bootstrapped(gain, len(names), 500))


def systems() -> Iterator[Claim]:
    """Yield the claims about systems."""
    rows = load("correlation_with_p10")
    for name in SYSTEMS:
        n = len(rows[(rows["collection"] == name) & rows["system"].notna()])
        more = topics.read(rows, "nDCG minus AP", collection=name)
        yield Claim("Figure 1", f"{name}, {n} systems", "tau with P@10: nDCG minus AP", "> 0", more, digits=2)
    for name in LISTS:
        rows = inferred(name)
        data = f"{name}, {rows['list'].nunique()} lists"
        for column, stated in (("rms", "+0.036"), ("mae", "+0.056")):
            (more,) = simultaneous([topics.difference(rows, "nDCG", "AP", column)])
            quantity = f"{column.upper()} of inferred curves: nDCG minus AP"
            yield Claim("Table 1", data, quantity, stated, more, digits=3)
        yield Claim("Figure 3", data, "tau of inferred P@10: AP minus nDCG", "> 0", nearer(rows, "tau"), digits=2)
        yield Claim(
            "Figure 3", data, "RMS of inferred P@10: nDCG minus AP", "> 0 (TREC 9)", nearer(rows, "RMS"), digits=3
        )


def stated_gain(table_name: str, first: str, second: str, test: str) -> float:
    """Return the gain of the paper, in a table of training measures."""
    cells, column = PAPER[TABLES[table_name]], TESTS.index(test)
    return (cells[first][column] - cells[second][column]) / 100


def rankers() -> Iterator[Claim]:
    """Yield the claims about rankers that were trained for one measure or another."""
    here = "MQ2007, trees"
    for place, objective in (("Table 2", "LambdaRank"), ("Table 3", "SoftRank")):
        for whole, top in PAIRS:
            # SoftRank was not trained for nDCG on MQ2007.
            if (objective, whole) != ("SoftRank", "nDCG"):
                gain = simultaneous([trained_difference("MQ2007", "trees", objective, (whole, top), top)])[0]
                stated = signed(stated_gain(objective, whole, top, top))
                quantity = f"{top}, {objective}: training for {whole} minus for {top}"
                yield Claim(place, here, quantity, stated, gain)
    (gain,) = simultaneous([trained_difference("MQ2007", "trees", "LambdaRank", ("AP", "nDCG"), "P@10")])
    stated = signed(stated_gain("LambdaRank", "AP", "nDCG", "P@10"))
    yield Claim("section 5", here, "P@10, LambdaRank: training for AP minus for nDCG", stated, gain)
    pair = ("nDCG@10", "P@10")
    for test in TESTS:
        gains = simultaneous(trained_difference("MQ2007", "trees", o, pair, test) for o in OBJECTIVES)
        stated = signed(min(stated_gain(o, *pair, test) for o in OBJECTIVES))
        yield Claim("section 5", here, f"{test}: training for nDCG@10 minus for P@10", stated, least(gains))
    for whole, top in PAIRS:
        same = within(
            trained_difference("OHSUMED", model, objective, (whole, top), top)
            for model, objective in product(("linear", "trees"), OBJECTIVES)
        )
        quantity = f"{top}: training for {whole} minus for {top}"
        yield Claim("section 5.1", "OHSUMED, linear and trees", quantity, "≈ 0", same, NONE)


def few_queries(features: int, pair: tuple[str, str]) -> dict[int, Estimate]:
    """Return the gain of training for the whole list, by that of the top, by number of training queries."""
    rows = load("less_data")
    rows = rows[rows["features"] == features]
    wide = rows.pivot_table(index=["queries", "fold"], columns="trained", values=pair[1], aggfunc="mean")
    apart = wide[pair[0]] - wide[pair[1]]
    return {int(n): over_folds("MQ2007", one.to_numpy()) for n, one in apart.groupby(level="queries")}


def less_data() -> Iterator[Claim]:
    """Yield the claims on amounts of training data and numbers of features."""
    for features, (whole, top) in product((2, 9, 46), PAIRS):
        by_size = few_queries(features, (whole, top))
        quantity = f"{top}: training for {whole} minus for {top}"
        sizes = [n for n in by_size if features != 9 or n < max(by_size)]
        data = f"MQ2007, {features} features, {', '.join(map(str, sizes))} queries"
        chosen = [by_size[n] for n in sizes]
        if features == 2:
            yield Claim("Figure 4", data, quantity, "≈ 0", within(chosen), NONE)
        else:
            yield Claim("Figure 4", data, quantity, "> 0", least(simultaneous(chosen)))


def optima() -> Iterator[Claim]:
    """Yield the claims on two features, and on learning curves."""
    t = load("two_features")
    for whole, top in PAIRS:
        apart = []
        for _, fold in t.groupby("fold"):
            by_whole, by_top = (fold.loc[fold[f"training {m}"].idxmax(), f"test {top}"] for m in (whole, top))
            apart.append(by_whole - by_top)
        quantity = f"{top}: best direction for {whole} minus for {top}"
        same = within([over_folds("OHSUMED", np.array(apart))])
        yield Claim("section 5.1", "OHSUMED, two features", quantity, "≈ 0", same, NONE)
    best = load("learning_curves").groupby(["tested by", "trained for", "fold"])["training"].max()
    for whole, top in PAIRS:
        apart = (best.loc[(top, whole)] - best.loc[(top, top)]).to_numpy()
        # Tested on the training queries, which two folds share by two thirds at most.
        n = 3 * FIFTH["OHSUMED"]
        same = within([overlapping_folds(apart, n, n)])
        quantity = f"{top} on training data: training for {whole} minus for {top}"
        yield Claim("Figure 5", "OHSUMED, linear", quantity, "≈ 0", same, NONE)


def claims() -> Iterator[Claim]:
    """Yield the empirical claims."""
    for some in (systems, rankers, less_data, optima):
        yield from some()


def facts() -> Iterator[Fact]:
    """Yield the mathematical claims."""
    values = []
    for ranks in ((1, 2, 11, 12, 13), (8, 9, 18, 19, 20)):
        y = np.isin(np.arange(1, 21), ranks).astype(int)
        values.append(list(gb.evaluate([gb.Precision(k=10), gb.AP()], y, -np.arange(20.0), n_jobs=1).values()))
    (p1, a1), (p2, a2) = values
    claim = "relevant at ranks 1, 2, 11 to 13 or 8, 9, 18 to 20: P@10 is equal, AP is not"
    apart = difference([p1], [p2]) if a1 > a2 else 1.0
    yield Fact("section 3.1.1", claim, f"P@10 {p1:.1f} and {p2:.1f}, AP {a1:.3f} and {a2:.3f}", apart)


def altered() -> str:
    """Return the table of alterations of linear models."""
    t, body = load("local_optima"), []
    means_of = t.groupby(["objective", "trained", "tested", "data"])[["> 0", "> 0.003"]].mean()
    for objective, (whole, top) in product(OBJECTIVES, PAIRS):
        for trained in (whole, top):
            cells = (means_of.loc[(objective, trained, top, part)] for part in ("training", "test"))
            counts = ", ".join(" / ".join(f"{n:.0f}" for n in one) for one in cells)
            body.append([objective, trained, top, counts, ALTERED[trained]])
    return table(["objective", "trained for", "tested by", "here", "paper"], body)


def details() -> Iterator[str]:
    """Yield pictures and folded tables."""
    yield from (
        picture("papers_correlation_with_p10", "P@10 against AP and nDCG"),
        picture("papers_inferred", "Inferred P@10"),
        picture("papers_less_data", "The whole list instead of its top, by training queries and features"),
        picture("papers_learning_curves", "Learning curves"),
        picture("papers_two_features", "All directions of two features"),
    )
    names = list(PAPER)
    body = [[trained, *(f"{v:.2f}" for name in names for v in PAPER[name][trained])] for trained in PAPER[names[0]]]
    head = ["trained for", *(f"{name}: {test}" for name in names for test in TESTS)]
    yield folded("Tables 2 to 4 of the paper, in percent", table(head, body))
    summary = "Table 5: improvements > 0 / > .003 on training, then on test data"
    yield folded(summary, altered())
