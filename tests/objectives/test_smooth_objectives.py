"""Contracts of SoftRank and ApproxRank over every measure."""

import math
from dataclasses import dataclass, replace

import numpy as np
import pytest
from rankings import TRAINED
from twins import LIGHTGBM, TEST, XGBOOST

import gapboost as gb
from gapboost.objectives import as_objective

G = (0.5, 0.2, 0.3)
MEASURES = [
    gb.AP(rel=2, k=4),
    gb.GAP(g=G),
    gb.GAP(g=G, k=3),
    gb.xGAP(g=G),
    gb.eGAP(g=G, k=4),
    gb.nDCG(),
    gb.nDCG(gains=(0.5, 0.5, 2.0, 3.0)),
    gb.nDCG(gains="linear", discount_by=3.5, k=4),
    gb.Precision(k=1, rel=2),
    gb.DCG(gains="linear", discount_by="letor"),
    gb.RBP(p=0.6, gains=(0, 0.2, 0.5, 1), k=4),
    gb.Recall(k=3),
    gb.PairwiseAccuracy(),
    gb.SpearmanRho(),
    gb.INSQ(t=2),
    0.7 * gb.GAP(g=G) + 0.3 * gb.AP(),
]
OBJECTIVES = [
    *(gb.SoftRank(measure, sigma=0.7) for measure in MEASURES),
    *(gb.ApproxRank(measure, alpha=1.3) for measure in MEASURES),
    *(
        gb.ApproxRank(measure, alpha=1.3, beta=2.0)
        for measure in MEASURES
        if measure.k or "AP" in repr(measure)
    ),
]
every_objective = pytest.mark.parametrize("objective", OBJECTIVES, ids=repr)


def is_soft(objective):
    """SoftRank, smooth by sigma; otherwise ApproxRank, smooth by alpha and beta."""
    return isinstance(objective, gb.SoftRank)


def queries(seed, sizes=(1, 2, 5, 9, 14), spread=1.5, top=3):
    """Grades, scores and ids of lists, one without relevant documents, one with ties."""
    rng = np.random.default_rng(seed)
    qid = np.repeat([f"q{i}" for i in range(len(sizes) + 1)], [*sizes, 4])
    y = rng.integers(0, top + 1, size=len(qid))
    y[-4:] = 0
    y[:-4][:3] = (top, 0, top - 1)
    scores = spread * rng.standard_normal(len(qid))
    scores[qid == "q3"] = np.round(scores[qid == "q3"])
    rows = rng.permutation(len(qid))
    return y[rows], scores[rows], qid[rows]


@pytest.mark.slow(keep=4)
@every_objective
def test_gradients_are_the_derivative_of_the_value(objective):
    y, scores, qid = queries(0)
    weights = np.linspace(0.5, 2.0, 6)
    grad, _ = replace(objective, normalize=False).gradients(y, scores, qid, sample_weight=weights)
    step = 1e-5
    for row in range(len(y)):
        ends = []
        for sign in (1, -1):
            moved = scores.copy()
            moved[row] += sign * step
            ends.append(objective.value(y, moved, qid, sample_weight=weights))
        # The value is a mean over queries; gradients are not divided by the weight of all.
        assert abs(grad[row] + weights.sum() * (ends[0] - ends[1]) / (2 * step)) < 1e-6
    assert np.abs(grad).max() > 1e-3


@dataclass(frozen=True, repr=False)
class Above(gb.AP):
    """A user's measure: sum of the reciprocal ranks of grade 1, once for each grade 3 above."""

    def tables(self, base):
        counts = base.counts
        pair = np.zeros((len(counts), counts.shape[1], counts.shape[1]))
        pair[:, 3, 1] = 1.0
        return pair, np.zeros(counts.shape)


@dataclass(frozen=True, repr=False)
class Together(gb.AP):
    """A user's measure: sum of the reciprocal ranks, once for each pair of relevant documents."""

    def tables(self, base):
        together = np.array(base.counts[:, 1:].sum(axis=1) > 1, dtype=float)
        pair = np.zeros((*base.counts.shape, base.n_levels))
        pair[:, 1:, 1:] = together[:, None, None]
        return pair, np.zeros(base.counts.shape)


@pytest.mark.parametrize("measure", [Above(), Together()], ids=repr)
@pytest.mark.parametrize("kind", [gb.SoftRank, gb.ApproxRank])
def test_measures_of_pairs_alone(kind, measure):
    test_gradients_are_the_derivative_of_the_value(kind(measure))
    test_tends_to_the_measure_as_the_smoothing_goes(kind(measure))


