"""Each argument of grids, scorers, clicks, search, readers and digits, with each of its defects."""

import gzip

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
    NOT_ROWS,
    QID,
    X,
    Y,
    check,
    defects,
    inf,
    nan,
    without,
)
from cheap_rankers import Noisy
from good_calls import SELECTION
from sklearn.svm import SVC

from gapboost.comparison import compare_rankers
from gapboost.datasets import load_letor, load_letor_fold
from gapboost.lightgbm import LGBMGAPRanker
from gapboost.measures import GAP


class Refusing(Noisy):
    """Takes no grade above 1, as some losses do."""

    def fit(self, X, y):
        if (y > 1).any():
            raise RuntimeError("labels beyond 1")
        return super().fit(X, y)


AMOUNTS = {
    "a number": (3, "shape ()"),
    "text": ("text", "shape ()"),
    "short": ([1, 2], "2 rows"),
    "empty": ([], "0 rows"),
    "two columns": (np.ones((60, 2)), "shape (60, 2)"),
    "negative": ([-1] * 60, "negative"),
    "NaN": ([nan] * 60, "NaN"),
    "infinite": ([inf] * 60, "infinite"),
    "words": (["a"] * 60, "dtype <U1"),
    "huge": ([1e308] * 60, "the sum inf"),
    "beyond floats": ([10**400] * 60, "beyond all floats"),
    "a set": (set(range(60)), "shape ()"),
}
NOT_AN_ARRAY = {"text": ("text", "str"), "a number": (3, "int"), "a list": ([1], "list")}

