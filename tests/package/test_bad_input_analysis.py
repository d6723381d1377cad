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
from gapboost.analysis import trec
from gapboost.measures import AP, GAP

COUNTS = {
    "None": None,
    "text": "text",
    "a number": 3,
    "empty": [],
    "negative": [-1, 5],
    "fractional": [1.5, 2],
    "NaN": [nan, 2.0],
    "infinite": [inf, 2.0],
    "two columns": (np.ones((2, 2)), "array"),
    "ragged": [[1], [1, 2]],
    "words": ["a", "b"],
    "a set": {17, 2, 1},
    "a mapping": {0: 17, 1: 2},
    "huge": [1e30, 2.0],
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
        ("PrecisionRecallCurve.mean",),
        "curves",
        {"None": None, "a number": 3, "text": "a", "numbers": [1]},
        "curves",
        TypeError,
    ),
    (
        ("PrecisionRecallCurve.mean",),
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
            "a query less": (per_query_values(2), "lacks 1 queries of the other, such as 2"),
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
            "a list": [AP()],
            "NaN": nan,
            "two columns": (np.ones((2, 2)), "array"),
        },
        "one of those in first, [AP",
        ValueError,
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


# --- TREC files -----------------------------------------------------------------------------------

READERS = {
    "read_qrels": (trec.read_qrels, b"1 0 a 1\n"),
    "read_run": (trec.read_run, b"1 Q0 a 1 9.5 x\n"),
}
EITHER = {
    "empty": (b"", "holds no lines"),
    "comments only": (b"# 1 0 a 1\n#\n", "holds no lines"),
    "one part": (b"1\n", "line 1"),
    "binary": (bytes(range(256)), "line 1"),
    "UTF-16": ("1 Q0 a 1 9.5 x\n".encode("utf-16"), "line 1"),
    "topic in Latin-1": (b"caf\xe9 0 a 1 9.5 x\n", "line 1"),
    "document in Latin-1": (b"1 0 caf\xe9 1 9.5 x\n", "line 1"),
    "line too long": (b"#\n" + bytes((1 << 26) + 1), "line 2: found more than 67108864 bytes"),
}
FILES = {
    "read_qrels": {
        **EITHER,
        "three parts": (b"1 0 a\n", "line 1"),
        "five parts": (b"1 0 a 1 b\n", "line 1"),
        "a fraction with a stroke": (b"#\n1 0 a 1/2\n", "line 2"),
        "NaN": (b"1 0 a nan\n", "line 1"),
        "twice": (b"1 0 a 1\n1 0 a 1\n", "line 2"),
    },
    "read_run": {
        **EITHER,
        "five parts": (b"1 Q0 a 1 9.5\n", "line 1"),
        "a name of two words": (b"1 Q0 my a 1 9.5 x\n", "line 1"),
        "NaN": (b"1 Q0 a 1 nan x\n", "line 1"),
        "infinite": (b"1 Q0 a 1 1e400 x and more\n", "line 1"),
        "word": (b"1 Q0 a 1 high x\n", "line 1"),
        "twice": (b"1 Q0 a 1 9.5 x\n#\n1 Q0 a 2 9.5 x\n", "line 3"),
    },
}


@pytest.mark.slow(keep=9)
@pytest.mark.parametrize(
    ("reader", "defect"), [(reader, defect) for reader in FILES for defect in FILES[reader]]
)
def test_trec_files(reader, defect, tmp_path):
    content, found = FILES[reader][defect]
    path = tmp_path / "data.txt"
    path.write_bytes(content)
    with pytest.raises(ValueError) as caught:
        READERS[reader][0](path)
    message = str(caught.value)
    assert message.startswith(str(path)), message
    assert found in message, message
    assert "expected" in message, message


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("defect", NOT_POSITIVE_WHOLE)
def test_options_of_trec_readers(reader, defect, tmp_path):
    read, content = READERS[reader]
    path = tmp_path / "data.txt"
    path.write_bytes(content)
    value = NOT_POSITIVE_WHOLE[defect]
    check(
        ValueError,
        "max_line_bytes",
        repr(value),
        "a whole number >= 1",
        lambda: read(path, max_line_bytes=value),
    )


@pytest.mark.parametrize(
    "values", [None, "text", [1.0], np.ones((1, 2)), np.full((2, 2, 2), nan)], ids=str
)
def test_system_values(values):
    given = (AP(), GAP(g=(0.5, 0.5))), ("x", "y"), ("1", "2"), values
    check(ValueError, "values", "", "", lambda: analysis.SystemValues(*given))
