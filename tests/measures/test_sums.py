"""A weighted sum of measures equals the sum of its parts: values, gradients and swap changes."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

import gapboost as gb
from gapboost.measures import Measure, RecallBase
from gapboost.measures.discounts import Constant, LogFromBase, Reciprocal

TOP = 3


@dataclass(frozen=True, repr=False)
class Late(Measure):
    """A user's measure: relevant documents count 1 down to rank `step`, and `rest` beyond it."""

    step: int = 100
    rest: float = 0.5
    rel: int = 1

    @property
    def short_name(self):
        return "late"

    def discount_at(self, ranks):
        return np.where(ranks <= self.step, 1.0, self.rest), np.zeros(ranks.shape)

    def tables(self, base):
        return gb.Recall(k=1, rel=self.rel).tables(base)


@dataclass(frozen=True, repr=False)
class LateDCG(gb.DCG):
    """A discount of one's own in place of that of a measure of the library."""

    step: int = 100

    def discount_at(self, ranks):
        weight, slope = super().discount_at(ranks)
        late = np.where(ranks <= self.step, 1.0, 0.25)
        return weight * late, slope * late


@dataclass(frozen=True, repr=False)
class Slow(Measure):
    """A measure of someone's own that shares its discount with one of the library."""

    base: float = 200.0

    @property
    def short_name(self):
        return "slow"

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


@dataclass(frozen=True, repr=False)
class Shallow(gb.DCG):
    """Overrides the number of ranks that count."""

    def depth(self, n):
        return 1


@pytest.mark.parametrize(
    "measure", [FirstOnly(), Shallow()], ids=lambda measure: type(measure).__name__
)
def test_a_discount_at_whole_ranks_is_kept_in_a_sum(measure):
    y, scores = [0, 1, 2], [3.0, 2.0, 1.0]
    assert gb.evaluate(measure, y, scores) == {measure: 0.0}
    for other in (gb.DCG(), gb.AP()):
        mixed = 2.0 * measure + 0.5 * other
        assert (
            gb.evaluate([mixed, other], y, scores)[mixed]
            == 0.5 * gb.evaluate(other, y, scores)[other]
        )
    assert gb.evaluate(2.0 * measure, [2, 1], [2.0, 1.0]) == {2.0 * measure: 6.0}
    found, expected = (
        gb.LambdaRank(each).gradients(y, scores) for each in (1.0 * measure, measure)
    )
    np.testing.assert_array_equal(found, expected)


def random_part(rng):
    """A measure that LambdaRank trains for; many have a discount that changes late."""
    k = None if rng.random() < 0.6 else int(rng.integers(2, 3000))
    late = int(rng.integers(1, 3000))
    base = float(rng.choice([2.0, 200.0, 300.0, 1e4, 1.0 + 10.0 ** rng.uniform(-2, 4)]))
    rel = int(rng.integers(1, TOP + 1))
    g = tuple(rng.dirichlet(np.ones(TOP)))
    return [
        lambda: gb.nDCG(discount_by=base, k=k),
        lambda: gb.nDCG(discount_by=base, gains="linear"),
        lambda: gb.nDCG(k=k),
        lambda: gb.DCG(discount_by="letor", gains="linear", k=k),
        lambda: gb.GAP(g=g, k=k),
        lambda: gb.xGAP(g=g, k=k),
        lambda: gb.AP(rel=rel, k=k),
        lambda: gb.RBP(p=float(1 - 10.0 ** -rng.uniform(1, 4)), rel=rel),
        lambda: gb.INSQ(t=float(rng.uniform(0.5, 9)), rel=rel),
        lambda: gb.SpearmanRho(),
        lambda: gb.Recall(k=late, rel=rel),
        lambda: gb.Precision(k=late, rel=rel),
        lambda: gb.KendallTau(),
        lambda: gb.PairwiseAccuracy(k=k),
        lambda: Late(step=late, rest=float(rng.random()), rel=rel),
        lambda: Late(step=late, k=k),
        lambda: LateDCG(step=late, gains="linear"),
        lambda: Slow(base=base, k=k),
    ][rng.integers(18)]()