CASES = [
    *defects("simplex_grid", "n_grades", NOT_POSITIVE_WHOLE, "a whole number >= 1"),
    *defects("simplex_grid", "steps", NOT_POSITIVE_WHOLE, "a whole number >= 1"),
    *defects("simplex_grid", "monotone", NOT_A_CHOICE, '"increasing", "decreasing" or None'),
    *defects("uniform_g", "n_grades", NOT_POSITIVE_WHOLE, "a whole number >= 1"),
    *defects(
        "measure_scorer", "measure", {**NOT_A_MEASURE, "a class": GAP}, "a measure", TypeError
    ),
    *defects("measure_scorer", "measure", {"open g": GAP()}, "a fixed target"),
    *defects("g_from_clicks", "clicks", AMOUNTS, ""),
    *defects(
        "g_from_clicks",
        "clicks",
        {"fractional": ([0.5] * 60, "fractional"), "none": ([0] * 60, "zero")},
        "",
    ),
    *defects("g_from_clicks", "impressions", AMOUNTS, ""),
    *defects(
        "g_from_clicks",
        "sessions",
        {"short": ([1, 2], "2 rows"), "None inside": ([None] * 60, "60 missing")},
        "row",
    ),
    *defects(
        "g_from_clicks",
        "sessions",
        {"a number": (3, "shape ()"), "a cube": (np.ones((1, 1, 1)), "shape")},
        "row",
    ),
    *defects(
        "g_from_clicks",
        "grades",
        {
            "None": (None, "missing"),
            "empty": ([], "is empty"),
            "negative": ([-1] * 60, "negative grade -1"),
            "fractional": ([0.5] * 60, "fractional value 0.5"),
            "NaN": ([nan] * 60, "60 NaN"),
            "words": (["a"] * 60, "dtype <U1"),
            "only 0": ([0] * 60, "only grade 0"),
            "a gap": ([0, 1, 3] * 20, "no document of grade 2"),
        },
        "",
    ),
    *defects("g_from_clicks", "confidence", NOT_A_SHARE, "a number between 0 and 1"),
    *defects(
        "g_from_clicks", "n_resamples", {**NOT_POSITIVE_WHOLE, "one": 1}, "a whole number >= 2"
    ),
    *defects("g_from_clicks", "random_state", NOT_A_SEED, "a whole number >= 0"),
    *defects(
        "GSearchCV",
        "estimator",
        {"None": None, "text": "gap", "another": SVC()},
        "LGBMGAPRanker",
        TypeError,
    ),
    *defects(
        "GSearchCV",
        "param_grid",
        {**without(NOT_A_MAPPING, "a list"), "empty": []},
        "list of",
        TypeError,
    ),
    *defects(
        "GSearchCV",
        "param_grid",
        {"unusable g": ({"g": [(0.5, 0.6)]}, "sum 1.1")},
        "sum 1",
        named="g",
    ),
    *(
        case
        for defect, value in NOT_POSITIVE_WHOLE.items()
        for case in defects(
            "GSearchCV",
            "param_grid",
            {f"n_estimators {defect}": ({"n_estimators": [value]}, repr(value))},
            "a whole number >= 1",
            named="n_estimators in param_grid",
        )
    ),
    *defects("GSearchCV", "scoring", {**NOT_A_MEASURE, "empty": []}, "a measure", TypeError),
    *defects("GSearchCV", "scoring", {"open g": GAP()}, "a fixed target"),
    *defects(
        "GSearchCV", "cv", {"one": 1, "more than queries": 5}, "one for each of the 4 queries"
    ),
    *defects(
        "GSearchCV",
        "cv",
        {"None": None, "text": "5", "a fraction": 2.5, "a boolean": True, "NaN": nan},
        "folds",
        TypeError,
    ),
    *defects("GSearchCV", "cv", {"empty": []}, "at least one"),
    *defects("GSearchCV", "group", {"with qid": ([10] * 4, "given, and qid too")}, "one of them"),
    *defects("GSearchCV", "qid", {"None": (None, "missing")}, "or group with the sizes"),
    *(
        case
        for defect, folds in {
            "numbers": [1, 2],
            "text": ["a"],
            "fractions": [([0.5], [1.5])],
            "beyond": [([0], [99])],
        }.items()
        for case in defects(
            "GSearchCV",
            "cv",
            {f"{defect} as folds": (folds, "")},
            "row numbers",
            named="fold 0 of cv",
        )
    ),
    *defects(
        "GSearchCV",
        "cv",
        {"cut": ([(range(5), range(5, 40))], "cuts")},
        "every query whole",
        named="fold 0 of cv",
    ),
    *defects(
        "GSearchCV",
        "n_jobs",
        {"text": "2", "a float": 1.5, "a boolean": True},
        "a whole number",
        TypeError,
    ),
    *defects("GSearchCV", "random_state", NOT_A_SEED, "a whole number >= 0"),
    *defects(
        "GSearchCV", "X", {"one dimension": (np.ones(40), "shape (40,)"), **NOT_ROWS}, "n_features"
    ),
    *defects(
        "GSearchCV", "y", {"negative": (Y - 1, "-1"), "NaN": (Y * nan, "40 NaN")}, "grades >= 0"
    ),
    *defects(
        "GSearchCV",
        "y",
        {"short": (Y[1:], "40 rows but y has 39")},
        "one query id a row",
        named="qid",
    ),
    *defects(
        "GSearchCV",
        "qid",
        {"None": (None, "missing"), "short": (QID[1:], "39"), "NaN": (QID * nan, "40")},
        "row",
    ),
    *defects(
        "compare_rankers",
        "X",
        {"one dimension": (np.ones(40), "shape (40,)"), **NOT_ROWS},
        "n_features",
    ),
    *defects(
        "compare_rankers",
        "y",
        {"negative": (Y - 1, "-1"), "NaN": (Y * nan, "40 NaN")},
        "grades >= 0",
    ),
    *defects("compare_rankers", "y", {"words": (np.full(40, "good"), "dtype <U4")}, "grades >= 0"),
    *defects(
        "compare_rankers",
        "X",
        {"short": (X[1:], "y has 40 rows but X has 39")},
        "one grade a row",
        named="y",
    ),
    *defects(
        "compare_rankers",
        "qid",
        {"None": (None, "missing"), "short": (QID[1:], "39"), "NaN": (QID * nan, "40")},
        "row",
    ),
    *defects(
        "compare_rankers", "group", {"with qid": ([10] * 4, "given, and qid too")}, "one of them"
    ),
    *defects(
        "compare_rankers",
        "rankers",
        {
            **without(NOT_A_MAPPING, "None"),
            "numbers as names": {1: Noisy(), 2: Noisy()},
            "a class": ({"one": Noisy, "other": Noisy()}, "the class Noisy"),
            "no ranker": ({"one": 3, "other": Noisy()}, "without fit, predict"),
        },
        "",
        TypeError,
    ),
    *defects(
        "compare_rankers",
        "rankers",
        {
            "one": ({"one": Noisy()}, "['one']"),
            "none": ({}, "[]"),
            "cannot take the grades": (
                {"one": Noisy(), "other": Refusing()},
                "'other', which fails on these data (",
            ),
            "two cannot take them": (
                {"one": Refusing(), "two": Refusing(), "other": Noisy()},
                "'one', which fails on these data (RuntimeError: labels beyond 1), and 'two', "
                "which",
            ),
            "scores NaN": (
                {"one": Noisy(nan), "other": Noisy()},
                "'one', which fails on these data (",
            ),
            "ours with g too short": (
                {"one": Noisy(), "other": LGBMGAPRanker(g=(1.0,))},
                "'other', which fails on these data (ValueError: y holds the grade 2",
            ),
            "ours with an unknown measure": (
                {"one": Noisy(), "other": LGBMGAPRanker(measure="gab")},
                "measure is 'gab'",
            ),
        },
        "rankers",
    ),
    *defects(
        "compare_rankers",
        "leave_out",
        {"text": "one", "a number": 3, "numbers": [1]},
        "a list of names",
        TypeError,
    ),
    *defects(
        "compare_rankers", "leave_out", {"unknown": (["none"], "'none'")}, "some of one, other"
    ),
    *defects(
        "compare_rankers",
        "leave_out",
        {"all but one": (["one"], "['other']")},
        "at least two",
        named="rankers",
    ),
    *defects("compare_rankers", "measures", NOT_A_MEASURE, "a measure", TypeError),
    *defects(
        "compare_rankers", "measures", {"unknown": "gab", "twice": ["ap", "map"], "empty": []}, ""
    ),
    *defects(
        "compare_rankers",
        "choose_by",
        {**without(NOT_A_MEASURE, "None"), "a list": ["ap"]},
        "a measure",
        TypeError,
    ),
    *defects("compare_rankers", "choose_by", {"unknown": "gab"}, ""),
    *defects(
        "compare_rankers", "cv", {"one": 1, "more than queries": 5}, "one for each of the 4 queries"
    ),
    *defects(
        "compare_rankers",
        "cv",
        {"None": None, "text": "5", "a fraction": 2.5, "a boolean": True, "NaN": nan},
        "folds",
        TypeError,
    ),
    *defects("compare_rankers", "cv", {"empty": []}, "at least one"),
    *defects(
        "compare_rankers", "cv", {"a query each": (4, "1 test query in fold 0")}, "at least two"
    ),
    *defects(
        "compare_rankers",
        "cv",
        {"one to train on": ([(range(10), range(10, 40))], "1 train query in fold 0")},
        "at least two",
    ),
    *defects(
        "compare_rankers",
        "cv",
        {"tested twice": ([(range(20), range(20, 40))] * 2, "tests the query 2 in several folds")},
        "each query in one",
    ),
    *defects(
        "compare_rankers",
        "cv",
        {
            "cut": ([(range(5), range(5, 40))], "cuts"),
            "vali is trained on": ([(range(20), range(20), range(20, 40))], "cuts"),
            "vali is tested": ([(range(20), range(30, 40), range(20, 40))], "cuts"),
        },
        "every query whole",
        named="fold 0 of cv",
    ),
    *defects("compare_rankers", "repeats", NOT_POSITIVE_WHOLE, "a whole number >= 1"),
    *defects(
        "compare_rankers",
        "tune",
        {**without(NOT_POSITIVE_WHOLE, "None"), "one": 1},
        "candidates >= 2",
    ),
    *defects(
        "compare_rankers", "tune", {"no space": (2, "'one' of rankers is a Noisy")}, "spaces="
    ),
    *defects(
        "compare_rankers", "spaces", without(NOT_A_MAPPING, "None"), "{name: {parameter", TypeError
    ),
    *defects(
        "compare_rankers",
        "spaces",
        {"without tune": ({"one": {"noise": [1, 2]}}, "tune is None")},
        "tune=16",
    ),
    *defects("compare_rankers", "shuffle", NOT_A_CHOICE, "True or False"),
    *defects("compare_rankers", "progress", NOT_A_CHOICE, "True, False or None"),
    *defects(
        "compare_rankers",
        "n_jobs",
        {"text": "2", "a float": 1.5, "a boolean": True},
        "a whole number",
        TypeError,
    ),
    *defects(
        "load_digits_ranking",
        "n_queries",
        {"two": [3, 1], "a number": 3, "text": "abc"},
        "three numbers",
    ),
    *(
        case
        for defect, value in NOT_POSITIVE_WHOLE.items()
        if not isinstance(value, list)
        for case in defects(
            "load_digits_ranking",
            "n_queries",
            {f"{defect} inside": ([3, value, 1], repr(value))},
            "a whole number >= 1",
        )
    ),
    *defects("load_digits_ranking", "n_docs", NOT_POSITIVE_WHOLE, "a whole number >= 1"),
    *defects("load_digits_ranking", "random_state", NOT_A_SEED, "a whole number >= 0"),
    *defects(
        "RankingData", "X", {"None": (None, "NoneType"), **NOT_AN_ARRAY}, "an array", TypeError
    ),
    *defects(
        "RankingData", "X", {"one dimension": (np.ones(40), "shape (40,)")}, "(n_rows, n_features)"
    ),
    *(
        case
        for member in ("y", "qid", "docid")
        for case in (
            *defects("RankingData", member, NOT_AN_ARRAY, "an array", TypeError),
            *defects(
                "RankingData",
                member,
                {"short": (Y[1:], "shape (39,)"), "two columns": (X, "(40, 3)")},
                "(40,)",
            ),
        )
    ),
    *defects(
        "RankingData",
        "feature_names",
        {"text": "abc", "a number": 3, "numbers": [1, 2, 3]},
        "strings",
        TypeError,
    ),
    *defects(
        "RankingData", "feature_names", {"two": (["a", "b"], "2 names")}, "each of the 3 columns"
    ),
]


