"""Bad input raises an error before any work.

The message names the argument, what was found and what is expected.
"""

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from bad_input import check, inf, nan, table

import gapboost as gb
from gapboost import (
    AP,
    GAP,
    ApproxRank,
    LambdaRank,
    Precision,
    SoftRank,
    eGAP,
    evaluate,
    nDCG,
    xGAP,
)
from gapboost.analysis import maximum_entropy, precision_recall
from gapboost.measures import MEASURES_BY_NAME, Measure, RecallBase, as_measure
from gapboost.objectives import as_objective

MEASURE = GAP(g=(0.5, 0.5))
GOOD = {"y_true": [0, 1, 2, 0], "y_score": [4.0, 3.0, 2.0, 1.0], "qid": ["a", "a", "b", "b"]}


# --- rows of documents ----------------------------------------------------------------------------

REAL_GRADES = "grades >= 0"


def objects(values):
    return np.fromiter(values, dtype=object, count=len(values))


class Tensor:
    """Hashed by identity, like those of PyTorch."""

    def __array__(self, *args, **kwargs):
        return np.array(1)


def strings_of_numpy(missing):
    return np.array(["a", missing, "b", "b"], dtype=np.dtypes.StringDType(na_object=missing))


MISSING = {
    "None": None,
    "nan": nan,
    "nan of numpy": np.float32(nan),
    "complex nan": complex(0, nan),
    "Decimal nan": Decimal("NaN"),
    "NaT": np.datetime64("NaT", "s"),
    "timedelta NaT": np.timedelta64("NaT", "s"),
    "pandas.NaT": pd.NaT,
    "pandas.NA": pd.NA,
    "masked": np.ma.masked,
    "null of Arrow": pa.scalar(None),
    "nan in a tuple": ("a", nan),
    "NA in a tuple": ("a", ("b", pd.NA)),
}
# Four numbers, of which two that differ are the same float64.
WIDE = [2**53 + 1, 2**53, 0, 1]
BEYOND_FLOATS = {
    "a list": WIDE,
    "a tuple": tuple(WIDE),
    "negative ones": [-wide for wide in WIDE],
    "int64": np.array(WIDE),
    "the least int64": np.array([-(2**63), -(2**63) + 1, 0, 1]),
    "uint64": np.array([2**64 - 1, 2**64 - 2, 0, 1], dtype=np.uint64),
    "objects": objects(WIDE),
    "a list beside a fraction": [*WIDE[:3], 0.5],
    "a list of both signs": [2**63 + 1, 2**63, -1, 0],
    "a list beyond 64 bits": [2**70 + 1, 2**70, 0, 1],
    "Decimal": [Decimal("0.1"), Decimal("0.10000000000000000001"), 0, 1],
    "pandas": pd.Series(WIDE),
    "pandas Int64": pd.Series(WIDE, dtype="Int64"),
    "pandas on Arrow": pd.Series(WIDE, dtype=pd.ArrowDtype(pa.uint64())),
    "polars": pl.Series(WIDE),
    "Arrow": pa.array(WIDE),
    "chunks of Arrow": pa.chunked_array([WIDE[:1], WIDE[1:]]),
    "longdouble": np.array([1, 1, 0, 2], dtype=np.longdouble)
    + np.array([0, 2**-60, 0, 0], np.longdouble),
}
if np.dtype(np.longdouble).itemsize == 8:  # Windows has no longer ones
    del BEYOND_FLOATS["longdouble"]