@pytest.mark.slow(keep=50)
@every_objective
@pytest.mark.parametrize("spread", [1e-6, 1e-3, 1.0, 1e3, 1e6])
def test_gradients_sum_to_zero_and_are_finite_at_any_scale(objective, spread):
    y, scores, qid = queries(1, spread=spread)
    grad, hess = objective.gradients(y, scores, qid)
    assert np.isfinite(grad).all()
    assert np.isfinite(hess).all()
    assert (hess > 0).all()
    assert np.isfinite(objective.value(y, scores, qid))
    for q in np.unique(qid):
        assert abs(grad[qid == q].sum()) <= 1e-12 * max(1.0, np.abs(grad).max())


FAR_OUT = [
    gb.SoftRank(gb.AP(), sigma=0.7),
    gb.SoftRank(gb.nDCG(k=3), sigma=0.7),
    gb.SoftRank(gb.GAP(g=G, k=4), sigma=0.7),
    gb.ApproxRank(gb.AP(), alpha=1.3),
    gb.ApproxRank(gb.GAP(g=G, k=4), alpha=1.3, beta=2.0),
]


@pytest.mark.slow(keep=5)
@pytest.mark.parametrize("objective", FAR_OUT, ids=repr)
@pytest.mark.parametrize("n", [12, 400])
@pytest.mark.parametrize("shift", [2.0**36, -(2.0**36), 2.0**42])
def test_scores_lose_nothing_far_from_zero(objective, n, shift):
    rng = np.random.default_rng(12)
    y = rng.integers(0, 4, size=n)
    scores = np.round(2 * rng.standard_normal(n), 2)
    scores = np.round(scores * 1024) / 1024  # shifted without rounding
    for normalize in (True, False):
        how = replace(objective, normalize=normalize)
        near, far = how.gradients(y, scores), how.gradients(y, scores + shift)
        for here, there in zip(near, far, strict=True):
            assert there == pytest.approx(here, rel=0, abs=1e-12 * np.abs(here).max())
    assert objective.value(y, scores + shift) == pytest.approx(
        objective.value(y, scores), rel=1e-12
    )


@pytest.mark.parametrize("objective", FAR_OUT, ids=repr)
@pytest.mark.parametrize("steepness", [1.0, 1e-3, 1e5, 1e90, 1e-90])
def test_scores_that_are_certainly_apart_may_be_any_distance_apart(objective, steepness):
    if is_soft(objective):
        objective = replace(objective, sigma=objective.sigma / steepness)
    else:
        objective = replace(objective, alpha=objective.alpha * steepness)
    y = [0, 1, 1, 0, 3, 2, 1]
    where = np.array([0, 0, 1, 0, -1, -1, 0])
    near = np.array([0.0, 0.1, 0.0, 0.3, 0.0, 0.0, -0.7]) / steepness
    expected = objective.gradients(y, near + where * 300.0 / steepness)
    assert np.abs(expected[0]).max() > 1e-5 * steepness
    for distance in (1e300, np.finfo(np.float64).max):
        for one, other in zip(
            objective.gradients(y, near + where * distance), expected, strict=True
        ):
            assert one == pytest.approx(other, rel=1e-9)


@pytest.mark.slow(keep=12)
@every_objective
def test_tends_to_the_measure_as_the_smoothing_goes(objective):
    y, _, qid = queries(2)
    rng = np.random.default_rng(2)
    scores = rng.permutation(len(y)).astype(np.float64)  # neighbors differ by 1 or more: no ties
    exact = gb.evaluate(objective.measure, y, scores, qid, per_query=True)[objective.measure]
    if is_soft(objective):
        sharper = [replace(objective, sigma=sigma) for sigma in (3.0, 0.5, 0.05)]
    else:
        sharper = [
            replace(objective, alpha=alpha, beta=beta)
            for alpha, beta in ((0.3, 0.5), (2.0, 3.0), (50.0, 80.0))
        ]
    errors = [np.abs(how.value(y, scores, qid, per_query=True) - exact).max() for how in sharper]
    assert errors[0] > max(errors[1], 1e-3)
    assert errors[2] <= max(errors[1] / 2, 1e-12)
    assert errors[2] < 1e-12


@every_objective
def test_no_step_is_longer_than_the_width_of_a_comparison(objective):
    """The hessian is the steepest slope times all pushes, so |gradient| / hessian <= 1 / slope."""
    steepest = objective.slope * objective.steepness
    y, scores, qid = queries(3)
    grad, hess = objective.gradients(y, scores, qid)
    assert (np.abs(grad) <= hess / steepest * (1 + 1e-12)).all()
    two_grad, two_hess = objective.gradients([3, 0], [0.1, 0.3])
    assert np.allclose(two_hess, steepest * np.abs(two_grad), rtol=1e-14)


