"""`gapboost.evaluate` beside other evaluators: the same numbers, and the documented differences."""

import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from evaluators import EVALUATORS, rows_of

import gapboost as gb

PAGE = (Path(__file__).parents[2] / "docs" / "measures.md").read_text()


def close(expected, tolerance=1e-12):
    return pytest.approx(expected, rel=tolerance, abs=tolerance)


def section(title):
    return PAGE.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


# --- the same number as another library -----------------------------------------------------------

SAME = re.findall(
    r'^\| ([\w-]+).* \| `(.+)` \| `"(.+)"` \| ([01]|"skip") \|$',
    section("The same number as another library"),
    re.M,
)
QUERIES = 1000
RNG = np.random.default_rng(0)
QID = np.repeat(np.arange(QUERIES), RNG.integers(2, 30, QUERIES))
Y = RNG.integers(0, 4, len(QID)) * (RNG.random(len(QID)) < 0.6)
Y[np.isin(QID, RNG.choice(QUERIES, QUERIES // 10))] = 0
S = (RNG.permutation(len(QID)) + 1) / 64  # exact in float32, and above 0
# Averages of two judges, for libraries that take fractions.
FRACTIONAL = {"CatBoost", "XGBoost", "scikit-learn"}
# XGBoost and torchmetrics add up in single precision, gdeval prints five digits, and cwl_eval cuts
# INSQ.
TOLERANCE = {"XGBoost": 1e-7, "torchmetrics": 1e-6}
TOLERANCE_OF_PROVIDER = {"exp-log2": 6e-6, "ERR": 6e-6}


def test_the_page_has_rows_of_each_library():
    assert {library for library, *_ in SAME} == set(EVALUATORS)


@pytest.mark.parametrize(("library", "name", "measure", "empty"), SAME)
def test_the_same_number_as_another_library(library, name, measure, empty):
    if library == "ir_measures" and shutil.which("perl") is None:
        pytest.skip("ir_measures runs gdeval.pl")
    y = Y * 0.5 if library in FRACTIONAL else Y
    theirs = EVALUATORS[library](name, rows_of(y, S, QID))
    # Metrics of binary labels take the grades above 0.
    binary = library in ("RecTools", "implicit") or name.startswith(("map", "average_precision"))
    y = y > 0 if binary else y
    tolerance = TOLERANCE.get(library, 1e-12)
    for part, wider in TOLERANCE_OF_PROVIDER.items():
        tolerance = wider if library == "ir_measures" and part in name else tolerance
    for counted in (0, 1, "skip"):
        (ours,) = gb.evaluate(measure, y, S, QID, empty=counted).values()
        if str(counted) == empty.strip('"'):
            assert ours == pytest.approx(theirs, rel=tolerance)
        else:
            assert ours != pytest.approx(theirs, rel=1e-4)


# --- where they differ ----------------------------------------------------------------------------

AP = {
    "LightGBM": "map@{}", "XGBoost": "map@{}", "CatBoost": "MAP:top={}", "trec_eval": "map_cut_{}",
    "ir_measures": "AP@{}", "ranx": "map@{}", "torchmetrics": "MAP@{}", "RecTools": "MAP(k={})",
    "implicit": "map@{}",
}  # fmt: skip
NDCG = {
    "LightGBM": "ndcg@{}", "XGBoost": "ndcg@{}", "CatBoost": "NDCG:top={}",
    "trec_eval": "ndcg_cut_{}", "ir_measures": "nDCG@{}", "ranx": "ndcg@{}",
    "torchmetrics": "NormalizedDCG@{}", "scikit-learn": "ndcg_score@{}",
    "RecTools": "NDCG(k={}, divide_by_achievable=True)", "implicit": "ndcg@{}",
}  # fmt: skip
WHOLE_AP = {"trec_eval": "map", "scikit-learn": "average_precision_score"}


def divisor(library):
    """Return what AP@3 divides by, of a query with 5 relevant documents and of one with 1."""
    if library not in AP:
        return "–"
    falling, call = np.arange(9.0, 1, -1), EVALUATORS[library]
    many, one = (
        call(AP[library].format(3), rows_of(y, falling[: len(y)]))
        for y in ([1, 0, 0, 0, 1, 1, 1, 1], [1, 0, 0, 0])
    )
    names = {(5, 1): "R", (3, 1): "min(k, R)", (3, 3): "k", (1, 1): "the relevant found"}
    return names[round(1 / many), round(1 / one)]


def order_of_ties(library, name, of_value):
    """Return the order in which documents of equal scores count, from the rank of each.

    `of_value` is the rank of the only relevant document, from the value of the metric.
    """
    n = 40
    ids = np.random.default_rng(1).permutation(n)
    documents = [f"d{i:03}" for i in ids]
    found = [
        EVALUATORS[library](name, rows_of(row, np.ones(n), documents=documents))
        for row in np.eye(n, dtype=int)
    ]
    rows, rising = np.arange(1, n + 1), ids + 1
    for discounts in (1 / rows, 1 / np.log2(1 + rows)):
        if found == pytest.approx([discounts.mean()] * n, rel=1e-6):
            return "expected value"
    orders = {
        "row order": rows,
        "falling id": n + 1 - rising,
        "rising id": rising,
        "worst order": np.full(n, n),
    }
    ranks = [round(of_value(value)) for value in found]
    return next((name for name, of in orders.items() if (of == ranks).all()), "no fixed order")


def of_reciprocal(value):
    return 1 / value


def of_gain(value):
    return 2 ** (1 / value) - 1


def ties(library):
    ap = WHOLE_AP.get(library) or AP[library].format(40)
    found = {"AP": (ap, of_reciprocal), "nDCG": (NDCG[library].format(40), of_gain)}
    if library == "ir_measures":
        found |= {"RR": ("RR", of_reciprocal), "RR@k": ("RR@40", of_reciprocal)}
    names = {}
    for metric, (name, of_value) in found.items():
        names.setdefault(order_of_ties(library, name, of_value), []).append(metric)
    if len(names) == 1:
        return next(iter(names))
    return "; ".join(f"{', '.join(metrics)}: {name}" for name, metrics in names.items())


def below_zero(library):
    """Return what a grade of -1 is in nDCG."""
    if library in ("RecTools", "implicit"):
        return "–"  # callers choose the relevant documents
    if library == "trec_eval":
        return below_zero("ir_measures")  # alone, it can fail to return
    name, call, falling = NDCG[library].format(4), EVALUATORS[library], [4.0, 3.0, 2.0, 1.0]
    zero = call(name, rows_of([0, 0, 1, 0], falling))
    try:
        value = call(name, rows_of([0, -1, 1, 0], falling))
    except Exception:
        return "an error"
    return "0" if value == zero else "a gain below 0" if value < 0 else "nDCG 0"


def without_results(library):
    """Return what a query counts that has a relevant document, and no results."""
    if library not in ("trec_eval", "ir_measures", "ranx", "RecTools"):
        return "–"
    rows = rows_of([1, 0, 1], [2.0, 1.0, np.nan], [0, 0, 1])
    value = EVALUATORS[library](AP[library].format(2), rows)
    return {1.0: "nothing", 0.5: "0"}[value]


COLUMNS = (divisor, ties, below_zero, without_results)
DIFFERENCES = re.findall(r"^\| ([\w-]+) \|(.*)\|$", section("Where evaluators differ"), re.M)


def test_the_page_has_a_row_for_each_evaluator():
    assert [library for library, _ in DIFFERENCES[1:]] == [*EVALUATORS]


@pytest.mark.parametrize("column", range(len(COLUMNS)), ids=[of.__name__ for of in COLUMNS])
@pytest.mark.parametrize("library", EVALUATORS)
def test_where_evaluators_differ(library, column):
    cells = dict(DIFFERENCES)[library].split("|")
    assert cells[column].strip() == COLUMNS[column](library)