def random_sum(rng):
    """Weights and parts, the sum of them, and the sum of them in another order."""
    n = rng.integers(2, 6)
    parts = [(float(10.0 ** rng.uniform(-1, 1)), random_part(rng)) for _ in range(n)]
    other = [parts[i] for i in rng.permutation(n)]
    return (
        parts,
        gb.WeightedSum(tuple(parts)),
        gb.WeightedSum(tuple(reversed(parts) if other == parts else other)),
    )


def random_list(rng, longest):
    """Grades and scores of one list, which is longer than 100 in most cases and may have ties."""
    n = int(rng.integers(2, longest + 1))
    grades = np.minimum(rng.geometric(rng.uniform(0.2, 0.8), size=n) - 1, TOP)
    grades[:2] = (0, TOP)
    scores = rng.normal(size=n) * rng.uniform(0.1, 10)
    return grades, np.round(scores, 1) if rng.random() < 0.3 else scores


def assert_close(found, expected, tolerance):
    """Within `tolerance` of the largest."""
    np.testing.assert_allclose(
        found, expected, rtol=0, atol=tolerance * np.abs(expected).max() + 1e-300
    )


@pytest.mark.slow(keep=3)
@pytest.mark.parametrize("seed", range(60))
def test_a_sum_evaluates_to_the_sum_of_its_parts(seed):
    rng = np.random.default_rng([27, seed])
    parts, one, other = random_sum(rng)
    lists = [random_list(rng, 3000) for _ in range(3)]
    grades, scores = (np.concatenate(column) for column in zip(*lists, strict=True))
    qid = np.repeat(np.arange(3), [len(each) for each, _ in lists])
    values = gb.evaluate(
        [one, other, *(part for _, part in parts)], grades, scores, qid, per_query=True
    )
    expected = sum(weight * values[part] for weight, part in parts)
    assert_close(values[one], expected, 1e-12)
    assert_close(values[other], expected, 1e-12)


@pytest.mark.slow(keep=2)
@pytest.mark.parametrize("seed", range(40))
def test_a_sum_has_the_gradients_of_its_parts(seed):
    rng = np.random.default_rng([28, seed])
    parts, one, other = random_sum(rng)
    grades, scores = random_list(rng, 3000)
    expected = sum(
        w * gb.LambdaRank(part, normalize=False).gradients(grades, scores)[0] for w, part in parts
    )
    # Sums over long lists are exact to about 1e-11 (`gapboost._kernels.lambdarank`).
    for measure in (one, other):
        grad, _ = gb.LambdaRank(measure, normalize=False).gradients(grades, scores)
        assert_close(grad, expected, 1e-9)
    trained = [gb.LambdaRank(measure).gradients(grades, scores) for measure in (one, other)]
    for first, second in zip(*trained, strict=True):
        assert_close(first, second, 1e-9)


@pytest.mark.slow(keep=3)
@pytest.mark.parametrize("seed", range(30))
def test_a_sum_has_the_swap_changes_of_its_parts(seed):
    rng = np.random.default_rng([29, seed])
    parts, one, other = random_sum(rng)
    ranked, _ = random_list(rng, 3000 if seed == 29 else 700)
    expected = sum(weight * part.swap_changes(ranked) for weight, part in parts)
    for measure in (one, other):
        changes = measure.swap_changes(ranked)
        assert np.abs(changes - expected).max() <= 1e-12 * np.abs(expected).max()