@pytest.mark.slow(keep=100)
@pytest.mark.parametrize(FIELDS, CASES)
def test_bad_input(function, argument, value, error, named, found, expected):
    call, good = SELECTION[function]
    check(error, named, found, expected, lambda: call(**{**good, argument: value}))


@pytest.mark.parametrize("function", SELECTION)
def test_the_good_input_is_good(function):
    call, good = SELECTION[function]
    assert call(**good) is not None


@pytest.mark.parametrize(
    ("spaces", "named", "found", "expected"),
    [
        ({"none": {"noise": [1, 2]}}, "spaces", "'none'", "some of one, other"),
        ({"one": {"nois": [1, 2]}}, "spaces", "'nois' of 'one'", "some of noise"),
        ({"one": {"noise": [1.0]}}, "tune", "the space of 'one' has 1 candidates", "no more"),
    ],
)
def test_spaces_of_a_comparison(spaces, named, found, expected):
    _, good = SELECTION["compare_rankers"]
    check(
        ValueError,
        named,
        found,
        expected,
        lambda: compare_rankers(**{**good, "tune": 2, "spaces": spaces}),
    )


def test_who_stops_early_needs_a_third_fold():
    _, good = SELECTION["compare_rankers"]
    rankers = {**good["rankers"], "early": LGBMGAPRanker(early_stopping_round=3)}
    check(
        ValueError,
        "cv",
        "leaves no queries to validate on",
        "at least 3 folds",
        lambda: compare_rankers(**{**good, "rankers": rankers}),
    )


