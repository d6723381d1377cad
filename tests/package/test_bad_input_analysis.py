"""Every argument of the analyses, with every defect it can have."""

import numpy as np
import pytest
from bad_input import (
    FIELDS,
    NOT_A_CHOICE,
    NOT_A_MAPPING,
    NOT_A_MEASURE,
    NOT_A_SEED,
    NOT_A_SHARE,
    NOT_POSITIVE_WHOLE,
    X,
    check,
    defects,
    inf,
    nan,
    without,
)
from good_calls import ANALYSES, per_query_values

from gapboost import analysis
from gapboost.measures import AP, GAP

COUNTS = {
    "None": (None, ""),
    "text": ("text", ""),
    "a number": (3, ""),
    "empty": ([], ""),
    "negative": ([-1, 5], ""),
    "fractional": ([1.5, 2], ""),
    "NaN": ([nan, 2.0], ""),
    "infinite": ([inf, 2.0], ""),
    "two columns": (np.ones((2, 2)), ""),
    "ragged": ([[1], [1, 2]], ""),
    "words": (["a", "b"], ""),
    "a set": ({17, 2, 1}, ""),
    "a mapping": ({0: 17, 1: 2}, ""),
    "huge": ([1e30, 2.0], ""),
}
NOT_LISTED = {
    **without(NOT_A_MEASURE, "a set"),
    "a class": ([GAP], "GAP"),
}
NUMBERS = {
    "None": (None, "shape ()"),
    "a number": (3, "shape ()"),
    "text": ("text", "shape ()"),
    "two columns": (np.ones((3, 2)), "shape (3, 2)"),
    "words": (["a", "b", "c"], "dtype <U1"),
    "complex": ([1j] * 3, "complex"),
}
NESTED = {**NOT_A_MAPPING, "not nested": {"1": 2}, "a list inside": {"1": ["a"]}}
GRADES = {
    "NaN": ({"1": {"a": nan}}, "1 NaN"),
    "words": ({"1": {"a": "good"}}, "dtype <U4"),
    "None": ({"1": {"a": None}}, "1 NaN"),
    "too high": ({"1": {"a": 300}}, "grade 300"),
}
SCORES = {
    "NaN": ({"1": {"a": nan}}, "1 NaN"),
    "infinite": ({"1": {"a": inf}}, "1 NaN or infinite"),
    "words": ({"1": {"a": "9.5"}}, "dtype <U3"),
    "None": ({"1": {"a": None}}, "1 NaN"),
}
KINDS = (
    # functions, argument, defects, expected, error
    (
        ("trec.map_gains", "trec.rankings", "trec.evaluate", "system_values", "robustness"),
        "qrels",
        NESTED,
        "{topic: {document: g",
        TypeError,
    ),
    (
        ("trec.rankings", "trec.evaluate", "system_values"),
        "qrels",
        {"empty": ({}, "empty")},
        "{topic",
        ValueError,
    ),
    (("trec.rankings", "trec.evaluate", "system_values"), "qrels", GRADES, "grades", ValueError),
    (("trec.rankings", "trec.evaluate"), "run", NESTED, "{topic: {document: score}}", TypeError),
    (("trec.rankings", "trec.evaluate"), "run", SCORES, "finite scores", ValueError),
    (
        ("system_values", "robustness"),
        "runs",
        NESTED,
        "{system: {topic: {document: score}}}",
        TypeError,
    ),
    (("system_values", "robustness"), "runs", {"empty": ({}, "empty")}, "", ValueError),
    (("trec.map_gains",), "grades", NOT_A_MAPPING, "{gain: grade}", TypeError),
    (
        ("trec.evaluate", "informativeness", "local_optimality"),
        "measures",
        NOT_LISTED,
        "measure",
        TypeError,
    ),
    (
        ("informativeness", "local_optimality", "system_values", "robustness"),
        "measures",
        {"empty": ([], "empty")},
        "at least one",
        ValueError,
    ),
    (("system_values", "robustness"), "measures", NOT_LISTED, "measures", TypeError),
    (
        ("trec.rankings", "trec.evaluate", "system_values", "robustness"),
        "ties",
        {**NOT_A_CHOICE, "None": None, "of evaluate": "row"},
        '"expected" or "trec_eval"',
        ValueError,
    ),
    (
        ("precision_recall",),
        "ties",
        {**NOT_A_CHOICE, "None": None},
        '"expected" or "row"',
        ValueError,
    ),
    (("trec.evaluate",), "empty", {**NOT_A_CHOICE, "None": None}, '0, 1 or "skip"', ValueError),
    (
        ("precision_recall", "expected_value", "maximum_entropy"),
        "measure",
        NOT_A_MEASURE,
        "a measure such as",
        TypeError,
    ),
    (("maximum_entropy",), "counts", COUNTS, "one number of documents for each", ValueError),
    (
        ("maximum_entropy",),
        "recall_base",
        without(COUNTS, "None"),
        "one number of documents for each",
        ValueError,
    ),
    (("expected_value",), "recall_base", COUNTS, "one number of documents for each", ValueError),
    (
        ("expected_value",),
        "probabilities",
        {
            **without(COUNTS, "two columns"),
            "one column": [[1.0]] * 4,
            "negatives": [[-0.5, 1.5]] * 4,
        },
        "shape (n, 2)",
        ValueError,
    ),
    (
        ("maximum_entropy",),
        "value",
        {"None": None, "text": "a", "NaN": nan, "infinite": inf, "a list": [0.7]},
        "finite",
        ValueError,
    ),
    (
        ("mean_curve",),
        "curves",
        {"None": None, "a number": 3, "text": "a", "numbers": [1]},
        "curves",
        TypeError,
    ),
    (
        ("mean_curve",),
        "levels",
        NOT_POSITIVE_WHOLE,
        "a whole number >= 1",
        ValueError,
    ),
    (
        ("informativeness", "threshold_sweep"),
        "lists",
        {"None": (None, "NoneType"), "numbers": ([1], "list"), "text": ("a", "str")},
        "RankedList",
        TypeError,
    ),
    (
        ("informativeness", "threshold_sweep"),
        "minimum",
        NOT_POSITIVE_WHOLE,
        "a whole number >= 1",
        ValueError,
    ),
    (
        ("local_optimality",),
        "weights",
        {**NUMBERS, "empty": ([], "(0,)"), "NaN": ([nan] * 3, "3 NaN")},
        "",
        ValueError,
    ),
    (
        ("local_optimality",),
        "step_sizes",
        {**NUMBERS, "empty": ([], "(0,)"), "infinite": ([inf], "1 NaN")},
        "",
        ValueError,
    ),
    (("local_optimality",), "datasets", NOT_A_MAPPING, "{name: (features, y, qid)}", TypeError),
    (("local_optimality",), "n_directions", NOT_POSITIVE_WHOLE, "a whole number >= 1", ValueError),
    (
        ("local_optimality",),
        "epsilon",
        {"None": None, "text": "a", "NaN": nan, "a list": [1]},
        "a number",
        ValueError,
    ),
    (
        ("robustness",),
        "fractions",
        {**NUMBERS, "zero": [0.0], "above 1": [1.1], "NaN": [nan], "empty": []},
        "",
        ValueError,
    ),
    (("robustness",), "repeats", NOT_POSITIVE_WHOLE, "a whole number >= 1", ValueError),
    (
        ("robustness", "SystemValues.on_topics"),
        "topics",
        {"unknown": ["9"], "empty": []},
        "some of",
        ValueError,
    ),
    (
        ("robustness", "SystemValues.on_topics"),
        "topics",
        {"a number": 3, "text": "1", "a set": {"1"}, "a mapping": {"1": 2}},
        "some of",
        TypeError,
    ),
    (
        ("threshold_sweep",),
        "grid",
        {"a number": 3, "text": "0.5", "a set": {(0.5, 0.5)}, "a mapping": {(0.5, 0.5): 1}},
        "a list of g",
        TypeError,
    ),
    (
        ("threshold_sweep",),
        "grid",
        {"empty": [], "None inside": [None]},
        "at least one g",
        ValueError,
    ),
    (
        ("threshold_sweep",),
        "others",
        {**NOT_LISTED, "a set": ({AP()}, "{AP"), "a mapping": ({AP(): 1}, "{AP")},
        "measure",
        TypeError,
    ),
    (
        ("trec.evaluate", "informativeness", "local_optimality", "system_values", "robustness"),
        "measures",
        {"a set": ({AP()}, "{AP"), "a mapping": ({AP(): 1}, "{AP")},
        "measure",
        TypeError,
    ),
    (("significance",), "first", NUMBERS, "", ValueError),
    (("significance",), "second", NUMBERS, "", ValueError),
    (("significance",), "confidence", NOT_A_SHARE, "a number between 0 and 1", ValueError),
    (
        ("significance", "discriminative_power"),
        "n_resamples",
        NOT_POSITIVE_WHOLE,
        "a whole number >= 1",
        ValueError,
    ),
    (("discriminative_power",), "level", NOT_A_SHARE, "a number between 0 and 1", ValueError),
    (
        ("discriminative_power", "correlation"),
        "values",
        {"None": (None, "NoneType"), "array": (X, "ndarray")},
        "SystemValues",
        TypeError,
    ),
    (
        ("significance", "local_optimality", "robustness", "discriminative_power"),
        "random_state",
        NOT_A_SEED,
        "a whole number >= 0",
        ValueError,
    ),
    (("SystemValues.best",), "n", NOT_POSITIVE_WHOLE, "a whole number >= 1", ValueError),
    (
        ("SystemValues.best",),
        "measure",
        {
            "a name": "gap",
            "another measure": (AP(rel=2), "AP(rel=2)"),
            "a list": [AP()],
            "NaN": nan,
            "two columns": (np.ones((2, 2)), "array"),
        },
        "one of [AP",
        ValueError,
    ),
    (
        ("significance by query",),
        "first",
        {
            "None": (None, "NoneType"),
            "a list": ([0.1, 0.2, 0.4], "list"),
            "a table": ({AP(): [0.1, 0.2, 0.4]}, "dict"),
        },
        "PerQuery for both",
        TypeError,
    ),
    (
        ("significance by query",),
        "second",
        {
            "None": (None, "NoneType"),
            "an array": (np.ones(3), "ndarray"),
            "a table": ({AP(): [0.1, 0.2, 0.4]}, "dict"),
        },
        "PerQuery for both",
        TypeError,
    ),
    (
        ("significance by query",),
        "second",
        {
            "a query less": (per_query_values(2), "2 is in one of them"),
            "repeated ids": (per_query_values(3, [0, 1, 1]), "2 of them different"),
            "fewer values": (per_query_values(3, values=2), "2 values for 3 ids"),
        },
        "",
        ValueError,
    ),
    (
        ("significance by query",),
        "measure",
        {
            "a name": ("gap", "GAP()"),
            "another measure": (AP(rel=2), "AP(rel=2)"),
        },
        "one of those in first, [AP",
        ValueError,
    ),
    (
        ("significance by query",),
        "measure",
        {"a list": [AP()], "NaN": nan, "two columns": (np.ones((2, 2)), "array")},
        "a measure such as",
        TypeError,
    ),
    (
        ("significance",),
        "measure",
        {"for arrays": (AP(), "AP(rel=1)"), "a name": "gap"},
        "None, or PerQuery",
        ValueError,
    ),
    (("SystemValues.best",), "n", {"more than systems": 3}, "between 1 and 2", ValueError),
)
CASES = [
    case
    for functions, argument, kind, expected, error in KINDS
    for function in functions
    for case in defects(function, argument, kind, expected, error)
]


@pytest.mark.slow(keep=100)
@pytest.mark.parametrize(FIELDS, CASES)
def test_bad_input(function, argument, value, error, named, found, expected):
    call, good = ANALYSES[function]
    check(error, named, found, expected, lambda: call(**{**good, argument: value}))


@pytest.mark.parametrize("function", ANALYSES)
def test_the_good_input_is_good(function):
    call, good = ANALYSES[function]
    assert call(**good) is not None


@pytest.mark.parametrize(
    "values", [None, "text", [1.0], np.ones((1, 2)), np.full((2, 2, 2), nan)], ids=str
)
def test_system_values(values):
    given = (AP(), GAP(g=(0.5, 0.5))), ("x", "y"), ("1", "2"), values
    check(ValueError, "values", "", "", lambda: analysis.SystemValues(*given))
