"""Measures of users: with a quadratic form, or with an evaluation of their own."""

import pickle
from dataclasses import dataclass, field

import numpy as np
import numpy.testing as npt
import pytest

import gapboost as gb
from gapboost.measures import Measure, QuadraticForm
from gapboost.measures.discounts import Reciprocal

Y = np.array([0, 2, 1, 2, 0, 1, 3, 0])
SCORES = np.array([2.0, 2.0, 1.0, 0.5, 0.5, 3.0, -1.0, 0.0])
QID = np.array([1, 1, 1, 1, 2, 2, 2, 2])


@dataclass(frozen=True, repr=False)
class Zipf(QuadraticForm):
    """Measure of the tutorial."""

    a: float = field(default=1.0, metadata={"always_shown": True})

    def discount_at(self, ranks):
        return ranks**-self.a, -self.a * ranks ** (-self.a - 1)

    def tables(self, base):
        n_queries, n_levels = base.counts.shape
        wanted = base.counts[:, base.levels >= 2].sum(axis=1)
        wanted = wanted if self.k is None else np.minimum(wanted, self.k)
        ideal = np.array([(np.arange(1, n + 1) ** -self.a).sum() if n else np.inf for n in wanted])
        own = (base.levels >= 2) / ideal[:, None]
        return np.zeros((n_queries, n_levels, n_levels)), own


@dataclass(frozen=True, repr=False)
class OwnAP(QuadraticForm):
    """AP with the discount as a value, and a short name."""

    discount_at = Reciprocal()
    short_name = "own"

    def tables(self, base):
        return gb.AP().tables(base)


@dataclass(frozen=True, repr=False)
class FirstGrade(Measure):
    """Mean grade of the documents at rank 1, which has no form."""

    threshold: float = 0

    def evaluator(self, base, sizes):
        def evaluated(ranked):
            values = []
            for q, begin in enumerate(ranked.starts[:-1]):
                tied = ranked.grades[begin : begin + ranked.ends[begin]]
                levels = base.levels if base.levels.ndim == 1 else base.levels[q]
                values.append(levels[tied].mean())
            return np.array(values)

        return evaluated


def test_a_measure_with_tables_evaluates_and_trains():
    measure = Zipf(a=1.0)
    assert repr(Zipf(a=2.0, k=3)) == "Zipf(a=2.0, k=3)"
    assert (measure.short_name, Zipf(a=2.0, k=3).label) == ("zipf", "Zipf_a_2.0_at_3")
    assert gb.evaluate(measure, [0, 2, 1], [2.0, 2.0, 1.0]) == {measure.name: 0.75}
    for objective in (gb.LambdaRank(measure), gb.SoftRank(measure), gb.ApproxRank(measure)):
        assert objective.gradients(Y, SCORES, QID)[0].any()
    assert [part for _, part in (0.5 * measure + gb.AP()).terms] == [measure, gb.AP()]


def test_a_discount_that_is_a_value_is_shared():
    measure, y = OwnAP(), np.linspace(0.0, 2.0, 60)
    scores = np.random.default_rng(0).standard_normal(60)
    assert gb.evaluate(measure, y, scores)[measure] == gb.evaluate(gb.AP(), y, scores)[gb.AP()]
    assert len((0.5 * measure + 0.5 * gb.AP()).terms) == 1
    found, expected = (gb.LambdaRank(m).gradients(y, scores) for m in (measure, gb.AP()))
    npt.assert_array_equal(found, expected)


def test_a_measure_that_evaluates_in_its_own_way():
    measure = FirstGrade()
    assert gb.evaluate(measure, Y, SCORES, QID, per_query=True)[measure].tolist() == [1.0, 1.0]
    assert np.isnan(gb.evaluate(measure, [0, 0], [1.0, 2.0], empty="skip")[measure])
    mixed = 0.5 * measure + 0.5 * gb.AP()
    values = gb.evaluate([mixed, measure, gb.AP()], Y, SCORES, QID)
    assert values[mixed] == pytest.approx(0.5 * values[measure] + 0.5 * values[gb.AP()])
    with pytest.raises(ValueError, match="evaluate but not train"):
        gb.LambdaRank(mixed)


def test_a_measure_defines_how_it_evaluates():
    for base, missing in ((Measure, "evaluator"), (QuadraticForm, "tables")):
        with pytest.raises(TypeError, match=f"abstract.*{missing}"):
            type("Silent", (base,), {})()


def test_a_measure_without_a_discount_says_so():
    Flat = type("Flat", (QuadraticForm,), {"tables": lambda self, base: gb.AP().tables(base)})
    with pytest.raises(ValueError, match=r"^measure is Flat\(\), .*discount"):
        gb.evaluate(Flat(), Y, SCORES)


def test_classes_of_another_process():
    """Dask sends classes by value that it cannot import elsewhere."""
    cloudpickle = pytest.importorskip("cloudpickle")
    scope = {}
    exec(
        "from gapboost.measures import *\nclass Sent(QuadraticForm):\n"
        "    discount_at = AP().discount_at\n"
        "    def tables(self, base):\n        return AP().tables(base)\n",
        scope,
    )
    sent = pickle.loads(cloudpickle.dumps(scope["Sent"](k=2)))
    found, expected = (gb.evaluate(m, Y, SCORES, QID)[m] for m in (sent, gb.AP(k=2)))
    assert found == expected