# --- readers --------------------------------------------------------------------------------------

READERS = {"load_letor": (load_letor, "path"), "load_letor_fold": (load_letor_fold, "directory")}
OPTIONS = [
    (argument, defect, value, error, expected)
    for argument, kind, error, expected in (
        ("n_features", without(NOT_POSITIVE_WHOLE, "None"), ValueError, "a whole number >= 1"),
        ("zero_based", NOT_A_CHOICE, ValueError, "True, False or None"),
        ("max_line_bytes", NOT_POSITIVE_WHOLE, ValueError, "a whole number >= 1"),
        (
            "feature_names",
            {"text": "abc", "a number": 3, "numbers": [1], "a boolean": True},
            TypeError,
            "strings",
        ),
    )
    for defect, value in kind.items()
]
PATHS = {
    "None": None,
    "a number": 3,
    "a boolean": True,
    "bytes": b"train.txt",
    "a list of numbers": [1],
    "a set": {"train.txt"},
}


@pytest.fixture
def files(tmp_path):
    """A directory with the three files of a fold; where one of them lies."""
    for name in ("train", "vali", "test"):
        (tmp_path / f"{name}.txt").write_text("1 qid:1 1:1\n0 qid:1 1:2\n")
    return {"load_letor": tmp_path / "train.txt", "load_letor_fold": tmp_path}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize(
    ("argument", "defect", "value", "error", "expected"), OPTIONS, ids=lambda value: str(value)[:30]
)
def test_options_of_readers(reader, argument, defect, value, error, expected, files):
    read, _ = READERS[reader]
    value, found = value if isinstance(value, tuple) else (value, repr(value))
    check(error, argument, found, expected, lambda: read(files[reader], **{argument: value}))


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("defect", PATHS)
def test_paths_of_readers(reader, defect):
    read, argument = READERS[reader]
    check(TypeError, argument, repr(PATHS[defect]), "path", lambda: read(PATHS[defect]))


