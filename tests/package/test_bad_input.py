"""Bad input raises an error that begins with the name of the argument and says what is expected.

What is expected of a kind of argument is written once, for all functions that take it.
"""

from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from bad_input import QID, X, Y, check_refusal, inf, nan
from cheap_rankers import Noisy
from good_calls import ANALYSES, RANKERS, SELECTION, per_query_values
from sklearn.svm import SVC

import gapboost as gb
from gapboost.comparison import compare_rankers
from gapboost.lightgbm import LGBMGAPRanker

FUNCTIONS = {**ANALYSES, **SELECTION, **RANKERS}

# --- kinds of arguments ---------------------------------------------------------------------------

NOT_INTEGERS = (None, True, "3", 2.0, 1.5, nan, inf, 1j, [3], [], -1)
TABLE = np.ones((2, 2))
NO_MEASURE = (None, 3, True, nan, print, {"gap"}, {gb.AP(): 1}, b"gap")
NO_MAPPING = (None, "text", 3, [("a", 1)], nan, TABLE)
NO_COUNTS = ("text", 3, [], [-1, 5], [1.5, 2], [nan, 2.0], [inf, 2.0], ["a", "b"], {17, 2, 1})
FOLDS = (None, "5", 2.5, True, nan)
KINDS = {
    # kind: (what is expected, values, {function: arguments})
    "an integer from 1 on": (
        "a whole number",
        (*NOT_INTEGERS, 0),
        {
            "simplex_grid": "n_grades steps",
            "uniform_g": "n_grades",
            "g_from_clicks": "n_resamples",
            "compare_rankers": "repeats",
            "load_digits_ranking": "n_docs",
            "mean_curve": "levels",
            "informativeness": "minimum",
            "threshold_sweep": "minimum",
            "local_optimality": "n_directions",
            "robustness": "repeats",
            "significance": "n_resamples",
            "discriminative_power": "n_resamples",
            "SystemValues.best": "n",
            "reliability": "n_bins",
        },
    ),
    "a number of threads": (
        "a whole number",
        ("2", 1.5, True),
        {
            "GSearchCV": "n_jobs",
            "compare_rankers": "n_jobs",
            "query_relative_features": "n_jobs",
            "informativeness": "n_jobs",
        },
    ),
    "a share": (
        "a number between 0 and 1",
        (None, True, "0.5", nan, inf, 0, 1.0, -0.5, [0.5], TABLE),
        {
            "g_from_clicks": "confidence",
            "significance": "confidence",
            "discriminative_power": "level",
        },
    ),
    "a seed": (
        "a whole number >= 0",
        (True, "seed", -1, 1.5, nan, [1], TABLE),
        {
            "g_from_clicks": "random_state",
            "GSearchCV": "random_state",
            "load_digits_ranking": "random_state",
            "significance": "random_state",
            "local_optimality": "random_state",
            "robustness": "random_state",
            "discriminative_power": "random_state",
        },
    ),
    "a choice": (
        "",
        ("other", 0.5, ["row"], {"row"}, TABLE, nan),
        {
            "simplex_grid": "monotone",
            "compare_rankers": "shuffle progress",
            "trec.rankings": "ties",
            "trec.evaluate": "ties empty",
            "system_values": "ties",
            "robustness": "ties",
            "precision_recall": "ties",
        },
    ),
    "a mapping": (
        "{",
        NO_MAPPING,
        {
            "trec.map_gains": "qrels grades",
            "trec.rankings": "qrels run",
            "trec.evaluate": "qrels run",
            "system_values": "qrels runs",
            "robustness": "qrels runs",
            "local_optimality": "datasets",
        },
    ),
    "a nested mapping": (
        "{",
        ({"1": 2}, {"1": ["a"]}),
        {
            "trec.rankings": "qrels run",
            "trec.evaluate": "qrels run",
            "system_values": "qrels runs",
        },
    ),
    "a measure": (
        "a measure",
        NO_MEASURE,
        {
            "measure_scorer": "measure",
            "precision_recall": "measure",
            "expected_value": "measure",
            "maximum_entropy": "measure",
            "LGBMGAPRanker": "measure",
            "XGBGAPRanker": "measure",
            "lightgbm.objective": "measure",
            "xgboost.objective": "measure",
            "lightgbm.eval_metric": "measure",
            "xgboost.eval_metric": "measure",
        },
    ),
    "a list of measures": (
        "measure",
        (*NO_MEASURE, [gb.GAP]),
        {
            "GSearchCV": "scoring",
            "compare_rankers": "measures",
            "trec.evaluate": "measures",
            "informativeness": "measures",
            "local_optimality": "measures",
            "system_values": "measures",
            "robustness": "measures",
        },
    ),
    "numbers of documents": (
        "one number of documents for each",
        NO_COUNTS,
        {"maximum_entropy": "counts recall_base", "expected_value": "recall_base"},
    ),
    "numbers": (
        "",
        (None, 3, "text", np.ones((3, 2)), ["a", "b", "c"], [1j] * 3),
        {
            "significance": "first second",
            "local_optimality": "weights step_sizes",
            "robustness": "fractions",
        },
    ),
    "features": (
        "n_features",
        (np.ones(40), None, 3, "text", np.ones((4, 1, 1)), [[1], [1, 2]]),
        {
            "GSearchCV": "X",
            "compare_rankers": "X",
            "query_relative_features": "X",
            "LGBMGAPRanker": "X",
            "XGBGAPRanker": "X",
        },
    ),
    "grades": (
        "grades",
        (Y - 1, Y * nan, np.full(40, "good")),
        {
            "GSearchCV": "y",
            "compare_rankers": "y",
            "explain.measure": "y",
            "LGBMGAPRanker": "y",
            "XGBGAPRanker": "y",
        },
    ),
    "query ids": (
        "row",
        (QID[1:], QID * nan, np.ones((40, 2)), "customer_id"),
        {
            "GSearchCV": "qid",
            "compare_rankers": "qid",
            "query_relative_features": "qid",
            "explain.measure": "qid",
            "report": "qid",
            "LGBMGAPRanker": "qid",
            "XGBGAPRanker": "qid",
        },
    ),
    "folds": (
        "folds",
        FOLDS,
        {"GSearchCV": "cv", "compare_rankers": "cv"},
    ),
    "lists": (
        "RankedList",
        (None, [1], "a"),
        {"informativeness": "lists", "threshold_sweep": "lists"},
    ),
    "values of systems": (
        "SystemValues",
        (None, X),
        {"discriminative_power": "values", "correlation": "values"},
    ),
    "topics": (
        "some of",
        (["9"], [], 3, "1", {"1"}),
        {"robustness": "topics", "SystemValues.on_topics": "topics"},
    ),
    "an array": (
        "",
        ("text", 3, Y[1:], X[:, :0]),
        {"RankingData": "y qid docid"},
    ),
    "amounts": (
        "",
        (3, "text", [1, 2], np.ones((60, 2)), [-1] * 60, [nan] * 60, ["a"] * 60, [1e308] * 60),
        {"g_from_clicks": "clicks impressions"},
    ),
}
CASES = [
    pytest.param(function, argument, value, expected, id=f"{function}-{argument}-{number}")
    for expected, values, functions in KINDS.values()
    for function, arguments in functions.items()
    for argument in arguments.split()
    for number, value in enumerate(values)
]


