"""Claims of [robertson2010]: GAP."""

from collections.abc import Iterator
from functools import partial
from itertools import product

import numpy as np
import pandas as pd

from benchmarks.studies.inference import bootstrapped
from benchmarks.studies.papers import topics
from benchmarks.studies.papers.claims import Claim, Fact, Result, least, simultaneous, tested, within
from benchmarks.studies.papers.grid import difference, means
from benchmarks.studies.papers.results import load
from benchmarks.studies.tables import folded, picture, signed, table
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
OBJECTIVES, OTHERS = ("SoftRank", "LambdaRank"), ("nDCG", "AP")
# The measures of the columns; the cells of Table 2 fit linear gains.
TESTS = {"Table 1": ("nDCG@10", "AP", "P@10"), "Table 2": ("nDCG@10, linear gain", "AP", "P@10")}
TRAINED = (("Table 1", "MQ2007", "trees"), ("Table 2", "OHSUMED", "linear"), ("Table 2", "OHSUMED", "trees"))
ALL, HIGH = "all relevant", "highly relevant"


def lists(collection: str) -> pd.DataFrame:
    """Return errors of inferred curves, one row for each list and measure."""
    rows = load("informativeness")
    return rows[rows["collection"] == collection]


def more_error(first: str, second: str, relevant: str = ALL) -> Estimate:
    """Return the RMS error of the first measure minus that of the second, on TREC 12."""
    column = {ALL: "rms 1", HIGH: "rms 2"}[relevant]
    return topics.difference(lists("Robust"), first, second, column)


def best_g(collection: str) -> Result:
    """Return the g_1 with the smallest mean error, minus .5, with its 90 % interval over topics."""
    rows = lists(collection)
    rows = rows[rows["measure"].str.startswith("GAP ")]
    rows = rows.assign(error=(rows["rms 1"] + rows["rms 2"]) / 2)
    wide = rows.pivot_table(index="topic", columns="measure", values="error", aggfunc="sum")
    by_topic = wide.to_numpy()
    grid = np.array([float(name.split()[1]) for name in wide.columns])

    def best(drawn: Array) -> float:
        return float(grid[int(np.argmin(by_topic[drawn].sum(axis=0)))]) - 0.5

    return Result(best(np.arange(len(by_topic))), *bootstrapped(best, len(by_topic), confidence=0.9))


def gains(number: str, collection: str, model: str, column: int) -> Result:
    """Return the least gain of GAP over nDCG and AP, by the measure of a column."""
    there = means(collection).index
    test = TESTS[number][column]
    return least(
        simultaneous(
            difference(collection, model, objective, ("GAP", other), test)
            for objective, other in product(OBJECTIVES, OTHERS)
            if (model, objective, other) in there
        )
    )


def stated_gain(number: str, column: int) -> str:
    """Return the least gain of the paper."""
    cells = PAPER[number]
    pairs = product(OBJECTIVES, OTHERS)
    return signed(min(cells[o, "GAP"][column] - cells[o, other][column] for o, other in pairs))


def claims() -> Iterator[Claim]:
    """Yield the empirical claims."""
    robust, alone = "Robust, 24 topics", partial(Claim, digits=3)

    def error(first: str, second: str, relevant: str) -> Result:
        return simultaneous([more_error(first, second, relevant)])[0]

    for quantity, result in (
        ("(1) error on all relevant: g = (0, 1) minus (1, 0)", error("GAP 0", "GAP 1", ALL)),
        ("(1) error on highly relevant: g = (1, 0) minus (0, 1)", error("GAP 1", "GAP 0", HIGH)),
        ("(3) error on all relevant: nDCG minus GAP", error("nDCG", "GAP 0.5", ALL)),
        ("(3) error on highly relevant: nDCG minus GAP", error("nDCG", "GAP 0.5", HIGH)),
    ):
        yield alone("Figure 2", robust, quantity, "> 0", result)
    # OHSUMED has five topics with such lists, too few for an interval.
    for name in ("Robust", "DBpedia"):
        data = f"{name}, {lists(name)['topic'].nunique()} topics"
        yield Claim("Figure 2", data, "(2) best g_1 minus .5", "≈ 0", best_g(name), 0.1, digits=1)
    discounts = simultaneous(more_error(f"{name}, discount 1/rank", name) for name in ("nDCG", "nDCG, linear gain"))
    yield alone("footnote 1", robust, "error: discount 1/rank minus log", "> 0", least(discounts))
    gain = within([more_error("nDCG", "nDCG, linear gain")])
    yield alone("footnote 1", robust, "error: gain 2^i − 1 minus gain i", "≈ 0", gain, margin=0.02)
    for place, name, top in (
        ("Figure 3", "Robust", 0),
        ("Figure 3, text", "Robust", 6),
        ("Figure 3, text", "DBpedia", 10),
    ):
        apart = topics.read(load("discrimination"), "GAP minus nDCG", collection=name, top=top)
        data = f"{name}, {f'best {top}' if top else 'all'} systems"
        yield Claim(place, data, "pairs told apart: GAP minus nDCG", "> 0", apart, digits=2)
    for number, collection, model in TRAINED:
        for column, test in enumerate(TESTS[number]):
            result = gains(number, collection, model, column)
            quantity = f"{test}: training for GAP minus for nDCG or AP"
            yield Claim(number, f"{collection}, {model}", quantity, stated_gain(number, column), result)


def facts() -> Iterator[Fact]:
    """Yield the mathematical claims."""
    oracle, measures = "measures/test_oracle.py", "measures/test_measures.py"
    swap = "test_monotone_measures_never_fall_when_a_higher_grade_moves_up"
    binary = "test_one_threshold_is_average_precision"
    yield tested("section 2.2", "GAP is AP where relevance is binary", oracle, binary)
    yield tested("section 3", "a swap that moves the higher grade up raises GAP", measures, swap)
    yield tested("section 3", "the ideal ranking has GAP 1", oracle, "test_ideal_ranking")
    yield tested("section 3.1", "GAP is the mean of a random experiment", oracle, "test_random_experiments")
    curve = "GAP is the area below the graded precision-recall curve"
    yield tested("section 3.2", curve, "analysis/test_curve.py", "test_area_is_the_measure")


def cell_distances() -> dict[str, float]:
    """Return the mean distance of the cells of Table 2 from ours, by test measure."""
    t, cells = means("OHSUMED"), PAPER["Table 2"]
    return {
        test: float(
            np.mean([abs(t.loc[(m, *key), test] - row[at]) for m in ("linear", "trees") for key, row in cells.items()])
        )
        for test, at in (("nDCG@10", 0), ("nDCG@10, linear gain", 0), ("AP", 1), ("P@10", 2))
    }


def details() -> Iterator[str]:
    """Yield pictures and folded tables."""
    yield from (
        picture("papers_informativeness", "RMS error against g"),
        picture("papers_discrimination", "Achieved significance levels"),
        picture("papers_curves_of_one_list", "Graded precision and recall"),
    )
    names = ["nDCG@10", "AP", "P@10"]
    body = [[*key, *(f"{v:.4f}" for number in PAPER for v in PAPER[number][key])] for key in PAPER["Table 1"]]
    head = ["objective", "trained for", *(f"{number}: {name}" for number in PAPER for name in names)]
    yield folded("Tables 1 and 2 of the paper", table(head, body))
    rows = [[test, f"{mean:.3f}"] for test, mean in cell_distances().items()]
    yield folded("Mean distance of the cells of Table 2 from ours", table(["measure", "distance"], rows))
