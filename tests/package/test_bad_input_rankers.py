"""Each argument of the rankers, their callbacks, with each defect it can have."""

import lightgbm
import numpy as np
import pytest
import xgboost
from bad_input import (
    FIELDS,
    NOT_A_MEASURE,
    NOT_A_SEED,
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
from good_calls import LGBM, LIGHTGBM, RANKERS, ROWS, XGB, XGBOOST

import gapboost.lightgbm
import gapboost.xgboost
from gapboost.measures import AP, nDCG

# What each booster calls its own.
START = {"LGBMGAPRanker": "init_score", "XGBGAPRanker": "base_margin"}
EVAL_START = {"LGBMGAPRanker": "eval_init_score", "XGBGAPRanker": "base_margin_eval_set"}
EVAL_WEIGHT = {"LGBMGAPRanker": "eval_sample_weight", "XGBGAPRanker": "sample_weight_eval_set"}

GRADES = {
    "a number": (3, "shape ()"),
    "two columns": (np.ones((40, 2)), "2 labels a row"),
    "empty": ([], "is empty"),
    "negative": (Y - 1, "negative grade -1"),
    "NaN": (np.where(Y == 2, nan, Y), "NaN or infinite"),
    "infinite": (np.where(Y == 2, inf, Y), "NaN or infinite"),
    "text": (Y.astype(str), "dtype <U"),
    "complex": (Y * 1j, "complex"),
    "words": (np.array(["good"] * 40, dtype=object), "strings"),
}
SCORES = {
    "a number": (3, "shape ()"),
    "short": (np.zeros(39), "39 rows"),
    "empty": ([], "0 rows"),
    "two columns": (np.zeros((40, 2)), "shape (40, 2)"),
    "NaN": (np.full(40, nan), "40 NaN"),
    "infinite": (np.full(40, inf), "40 NaN or infinite"),
    "beyond 2**53": (2**53 + np.arange(40), "different scores"),
    "text": (["0"] * 40, "dtype <U1"),
}
WEIGHTS = {
    "a number": (3, "shape ()"),
    "wrong length": (np.ones(5), "5 values"),
    "empty": ([], "0 values"),
    "negative": (-np.ones(4), "negative"),
    "NaN": (np.full(4, nan), "NaN"),
    "infinite": (np.full(4, inf), "infinite"),
    "all zero": (np.zeros(4), "zero for every query"),
    "huge": (np.full(4, 1e308), "the sum inf over the queries"),
    "large": (np.full(40, 1e30), "the sum 4e+30 over the queries"),
    "tiny": (np.full(4, 1e-12), "the sum 4e-12 over the queries"),
    "text": (["1"] * 4, "dtype <U1"),
}
IDS = {
    "a number": (3, "shape ()"),
    "text": ("a", "shape ()"),
    "two columns": (np.ones((40, 2)), "shape (40, 2)"),
    "short": (QID[1:], "39 rows"),
    "empty": ([], "0 rows"),
    "NaN": (np.full(40, nan), "40 missing"),
    "None inside": ([None] * 40, "40 missing"),
    "NaN among text": (["a", nan] * 20, "20 missing"),
    "lists": ([[1]] * 40, "unhashable type: 'list'"),
    "a set": (set(range(40)), "shape ()"),
}
SIZES = {
    "a number": (40, "shape ()"),
    "text": ("40", "shape ()"),
    "two columns": (np.ones((40, 2)), "shape (40, 2)"),
    "ragged": ([[10], [10, 20]], "different lengths"),
    "empty": ([], "the sum 0"),
    "short": ([10, 10, 10], "the sum 30"),
    "long": ([10] * 5, "the sum 50"),
    "huge": ([1e300], "the sum 1e+300"),
    "ids": (QID + 1, "the sum 100"),
    "zero": ([0, 10, 10, 10, 10], "the size 0"),
    "negative": ([-10, 50], "the size -10"),
    "fractional": ([10.5, 29.5], "the size 10.5"),
    "NaN": ([10, 10, 20, nan], "the size nan"),
    "infinite": ([inf], "the sum inf"),
    "words": (["ten"] * 4, "dtype <U3"),
    "a set": ({40}, "shape ()"),
}
SETS = {
    "a number": 3,
    "a boolean": True,
    "text": "text",
    "a function": (print, "print"),
    "a mapping": {"a": 1},
    "NaN": nan,
}
THRESHOLDS = {
    "a number": 0.5,
    "text": "text",
    "empty": ((), "empty"),
    "negative": ([-0.5, 1.5], "(-0.5, 1.5)"),
    "NaN": ([nan, 1.0], "nan"),
    "infinite": ([inf, 0.0], "inf"),
    "a wrong sum": ([0.5, 0.6], "sum 1.1"),
    "two rows": (np.eye(2), "array"),
    "a mapping": {0: 0.7, 1: 0.3},
    "a set": ({0.7, 0.3}, "{0."),
    "bytes": b"\0\1",
}


def of_ranker(name):
    yield from defects(
        name, "X", {"one dimension": (np.ones(40), "shape (40,)"), **NOT_ROWS}, "n_features"
    )
    yield from defects(
        name, "X", {"short": (X[1:], "39 rows"), "empty": (X[:0], "0 rows")}, "the same number"
    )
    for defect, row in GRADES.items():
        yield from defects(name, "y", {defect: row}, "")
    one_grade = "no query with two different grades"
    yield from defects(
        name,
        "y",
        {"one grade a query": (QID % 3, one_grade), "all 0": (Y * 0, one_grade)},
        "to learn",
    )
    yield from defects(
        name, "y", {"too high": (np.where(Y == 2, 256, Y), "the grade 256")}, "up to 255"
    )
    yield from defects(name, "qid", {"None": (None, "missing")}, "one query id a row")
    for defect, row in IDS.items():
        yield from defects(name, "qid", {defect: row}, "row")
    for defect, row in SIZES.items():
        yield from defects(f"{name} by group", "group", {defect: row}, "")
        yield from defects(
            f"{name} by group",
            "eval_group",
            {f"{defect} in it": ([row[0]], row[1])},
            "",
            named="eval_group[0]",
        )
    yield from defects(
        f"{name} by group",
        "qid",
        {"both": (QID, "given, and qid too")},
        "one of them",
        named="group",
    )
    yield from defects(
        f"{name} by group",
        "eval_qid",
        {"both": ([QID], "given, and eval_qid[0] too")},
        "one of them",
        named="eval_group[0]",
    )
    yield from defects(f"{name} by group", "eval_group", SETS, "each evaluation set", TypeError)
    yield from defects(
        f"{name} by group",
        "eval_group",
        {"two": ([None, None], "2 entries")},
        "one for each of 1 eval sets",
    )
    yield from defects(
        f"{name} by group",
        "eval_group",
        {"None": (None, "missing")},
        "eval_group",
        named="eval_qid",
    )
    for defect, row in WEIGHTS.items():
        yield from defects(name, "sample_weight", {defect: row}, "")
    for defect, row in SCORES.items():
        yield from defects(name, START[name], {defect: row}, "")
    yield from defects(
        name, START[name], {"far apart": (1e4 * Y, "no swap")}, START[name], named="measure"
    )
    for argument in ("eval_set", "eval_qid", EVAL_START[name], EVAL_WEIGHT[name]):
        yield from defects(name, argument, SETS, "each evaluation set", TypeError)
        if argument != "eval_set":
            counts = {"two": ([None, None], "2 entries"), "none": ([], "0 entries")}
            yield from defects(name, argument, counts, "one for each of 1 eval sets")
    yield from defects(
        name, "eval_set", {"X alone": ([X], "ndarray")}, "a pair (X, y)", named="eval_set[0]"
    )
    yield from defects(
        name, "eval_set", {"short X": ([(X[1:], Y)], "39 rows")}, "the same", named="eval_set[0] X"
    )
    high = {
        "a higher grade": (
            [(X, Y + 1)],
            "the grade 3, but GAP(g=(0.5, 0.5)) is defined for the grades 0..2",
        )
    }
    yield from defects(name, "eval_set", high, "", named="eval_set[0] y")
    for defect, row in IDS.items():
        yield from defects(
            name, "eval_qid", {f"{defect} in it": ([row[0]], row[1])}, "row", named="eval_qid[0]"
        )
    for defect, row in WEIGHTS.items():
        argument = EVAL_WEIGHT[name]
        yield from defects(
            name, argument, {f"{defect} in it": ([row[0]], row[1])}, "", named=f"{argument}[0]"
        )
    for defect, row in SCORES.items():
        argument = EVAL_START[name]
        yield from defects(
            name, argument, {f"{defect} in it": ([row[0]], row[1])}, "", named=f"{argument}[0]"
        )
    for defect, row in GRADES.items():
        yield from defects(
            name,
            "eval_set",
            {f"{defect} for y": ([(X, row[0])], row[1])},
            "",
            named="eval_set[0] y",
        )
    for defect, row in NOT_ROWS.items():
        yield from defects(
            name,
            "eval_set",
            {f"{defect} for X": ([(row[0], Y)], row[1])},
            "n_features",
            named="eval_set[0] X",
        )
    yield from defects(name, "measure", NOT_A_MEASURE, "a measure such as", TypeError)
    yield from defects(name, "measure", {"unknown": "mpa"}, "one of gap, xgap")
    yield from defects(name, "g", THRESHOLDS, "")
    yield from defects(name, "g", {"short": ((1.0,), "the grade 2, but GAP")}, "", named="y")
    yield from defects(name, "objective", NOT_A_MEASURE, "a name such as", TypeError)
    yield from defects(name, "objective", {"unknown": "softmax"}, "lambdarank")
    unusable = without(NOT_A_MEASURE, "None")
    yield from defects(
        name, "stopping_metric", unusable, "the name of a reported metric", TypeError
    )
    yield from defects(
        name, "stopping_metric", {"unknown": ("mpa", "not reported")}, "one of map-gap"
    )
    yield from defects(name, "random_state", NOT_A_SEED, "a whole number >= 0")
    numbers = without(NOT_POSITIVE_WHOLE, "None") if name.startswith("XGB") else NOT_POSITIVE_WHOLE
    yield from defects(
        name, "n_estimators", {**numbers, "text of a number": "10"}, "a whole number >= 1"
    )
    yield from defects(
        name,
        "n_jobs",
        {"text": "2", "a float": 1.5, "a boolean": True},
        "a whole number",
        TypeError,
    )


def of_callback(name):
    named = NOT_A_MEASURE if "objective" in name else {**NOT_A_MEASURE, "empty": []}
    yield from defects(
        name, "measure", named, "a measure" if "objective" in name else "a name such as", TypeError
    )
    yield from defects(name, "measure", {"unknown": "mpa"}, "one of gap, xgap")
    yield from defects(name, "g", THRESHOLDS, "")


CASES = [
    *(case for name in START for case in of_ranker(name)),
    *defects(
        "LGBMGAPRanker",
        "eval_names",
        {"a number": 3, "text": "a", "empty": [], "two": ["a", "b"]},
        "a name for each",
    ),
    *defects(
        "LGBMGAPRanker",
        "eval_metric",
        {**without(NOT_A_MEASURE, "None"), "empty": []},
        "a name such as",
        TypeError,
    ),
    *defects(
        "LGBMGAPRanker",
        "eval_at",
        {"zero": 0, "a fraction": [2.5], "text": "x", "empty": []},
        "it takes a list",
    ),
    *defects(
        "LGBMGAPRanker by eval_X",
        "eval_set",
        {"both": ([(X, Y)], "given, and eval_set too")},
        "one of them",
        named="eval_X",
    ),
    *defects(
        "LGBMGAPRanker by eval_X",
        "eval_X",
        {"None": (None, "without eval_X")},
        "both",
        named="eval_y",
    ),
    *defects(
        "LGBMGAPRanker by eval_X",
        "eval_y",
        {"None": (None, "without eval_y")},
        "both",
        named="eval_X",
    ),
    *defects(
        "LGBMGAPRanker by eval_X",
        "eval_X",
        {"a tuple": ((X,), "a tuple of 1 but eval_y is a ndarray")},
        "one length",
    ),
    *defects(
        "LGBMGAPRanker by eval_X",
        "eval_y",
        {"a tuple": ((Y, Y), "a ndarray but eval_y is a tuple of 2")},
        "one",
        named="eval_X",
    ),
    *(
        case
        for defect, row in GRADES.items()
        for case in defects(
            "LGBMGAPRanker by eval_X", "eval_y", {defect: row}, "", named="eval_y[0]"
        )
    ),
    *(
        case
        for defect, row in NOT_ROWS.items()
        if row[0] is not None
        for case in defects(
            "LGBMGAPRanker by eval_X", "eval_X", {defect: row}, "n_features", named="eval_X[0]"
        )
    ),
    *(case for name in RANKERS if "." in name for case in of_callback(name)),
]


@pytest.mark.slow(keep=100)
@pytest.mark.parametrize(FIELDS, CASES)
def test_bad_input(function, argument, value, error, named, found, expected):
    call, good = RANKERS[function]
    check(error, named, found, expected, lambda: call(**{**good, argument: value}))


@pytest.mark.parametrize("function", RANKERS)
def test_the_good_input_is_good(function):
    call, good = RANKERS[function]
    assert call(**good) is not None


@pytest.mark.parametrize("ranker", [LGBM(**LIGHTGBM), XGB(**XGBOOST)], ids=["lightgbm", "xgboost"])
@pytest.mark.parametrize("argument", ["y", "qid", "sample_weight"])
def test_score(ranker, argument):
    ranker.fit(X, Y, QID)
    for value, found in SIZES.values():
        check(ValueError, "group", found, "", lambda value=value: ranker.score(X, Y, group=value))
    check(
        ValueError,
        "group",
        "qid too",
        "one of them",
        lambda: ranker.score(X, Y, QID, group=[10] * 4),
    )
    named, kind = {
        "y": ("y_true", GRADES),
        "qid": ("qid", IDS),
        "sample_weight": ("sample_weight", WEIGHTS),
    }[argument]
    for value, found in kind.values():
        check(
            ValueError,
            named,
            found,
            "",
            lambda value=value: ranker.score(**{**ROWS, argument: value}),
        )


@pytest.mark.parametrize("function", START)
def test_what_belongs_to_evaluation_sets_needs_them(function):
    fit, _ = RANKERS[function]
    for argument in ("eval_qid", "eval_group", EVAL_WEIGHT[function], EVAL_START[function]):
        check(
            ValueError,
            argument,
            "without eval_set",
            "both",
            lambda name=argument: fit(**ROWS, **{name: [Y]}),
        )


@pytest.mark.parametrize("ranker", [LGBM, XGB], ids=["lightgbm", "xgboost"])
def test_a_metric_that_does_not_know_the_grades_of_the_training_set(ranker, monkeypatch):
    """Also where the evaluation set is the training set, whose grades the measure itself knows."""
    monkeypatch.setattr(lightgbm.LGBMRanker, "fit", pytest.fail)
    monkeypatch.setattr(xgboost, "train", pytest.fail)
    narrow = nDCG(gains=(0, 1))
    for eval_set, eval_qid in ([(X, Y)], [QID]), ([(X[10:], Y[10:]), (X, Y)], [QID[10:], QID]):
        given = {"eval_set": eval_set, "eval_qid": eval_qid}
        options = dict(LIGHTGBM if ranker is LGBM else XGBOOST)
        (given if ranker is LGBM else options)["eval_metric"] = narrow
        check(
            ValueError,
            "eval_set[0] y",
            "the grade 2, but nDCG(gains=(0.0, 1.0))",
            "lower grades",
            lambda options=options, given=given: ranker(**options).fit(X, Y, QID, **given),
        )


def test_weights_that_are_too_small_for_the_leaves():
    for ranker in (LGBM(**LIGHTGBM), XGB(**XGBOOST)):
        with pytest.raises(
            ValueError,
            match=r"^min_child_weight is .* the hessians of all rows .* or larger weights",
        ):
            ranker.fit(X, Y, QID, sample_weight=np.full(4, 1e-5))


def test_errors_come_before_training():
    """Parameters are checked before the data, and a refused fit leaves no attribute."""
    for ranker in (LGBM(**LIGHTGBM, measure="mpa"), XGB(**XGBOOST, measure="mpa")):
        check(
            ValueError,
            "measure",
            "'mpa'",
            "gap",
            lambda ranker=ranker: ranker.fit(None, None, None),
        )
        assert not hasattr(ranker, "n_queries_in_")
    check(TypeError, "objective", "3", "name", lambda: LGBM(**LIGHTGBM, objective=3).fit(X, Y, QID))
    check(
        ValueError,
        "objective",
        "AP",
        "measure",
        lambda: XGB(objective=gapboost.LambdaRank(AP()), g=(1,)).fit(X, Y, QID),
    )
    both = LGBM(**LIGHTGBM, objective=gapboost.LambdaRank(AP()), measure="ndcg")
    check(
        ValueError,
        "objective",
        "brings its measure",
        "left at their defaults",
        lambda: both.fit(X, Y, QID),
    )