ROWS = table(
    # argument, defect, value, what the message says was found, what it says is expected
    ("y_true", "too short", [0, 1, 2], "rows", "a row"),
    ("y_true", "empty", [], "is empty", "at least one document"),
    (
        "y_true",
        "two columns",
        [[0, 1], [1, 0], [0, 0], [1, 1]],
        "2 labels a row",
        "one value a row",
    ),
    ("y_true", "a column", [[0], [1], [0], [1]], "shape (4, 1)", "one value a row"),
    ("y_true", "a number", 3, "shape ()", "one value a row"),
    ("y_true", "ragged", [[0], [1, 2], [0], [1]], "different lengths", "one value a row"),
    ("y_true", "negative", [0, -1, 2, 0], "negative grade -1", REAL_GRADES),
    ("y_true", "negative float", [0, -2.0, 2, 0], "negative grade -2", REAL_GRADES),
    (
        "y_true",
        "nan",
        [0, nan, 2, nan],
        "2 NaN or infinite values, the first in row 1, counted from 0",
        REAL_GRADES,
    ),
    ("y_true", "inf", [0, inf, 2, 0], "1 NaN or infinite", REAL_GRADES),
    ("y_true", "None", [0, None, 2, 0], "1 NaN or infinite", REAL_GRADES),
    ("y_true", "pandas.NA", [0, pd.NA, 2, 0], "not numbers", REAL_GRADES),
    ("y_true", "strings", ["0", "1", "2", "0"], "dtype <U1", REAL_GRADES),
    (
        "y_true",
        "strings as objects",
        np.array(["0", "1", "2", "0"], dtype=object),
        "strings",
        REAL_GRADES,
    ),
    ("y_true", "words", np.array(["bad", "good", 2, 0], dtype=object), "strings", REAL_GRADES),
    ("y_true", "complex", [0, 1j, 2, 0], "complex", REAL_GRADES),
    ("y_true", "dates", np.zeros(4, dtype="M8[D]"), "datetime64", REAL_GRADES),
    (
        "y_true",
        "above len(g)",
        [0, 1, 3, 0],
        "grade 3, but GAP(g=(0.5, 0.5)) is defined for the grades 0..2",
        "each positive grade",
    ),
    ("y_true", "beyond floats", [0, 10**400, 2, 0], "beyond all floats", REAL_GRADES),
    ("y_true", "a mapping", {0: 0, 1: 1, 2: 2, 3: 0}, "shape ()", "one value a row"),
    ("y_true", "a set", {0, 1, 2, 3}, "shape ()", "one value a row"),
    ("y_true", "a date of numpy", [0, np.datetime64(1, "D"), 2, 0], "not numbers", REAL_GRADES),
    (
        "y_true",
        "complex of numpy",
        np.array([0, np.complex64(1j), 2, 0], dtype=object),
        "not numbers",
        REAL_GRADES,
    ),
    (
        "y_score",
        "NaT of numpy",
        [0.0, np.datetime64("NaT", "s"), 2, 0],
        "not numbers",
        "finite scores",
    ),
    (
        "y_score",
        "a time of numpy",
        np.array([0.0, np.timedelta64(1, "s"), 2.0, 1.0], dtype=object),
        "not numbers",
        "finite scores",
    ),
    ("y_score", "beyond floats", [0, 10**400, 2, 0], "beyond all floats", "finite scores"),
    ("y_score", "a set", {0, 1, 2, 3}, "shape ()", "one value a row"),
    ("y_score", "too short", [1.0, 2.0, 3.0], "3 rows but y_true has 4", "one score a row"),
    ("y_score", "too long", [1.0] * 5, "5 rows but y_true has 4", "one score a row"),
    ("y_score", "empty", [], "0 rows but y_true has 4", "one score a row"),
    ("y_score", "two columns", np.ones((4, 2)), "shape (4, 2)", "one value a row"),
    ("y_score", "nan", [1.0, nan, 2.0, 3.0], "1 NaN or infinite", "finite scores"),
    (
        "y_score",
        "inf",
        [1.0, inf, -inf, 3.0],
        "2 NaN or infinite values, the first in row 1",
        "finite scores",
    ),
    (
        "y_score",
        "nan in float32",
        np.array([1, 2, 3, nan], dtype=np.float32),
        "1 NaN or infinite",
        "finite scores",
    ),
    ("y_score", "None", [1.0, None, 2.0, 3.0], "1 NaN or infinite", "finite scores"),
    ("y_score", "strings", ["1", "2", "3", "4"], "dtype <U1", "finite scores"),
    ("y_score", "complex", [1, 2, 3, 1j], "complex", "finite scores"),
    *(
        (
            "y_score",
            f"beyond 2**53 as {name}",
            value,
            "different scores",
            "scores that differ as float64",
        )
        for name, value in BEYOND_FLOATS.items()
    ),
    ("qid", "too short", ["a", "a", "b"], "3 rows but y_true has 4", "one query id a row"),
    ("qid", "empty", [], "0 rows but y_true has 4", "one query id a row"),
    ("qid", "two columns", np.ones((4, 2)), "shape (4, 2)", "one value a row"),
    ("qid", "one id", "a", "shape ()", "one value a row"),
    ("qid", "None", ["a", None, "b", "b"], "1 missing values", "a query id in every row"),
    ("qid", "nan", [1.0, nan, nan, 2.0], "2 missing values", "a query id in every row"),
    (
        "qid",
        "nan among objects",
        np.array(["a", nan, "b", "b"], dtype=object),
        "1 missing values",
        "in every row",
    ),
    (
        "qid",
        "float32 nan among objects",
        np.array(["a", np.float32(nan), 1, 1], dtype=object),
        "missing",
        "in every row",
    ),
    (
        "qid",
        "pandas.NA",
        np.array(["a", pd.NA, "b", "b"], dtype=object),
        "1 missing values",
        "in every row",
    ),
    (
        "qid",
        "pandas string",
        pd.Series(["a", None, "b", "b"], dtype="string"),
        "1 missing values",
        "in every row",
    ),
    (
        "qid",
        "pandas Int64",
        pd.Series([1, None, 2, 2], dtype="Int64"),
        "1 missing values",
        "in every row",
    ),
    (
        "qid",
        "pandas category",
        pd.Series(["a", None, "b", "b"], dtype="category"),
        "1 missing values",
        "in every row",
    ),
    (
        "qid",
        "NaT",
        np.array(["2020-01-01", "NaT", "NaT", "NaT"], dtype="M8[D]"),
        "3 missing values",
        "in every row",
    ),
    (
        "qid",
        "pandas.NaT",
        np.array([pd.NaT, 1, 1, 1], dtype=object),
        "1 missing values",
        "in every row",
    ),
    *(
        (
            "qid",
            f"{defect} in {kind.__name__}",
            kind(["a", missing, ("b",), 1]),
            "1 missing values",
            "in every row",
        )
        for kind in (list, objects)
        for defect, missing in MISSING.items()
    ),
    *(
        (
            "qid",
            f"StringDType with {missing!r}",
            strings_of_numpy(missing),
            "1 missing values",
            "in every row",
        )
        for missing in (None, nan, pd.NA, "missing")
        if hasattr(np.dtypes, "StringDType")
    ),
    (
        "qid",
        "complex nan alone",
        np.array([1j, 2j, complex(nan, 0), complex(0, nan)]),
        "2 missing",
        "in every row",
    ),
    ("qid", "nan in records", np.array([(1, nan)] * 4, dtype="i4,f8"), "4 missing", "in every row"),
    (
        "qid",
        "masked",
        np.ma.array([1, 1, 2, 2], mask=[0, 0, 0, 1]),
        "1 masked values",
        "in every row",
    ),
    ("qid", "polars string", pl.Series(["a", None, "b", "b"]), "1 missing values", "in every row"),
    ("qid", "polars integer", pl.Series([1, None, 2, 2]), "1 missing values", "in every row"),
    ("qid", "Arrow string", pa.array(["a", None, "b", "b"]), "1 missing values", "in every row"),
    ("qid", "Arrow scalars", list(pa.array([1, None, 2, 2])), "1 missing values", "in every row"),
    ("qid", "a signaling nan", [Decimal("sNaN"), 1, 1, 1], "no hash", "numbers, strings or tuples"),
    (
        "qid",
        "lists",
        [["a"], ["a"], ["b"], ["b"]],
        "unhashable type: 'list'",
        "numbers, strings or tuples",
    ),
    (
        "qid",
        "a list among strings",
        ["a", "a", ["b"], "b"],
        "unhashable type: 'list'",
        "numbers, strings or tuples",
    ),
    ("qid", "dicts", [{}, {}, {}, {}], "unhashable type: 'dict'", "numbers, strings or tuples"),
    (
        "qid",
        "a list in a tuple",
        [("a", []), "a", "b", "b"],
        "unhashable type: 'list'",
        "numbers, strings or tuples",
    ),
    ("qid", "arrays", [np.ones(1)] * 4, "a ndarray among its ids", "numbers, strings or tuples"),
    (
        "qid",
        "tensors",
        [Tensor(), Tensor(), 1, 1],
        "a Tensor among its ids",
        "numbers, strings or tuples",
    ),
    (
        "qid",
        "polars lists",
        pl.Series([[1], [1], [2], [2]]),
        "a ndarray among its ids",
        "numbers, strings or tuples",
    ),
    (
        "qid",
        "Arrow structs",
        pa.array([{"a": 1}] * 4),
        "unhashable type: 'dict'",
        "numbers, strings or tuples",
    ),
    ("qid", "a set", {1, 2, 3, 4}, "shape ()", "one value a row"),
    ("qid", "a mapping", {1: 1, 2: 1, 3: 1, 4: 1}, "shape ()", "one value a row"),
    ("qid", "a generator", (i for i in "aabb"), "shape ()", "one value a row"),
    (
        "sample_weight",
        "wrong length",
        [1.0, 2.0, 3.0],
        "3 values",
        "one a query (2) or one a row (4)",
    ),
    ("sample_weight", "empty", [], "0 values", "one a query (2) or one a row (4)"),
    ("sample_weight", "two columns", np.ones((4, 2)), "shape (4, 2)", "one value a row"),
    ("sample_weight", "negative", [1.0, -1.0], "negative, NaN or infinite", "weights >= 0"),
    ("sample_weight", "nan", [1.0, nan], "negative, NaN or infinite", "weights >= 0"),
    ("sample_weight", "inf", [1.0, inf], "negative, NaN or infinite", "weights >= 0"),
    (
        "sample_weight",
        "all zero",
        [0.0, 0.0],
        "zero for every query",
        "at least one positive weight",
    ),
    (
        "sample_weight",
        "huge",
        [1e308, 1e308],
        "the sum inf over the queries",
        "from 1e-05 to 1e+15",
    ),
    (
        "sample_weight",
        "one huge",
        [1e30, 0.0],
        "the sum 1e+30 over the queries",
        "from 1e-05 to 1e+15",
    ),
    (
        "sample_weight",
        "tiny",
        [1e-12, 1e-12],
        "the sum 2e-12 over the queries",
        "from 1e-05 to 1e+15",
    ),
    ("sample_weight", "denormal", [1e-320, 0.0], "e-321 over the queries", "from 1e-05 to 1e+15"),
    ("sample_weight", "beyond floats", [10**400, 1], "beyond all floats", "weights >= 0"),
    ("sample_weight", "a mapping", {0: 1.0, 1: 2.0}, "shape ()", "one value a row"),
    ("sample_weight", "a set", {1.0, 2.0}, "shape ()", "one value a row"),
    ("sample_weight", "strings", ["1", "2"], "dtype <U1", "weights >= 0"),
)


