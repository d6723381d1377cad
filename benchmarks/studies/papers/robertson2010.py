# ruff: noqa: E501  (sentences of the page)
"""Rows of [robertson2010]: GAP."""

from collections.abc import Iterator
from itertools import product

import numpy as np
import pandas as pd

from benchmarks.studies.effectiveness.report import CHOSEN, INFORMATIVE, UNIFORM
from benchmarks.studies.effectiveness.results import RESULTS as EFFECTIVENESS
from benchmarks.studies.inference import bootstrapped
from benchmarks.studies.papers import topics
from benchmarks.studies.papers.grid import difference, means
from benchmarks.studies.papers.results import load
from benchmarks.studies.papers.rows import OPEN, Claim, Interval, Said, above, alike, cells, counted, every, shown, span
from benchmarks.studies.tables import folded, picture, table
from gapboost._kernels import Array
from gapboost.analysis.estimates import Estimate

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
OBJECTIVES = ("SoftRank", "LambdaRank")
TESTS = {"OHSUMED": ("nDCG@10, linear gain", "AP", "P@10"), "MQ2007": ("nDCG@10", "AP", "P@10")}


def lists(collection: str) -> pd.DataFrame:
    """Errors of inferred curves, one row a list and measure."""
    rows = load("informativeness")
    return rows[rows["collection"] == collection]


def apart(first: str, second: str, rel: int, collection: str = "Robust") -> tuple[float, Interval]:
    """How much larger the RMS error from the first measure is."""
    return topics.difference(lists(collection), {first: 1.0, second: -1.0}, f"rms {rel}")


def told(gap: tuple[float, Interval]) -> str:
    """A difference of errors."""
    return f"{gap[0]:+.3f} {span(gap[1])}".replace("-", "−")


def figure_2() -> Said:
    """Informativeness against g."""
    rows = lists("Robust")
    mean = rows.groupby("measure")[["rms 1", "rms 2"]].mean()
    cell = {name: f"{r['rms 1']:.3f}, {r['rms 2']:.3f}" for name, r in mean.iterrows()}
    bad = int((1 - rows["converged"]).sum())
    gives = (
        f"Robust 2003, 12 runs, {rows['list'].nunique()} lists of {rows['topic'].nunique()} topics, {bad} solutions not converged. RMS error of "
        f"relevant and highly relevant together (the paper's top row), of highly relevant alone (its bottom row): g = (0, 1) {cell['GAP 0']}; (.5, .5) "
        f"{cell['GAP 0.5']}; (1, 0) {cell['GAP 1']}; nDCG {cell['nDCG']}. That balanced GAP tells more of all relevant documents than AP, the paper "
        f"sees on TREC 9 and 10 and does not say of TREC 12: here AP errs less by {told(apart('GAP 0.5', 'GAP 1', 1))}"
    )
    return gives, [
        Claim("(1) high g_1 tells most of all relevant documents", above(apart("GAP 0", "GAP 1", 1)[1])),
        Claim("high g_2 of the highly relevant", above(apart("GAP 1", "GAP 0", 2)[1])),
        Claim("(3) balanced GAP tells more than nDCG, of all relevant", above(apart("nDCG", "GAP 0.5", 1)[1])),
        Claim("of the highly relevant", above(apart("nDCG", "GAP 0.5", 2)[1])),
    ]


def best_g(collection: str) -> tuple[float, Interval]:
    """The g_1 with the smallest mean error of both rows of the figure, over topics drawn with replacement."""
    rows = lists(collection)
    rows = rows[rows["measure"].str.startswith("GAP ")].assign(error=lambda r: (r["rms 1"] + r["rms 2"]) / 2)
    by_topic = rows.pivot_table(index="topic", columns="measure", values="error", aggfunc="sum").to_numpy()
    grid = np.array(sorted(float(name[4:]) for name in rows["measure"].unique()))

    def best(drawn: Array) -> float:
        return float(grid[int(np.argmin(by_topic[drawn].sum(axis=0)))])

    return best(np.arange(len(by_topic))), bootstrapped(best, len(by_topic))


