"""A weighted sum of measures equals the sum of its parts: values, gradients and swap changes."""

from dataclasses import dataclass

import numpy as np
import pytest
from pair_sum import swap_changes

import gapboost as gb
from gapboost.measures import QuadraticForm, RecallBase
from gapboost.measures.discounts import Constant, LogFromBase, Reciprocal

TOP = 3


@dataclass(frozen=True, repr=False)
class Late(QuadraticForm):
    """A user's measure: relevant documents count 1 down to rank `step`, and `rest` beyond it."""

    step: int = 100
    rest: float = 0.5

    def discount_at(self, ranks):
        return np.where(ranks <= self.step, 1.0, self.rest), np.zeros(ranks.shape)

    def tables(self, base):
        return gb.Recall(k=1).tables(base)


@dataclass(frozen=True, repr=False)
class Slow(QuadraticForm):
    """A measure of someone's own that shares its discount with one of the library."""

    base: float = 200.0

    @property
    def discount_at(self):
        return LogFromBase(self.base)

    def tables(self, base):
        return gb.AP().tables(base)


@dataclass(frozen=True, repr=False)
class FirstOnly(gb.DCG):
    """Overrides the weights at whole ranks and inherits those at real ranks."""

    def discount(self, n):
        return (np.arange(n) == 0).astype(float)


def test_a_discount_at_whole_ranks_is_kept_in_a_sum():
    y, scores, measure = [0, 1, 2], [3.0, 2.0, 1.0], FirstOnly()
    assert gb.evaluate(measure, y, scores) == {measure.name: 0.0}
    for other in (gb.DCG(), gb.AP()):
        mixed = 2.0 * measure + 0.5 * other
        values = gb.evaluate([mixed, other], y, scores)
        assert values[mixed] == 0.5 * values[other]


def random_part(rng):
    """A measure that LambdaRank trains for; many have a discount that changes late."""
    k = None if rng.random() < 0.6 else int(rng.integers(2, 3000))
    late = int(rng.integers(1, 3000))
    base = float(rng.choice([2.0, 200.0, 300.0, 1e4]))
    g = tuple(rng.dirichlet(np.ones(TOP)))
    return rng.choice(
        [
            gb.nDCG(discount_by=base, k=k),
            gb.DCG(discount_by="letor", gains="linear", k=k),
            gb.GAP(g=g, k=k),
            gb.xGAP(g=g, k=k),
            gb.RBP(p=0.99),
            gb.Recall(k=late, rel=2, capped=bool(k)),
            gb.Precision(k=late),
            gb.PairwiseAccuracy(k=k),
            Late(step=late, rest=float(rng.random()), k=k),
            Slow(base=base, k=k),
        ]
    )


def random_sum(rng):
    """Weights and parts, the sum of them, and the sum of them in another order."""
    parts = [
        (float(10.0 ** rng.uniform(-1, 1)), random_part(rng)) for _ in range(rng.integers(2, 6))
    ]
    return parts, gb.WeightedSum(tuple(parts)), gb.WeightedSum(tuple(parts[::-1]))


def random_list(rng, longest):
    """Grades and scores of one list, which is longer than 100 in most cases and may have ties."""
    n = int(rng.integers(2, longest + 1))
    grades = np.minimum(rng.geometric(rng.uniform(0.2, 0.8), size=n) - 1, TOP)
    grades[:2] = (0, TOP)
    scores = rng.normal(size=n) * rng.uniform(0.1, 10)
    return grades, np.round(scores, 1) if rng.random() < 0.3 else scores


def assert_close(found, expected, tolerance):
    """Within `tolerance` of the largest."""
    most = tolerance * np.abs(expected).max() + 1e-300
    np.testing.assert_allclose(found, expected, rtol=0, atol=most)


@pytest.mark.slow(keep=3)
@pytest.mark.parametrize("seed", range(20))
def test_a_sum_is_the_sum_of_its_parts(seed):
    """In values, changes by a swap, and gradients."""
    rng = np.random.default_rng([27, seed])
    parts, *sums = random_sum(rng)
    grades, scores = random_list(rng, 3000)
    values = gb.evaluate([*sums, *(part for _, part in parts)], grades, scores)
    expected = sum(weight * values[part] for weight, part in parts)
    ranked = grades[np.argsort(-scores)][:100]
    changes = sum(weight * swap_changes(part, ranked) for weight, part in parts)
    raw = {"normalize": False}
    grad = sum(w * gb.LambdaRank(p, **raw).gradients(grades, scores)[0] for w, p in parts)
    for measure in sums:
        assert_close(values[measure], expected, 1e-12)
        assert_close(swap_changes(measure, ranked), changes, 1e-12)
        # Sums over long lists are exact to about 1e-11.
        assert_close(gb.LambdaRank(measure, **raw).gradients(grades, scores)[0], grad, 1e-9)
    one, other = (gb.LambdaRank(measure).gradients(grades, scores) for measure in sums)
    for first, second in zip(one, other, strict=True):
        assert_close(first, second, 1e-9)