@pytest.mark.slow(keep=100)
@pytest.mark.parametrize(("function", "argument", "value", "expected"), CASES)
def test_kinds_of_arguments(function, argument, value, expected):
    call, good = FUNCTIONS[function]
    check_refusal(argument, lambda: call(**{**good, argument: value}), expected)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_the_good_input_is_good(function):
    call, good = FUNCTIONS[function]
    assert call(**good) is not None


# --- arguments of one function --------------------------------------------------------------------


class Refusing(Noisy):
    """Take no grade above 1, as some losses do."""

    def fit(self, X, y):
        if (y > 1).any():
            raise RuntimeError("labels beyond 1")
        return super().fit(X, y)


OTHER = Noisy()
CUT = [(range(5), range(5, 40))]
ONE_FUNCTION = [
    # function, argument, values, the name in the message if it is another
    ("measure_scorer", "measure", [gb.GAP()], ""),
    ("g_from_clicks", "sessions", [[1, 2], [None] * 60, 3], ""),
    ("g_from_clicks", "grades", [None, [], [-1] * 60, [0.5] * 60, [0] * 60, [0, 1, 3] * 20], ""),
    ("GSearchCV", "estimator", [None, "gap", SVC()], ""),
    ("GSearchCV", "param_grid", [3, "text", []], ""),
    ("GSearchCV", "param_grid", [{"g": [(0.5, 0.6)]}], "g"),
    ("GSearchCV", "param_grid", [{"n_estimators": [0]}], "n_estimators in param_grid"),
    ("GSearchCV", "scoring", [gb.GAP(), []], ""),
    ("GSearchCV", "cv", [1, 5, []], ""),
    ("GSearchCV", "cv", [[1, 2], [([0.5], [1.5])], [([0], [99])], CUT], "fold 0 of cv"),
    ("GSearchCV", "group", [[10] * 4], ""),
    ("GSearchCV", "qid", [None], ""),
    ("GSearchCV", "y", [Y[1:]], "qid"),
    ("compare_rankers", "X", [X[1:]], "y"),
    ("compare_rankers", "qid", [None], ""),
    ("compare_rankers", "group", [[10] * 4], ""),
    (
        "compare_rankers",
        "rankers",
        [
            "text",
            [("a", 1)],
            {1: OTHER, 2: OTHER},
            {"one": Noisy, "other": OTHER},
            {"one": 3, "other": OTHER},
            {"one": OTHER},
            {"one": OTHER, "other": Refusing()},
            {"one": Noisy(nan), "other": OTHER},
            {"one": OTHER, "other": LGBMGAPRanker(g=(1.0,))},
        ],
        "",
    ),
    ("compare_rankers", "measures", ["gab", ["ap", "map"], []], ""),
    ("compare_rankers", "choose_by", ["gab", ["ap"], 3], ""),
    ("compare_rankers", "cv", [1, 5, [], 4, [(range(20), range(20, 40))] * 2], ""),
    ("compare_rankers", "cv", [CUT, [(range(20), range(20), range(20, 40))]], "fold 0 of cv"),
    ("compare_rankers", "tune", [1, 2.0, "3"], ""),
    ("load_digits_ranking", "n_queries", [[3, 1], 3, "abc", [3, 0, 1], [3, 1.5, 1]], ""),
    ("RankingData", "X", [None, "text", np.ones(40)], ""),
    ("RankingData", "feature_names", ["abc", 3, [1, 2, 3], ["a", "b"]], ""),
    ("query_relative_features", "kinds", ["zscore", [], ["other"], ["rank", "rank"], None], ""),
    ("query_relative_features", "columns", ["bm25", [], [0, 0], [True], [20], [-1], 0], ""),
    ("query_relative_features", "group", [[40]], ""),
    ("query_relative_features", "X", [np.full((40, 3), inf), np.full((40, 3), "a", object)], ""),
    ("system_values", "runs", [{}], ""),
    ("trec.rankings", "run", [{"1": {"a": nan}}, {"1": {"a": inf}}, {"1": {"a": "9.5"}}], ""),
    ("trec.rankings", "qrels", [{}, {"1": {"a": nan}}, {"1": {"a": "x"}}, {"1": {"a": 300}}], ""),
    ("expected_value", "probabilities", [None, 3, [[1.0]] * 4, [[-0.5, 1.5]] * 4], ""),
    ("maximum_entropy", "value", [None, "a", nan, inf, [0.7]], ""),
    ("mean_curve", "curves", [None, 3, "a", [1]], ""),
    ("local_optimality", "weights", [[], [nan] * 3], ""),
    ("local_optimality", "epsilon", [None, "a", nan, [1]], ""),
    ("robustness", "fractions", [[0.0], [1.1], [nan], []], ""),
    ("threshold_sweep", "grid", [3, "0.5", {(0.5, 0.5)}, [], [None]], ""),
    ("SystemValues.best", "n", [3], ""),
    ("SystemValues.best", "measure", ["gap", gb.AP(rel=2), [gb.AP()]], ""),
    ("significance", "measure", [gb.AP(), "gap"], ""),
    ("significance by query", "first", [None, [0.1, 0.2, 0.4]], ""),
    ("significance by query", "second", [None, np.ones(3), per_query_values(2)], ""),
    ("significance by query", "measure", [gb.AP(rel=2), nan], ""),
]


