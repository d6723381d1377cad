"""Unusable grades, scores, query ids, weights and recall bases of `evaluate` and of gradients."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from bad_input import check_refusal, inf, nan
from good_calls import refused

import gapboost as gb


def objects(values):
    return np.fromiter(values, dtype=object, count=len(values))


LEAST = {"f2": 2**11, "f4": 2**24, "f8": 2**53}
NO_COLUMN = (
    3,
    "a",
    map(str, "aabb"),
    {0, 1, 2, 3},
    {0: 0, 1: 1},
    np.ones((4, 2)),
    [[0], [1, 2], [0], [1]],
    [],
)
NO_NUMBERS = (["0", "1", "2", "0"], [0, 1j, 2, 0], np.zeros(4, "M8[D]"), [0, pd.NA, 2, 0])
NO_GRADES = ([0, -1, 2, 0], [0, nan, 2, nan], [0, inf, 2, 0], [0, None, 2, 0], [0, 1, 3, 0])
NO_SCORES = ([1.0, nan, 2.0, 3.0], [1, inf, 2, 3], [1.0] * 3)
# Different whole numbers that are equal as float64, such as times in nanoseconds.
TIMES = [2**53, 2**53 + 1, 1, 2]
EQUAL_AS_FLOATS = (
    TIMES,
    objects(TIMES),
    [2**70 + value for value in TIMES],
    np.array(TIMES, np.uint64),
    -np.array(TIMES),
    np.longdouble(1) + np.array([1e-19, 0, 0, 0], np.longdouble),
    pd.Series(TIMES, dtype="Int64"),
    pd.Series(TIMES, dtype="int64[pyarrow]"),
    pl.Series(TIMES),
    pa.array(TIMES),
)
# Floats that stand for several whole numbers: ids that a join has made floats.
ROUNDED = {
    **{f"{size}": np.array([1, 1, 2, least], size) for size, least in LEAST.items()},
    "negative": [1.0, 1.0, 2.0, -(2.0**53)],
    "list": [1.0, 1.0, 2.0, 2.0**60],
    "list of float32": [*np.array([1, 1, 2, 2**24], np.float32)],
    "objects": objects([1.0, 1.0, 2.0, 2.0**53]),
    "tuples": [("a", 1.0), ("a", 1.0), ("b", 2.0), ("a", 2.0**53)],
    "pandas": pd.Series([1, 1, 2, 2.0**53]),
    "pandas Float64": pd.Series([1, 1, 2, 2.0**53], dtype="Float64"),
    "pandas double[pyarrow]": pd.Series([1, 1, 2, 2.0**53], dtype="double[pyarrow]"),
    "pandas MultiIndex": pd.MultiIndex.from_tuples([(1, 1.0), (1, 1.0), (1, 2.0), (1, 2.0**53)]),
    "polars": pl.Series([1.0, 1, 2, 2.0**53]),
    "pyarrow": pa.array([1.0, 1.0, 2.0, 2.0**53]),
}
NO_WEIGHTS = (
    [1.0, -1.0],
    [1.0, nan],
    [0.0, 0.0],
    [1e-6, 1e-6],
    [10**400, 1],
    [1.0] * 3,
    [1e30, 0.0],
)
NO_IDS = (
    *(["a", missing, "b", 1] for missing in (None, nan, pd.NA, pd.NaT, ("a", nan))),
    objects(["a", None, ("b",), 1]),
    [("a", 1.0), ("a", nan), ("b", 1.0), ("b", 2.0)],
    [1.0, nan, nan, 2.0],
    np.ma.array([1, 1, 2, 2], mask=[0, 0, 0, 1]),
    pd.Series([1, None, 2, 2], dtype="Int64"),
    pl.Series(["a", None, "b", "b"]),
    pa.array(["a", None] * 2),
    [["a"], ["a"], ["b"], ["b"]],
    [np.ones(1)] * 4,
    pl.Series([[1], [1], [2], [2]]),
    (i for i in "aabb"),
    ["a", "a", "b"],
    *([1, 1, 2, other] for other in (True, 1.0, "1", b"1")),
)
ROWS = {
    "y_true": (*NO_COLUMN, *NO_NUMBERS, *NO_GRADES, [0, 1, 256, 0]),
    "y_score": (*NO_COLUMN, *NO_NUMBERS, *NO_SCORES),
    "qid": (*NO_COLUMN[:-2], *NO_IDS),
    "sample_weight": (*NO_COLUMN, *NO_NUMBERS, *NO_WEIGHTS),
}


@pytest.mark.parametrize("function", ["evaluate", "gradients"])
@pytest.mark.parametrize(
    ("argument", "value"), [(name, value) for name, values in ROWS.items() for value in values]
)
def test_rows(function, argument, value):
    refused(function, argument, value)


@pytest.mark.parametrize("function", ["evaluate", "gradients"])
@pytest.mark.parametrize("ids", ROUNDED)
def test_ids_that_are_rounded(function, ids):
    refused(function, "qid", ROUNDED[ids], "integers or strings")


def test_ids_that_are_the_last_exact_floats():
    for size, least in LEAST.items():
        ids = np.array([least - 1, least - 1, least - 2, least - 2], size)
        found = gb.evaluate("p@1", [0, 1, 1, 0], [1, 2, 3, 4], ids, per_query=True)
        assert found.qid.tolist() == [least - 1, least - 2]


@pytest.mark.parametrize("function", ["evaluate", "gradients"])
@pytest.mark.parametrize("case", range(len(EQUAL_AS_FLOATS)))
def test_scores_that_are_rounded(function, case):
    refused(function, "y_score", EQUAL_AS_FLOATS[case], "smaller numbers")


def test_large_scores_that_stay_different():
    (value,) = gb.evaluate("ap", [0, 1, 0], [2**60, 2**60 + 2**10, -(2**60)]).values()
    assert value == 1


@pytest.mark.parametrize(
    ("argument", "value", "advice"),
    [
        ("y_true", [0, -1, 2, 0], "without a judgment"),
        ("y_true", [0, nan, 2, 0], "without a judgment"),
        ("y_true", [0, 256, 2, 0], "divide"),
        ("y_true", [[0, 1], [2, 0]], "flatten"),
        ("qid", "user", "one query id a row, shape (n_rows,), such as X['user']"),
        ("qid", iter("aabb"), "one query id a row, shape (n_rows,), such as a list"),
    ],
    ids=["-1", "nan", "256", "lists", "name", "iterator"],
)
def test_the_advice_fits_what_was_found(argument, value, advice):
    refused("evaluate", argument, value, advice)


@pytest.mark.parametrize("grades", [np.arange(80), np.linspace(0.1, 3, 80)], ids=["whole", "not"])
def test_the_advice_for_many_grades_helps(grades):
    with pytest.raises(ValueError, match=r"such as numpy\.") as caught:
        gb.evaluate("ap", grades, grades)
    advised = str(caught.value).rpartition("such as ")[2]
    (value,) = gb.evaluate("ndcg", eval(advised, {"numpy": np, "y_true": grades}), grades).values()
    assert value == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize(
    ("measure", "grades"),
    [
        (gb.nDCG(gains=(0, 1, 3)), [0, 3]),
        (gb.nDCG(), [32, 0]),  # as both boosters
        (gb.xGAP(g=(1,)), [2, 0]),
        (gb.eGAP(g=(0.5, 0, 0.5)), [4, 0]),
        (gb.AP(), [256, 0]),
    ],
    ids=str,
)
def test_grades_that_a_measure_does_not_know(measure, grades):
    rows = {"y_true": grades, "y_score": [1, 2]}
    check_refusal("y_true", lambda: gb.evaluate(measure, **rows), "grades")
    check_refusal("y_true", lambda: gb.LambdaRank(measure).gradients(**rows), "grades")


@pytest.mark.parametrize(
    "base",
    [
        [[9, 0, 5], [9, 5, 5]],
        [[9, 9], [9, 9]],
        [[9, 9, 9]],
        9,
        [["9", "9", "9"]] * 2,
        [[9, 9, 9], [9, 9, 9, 9]],
        [[9, 9, 9], [-1, 9, 9]],
        [[9, 9, nan], [1, 9.5, 9]],
        [[9, 9, 9, 1], [9, 9, 9, 0]],
        [[9, 9, 1e30], [9, 9, 9]],
        {(9, 9, 9), (8, 9, 9)},
        {"a": (9, 9, 9)},
        {"a": (9, 9, 9), "b": (9, 9)},
        {"a": {0: 9, 1: 9}, "b": {"x": 3}},
        {"a": (9, 10**400), "b": (9, 9, 9)},
    ],
)
def test_recall_bases(base):
    refused("evaluate", "recall_base", base)


def test_options_are_refused_before_the_rows_are_read():
    check_refusal("ties", lambda: gb.evaluate("ap", [nan], [nan], ties="no"))
    check_refusal("y_true", lambda: gb.LambdaRank(gb.AP()).gradients([nan], [nan]))