ONE_DISCOUNT = [
    Slow(base=200.0) + gb.nDCG(discount_by=200),
    gb.KendallTau() + gb.PairwiseAccuracy() + gb.SpearmanRho(),
    gb.Recall(k=1) + gb.Precision(k=1),
    gb.AP() + gb.nDCG(discount_by="reciprocal") + gb.eGAP(g=(0.2, 0.3, 0.5)),
    gb.GAP(g=(0.5, 0.5, 0), k=5) + gb.AP(k=5),
    2 * Late(),
]
SEVERAL_DISCOUNTS = [
    gb.GAP(g=(0.5, 0.5, 0), k=5) + gb.AP(),
    gb.Recall(k=3) + gb.Precision(k=3),
    gb.Recall(k=3) + gb.Recall(k=4),
    gb.RR() + gb.AP(),
    gb.RPrecision() + gb.Recall(k=3),
    gb.RBP(p=0.5) + gb.RBP(p=0.6),
    Late() + Late(rest=0.1),
    # They differ beyond rank 100.
    gb.nDCG(discount_by=200.0) + gb.nDCG(discount_by=300.0),
]


@pytest.mark.parametrize("measure", [*ONE_DISCOUNT, *SEVERAL_DISCOUNTS], ids=str)
def test_equal_discounts_make_one_form(measure):
    base = RecallBase.of_integer_grades(np.ones((1, TOP + 1), dtype=np.int64))
    if measure in ONE_DISCOUNT:
        assert measure.terms == ((1.0, measure),)
        for found, *parts in zip(
            measure.tables(base), *(p.tables(base) for _, p in measure.parts), strict=True
        ):
            wanted = sum(w * part for (w, _), part in zip(measure.parts, parts, strict=True))
            assert found == pytest.approx(wanted, rel=1e-14)
    else:
        assert measure.terms == tuple((1.0, part) for _, part in measure.parts)
        with pytest.raises(ValueError, match="several discounts"):
            measure.discount(3)
        for kind in (gb.SoftRank, gb.ApproxRank):
            with pytest.raises(ValueError, match=r"^measure is "):
                kind(measure)
    trained = not any(isinstance(p, gb.RPrecision | gb.QMeasure) for _, p in measure.parts)
    assert measure.trains == trained


def test_terms_and_limits_of_a_sum():
    three = 0.7 * gb.GAP(g=(0.5, 0.5)) + 0.2 * gb.nDCG(k=10) + 0.1 * gb.AP()
    one = 0.7 * gb.GAP(g=(0.5, 0.5)) + 0.1 * gb.AP()
    assert three.terms == ((1.0, one), (0.2, gb.nDCG(k=10)))
    assert (three.highest_grade, three.k) == (2, None)
    assert (gb.GAP(g=(1.0,), k=5) + gb.AP(k=5)).k == 5
    assert repr(2 * (gb.AP() + 0.5 * gb.nDCG()) + gb.AP()) == "3.0 * AP(rel=1) + 1.0 * nDCG()"
    assert repr(np.float64(2) * gb.AP() * np.float32(0.5)) == "1.0 * AP(rel=1)"
    assert not (gb.AP() + gb.xGAP()).monotone


def test_a_grade_limit_of_a_part_beyond_the_number_of_its_thresholds():
    part = gb.GAP(g=(0.5, 0.5), levels=(2.5, 3.0))
    values = gb.evaluate([part, gb.nDCG(), part + gb.nDCG()], [0.5, 2.75, 3, 0], [4, 3, 2, 1])
    assert values[part + gb.nDCG()] == pytest.approx(values[part] + values[gb.nDCG()], rel=1e-14)


def test_discounts_are_values():
    assert gb.AP().discount_at == gb.nDCG(discount_by="reciprocal").discount_at == Reciprocal()
    assert gb.DCG(discount_by=3).discount_at == LogFromBase(3.0) != LogFromBase(2.0)
    assert gb.Precision(k=4).discount_at == Constant(0.25)
    one = Late()  # a method is equal to itself
    assert one.discount_at == one.discount_at != Late(step=99).discount_at


@pytest.mark.parametrize(
    ("make", "error", "says"),
    [
        (lambda: 0 * gb.AP(), ValueError, "weight is 0"),
        (lambda: float("nan") * gb.AP(), ValueError, "weight is nan"),
        (lambda: gb.WeightedSum(), ValueError, "parts is empty"),
        (lambda: gb.WeightedSum(((1.0, "ap"),)), TypeError, "parts holds 'ap'"),
        (lambda: gb.AP() + 1, TypeError, "unsupported operand"),
        (lambda: gb.LambdaRank(gb.AP() + gb.QMeasure()), ValueError, "evaluate but not train"),
    ],
)
def test_unusable_sums(make, error, says):
    with pytest.raises(error, match=says):
        make()