@pytest.mark.slow(keep=20)
@pytest.mark.parametrize(
    ("function", "argument", "value", "named"),
    [
        (function, argument, value, named or argument)
        for function, argument, values, named in ONE_FUNCTION
        for value in values
    ],
    ids=str,
)
def test_arguments_of_one_function(function, argument, value, named):
    call, good = FUNCTIONS[function]
    check_refusal(named, lambda: call(**{**good, argument: value}))


def test_comparisons_that_tune_or_stop_early():
    _, good = SELECTION["compare_rankers"]
    early = {**good["rankers"], "early": LGBMGAPRanker(early_stopping_round=3)}
    for named, changes in (
        ("spaces", {"tune": 2, "spaces": {"none": {"noise": [1, 2]}}}),
        ("spaces", {"tune": 2, "spaces": {"one": {"nois": [1, 2]}}}),
        ("spaces", {"spaces": {"one": {"noise": [1, 2]}}}),
        ("tune", {"tune": 2, "spaces": {"one": {"noise": [1.0]}}}),
        ("tune", {"tune": 2}),
        ("cv", {"rankers": early}),
    ):
        check_refusal(named, lambda changes=changes: compare_rankers(**{**good, **changes}))


# --- rows of documents ----------------------------------------------------------------------------

ROWS = {"y_true": [0, 1, 2, 0], "y_score": [4.0, 3.0, 2.0, 1.0], "qid": ["a", "a", "b", "b"]}
MEASURE = gb.GAP(g=(0.5, 0.5))


