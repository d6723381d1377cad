"""Unusable parameters of measures and objectives, and measures of users that return nonsense."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from bad_input import check_refusal, inf, nan

import gapboost as gb
from gapboost.analysis import (
    bpref,
    expected_value,
    informativeness,
    local_optimality,
    maximum_entropy,
    precision_recall,
    ranked_lists,
)
from gapboost.measures import MEASURES_BY_NAME, QuadraticForm, as_measure
from gapboost.model_selection import g_from_clicks
from gapboost.objectives import approximation_bound

GOOD = {"y_true": [0, 1, 2, 0], "y_score": [4.0, 3.0, 2.0, 1.0], "qid": ["a", "a", "b", "b"]}
MEASURE = gb.GAP(g=(0.5, 0.5))

# --- parameters -----------------------------------------------------------------------------------

GRADED = (gb.GAP, gb.xGAP, gb.eGAP)
WITH_REL = (gb.AP, gb.Precision, gb.RBP, gb.INSQ, gb.Recall, gb.RPrecision, gb.RR, gb.Success)
NO_NUMBERS = ("0.5", ("a", "b"), {0: 0.7, 1: 0.3}, {0.7: 0, 0.3: 1}, {0.7, 0.3}, b"\0\1", ())
NOT_POSITIVE = (0, -1, True, nan, inf, "1", None)
KINDS = {
    # argument: [(measures or objectives, values)]
    "g": [
        (GRADED, NO_NUMBERS),
        (GRADED, [0.5, (0.5, None), (10**400, 0), np.eye(2), frozenset({0.7, 0.3})]),
        (GRADED, [(-0.5, 1.5), (nan, 1), (inf, 0), (0.5, 0.4), (0.5, 0.6), (0, 0), (5e-324, 1)]),
    ],
    "k": [
        (MEASURES_BY_NAME.values(), (0, -1, True, 2.0, "10", (5,))),
        ((gb.Precision, gb.Recall, gb.Success), [None]),
    ],
    "rel": [(WITH_REL, NOT_POSITIVE)],
    "gains": [
        ((gb.nDCG,), (*NO_NUMBERS, 3, (0, 10**400), (1,), (0, 2, 1), (-1, 2), (0, nan))),
        ((gb.nDCG,), [(0, 5e-324), (0, 1e300), None]),
        ((gb.RBP, gb.INSQ), [(0, 1, 2), "linear"]),
    ],
    "discount_by": [((gb.nDCG,), ("log", 1, 0.5, nan, inf, True, None, (2,)))],
    "ideal_at_k": [((gb.AP,), [1])],
    "capped": [((gb.Recall,), [1])],
    "short_is_zero": [((gb.nDCG,), [1])],
    "p": [((gb.RBP,), (0, 1, 1.5, nan, "0.8", None))],
    "t": [((gb.INSQ,), NOT_POSITIVE)],
    "beta": [((gb.QMeasure,), NOT_POSITIVE), ((gb.ApproxRank,), NOT_POSITIVE[:-1])],
    "alpha": [((gb.ApproxRank,), NOT_POSITIVE)],
    "top": [((gb.ERR,), (0, -1, 1.5, "3"))],
    "sigma": [((gb.LambdaRank, gb.SoftRank), (*NOT_POSITIVE, 10**400, 1e154, 1e-154))],
    "score_distance": [((gb.LambdaRank,), NOT_POSITIVE[:-1])],
    "truncation": [((gb.LambdaRank,), (0, -5, True, 30.0, "30"))],
    "random_state": [((gb.LambdaRank,), (-1, 0.5, None, "0"))],
    "measure": [
        ((gb.LambdaRank, gb.SoftRank, gb.ApproxRank), ["gpa", gb.GAP, None]),
        ((gb.SoftRank, gb.ApproxRank), [gb.RR(), gb.ERR(top=3), gb.AP() + gb.ERR()]),
    ],
}


@pytest.mark.parametrize(
    ("argument", "kind", "value"),
    [
        (argument, kind, value)
        for argument, groups in KINDS.items()
        for kinds, values in groups
        for kind in kinds
        for value in values
    ],
)
def test_parameters(argument, kind, value):
    objective = kind in (gb.LambdaRank, gb.SoftRank, gb.ApproxRank) and argument != "measure"
    needed = {"measure": gb.AP()} if objective else {}
    check_refusal(argument, lambda: kind(**needed, **{argument: value}))


@dataclass(frozen=True, repr=False)
class Shadowing(gb.GAP):
    """A field has the name of a method."""

    depth: float = 5.0


class WithoutFields(QuadraticForm):
    """Its parameter is no field."""

    def __init__(self, power):
        self.power = power

    def tables(self, base):
        raise NotImplementedError


OTHERS = [
    ("g", lambda: gb.GAP().resolved(np.array([0]))),
    ("its attribute g", lambda: gb.GAP(g=g_from_clicks([1, 2], [30, 60], impressions=[100, 100]))),
    ("k", lambda: gb.WeightedSum(((1, gb.AP()),), k=3)),
    ("weight", lambda: gb.AP() * -1.0),
    ("weight", lambda: "2" * gb.AP()),
    ("gains", lambda: gb.RBP(gains=(0, 1), rel=2)),
    ("measure", lambda: as_measure("ap@0")),
    ("measure", lambda: as_measure(None)),
    ("measure", lambda: as_measure(gb.GAP)),
    ("dataclass", lambda: as_measure(WithoutFields(3))),
    ("'depth'", lambda: as_measure(Shadowing())),
    ("ir_measures.Bpref", lambda: as_measure(bpref)),
    ("objective", lambda: approximation_bound(gb.SoftRank(gb.AP()), [0, 1], [1, 2])),
    ("measure", lambda: precision_recall(gb.ERR(top=2), [0, 1], [1, 2])),
    ("measure", lambda: maximum_entropy(gb.ERR(top=2), 0.7, [17, 2, 1])),
    ("top", lambda: gb.grAP(gains=(0, 1), top=1)),
]


@pytest.mark.parametrize(("argument", "call"), OTHERS)
def test_other_parameters(argument, call):
    with pytest.raises((ValueError, TypeError), match="expected") as caught:
        call()
    assert argument in str(caught.value)


# --- measures of users ----------------------------------------------------------------------------


@dataclass(frozen=True, repr=False)
class Broken(QuadraticForm):
    """GAP with one defect in what it returns."""

    method: str = ""
    defect: Callable[[tuple[np.ndarray, np.ndarray]], Any] = tuple

    def discount_at(self, ranks):
        found = MEASURE.discount_at(ranks)
        return self.defect(found) if self.method == "discount_at" else found

    def tables(self, base):
        found = MEASURE.tables(base)
        return self.defect(found) if self.method == "tables" else found


def with_nan(array):
    return np.where(np.arange(array.size).reshape(array.shape) == array.size - 1, nan, array)


RETURNED = {
    "nothing": lambda found: None,
    "three arrays": lambda found: (*found, found[0]),
    "the first too short": lambda found: (found[0][:-1], found[1]),
    "too long": lambda found: (np.concatenate([found[0]] * 2), found[1]),
    "a column": lambda found: (found[0][..., None], found[1]),
    "NaN": lambda found: (with_nan(found[0]), found[1]),
    "infinite": lambda found: (found[0] + inf, found[1]),
    "complex": lambda found: (found[0] * 1j, found[1]),
    "text": lambda found: (found[0].astype(str), found[1]),
}
USES = {
    "evaluate": lambda measure: gb.evaluate(measure, **GOOD),
    "LambdaRank": lambda measure: gb.LambdaRank(measure).gradients(**GOOD),
    "SoftRank": lambda measure: gb.SoftRank(measure).gradients(**GOOD),
    "ApproxRank": lambda measure: gb.ApproxRank(measure).gradients(**GOOD),
    "precision_recall": lambda measure: precision_recall(measure, [0, 1, 2], [1, 2, 3]),
    "maximum_entropy": lambda measure: maximum_entropy(measure, 0.7, [17, 2, 1]),
}
LISTS, X = ranked_lists([0, 1, 2], [1, 2, 3]), np.eye(3)[:, :1]
GRADED_USES = {
    **USES,
    "expected_value": lambda measure: expected_value(measure, [[0.5, 0.3, 0.2]], [5, 3, 2]),
    "informativeness": lambda measure: informativeness([measure], LISTS, minimum=1, n_jobs=1),
    "local_optimality": lambda measure: local_optimality([measure], [1], X, [0, 1, 2]),
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("defect", RETURNED)
@pytest.mark.parametrize("method", ["tables", "discount_at"])
def test_what_measures_of_users_return(use, defect, method):
    measure = Broken(method=method, defect=RETURNED[defect])
    check_refusal(method, lambda: USES[use](measure))


@pytest.mark.parametrize("use", GRADED_USES)
def test_grades_beyond_those_of_a_measure(use):
    with pytest.raises(ValueError, match="holds the grade 2"):
        GRADED_USES[use](gb.GAP(g=(1.0,)))


@pytest.mark.parametrize("use", USES)
def test_good_measures_of_users(use):
    """Other dtypes, orders of memory and read-only arrays are no defects."""

    def change(found):
        pair, own = (np.asfortranarray(array.astype(np.float32)) for array in found)
        pair.flags.writeable = False
        return [pair, own]

    for method in ("tables", "discount_at"):
        USES[use](Broken(method=method, defect=change))


@pytest.mark.parametrize("kind", sorted({*WITH_REL} - {gb.RBP, gb.INSQ}, key=str))
def test_a_number_without_a_name_is_neither_cutoff_nor_grade(kind):
    with pytest.raises(TypeError, match="positional"):
        kind(5)