FILES = {
    "empty": (b"", "holds no rows"),
    "blank": (b"\n\n", "holds no rows"),
    "no query": (b"1 1:1\n", "found no queries"),
    "negative grade": (b"-1 qid:1 1:1\n", "line 1: found grade -1"),
    "two decimal points": (b"1 qid:1 1:1\n0.5.5 qid:1 1:1\n", "line 2"),
    "NaN grade": (b"nan qid:1 1:1\n", "line 1: found grade nan"),
    "infinite grade": (b"inf qid:1 1:1\n", "line 1: found grade inf"),
    "word": (b"good qid:1 1:1\n", "line 1"),
    "index falls": (b"1 qid:1 2:1 1:1\n", "line 1"),
    "negative index": (b"1 qid:1 -1:1\n", "line 1"),
    "huge index": (b"1 qid:1 99999999999999999999:1\n", "line 1"),
    "value is a word": (b"1 qid:1 1:NULL\n", "line 1"),
    "no features": (b"1 qid:1\n0 qid:1\n", "found no features"),
    "NUL bytes": (b"\x00\x00 qid:1 1:1\n", "line 1"),
    "binary": (bytes(range(256)), "line 1"),
    "query in Latin-1": (b"1 qid:caf\xe9 1:1\n", "line 1"),
    "document in Latin-1": (b"1 qid:1 1:1 # docid = caf\xe9\n", "line 1"),
    "NUL in a query": (b"1 qid:a\x00 1:1\n", "line 1"),
    "NUL in a document": (b"1 qid:1 1:1 # docid = a\x00\n", "line 1"),
    "UTF-16": ("1 qid:1 1:1\n".encode("utf-16"), "line 1"),
    "dense index too large": (b"1 qid:1 2147483647:1\n", "found feature index 2147483647"),
    "line too long": (
        b"1 qid:1 1:1\n1 qid:1 1:1 # " + b"x" * (1 << 26),
        "line 2: found more than 67108864 bytes",
    ),
    "gzip of one long line": (
        gzip.compress(bytes(1 << 27), 1),
        "line 1: found more than 67108864 bytes",
    ),
    "gzip cut": (gzip.compress(b"1 qid:1 1:1\n" * 500)[:-9], "broken gzip"),
    "gzip of nothing": (gzip.compress(b""), "holds no rows"),
    "gzip and rubbish": (b"\x1f\x8b rubbish", "broken gzip"),
}


@pytest.mark.slow(keep=6)
@pytest.mark.parametrize("defect", FILES)
def test_files(defect, tmp_path):
    content, found = FILES[defect]
    path = tmp_path / "data.txt"
    path.write_bytes(content)
    with pytest.raises(ValueError) as caught:
        load_letor(path)
    message = str(caught.value)
    assert message.startswith(str(path)), message
    assert found in message, message
    assert "expected" in message or "broken gzip" in message or "cannot be read as" in message, (
        message
    )