def objects(values):
    return np.fromiter(values, dtype=object, count=len(values))


class Tensor:
    """Hashed by identity, like those of PyTorch."""

    def __array__(self, *args, **kwargs):
        return np.array(1)


MISSING = (
    None,
    nan,
    np.float32(nan),
    complex(0, nan),
    Decimal("NaN"),
    np.datetime64("NaT", "s"),
    np.timedelta64("NaT", "s"),
    pd.NaT,
    pd.NA,
    np.ma.masked,
    pa.scalar(None),
    ("a", nan),
    ("a", ("b", pd.NA)),
)
# Four integers, of which two that differ are the same float64.
WIDE = [2**53 + 1, 2**53, 0, 1]
NO_COLUMN = (3, "a", {0, 1, 2, 3}, {0: 0, 1: 1}, np.ones((4, 2)), [[0], [1, 2], [0], [1]])
NO_NUMBERS = (
    ["0", "1", "2", "0"],
    objects(["0", "1", "2", "0"]),
    [0, 1j, 2, 0],
    np.zeros(4, "M8[D]"),
    objects([0, np.datetime64(1, "D"), 2, 0]),
    objects([0, np.complex64(1j), 2, 0]),
    [0, 10**400, 2, 0],
    [0, pd.NA, 2, 0],
)
MERGED = (
    WIDE,
    tuple(WIDE),
    [-wide for wide in WIDE],
    np.array(WIDE),
    objects(WIDE),
    np.array([2**64 - 1, 2**64 - 2, 0, 1], np.uint64),
    [*WIDE[:3], 0.5],
    [2**70 + 1, 2**70, 0, 1],
    [Decimal("0.1"), Decimal("0.10000000000000000001"), 0, 1],
    pd.Series(WIDE, dtype="Int64"),
    pl.Series(WIDE),
    pa.chunked_array([WIDE[:1], WIDE[1:]]),
)
WITH_MISSING = (
    *(kind(["a", missing, ("b",), 1]) for kind in (list, objects) for missing in MISSING),
    [1.0, nan, nan, 2.0],
    np.array(["2020-01-01", *["NaT"] * 3], "M8[D]"),
    np.array([1j, complex(nan, 0)] * 2),
    np.array([(1, nan)] * 4, "i4,f8"),
    np.ma.array([1, 1, 2, 2], mask=[0, 0, 0, 1]),
    *(pd.Series(["a", None, "b", "b"], dtype=dtype) for dtype in ("string", "category")),
    pd.Series([1, None, 2, 2], dtype="Int64"),
    pl.Series(["a", None, "b", "b"]),
    pl.Series([1, None, 2, 2]),
    pa.array(["a", None] * 2),
    list(pa.array([1, None, 2, 2])),
)
NO_IDS = (
    [["a"], ["a"], ["b"], ["b"]],
    [{}, {}, {}, {}],
    [("a", []), "a", "b", "b"],
    [Decimal("sNaN"), 1, 1, 1],
    [np.ones(1)] * 4,
    [Tensor(), Tensor(), 1, 1],
    pl.Series([[1], [1], [2], [2]]),
    pa.array([{"a": 1}] * 4),
    (i for i in "aabb"),
)
NO_GRADES = ([0, -1, 2, 0], [0, nan, 2, nan], [0, inf, 2, 0], [0, None, 2, 0], [0, 1, 3, 0])
NO_SCORES = ([1.0, nan, 2.0, 3.0], [1, inf, 2, 3], np.array([1, nan] * 2, np.float32), [1.0] * 3)
NO_WEIGHTS = ([1.0, -1.0], [1.0, nan], [1.0, inf], [0.0, 0.0], [10**400, 1], [1.0] * 3)
BAD_ROWS = {
    "y_true": (*NO_COLUMN, *NO_NUMBERS, *NO_GRADES, [], [0, 1, 256, 0]),
    "y_score": (*NO_COLUMN, *NO_NUMBERS, *NO_SCORES, *MERGED, [], [1.0, None, 2.0, 3.0]),
    "qid": (*NO_COLUMN[:-1], *WITH_MISSING, *NO_IDS, [], ["a", "a", "b"]),
    "sample_weight": (*NO_COLUMN, *NO_NUMBERS[:-1], *NO_WEIGHTS, [], [1e30, 0.0], [1e-12] * 2),
}
USES = {
    "evaluate": lambda measure=MEASURE, **rows: gb.evaluate([gb.AP(), measure], **rows),
    "gradients": lambda measure=MEASURE, **rows: gb.LambdaRank(measure).gradients(**rows),
}
uses = pytest.mark.parametrize("use", USES)


