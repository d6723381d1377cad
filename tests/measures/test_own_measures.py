"""Measures of users: subclasses of `Measure`, with a quadratic form or their own evaluation."""

import pickle
from abc import abstractmethod
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import numpy.testing as npt
import pytest

import gapboost as gb
from gapboost import analysis
from gapboost.measures import Measure, QuadraticForm
from gapboost.measures.discounts import Reciprocal

Y = np.array([0, 2, 1, 2, 0, 1, 3, 0])
SCORES = np.array([2.0, 2.0, 1.0, 0.5, 0.5, 3.0, -1.0, 0.0])
QID = np.array([1, 1, 1, 1, 2, 2, 2, 2])


@dataclass(frozen=True, repr=False)
class Zipf(Measure):
    """Measure of the tutorial."""

    a: float = field(default=1.0, metadata={"always_shown": True})

    @property
    def short_name(self) -> str:
        return "zipf"

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
class OwnAP(Measure):
    """AP with the discount as a value."""

    discount_at = Reciprocal()

    @property
    def short_name(self):
        return "own_ap"

    def tables(self, base):
        return gb.AP().tables(base)


@dataclass(frozen=True, repr=False)
class Named(Measure):
    """A base class of someone's own, which is no form itself."""

    @property
    def short_name(self):
        return "named"

    @property
    @abstractmethod
    def gain(self): ...

    def discount(self, n):
        return 2.0 * super().discount(n)


class Tables:
    """A mixin with tables."""

    def tables(self, base):
        pair, own = gb.nDCG().tables(base)
        return pair, self.gain * own


@dataclass(frozen=True, repr=False)
class Mixed(Tables, Named):
    discount_at = gb.nDCG().discount_at
    gain = 0.5


@dataclass(frozen=True, repr=False)
class FirstGrade(Measure):
    """Mean grade of the documents at rank 1, without tables, as written for 0.1.0rc1."""

    has_tables: ClassVar[bool] = False
    threshold: float = 0

    discount_at = Reciprocal()

    @property
    def short_name(self):
        return "first_grade"

    def tables(self, base):
        raise ValueError("no tables")

    def evaluated(self, ranked, base, weights, begins):
        values = []
        for q, (begin, end) in enumerate(zip(ranked.starts[:-1], ranked.starts[1:], strict=True)):
            tied = ranked.grades[begin : begin + ranked.ends[begin]]
            levels = base.levels if base.levels.ndim == 1 else base.levels[q]
            values.append(levels[tied].mean() if end > begin else 0.0)
        return np.array(values)

    def relevant(self, base):
        return ((base.counts > 0) & (base.levels > self.threshold)).any(axis=1)

    def changes(self, grades, base):
        levels = base.levels[0] if base.levels.ndim == 2 else base.levels
        changes = np.zeros((len(grades), len(grades)))
        changes[0] = levels[grades] - levels[grades[0]]
        return changes


@dataclass(frozen=True, repr=False)
class FirstGradeAlone(FirstGrade):
    """Measure whose relevance and changes follow from its values."""

    relevant = Measure.relevant
    changes = Measure.changes


def test_a_measure_with_tables_has_the_form():
    measure = Zipf(a=1.0)
    assert isinstance(measure, QuadraticForm)
    assert isinstance(measure, Measure)
    assert repr(Zipf(a=2.0, k=3)) == "Zipf(a=2.0, k=3)"
    assert (measure.label, Zipf(a=2.0, k=3).label) == ("zipf", "zipf_a_2.0_at_3")
    assert gb.evaluate(measure, [0, 2, 1], [2.0, 2.0, 1.0]) == {measure: 0.75}
    for objective in (gb.LambdaRank(measure), gb.SoftRank(measure), gb.ApproxRank(measure)):
        grad, _ = objective.gradients(Y, SCORES, QID)
        assert grad.any()
    mixed = 0.5 * measure + 0.5 * gb.AP()
    assert [part for _, part in mixed.terms] == [measure, gb.AP()]
    npt.assert_array_equal(measure.swap_changes([0, 2]), [[0, 0.5], [0.5, 0]])