@pytest.mark.parametrize("function", ["evaluate", "gradients"])
@pytest.mark.parametrize(("argument", "defect", "value", "found", "expected"), ROWS)
def test_rows(function, argument, defect, value, found, expected):
    arguments = {**GOOD, argument: value}
    call = {
        "evaluate": lambda: evaluate([AP(), MEASURE], **arguments),
        "gradients": lambda: LambdaRank(MEASURE).gradients(**arguments),
    }[function]
    # The first that does not fit.
    named = "qid" if defect == "too short" and argument == "y_true" else argument
    check(ValueError, named, found, expected, call)


@pytest.mark.parametrize("function", ["evaluate", "gradients"])
def test_the_good_rows_are_good(function):
    call = {
        "evaluate": lambda **a: evaluate([MEASURE], **a),
        "gradients": LambdaRank(MEASURE).gradients,
    }[function]
    assert len(call(**GOOD)) > 0
    assert len(call(**GOOD, sample_weight=[1.0, 0.0])) > 0


@pytest.mark.parametrize(
    ("measure", "grades"),
    [
        (nDCG(gains=(0, 1, 3)), [0, 3]),
        (xGAP(g=(1,)), [2, 0]),
        (eGAP(g=(0.5, 0, 0.5)), [4, 0]),
        (AP(), [256, 0]),
    ],
    ids=str,
)
def test_grades_that_a_measure_does_not_know(measure, grades):
    knows = "grades up to 255" if measure == AP() else "each positive grade"
    for call in (
        lambda: evaluate([AP(), measure], grades, [1, 2]),
        lambda: LambdaRank(measure).gradients(grades, [1, 2]),
    ):
        check(ValueError, "y_true", f"grade {max(grades)}", knows, call)
    check(ValueError, "ranked", f"grade {max(grades)}", knows, lambda: measure.swap_changes(grades))