@every_objective
def test_equal_scores_give_equal_grades_equal_gradients(objective):
    """Gradients of the first iteration are not 0, not random, and independent of row order."""
    y = np.array([0, 3, 1, 2, 0, 3, 1, 2, 0, 0])
    grad, _ = objective.gradients(y, np.zeros(len(y)))
    by_grade = [grad[y == grade] for grade in range(4)]
    for same in by_grade:
        assert np.ptp(same) < 1e-12
    assert by_grade[0][0] > 1e-3
    # Sharp comparisons of tied ranks see first that xGAP can fall when a higher grade moves up.
    if not (isinstance(objective.measure, gb.xGAP) and getattr(objective, "beta", None)):
        assert by_grade[3][0] < -1e-3


def test_a_cut_off_far_above_the_middle_of_a_long_list_leaves_a_direction():
    """SoftRank's probability to be within the first rank of 1000 tied ones is 2^-999."""
    y = (np.arange(1_000) % 10 == 0).astype(int)
    grad, hess = gb.SoftRank(gb.Precision(k=1)).gradients(y, np.zeros(len(y)))
    assert np.isfinite(hess).all()
    assert (grad[y == 1] < -1e-3).all()


@pytest.mark.parametrize("gap", [5.0, 6.5, 6.75, 7.0, 7.25, 8.0, 20.0])
@pytest.mark.parametrize("measure", [gb.Precision(k=10), gb.nDCG(k=10)], ids=str)
def test_plateaus_too_deep_for_a_float_give_no_gradient_instead_of_nan(measure, gap):
    """One relevant document below many others: its probability to be within k is denormal."""
    for n in (20, 60, 150):
        grades, scores = np.append(np.zeros(n, dtype=int), 1), np.append(np.full(n, gap), 0.0)
        grad, hess = gb.SoftRank(measure).gradients(grades, scores)
        assert np.isfinite(grad).all()
        assert np.isfinite(hess).all()
        assert abs(grad.sum()) <= 1e-9 * max(np.abs(grad).sum(), 1e-300)


@every_objective
def test_normalized_gradients_weigh_queries_and_documents_evenly(objective):
    y, scores, qid = queries(4)
    plain, plain_hess = replace(objective, normalize=False).gradients(y, scores, qid)
    grad, hess = objective.gradients(y, scores, qid)
    slope = 2 / (math.sqrt(math.pi) * objective.sigma) if is_soft(objective) else objective.alpha
    mean_length = len(y) / len(np.unique(qid))
    for q in np.unique(qid):
        rows = qid == q
        total = np.abs(plain[rows]).sum() / slope
        factor = 1.0 if total == 0 else mean_length * math.log2(1 + max(total, 0.05)) / total
        assert np.allclose(grad[rows], factor * plain[rows], rtol=1e-12, atol=1e-300)
        assert np.allclose(hess[rows], factor * plain_hess[rows], rtol=1e-12, atol=1e-15)


DISCOUNTS = dict.fromkeys(measure.discount_at for measure in TRAINED if measure.discount_at)


@pytest.mark.parametrize("discount", DISCOUNTS, ids=repr)
def test_slopes_of_discounts(discount):
    ranks = np.array([1.0, 1.25, 2.7, 19.5])
    upper, lower = (discount(ranks + step)[0] for step in (1e-6, -1e-6))
    assert np.allclose(discount(ranks)[1], (upper - lower) / 2e-6, rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("kind", [gb.SoftRank, gb.ApproxRank])
def test_ranks_are_of_finite_scores(kind):
    how = kind(gb.GAP(g=(0.5, 0.5)))
    with pytest.raises(ValueError, match="y_score holds nan"):
        how.ranks([0.0, math.nan])
    with pytest.raises(ValueError, match="qid has 1 rows but y_score has 2"):
        how.ranks([0.0, 1.0], ["a"])


@pytest.mark.parametrize("kind", [gb.SoftRank, gb.ApproxRank])
def test_what_g_leaves_open_comes_from_the_grades(kind):
    y, scores, qid = queries(8, top=2)
    assert kind(gb.GAP()).value(y, scores, qid) == kind(gb.GAP(g=(0.5, 0.5))).value(y, scores, qid)
    assert kind(gb.GAP()).value([0, 0], [1.0, 2.0]) == 0


@pytest.mark.parametrize("kind", [gb.LambdaRank, gb.RankNet, gb.SoftRank, gb.ApproxRank])
def test_objectives_by_name(kind):
    name = kind.__name__.lower()
    seed = {"random_state": 3} if issubclass(kind, gb.LambdaRank) else {}
    assert as_objective(name, gb.AP(), 3) == kind(gb.AP(), **seed)
    for twin in (LIGHTGBM, XGBOOST):
        ranker = twin.fitted(objective=name, measure="ndcg", random_state=3)
        assert ranker.objective_ == kind(gb.nDCG(), **seed)
        assert np.ptp(ranker.predict(TEST.X)) > 0