def test_a_measure_shares_a_discount_that_is_a_value():
    measure, y = OwnAP(), np.linspace(0.0, 2.0, 60)
    scores = np.random.default_rng(0).standard_normal(60)
    assert isinstance(measure, QuadraticForm)
    assert gb.evaluate(measure, y, scores)[measure] == gb.evaluate(gb.AP(), y, scores)[gb.AP()]
    ((weight, mixed),) = (0.5 * measure + 0.5 * gb.AP()).terms  # one discount
    assert (weight, mixed) == (1.0, 0.5 * measure + 0.5 * gb.AP())
    for found, expected in zip(
        *(gb.LambdaRank(m).gradients(y, scores) for m in (measure, gb.AP())), strict=True
    ):
        npt.assert_array_equal(found, expected)


def test_the_form_may_come_from_a_mixin_and_go_to_a_class_between():
    assert not issubclass(Named, QuadraticForm)
    assert issubclass(Mixed, QuadraticForm)
    (found,), (expected,) = (gb.evaluate(m, Y, SCORES, QID).values() for m in (Mixed(), gb.nDCG()))
    assert found == pytest.approx(expected)


@pytest.mark.parametrize("measure", [FirstGrade(), FirstGradeAlone()], ids=repr)
def test_a_measure_that_evaluates_in_its_own_way(measure):
    assert not isinstance(measure, QuadraticForm)
    assert isinstance(measure, Measure)
    assert gb.evaluate(measure, Y, SCORES, QID, per_query=True)[measure].tolist() == [1.0, 1.0]
    assert np.isnan(gb.evaluate(measure, [0, 0], [1.0, 2.0], empty="skip")[measure])
    expected = np.zeros((3, 3))
    expected[0] = expected[:, 0] = [0, 2, 1]
    npt.assert_array_equal(measure.swap_changes([0, 2, 1]), expected)
    mixed = 0.5 * measure + 0.5 * gb.AP()
    assert [part for _, part in mixed.terms] == [measure, gb.AP()]
    values = gb.evaluate([mixed, measure, gb.AP()], Y, SCORES, QID)
    assert values[mixed] == pytest.approx(0.5 * values[measure] + 0.5 * values[gb.AP()])
    assert not mixed.trains
    with pytest.raises(ValueError, match="which gapboost can evaluate but not train for"):
        gb.LambdaRank(measure)
    with pytest.raises(ValueError, match="which is no sum over pairs of documents"):
        analysis.precision_recall(measure, Y[:4], SCORES[:4])


def test_a_measure_has_to_say_how_it_evaluates():
    @dataclass(frozen=True, repr=False)
    class Silent(Measure):
        discount_at = Reciprocal()
        short_name = "silent"

    with pytest.raises(TypeError, match=r"abstract.*evaluated"):
        Silent()


@pytest.mark.parametrize(
    "measure", [Zipf(a=2.0, k=3), OwnAP(), Mixed(), 0.5 * Zipf() + 2 * FirstGrade()], ids=repr
)
def test_pickles(measure):
    again = pickle.loads(pickle.dumps(measure))
    assert again == measure
    assert hash(again) == hash(measure)
    assert gb.evaluate(again, Y, SCORES, QID) == gb.evaluate(measure, Y, SCORES, QID)


def test_classes_of_another_process():
    """Dask sends classes by value that it cannot import elsewhere."""
    cloudpickle = pytest.importorskip("cloudpickle")
    scope = {}
    exec(
        "from gapboost.measures import *\nclass Sent(Measure):\n    short_name = 'sent'\n    "
        "discount_at = AP().discount_at\n"
        "    def tables(self, base):\n        return AP().tables(base)\n",
        scope,
    )
    sent = pickle.loads(cloudpickle.dumps(scope["Sent"](k=2)))
    assert isinstance(sent, QuadraticForm)
    assert list(gb.evaluate(sent, Y, SCORES, QID).values()) == list(
        gb.evaluate(gb.AP(k=2), Y, SCORES, QID).values()
    )