# --- evaluate's options ---------------------------------------------------------------------------

OPTIONS = table(
    ("measures", "no name", {"measures": "gpa"}, ValueError, "'gpa'", "one of gap"),
    ("measures", "no names", {"measures": ["gap", "gpa"]}, ValueError, "'gpa'", "one of gap"),
    ("measures", "a class", {"measures": [GAP]}, TypeError, "GAP", "a measure such as GAP"),
    ("measures", "None", {"measures": None}, TypeError, "None", "a measure such as GAP"),
    ("measures", "a number", {"measures": 3}, TypeError, "3", "a measure such as GAP"),
    (
        "measures",
        "a set",
        {"measures": {AP(), MEASURE}},
        TypeError,
        "AP(rel=1)",
        "a measure such as GAP",
    ),
    (
        "measures",
        "a mapping",
        {"measures": {AP(): 1}},
        TypeError,
        "AP(rel=1)",
        "a measure such as GAP",
    ),
    ("measures", "bytes", {"measures": b"gap"}, TypeError, "b'gap'", "a measure such as GAP"),
    ("ties", "unknown", {"ties": "random"}, ValueError, "'random'", '"expected" or "row"'),
    ("ties", "None", {"ties": None}, ValueError, "None", '"expected" or "row"'),
    ("empty", "unknown", {"empty": "ignore"}, ValueError, "'ignore'", '0, 1 or "skip"'),
    ("empty", "a number", {"empty": 0.5}, ValueError, "0.5", '0, 1 or "skip"'),
    ("empty", "None", {"empty": None}, ValueError, "None", '0, 1 or "skip"'),
)


@pytest.mark.parametrize(("argument", "defect", "changes", "error", "found", "expected"), OPTIONS)
def test_options_of_evaluate(argument, defect, changes, error, found, expected):
    check(
        error, argument, found, expected, lambda: evaluate(**{"measures": AP(), **GOOD, **changes})
    )