@pytest.mark.parametrize("seed", range(3))
def test_a_smooth_sum_has_the_values_and_gradients_of_its_parts(seed):
    rng = np.random.default_rng([30, seed])
    grades, scores = random_list(rng, 700)
    for parts in (
        [
            (1.5, gb.AP()),
            (0.5, gb.GAP(g=(0.2, 0.3, 0.5))),
            (2.0, gb.nDCG(discount_by="reciprocal")),
        ],
        [(0.3, Slow(base=150.0)), (0.7, gb.nDCG(discount_by=150))],
    ):
        for order in (parts, parts[::-1]):
            smooth = gb.ApproxRank(gb.WeightedSum(tuple(order)), normalize=False)
            each = [(weight, replace(smooth, measure=part)) for weight, part in parts]
            expected = sum(weight * part.value(grades, scores) for weight, part in each)
            assert smooth.value(grades, scores) == pytest.approx(expected, rel=1e-9)
            expected = sum(weight * part.gradients(grades, scores)[0] for weight, part in each)
            # Sums over long lists are exact to about 1e-11 (`gapboost.objectives.smooth`).
            assert_close(smooth.gradients(grades, scores)[0], expected, 1e-9)


@pytest.mark.parametrize("objective", [gb.SoftRank, gb.ApproxRank])
def test_smooth_objectives_refuse_discounts_that_differ_late(objective):
    for a, b in (
        (Slow(base=200.0), Slow(base=300.0)),
        (Late(step=150), Late(step=151)),
        (gb.DCG(), LateDCG(step=150)),
    ):
        for measure in (a + b, b + a):
            with pytest.raises(ValueError, match="expected a measure with one discount"):
                objective(measure)


# --- discounts as values --------------------------------------------------------------------------


def test_discounts_that_differ_beyond_rank_100_are_different():
    rng = np.random.default_rng(0)
    grades, scores = rng.integers(0, TOP + 1, size=1000), rng.permutation(1000)
    for a, b in (
        (gb.nDCG(discount_by=200.0), gb.nDCG(discount_by=300.0)),
        (gb.nDCG(discount_by=110.0), gb.nDCG(discount_by=900.0)),
        (gb.KendallTau(), gb.nDCG(discount_by=200.0)),
        (Late(step=150), Late(step=151)),
        (LateDCG(step=150), gb.DCG()),
        (LateDCG(step=150), LateDCG(step=151)),
    ):
        one, other = 0.5 * a + 0.5 * b, 0.5 * b + 0.5 * a
        assert len(one.terms) == len(other.terms) == 2
        values = gb.evaluate([a, b, one, other], grades, scores)
        assert values[one] == pytest.approx((values[a] + values[b]) / 2, rel=1e-14)
        assert values[other] == pytest.approx((values[a] + values[b]) / 2, rel=1e-14)


def test_equal_discounts_make_one_form():
    for measure in (
        Slow(base=200.0) + gb.nDCG(discount_by=200),
        gb.KendallTau() + gb.PairwiseAccuracy() + gb.SpearmanRho(),
        gb.Recall(k=1) + gb.Precision(k=1),
        gb.AP() + gb.nDCG(discount_by="reciprocal") + gb.eGAP(g=(0.2, 0.3, 0.5)),
        2 * Late(),
    ):
        assert measure.terms == ((1.0, measure),)
        assert measure.tables(RecallBase.of_whole_grades(np.ones((1, TOP + 1), dtype=np.int64)))
    for measure in (
        gb.Recall(k=3) + gb.Precision(k=3),
        gb.Recall(k=3) + gb.Recall(k=4),
        gb.RR() + gb.AP(),
        gb.RPrecision() + gb.Recall(k=3),
        gb.RBP(p=0.5) + gb.RBP(p=0.6),
        Late() + Late(rest=0.1),
    ):
        assert measure.terms == tuple((1.0, part) for _, part in measure.parts)


def test_discounts_are_values():
    assert (
        gb.AP().discount_at
        == gb.GAP().discount_at
        == gb.nDCG(discount_by="reciprocal").discount_at
        == Reciprocal()
    )
    assert gb.DCG(discount_by=3).discount_at == LogFromBase(3.0) != LogFromBase(2.0)
    assert gb.Precision(k=4).discount_at == Constant(0.25)
    one = Late()
    assert one.discount_at == one.discount_at
    assert one.discount_at != Late(step=99).discount_at