def compromise() -> Said:
    """Whether balanced g is best, on several collections."""
    found = {name: best_g(name) for name in ("Robust", "DBpedia", "OHSUMED")}
    gives = "; ".join(f"{name} {g:g} ({low:g} … {high:g})" for name, (g, (low, high)) in found.items())
    claims = [
        Claim(f"g_1 = .5 ± .1 is best on {name}", alike((low - 0.5, high - 0.5), 0.1001))
        for name, (_, (low, high)) in found.items()
    ]
    return f"the best g_1 in tenths, and where it is for 95 % of the draws of topics: {gives}", claims


def footnote() -> Said:
    """The gain and the discount of nDCG."""
    discount = [apart(f"{name}, discount 1/rank", name, 1) for name in ("nDCG", "nDCG, linear gain")]
    gain = apart("nDCG", "nDCG, linear gain", 1)
    return (
        f"Robust, the lists of Figure 2, RMS error of all relevant: the discount 1/rank errs by {told(discount[0])} more with gains 2^i − 1, "
        f"{told(discount[1])} with gains i; gains 2^i − 1 by {told(gain)} more than gains i"
    ), [
        Claim("a log discount tells more", every(above(one[1]) for one in discount)),
        Claim("the gain hardly matters, ± .02", alike(gain[1], 0.02)),
    ]


def share(collection: str, top: int, measure: str) -> float:
    """Of the pairs of systems, with ASL below 0.05."""
    rows = load("discrimination")
    rows = rows[(rows["collection"] == collection) & (rows["top"] == top) & (rows["measure"] == measure)]
    return float((rows["asl"] < 0.05).mean())


def figure_3() -> Said:
    """Discriminative power."""
    rows, told_apart, verdicts = load("discrimination"), [], {}
    for name, top in (("Robust", 0), ("Robust", 6), ("DBpedia", 10), ("DBpedia", 0)):
        _, interval = topics.read(rows, "GAP minus nDCG", collection=name, top=top)
        shares = ", ".join(f"{m} {share(name, top, m):.0%}" for m in ("GAP", "nDCG", "AP"))
        told_apart.append(f"{name}, {f'best {top}' if top else 'all'}: {shares}; GAP minus nDCG {span(interval, 2)}")
        verdicts[name, top] = above(interval)
    return "pairs of systems told apart at ASL < .05, and the interval of the difference (by t-tests). " + ". ".join(
        told_apart
    ), [
        Claim("GAP tells more pairs apart than nDCG on TREC 12", verdicts["Robust", 0]),
        Claim("of the best systems on TREC 12", verdicts["Robust", 6]),
        Claim("of the best systems elsewhere, DBpedia", verdicts["DBpedia", 10]),
    ]


def gains(collection: str, model: str) -> dict[tuple[str, str, str], Estimate]:
    """Training for GAP instead of another measure: by objective, the other measure and the test measure."""
    there = means(collection).index
    return {
        (objective, other, test): difference(collection, model, objective, ("GAP", other), test)
        for objective, other, test in product(OBJECTIVES, ("nDCG", "AP"), TESTS[collection])
        if (model, objective, other) in there
    }


def table_1() -> Said:
    """Trained on a web collection."""
    found = gains("MQ2007", "trees")
    largest = max(found.values(), key=lambda one: abs(one.mean))
    return (
        f"MQ2007, five folds, trees, GAP instead of nDCG or AP by nDCG@10, AP, P@10, t over folds: {counted(list(found.values()))}; the largest {shown(largest)}"
    ), [Claim("GAP is the best to train for", cells(list(found.values())))]