RECALL_BASES = table(
    (
        "recall_base",
        "too small",
        [[9, 0, 5], [9, 5, 5]],
        "[9, 0, 5] documents by grade for query",
        "at least the listed",
    ),
    ("recall_base", "too narrow", [[9, 9], [9, 9]], "for query", "at least the listed"),
    ("recall_base", "one query", [[9, 9, 9]], "shape (1, 3)", "shape (2, number of grades)"),
    ("recall_base", "one dimension", [9, 9, 9], "shape (3,)", "shape (2, number of grades)"),
    ("recall_base", "a number", 9, "shape ()", "shape (2, number of grades)"),
    ("recall_base", "strings", [["9", "9", "9"]] * 2, "dtype <U1", "numbers of shape"),
    ("recall_base", "ragged", [[9, 9, 9], [9, 9, 9, 9]], "different lengths", "for every query"),
    ("recall_base", "negative", [[9, 9, 9], [-1, 9, 9]], "negative", "numbers of documents"),
    ("recall_base", "fractional", [[9, 9, 9], [1, 9.5, 9]], "fractional", "numbers of documents"),
    ("recall_base", "nan", [[9, 9, nan], [1, 9, 9]], "NaN", "numbers of documents"),
    (
        "recall_base",
        "unknown grade",
        [[9, 9, 9, 1], [9, 9, 9, 0]],
        "grade 3",
        "each positive grade",
    ),
    ("recall_base", "huge", [[9, 9, 1e30], [9, 9, 9]], "the count 1e+30", "up to 2147483647"),
    (
        "recall_base",
        "beyond 63 bits",
        [[9, 9, 2**63], [9, 9, 9]],
        "the count 9.22337e+18",
        "up to 2147483647",
    ),
    (
        "recall_base",
        "huge for a query",
        {"a": (9, 9, 1e30), "b": (9, 9, 9)},
        "the count 1e+30",
        "up to 2147483647",
    ),
    (
        "recall_base['a']",
        "beyond floats",
        {"a": (9, 10**400), "b": (9, 9)},
        "beyond all floats",
        "numbers of documents",
    ),
    (
        "recall_base['b']",
        "a row beside a mapping",
        {"a": {0: 9, 1: 9}, "b": (9, 9)},
        "(9, 9)",
        "{grade: documents}",
    ),
    (
        "recall_base['a']",
        "a set for a query",
        {"a": {9, 8, 7}, "b": (9, 9)},
        "shape ()",
        "one value a row",
    ),
    ("recall_base", "a set", {(9, 9, 9), (8, 9, 9)}, "shape ()", "shape (2, number of grades)"),
    (
        "recall_base",
        "missing query of numpy",
        {np.str_("a"): (9, 9, 9)},
        "lacks query 'b' of qid",
        "every query",
    ),
    ("recall_base", "missing query", {"a": (9, 9, 9)}, "lacks query 'b' of qid", "every query"),
    (
        "recall_base['a']",
        "a number for a query",
        {"a": 9, "b": (9, 9, 9)},
        "shape ()",
        "one value a row",
    ),
    (
        "recall_base['b']",
        "strings for a query",
        {"a": (9, 9), "b": ("9", "9")},
        "dtype <U1",
        "numbers of documents",
    ),
    (
        "recall_base",
        "too small for a query",
        {"a": (9, 9, 9), "b": (9, 9)},
        "for query",
        "at least the listed",
    ),
    (
        "recall_base",
        "negative for a query",
        {"a": (9, 9, 9), "b": (9, -9, 9)},
        "negative",
        "numbers of documents",
    ),
)


@pytest.mark.parametrize(("argument", "defect", "value", "found", "expected"), RECALL_BASES)
def test_recall_base(argument, defect, value, found, expected):
    check(
        ValueError,
        argument,
        found,
        expected,
        lambda: evaluate([AP(), MEASURE], **GOOD, recall_base=value),
    )


def test_recall_base_cannot_tell_true_from_1():
    base = {1: (9, 9, 9)}
    check(
        ValueError,
        "recall_base",
        "qid holds ids that are equal and of different types",
        "an array",
        lambda: evaluate(AP(), [0, 1], [1, 2], [1, True], recall_base=base),
    )


def test_swap_changes():
    check(ValueError, "ranked", "is empty", "at least one", lambda: AP().swap_changes([]))
    check(
        ValueError,
        "ranked",
        "2 labels a row",
        "one value a row",
        lambda: AP().swap_changes([[0, 1]]),
    )
    check(
        ValueError, "recall_base", "[0, 0]", "at least", lambda: AP().swap_changes([0, 1], [0, 0])
    )
    check(
        ValueError,
        "recall_base",
        "shape (1,)",
        "of shape (1, ",
        lambda: AP().swap_changes([0, 1], 3),
    )


# --- measures of users ----------------------------------------------------------------------------


@dataclass(frozen=True, repr=False)
class Broken(Measure):
    """GAP with one defect in what it returns."""

    method: str = ""
    defect: Callable[[tuple[np.ndarray, np.ndarray]], Any] = tuple

    @property
    def short_name(self):
        return "broken"

    def discount_at(self, ranks):
        found = MEASURE.discount_at(ranks)
        return self.defect(found) if self.method == "discount_at" else found

    def tables(self, base):
        found = MEASURE.tables(base)
        return self.defect(found) if self.method == "tables" else found


def with_nan(array):
    return np.where(np.arange(array.size).reshape(array.shape) == array.size - 1, nan, array)