@uses
@pytest.mark.parametrize(
    ("argument", "value"), [(name, value) for name, values in BAD_ROWS.items() for value in values]
)
def test_rows(use, argument, value):
    # Measures of several labels are asked for, where there are several columns.
    check_refusal(argument, lambda: USES[use](**{**ROWS, argument: value}))


@uses
def test_rows_of_other_lengths(use):
    check_refusal("qid", lambda: USES[use](**{**ROWS, "y_true": [0, 1, 2]}))
    assert len(USES[use](**ROWS, sample_weight=[1.0, 0.0])) > 0


@pytest.mark.parametrize(
    ("measure", "grades"),
    [
        (gb.nDCG(gains=(0, 1, 3)), [0, 3]),
        (gb.xGAP(g=(1,)), [2, 0]),
        (gb.eGAP(g=(0.5, 0, 0.5)), [4, 0]),
        (gb.AP(), [256, 0]),
    ],
    ids=str,
)
def test_grades_that_a_measure_does_not_know(measure, grades):
    for use in USES.values():
        check_refusal(
            "y_true", lambda use=use: use(measure, y_true=grades, y_score=[1, 2]), "grades"
        )
    check_refusal("ranked", lambda: measure.swap_changes(grades), "grades")


OPTIONS = {
    "measures": ("gpa", ["gap", "gpa"], [gb.GAP], *NO_MEASURE),
    "ties": ("random", None),
    "empty": ("ignore", 0.5, None),
    "missing_queries": ("count", None),
    "recall_base": (
        [[9, 0, 5], [9, 5, 5]],
        [[9, 9], [9, 9]],
        [[9, 9, 9]],
        [9, 9, 9],
        9,
        [["9", "9", "9"]] * 2,
        [[9, 9, 9], [9, 9, 9, 9]],
        [[9, 9, 9], [-1, 9, 9]],
        [[9, 9, 9], [1, 9.5, 9]],
        [[9, 9, nan], [1, 9, 9]],
        [[9, 9, 9, 1], [9, 9, 9, 0]],
        [[9, 9, 1e30], [9, 9, 9]],
        [[9, 9, 2**63], [9, 9, 9]],
        {(9, 9, 9), (8, 9, 9)},
        {"a": (9, 9, 9)},
        {"a": (9, 9, 9), "b": (9, 9)},
        {"a": (9, 9, 9), "b": (9, -9, 9)},
        {"a": (9, 9, 1e30), "b": (9, 9, 9)},
        {"a": {0: 9, 1: 9}, "b": {"x": 3}},
    ),
}


@pytest.mark.parametrize(
    ("argument", "value"), [(name, value) for name, values in OPTIONS.items() for value in values]
)
def test_options_of_evaluate(argument, value):
    check_refusal(argument, lambda: gb.evaluate(**{"measures": MEASURE, **ROWS, argument: value}))


@pytest.mark.parametrize("entry", [(9, 10**400), {9, 8, 7}, 9, ("9", "9")], ids=str)
def test_entries_of_a_recall_base(entry):
    base = {"a": entry, "b": (9, 9, 9)}
    check_refusal("recall_base['a']", lambda: gb.evaluate(MEASURE, **ROWS, recall_base=base))


def test_a_mapping_cannot_tell_true_from_1():
    base = {1: (9, 9, 9)}
    check_refusal(
        "recall_base", lambda: gb.evaluate("ap", [0, 1], [1, 2], [1, True], recall_base=base)
    )


def test_swap_changes():
    for named, arguments in (
        ("ranked", ([],)),
        ("ranked", ([[0, 1]],)),
        ("recall_base", ([0, 1], [0, 0])),
        ("recall_base", ([0, 1], 3)),
    ):
        check_refusal(named, lambda arguments=arguments: gb.AP().swap_changes(*arguments))


def test_errors_come_before_any_work():
    """A bad option is refused before the rows are read, even if these are bad too."""
    check_refusal("ties", lambda: gb.evaluate("ap", [nan], [nan], ties="no"))
    check_refusal("y_true", lambda: gb.LambdaRank(gb.AP()).gradients([nan], [nan]))