def table_2() -> Said:
    """Trained on OHSUMED."""
    found = {(model, *key): one for model in ("linear", "trees") for key, one in gains("OHSUMED", model).items()}
    near = [
        one for (model, objective, *_), one in found.items() if (model, objective) == ("trees", "LambdaRank")
    ]  # nDCG's three, AP's three
    t = means("OHSUMED")
    fits = ", ".join(f"{name} {cell:.3f}" for name, cell in distances(t).items())
    return (
        f"five folds, linear models and trees, GAP instead of nDCG or AP by nDCG@10 (linear gain), AP, P@10, t over folds: {counted(list(found.values()))}. "
        f"Trees by LambdaRank, where GAP has the highest mean by all three, instead of nDCG: {', '.join(shown(one) for one in near[:3])}; instead of AP: "
        f"{', '.join(shown(one) for one in near[3:])}. Mean distance of the paper's cells from ours: {fits}"
    ), [
        Claim("GAP is the best to train for", cells(list(found.values()))),
        Claim("so it is for trees by LambdaRank", cells(near)),
    ]


def distances(t: pd.DataFrame) -> dict[str, float]:
    """Mean absolute difference of the cells of Table 2 from ours, by test measure."""
    return {
        test: float(
            np.mean(
                [
                    abs(t.loc[(model, *key), test] - values[place])
                    for model in ("linear", "trees")
                    for key, values in PAPER["Table 2"].items()
                ]
            )
        )
        for test, place in (("nDCG@10", 0), ("nDCG@10, linear gain", 0), ("AP", 1), ("P@10", 2))
    }


def significance() -> Said:
    """How many of the differences of Tables 1 and 2 are beyond their errors here."""
    found = [
        *gains("MQ2007", "trees").values(),
        *gains("OHSUMED", "linear").values(),
        *gains("OHSUMED", "trees").values(),
    ]
    sure = sum(one.p < 0.05 for one in found)
    return (
        f"`gb.SoftRank(gb.GAP(g))`, whose value and gradient the naive sums of `tests/objectives/test_softrank.py` hold, and `gb.LambdaRank(gb.GAP(g))`. "
        f"{sure} of the {len(found)} differences of the rows below have p < .05, uncorrected; 106 and 1 692 queries, the paper had 5 000"
    ), [Claim("most differences between training measures are significant", OPEN)]


def informative_g() -> Said:
    """What the most informative g trains, from the study of effectiveness."""
    rows = pd.read_csv(EFFECTIVENESS / "comparisons.csv")
    rows = rows[
        (rows["family"] == "g")
        & (rows["measure"] == "mean of six")
        & (rows["over"] == "all")
        & rows["units"].str.contains("models")
    ]
    found = {r["trained by"]: (r["difference"], (r["low"], r["high"])) for _, r in rows.iterrows()}
    return (
        f"trees on MQ2007 and OHSUMED, beside g = (.5, .5), mean of six measures ([EFFECTIVENESS.md](EFFECTIVENESS.md), choosing g): the most "
        f"informative g {told_4(found[INFORMATIVE])}, the best on validation {told_4(found[CHOSEN])}"
    ), [
        Claim(
            f"the most informative g ranks better than {UNIFORM}".replace("g = 0.5 0.5", "an even one"),
            above(found[INFORMATIVE][1]),
        )
    ]


def told_4(gap: tuple[float, Interval]) -> str:
    """A difference of measures."""
    return f"{gap[0]:+.4f} {span(gap[1], 4)}".replace("-", "−")


def details() -> Iterator[str]:
    """Pictures and folded tables."""
    yield from (
        picture("papers_informativeness", "RMS error against g"),
        picture("papers_discrimination", "Achieved significance levels"),
        picture("papers_curves_of_one_list", "Graded precision and recall"),
    )
    names = ["nDCG@10", "AP", "P@10"]
    body = [[*key, *(f"{v:.4f}" for number in PAPER for v in PAPER[number][key])] for key in PAPER["Table 1"]]
    head = ["objective", "trained for", *(f"{number}: {name}" for number in PAPER for name in names)]
    yield folded("Tables 1 and 2 of the paper", table(head, body))