RETURNED = {
    # defect: what is returned instead, what the message says was found
    "nothing": (lambda found: None, "NoneType"),
    "one array": (lambda found: found[0], "ndarray"),
    "three arrays": (lambda found: (*found, found[0]), "tuple"),
    "the first too short": (lambda found: (found[0][:-1], found[1]), "shapes"),
    "the second too short": (lambda found: (found[0], found[1][:-1]), "shapes"),
    "too long": (lambda found: (np.concatenate([found[0]] * 2), found[1]), "shapes"),
    "a column": (lambda found: (found[0][..., None], found[1]), "shapes"),
    "numbers": (lambda found: (1.0, 0.0), "shapes () and ()"),
    "NaN": (lambda found: (with_nan(found[0]), found[1]), "NaN"),
    "NaN in the second": (lambda found: (found[0], with_nan(found[1])), "NaN"),
    "infinite": (lambda found: (found[0] + inf, found[1]), "infinite"),
    "complex": (lambda found: (found[0] * 1j, found[1]), "none that are numbers"),
    "text": (lambda found: (found[0].astype(str), found[1]), "none that are numbers"),
    "objects": (lambda found: (found[0].astype(object), found[1]), "none that are numbers"),
}
USES = {
    "evaluate": lambda measure: evaluate(measure, **GOOD),
    "LambdaRank": lambda measure: LambdaRank(measure).gradients(**GOOD),
    "SoftRank": lambda measure: SoftRank(measure).gradients(**GOOD),
    "ApproxRank": lambda measure: ApproxRank(measure).gradients(**GOOD),
    "swap_changes": lambda measure: measure.swap_changes([0, 1, 2]),
    "precision_recall": lambda measure: precision_recall(measure, [0, 1, 2], [1, 2, 3]),
    "maximum_entropy": lambda measure: maximum_entropy(measure, 0.7, [17, 2, 1]),
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("defect", RETURNED)
@pytest.mark.parametrize("method", ["tables", "discount_at"])
def test_what_measures_of_users_return(use, defect, method):
    change, found = RETURNED[defect]
    check(ValueError, method, found, "", lambda: USES[use](Broken(method=method, defect=change)))


@pytest.mark.parametrize("use", USES)
def test_good_measures_of_users(use):
    """Other dtypes, orders of memory and read-only arrays are no defects."""

    def change(found):
        pair, own = (np.asfortranarray(array.astype(np.float32)) for array in found)
        pair.flags.writeable = False
        return [pair, own]

    for method in ("tables", "discount_at"):
        USES[use](Broken(method=method, defect=change))


# --- measures and objectives ----------------------------------------------------------------------

EACH = "one threshold probability for each of the grades"
PARAMETERS = table(
    ("g", "tiny", lambda: GAP(g=(5e-324, 1.0)), ValueError, "5e-324", "at least 1e-100"),
    ("g", "a number", lambda: GAP(g=0.5), ValueError, "0.5", EACH),
    ("g", "a string", lambda: xGAP(g="0.5"), ValueError, "'0.5'", EACH),
    ("g", "words", lambda: GAP(g=("a", "b")), ValueError, "('a', 'b')", "numbers"),
    ("g", "None inside", lambda: GAP(g=(0.5, None)), ValueError, "None", "numbers"),
    ("g", "a mapping", lambda: GAP(g={0: 0.7, 1: 0.3}), ValueError, "{0: 0.7, 1: 0.3}", EACH),
    (
        "g",
        "a mapping that sums to 1",
        lambda: GAP(g={0.7: 0, 0.3: 1}),
        ValueError,
        "{0.7: 0, 0.3: 1}",
        EACH,
    ),
    ("g", "a set", lambda: eGAP(g={0.7, 0.3}), ValueError, "{0.", EACH),
    ("g", "a frozen set", lambda: xGAP(g=frozenset({0.7, 0.3})), ValueError, "frozenset", EACH),
    ("g", "bytes", lambda: GAP(g=b"\0\1"), ValueError, "b'\\x00\\x01'", EACH),
    ("g", "beyond floats", lambda: GAP(g=(10**400, 0)), ValueError, "(1000", "numbers"),
    ("g", "two rows", lambda: GAP(g=np.eye(2)), ValueError, "array", "numbers"),
    ("g", "empty", lambda: eGAP(g=()), ValueError, "empty", EACH),
    (
        "g",
        "negative",
        lambda: GAP(g=(-0.5, 1.5)),
        ValueError,
        "(-0.5, 1.5)",
        "none of them negative or NaN",
    ),
    ("g", "nan", lambda: GAP(g=(nan, 1)), ValueError, "(nan, 1.0)", "none of them negative or NaN"),
    ("g", "inf", lambda: GAP(g=(inf, 0)), ValueError, "sum inf", "sum 1"),
    ("g", "sum below 1", lambda: GAP(g=(0.5, 0.4)), ValueError, "sum 0.9", "sum 1"),
    ("g", "sum above 1", lambda: GAP(g=(0.5, 0.6)), ValueError, "sum 1.1", "sum 1"),
    ("g", "all zero", lambda: GAP(g=(0, 0)), ValueError, "sum 0", "sum 1"),
    (
        "g",
        "nothing relevant",
        lambda: GAP().resolved(np.array([0])),
        ValueError,
        "no document",
        "relevant documents",
    ),
    *(
        (
            name,
            str(k),
            lambda kind=kind, k=k: kind(**k),
            ValueError,
            repr(*k.values()),
            "a whole number",
        )
        for kind in MEASURES_BY_NAME.values()
        for name, k in (("k", {"k": bad}) for bad in (0, -1, True, 2.0, "10", (5,)))
    ),
    ("k", "None", lambda: Precision(k=None), ValueError, "None", "a cut-off >= 1"),
    ("k", "None for recall", lambda: gb.Recall(k=None), ValueError, "None", "a cut-off >= 1"),
    ("k", "1 for pairs", lambda: gb.KendallTau(k=1), ValueError, "is 1", "a cut-off >= 2"),
    (
        "k",
        "for a sum",
        lambda: gb.WeightedSum(((1, AP()),), k=3),
        ValueError,
        "k is 3",
        "inside the measures",
    ),
    ("weight", "0", lambda: 0 * AP(), ValueError, "is 0", "a finite number > 0"),
    ("weight", "below 0", lambda: AP() * -1.0, ValueError, "-1.0", "a finite number > 0"),
    ("weight", "text", lambda: "2" * AP(), ValueError, "'2'", "a finite number > 0"),
    ("parts", "none", lambda: gb.WeightedSum(), ValueError, "empty", "at least one measure"),
    (
        "parts",
        "a name",
        lambda: gb.WeightedSum(((1, "ap"),)),
        TypeError,
        "'ap'",
        "measures such as",
    ),
    *(
        (
            "discount_by",
            str(bad),
            lambda bad=bad: nDCG(discount_by=bad),
            ValueError,
            repr(bad),
            '"log2", "letor"',
        )
        for bad in ("log", 1, 0.5, nan, inf, True, None, (2,))
    ),
    ("ideal_at_k", "1", lambda: AP(k=3, ideal_at_k=1), ValueError, "is 1", "True or False"),
    ("short_is_zero", "1", lambda: nDCG(k=3, short_is_zero=1), ValueError, "is 1", "True or False"),
    *(
        ("p", str(bad), lambda bad=bad: gb.RBP(p=bad), ValueError, repr(bad), "between 0 and 1")
        for bad in (0, 1, 1.5, nan, "0.8", None)
    ),
    (
        "gains",
        "beyond 1",
        lambda: gb.RBP(gains=(0, 1, 2)),
        ValueError,
        "(0, 1, 2)",
        "each from 0 to 1",
    ),
    (
        "gains",
        "beside rel",
        lambda: gb.RBP(gains=(0, 1), rel=2),
        ValueError,
        "(0, 1)",
        "without rel",
    ),
    ("gains", "a word", lambda: gb.RBP(gains="linear"), ValueError, "'linear'", "each from 0 to 1"),
    (
        "gains",
        "beyond 1 of INSQ",
        lambda: gb.INSQ(gains=(0, 1, 2)),
        ValueError,
        "(0, 1, 2)",
        "each from 0 to 1",
    ),
    ("t", "0", lambda: gb.INSQ(t=0), ValueError, "is 0", "a finite number > 0"),
    (
        "k",
        "1 of SpearmanRho",
        lambda: gb.SpearmanRho(k=1),
        ValueError,
        "is 1",
        "one document makes no pair",
    ),
    ("beta", "0", lambda: gb.QMeasure(beta=0), ValueError, "is 0", "a finite number > 0"),
    ("top", "0", lambda: gb.ERR(top=0), ValueError, "is 0", "the highest grade"),
    *(
        (
            "measure",
            f"{how.__name__} of {measure}",
            lambda how=how, m=measure: how(m),
            ValueError,
            repr(measure),
            "such as",
        )
        for how in (SoftRank, ApproxRank)
        for measure in (gb.RR(), gb.ERR(top=3), AP() + gb.ERR())
    ),
    *(
        (
            "rel",
            str(bad),
            lambda kind=kind, bad=bad: kind(rel=bad),
            ValueError,
            repr(bad),
            "a number > 0",
        )
        for kind in (AP, Precision, gb.RBP, gb.INSQ, gb.Recall, gb.RPrecision, gb.RR)
        for bad in (0, -1, True, float("nan"), float("inf"), "1", None)
    ),
    ("gains", "a number", lambda: nDCG(gains=3), ValueError, "3", "the gain of grade 0, 1"),
    ("gains", "a string", lambda: nDCG(gains="013"), ValueError, "'013'", "the gain of grade 0, 1"),
    (
        "gains",
        "a mapping",
        lambda: nDCG(gains={0: 0, 1: 1}),
        ValueError,
        "{0: 0, 1: 1}",
        "the gain of grade 0, 1",
    ),
    (
        "gains",
        "a set",
        lambda: nDCG(gains={0, 1, 3}),
        ValueError,
        "{0, 1, 3}",
        "the gain of grade 0, 1",
    ),
    (
        "gains",
        "bytes",
        lambda: nDCG(gains=b"\0\1"),
        ValueError,
        "b'\\x00\\x01'",
        "the gain of grade 0, 1",
    ),
    (
        "gains",
        "beyond floats",
        lambda: nDCG(gains=(0, 10**400)),
        ValueError,
        "1000",
        "the gain of grade 0, 1",
    ),
    ("gains", "empty", lambda: nDCG(gains=()), ValueError, "()", "the gain of grade 0, 1"),
    ("gains", "one", lambda: nDCG(gains=(1,)), ValueError, "(1.0,)", "never falling"),
    (
        "gains",
        "falling",
        lambda: nDCG(gains=(0, 2, 1)),
        ValueError,
        "(0.0, 2.0, 1.0)",
        "never falling",
    ),
    ("gains", "negative", lambda: nDCG(gains=(-1, 2)), ValueError, "(-1.0, 2.0)", "from 0 on"),
    (
        "gains",
        "tiny",
        lambda: nDCG(gains=(0, 5e-324)),
        ValueError,
        "5e-324",
        "from 1e-100 to 1e+100",
    ),
    (
        "gains",
        "huge",
        lambda: nDCG(gains=(0, 1e300)),
        ValueError,
        "1e+300",
        "from 1e-100 to 1e+100",
    ),
    ("gains", "nan", lambda: nDCG(gains=(0, nan)), ValueError, "(0.0, nan)", "finite"),
    (
        "measure",
        "unknown name",
        lambda: as_measure("mpa"),
        ValueError,
        "'mpa'",
        "gap, xgap, egap, ap, ndcg, precision",
    ),
    ("measure", "no parameter", lambda: as_measure("ap(g=1)"), ValueError, "'ap(g=1)'", "rel=..."),
    ("measure", "bad cut-off", lambda: as_measure("ap@0"), ValueError, "'ap@0'", "a whole number"),
    ("measure", "None", lambda: as_measure(None), TypeError, "None", "a measure such as GAP"),
    (
        "measure",
        "a class",
        lambda: as_measure(GAP),
        TypeError,
        "GAP",
        "a measure such as GAP(g=(0.5, 0.5))",
    ),
    (
        "g",
        "for ap",
        lambda: as_measure("ap", (0.5, 0.5)),
        ValueError,
        "measure is 'ap'",
        "only with gap, xgap or egap",
    ),
    (
        "g",
        "for a value",
        lambda: as_measure(GAP(), (0.5, 0.5)),
        ValueError,
        "measure is GAP()",
        "g inside the measure",
    ),
    (
        "measure",
        "no name in an objective",
        lambda: LambdaRank("gpa"),
        ValueError,
        "'gpa'",
        "one of gap",
    ),
    (
        "measure",
        "a class in an objective",
        lambda: LambdaRank(GAP),
        TypeError,
        "GAP",
        "a measure such as GAP",
    ),
    *(
        (
            "sigma",
            str(bad),
            lambda bad=bad: LambdaRank(AP(), sigma=bad),
            ValueError,
            repr(bad),
            "a finite number > 0",
        )
        for bad in (0, -1.0, nan, inf, None, "1", 10**400, 1e154, 1e-154)
    ),
    *(
        (
            "truncation",
            str(bad),
            lambda bad=bad: LambdaRank(AP(), truncation=bad),
            ValueError,
            repr(bad),
            "a whole number of ranks >= 1",
        )
        for bad in (0, -5, True, 30.0, "30")
    ),
    *(
        (
            "random_state",
            str(bad),
            lambda bad=bad: LambdaRank(AP(), random_state=bad),
            ValueError,
            repr(bad),
            "a whole number >= 0",
        )
        for bad in (-1, 0.5, None, "0")
    ),
    (
        "objective",
        "unknown name",
        lambda: as_objective("softmax", AP()),
        ValueError,
        "'softmax'",
        "lambdarank",
    ),
)


@pytest.mark.parametrize(("argument", "defect", "call", "error", "found", "expected"), PARAMETERS)
def test_parameters(argument, defect, call, error, found, expected):
    check(error, argument, found, expected, call)


def test_tables_need_a_g():
    check(
        ValueError,
        "GAP()",
        "has no g yet",
        "resolved",
        lambda: GAP().tables(RecallBase.of_whole_grades(np.ones((1, 2), dtype=int))),
    )


def test_errors_come_before_any_work():
    """A bad option is refused before the rows are read, even if these are bad too."""
    check(ValueError, "ties", "'no'", "row", lambda: evaluate(AP(), [nan], [nan], ties="no"))
    check(
        ValueError, "y_true", "NaN", "grades", lambda: gb.LambdaRank(AP()).gradients([nan], [nan])
    )
