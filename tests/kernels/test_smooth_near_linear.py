"""Near-linear SoftRank and ApproxRank against direct sums: scores, ties, grades, steepness."""

import math

import numpy as np
import numpy.testing as npt
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pair_sum import top_grade
from rankings import spread_scores, thresholds
from scipy.special import erfc, expit

import gapboost as gb
import gapboost.lightgbm
from gapboost._kernels.smooth.sums import SHORT, cells_of, gaussian_step, logistic_step, scratch_for
from gapboost.measures import RecallBase

# Of the largest gradient, and of the largest hessian.
GRADIENTS, HESSIANS = 1e-8, 1e-7

# The steepest slopes of the two steps.
LOGISTIC, GAUSSIAN = 0.25, 1 / math.sqrt(math.pi)


# --- the direct sums ------------------------------------------------------------------------------


def step_of(objective):
    """The step ``F``, its derivative, its steepest slope, and what scores are multiplied by."""
    if isinstance(objective, gb.SoftRank):
        return (
            lambda x: 0.5 * erfc(-x), lambda x: np.exp(-x * x) / math.sqrt(math.pi), GAUSSIAN,
            0.5 / objective.sigma
        )  # fmt: skip
    return expit, lambda x: expit(x) * expit(-x), LOGISTIC, objective.alpha


def differences(x):
    """``[m, n]``: how far document m is above document n."""
    return x[:, None] - x[None, :]


def others(step, x):
    """``[m, n]``: the certainty with which another document m is above n."""
    above = step(differences(x))
    np.fill_diagonal(above, 0.0)
    return above


def direct(objective, grades, scores):
    """Ranks, value, gradient and hessian of one query by sums over all pairs of documents.

    And the size of a push of two documents of equal scores, were the better one at the top.
    """
    step, slope, steepest, steepness = step_of(objective)
    measure, n = objective.measure, len(grades)
    counts = np.bincount(grades, minlength=max(top_grade(measure), grades.max()) + 1)
    (pair,), (own,) = measure.tables(RecallBase.of_integer_grades(counts[None]))
    worth = pair[np.ix_(grades, grades)]  # of document n below document m
    x = steepness * scores
    above, slopes = others(step, x), slope(differences(x))
    ranks = 1 + above.sum(axis=0)
    counted = (own + pair.sum(axis=0) + pair.sum(axis=1))[grades] != 0
    share, by_rank = (counted * weight for weight in measure.discount_at(ranks))
    if isinstance(objective, gb.ApproxRank):
        beta = 4 / n if objective.beta is None else objective.beta
        if measure.k is not None:
            inside, falls = (
                step(beta * (measure.k + 0.5 - ranks)),
                beta * slope(beta * (measure.k + 0.5 - ranks)),
            )
            share, by_rank = share * inside, by_rank * inside - falls * share
        total = own[grades] + (worth * others(step, -beta * ranks)).sum(axis=0)
        rank_slopes = slope(differences(-beta * ranks))
        turned = (rank_slopes * worth).sum(axis=0) * share - (
            rank_slopes * worth.T * share[:, None]
        ).sum(axis=0)
        b = by_rank * total + beta * turned
        gain = b[:, None] - b[None, :]
    else:
        total = own[grades] + (worth * above).sum(axis=0)
        b = by_rank * total
        gain = (b[:, None] + share[:, None] * worth.T) - (b[None, :] + share[None, :] * worth)
    by_grade = np.stack([(slopes * gain)[grades == g].sum(axis=0) for g in np.unique(grades)])
    d_score, pushes = by_grade.sum(axis=0), np.abs(by_grade).sum(axis=0)
    scale = steepness
    if objective.normalize:
        size = np.abs(d_score).sum() / (4 * steepest)
        vanishes = size * 4 * steepest <= 1e-14 * (np.abs(b) + np.abs(share * total)).sum()
        scale *= 0.0 if vanishes else n * np.log2(1 + max(size, 0.05)) / size
    full_push = steepest * scale * measure.discount_at(np.ones(1))[0][0] * np.abs(total).max()
    return (
        ranks,
        (share * total).sum(),
        -d_score * scale,
        pushes * scale * steepest * steepness,
        full_push,
    )


def assert_direct(objective, grades, scores):
    """Values, ranks, gradients and hessians are those of the direct sums."""
    ranks, value, grad, hess, full_push = direct(objective, grades, scores)
    found_grad, found_hess = objective.gradients(grades, scores)
    n, (_, _, steepest, steepness) = len(grades), step_of(objective)
    npt.assert_allclose(objective.ranks(scores), ranks, rtol=0, atol=1e-10 * n)
    sharp = 1.0
    if objective.measure.k is not None and getattr(objective, "beta", None) is not None:
        # The certainty to be within the cut-off carries what beta makes of the rounding of ranks,
        # 2e-11 of the length.
        sharp = max(1.0, objective.beta * n / 300)
    assert objective.value(grades, scores) == pytest.approx(value, rel=1e-9 * sharp, abs=1e-12)
    # Where every document is far from all others, or far beyond the cut-off, all gradients are next
    # to nothing.
    nothing = 1e-17 * n * full_push
    npt.assert_allclose(
        found_grad, grad, rtol=0, atol=GRADIENTS * sharp * np.abs(grad).max() + nothing
    )
    nothing = nothing * steepest * steepness + 1e-16
    npt.assert_allclose(found_hess, hess, rtol=0, atol=HESSIANS * sharp * hess.max() + nothing)
    assert (np.abs(found_grad) <= found_hess / (steepest * steepness) * (1 + 1e-9)).all()


# --- queries of any shape -------------------------------------------------------------------------


PAIRS = {
    "gap": lambda n_grades, k, rng: gb.GAP(g=thresholds(n_grades, rng)),
    "xgap": lambda n_grades, k, rng: gb.xGAP(g=thresholds(n_grades, rng)),
    "egap": lambda n_grades, k, rng: gb.eGAP(g=thresholds(n_grades, rng)),
    "ap": lambda n_grades, k, rng: gb.AP(rel=int(rng.integers(1, n_grades + 1))),
}
MEASURES = {
    **PAIRS,
    "gap with a cut-off": lambda n_grades, k, rng: gb.GAP(g=thresholds(n_grades, rng), k=k),
    "ndcg": lambda n_grades, k, rng: gb.nDCG(),
    "ndcg with a cut-off": lambda n_grades, k, rng: gb.nDCG(k=k),
    "precision": lambda n_grades, k, rng: gb.Precision(k=k, rel=int(rng.integers(1, n_grades + 1))),
}
SHAPES = ("even", "bell", "tied", "outlier", "equal")
WIDTHS = (1e-9, 1e-3, 1.0, 5.0, 40.0, 1e3, 1e6)


def query(n, n_grades, width, shape, rng):
    return rng.integers(0, n_grades + 1, n), spread_scores(n, width, shape, rng)


queries = {
    "n": st.integers(1, 300) | st.sampled_from([SHORT, SHORT + 1, 600]),
    "n_grades": st.integers(1, 31),
    "width": st.sampled_from(WIDTHS),
    "shape": st.sampled_from(SHAPES),
    "normalize": st.booleans(),
    "seed": st.integers(0, 2**32 - 1),
}
USUAL = dict(n=300, n_grades=4, width=5.0, shape="bell", normalize=True, seed=0)


@pytest.mark.slow
@settings(max_examples=150)
@given(
    name=st.sampled_from(sorted(PAIRS)), sigma=st.sampled_from([0.01, 0.3, 1.0, 30.0]), **queries
)
@example(name="gap", sigma=1.0, **USUAL)
def test_softrank_is_the_direct_sum(name, sigma, n, n_grades, width, shape, normalize, seed):
    rng = np.random.default_rng(seed)
    objective = gb.SoftRank(PAIRS[name](n_grades, None, rng), sigma=sigma, normalize=normalize)
    assert_direct(objective, *query(n, n_grades, width, shape, rng))


@pytest.mark.slow
@settings(max_examples=250)
@given(
    name=st.sampled_from(sorted(MEASURES)),
    k=st.integers(1, 100),
    alpha=st.sampled_from([0.01, 0.3, 1.0, 100.0]),
    beta=st.sampled_from([None, 1e-3, 0.1, 1.0, 100.0]),
    **queries,
)
@example(name="gap", k=1, alpha=1.0, beta=None, **USUAL)
# All documents are far inside the cut-off.
@example(
    name="precision",
    k=22,
    alpha=0.01,
    beta=None,
    n=4,
    n_grades=1,
    width=1e-9,
    shape="even",
    normalize=False,
    seed=0,
)
def test_approxrank_is_the_direct_sum(
    name, k, alpha, beta, n, n_grades, width, shape, normalize, seed
):
    rng = np.random.default_rng(seed)
    objective = gb.ApproxRank(
        MEASURES[name](n_grades, k, rng), alpha=alpha, beta=beta, normalize=normalize
    )
    assert_direct(objective, *query(n, n_grades, width, shape, rng))


def test_rounding_is_not_scaled_up():
    """All documents but one are far beyond the cut-off.

    That one is far from the others, so all gradients are 0.
    """
    rng = np.random.default_rng(0)
    grades, scores = query(200, 31, 5.0, "outlier", rng)
    grades[-1] = 31
    grad, hess = gb.ApproxRank(gb.Precision(k=6), alpha=100.0, beta=1.0).gradients(grades, scores)
    npt.assert_array_equal(grad, 0)
    assert (hess > 0).all()


G = (0.1, 0.2, 0.3, 0.4)
OBJECTIVES = [
    gb.SoftRank(gb.GAP(g=G)),
    gb.SoftRank(gb.xGAP(g=G), sigma=0.05),
    gb.SoftRank(gb.eGAP(g=G), sigma=5.0),
    gb.ApproxRank(gb.GAP(g=G)),
    gb.ApproxRank(gb.AP(rel=2), beta=100.0),
    gb.ApproxRank(gb.xGAP(g=G), alpha=10.0, beta=1.0),
    gb.ApproxRank(gb.nDCG()),
    gb.ApproxRank(gb.nDCG(k=10), alpha=0.1),
    gb.ApproxRank(gb.Precision(k=10), alpha=10.0, beta=1.0),
]
every_objective = pytest.mark.parametrize("objective", OBJECTIVES, ids=repr)


@pytest.mark.slow(keep=2)
@every_objective
@pytest.mark.parametrize(("n", "width"), [(1_000, 6.0), (1_800, 20.0), (1_800, 1e6), (1_200, 1e-9)])
def test_long_lists_are_the_direct_sum(objective, n, width):
    rng = np.random.default_rng(n)
    shape = SHAPES[int(rng.integers(len(SHAPES)))]
    assert_direct(objective, *query(n, 4, width, shape, rng))


def test_lists_are_summed_by_cells_where_documents_are_near_each_other():
    """So the tests above meet both ways."""
    rng = np.random.default_rng(0)

    def by_cells(step, n, width, shape="bell"):
        x = np.sort(spread_scores(n, width, shape, rng))[::-1].copy()
        return cells_of(x, step.above, scratch_for(n, 5).cells) > 0

    for step in (gaussian_step(), logistic_step()):
        assert not by_cells(step, SHORT, 1e-3)
        assert by_cells(step, SHORT + 1, 1e-3)
        assert by_cells(step, 600, 5.0)
        assert by_cells(step, 600, 1e6, "tied")
        assert by_cells(step, 600, 1e3, "outlier")
        assert by_cells(step, 1_800, 20.0)
        assert not by_cells(step, 600, 1e3)
        assert not by_cells(step, 1_800, 1e6)
    # Smooth ranks of 3 000 documents, 100 times.
    assert not by_cells(logistic_step(), 3_000, 3e5, "even")


# --- threads, neighbors -------------------------------------------------------


@pytest.mark.slow(keep=1)
@every_objective
def test_the_same_to_the_bit_with_any_threads_and_any_other_queries(objective):
    rng = np.random.default_rng(3)
    objective = objective.__class__(**{**vars(objective), "normalize": False})
    sizes = rng.permutation([1, 2, 7, SHORT, SHORT + 1, 130, 700, 1, 1_500, 90])
    qid = np.repeat(np.arange(len(sizes)), sizes)
    grades = rng.choice(5, p=(0.6, 0.25, 0.1, 0.04, 0.01), size=len(qid))
    scores = grades + 3 * rng.standard_normal(len(qid))
    together = objective.gradients(grades, scores, qid, n_jobs=1)
    for n_jobs in (2, 3, 7, None):
        npt.assert_array_equal(objective.gradients(grades, scores, qid, n_jobs=n_jobs), together)
    for q in range(len(sizes)):
        rows = qid == q
        # One more query, so that the grades of the data set are the same.
        alone = objective.gradients(
            np.append(grades[rows], 4), np.append(scores[rows], 0), np.append(qid[rows], -1)
        )
        npt.assert_array_equal(np.array(alone)[:, :-1], np.array(together)[:, rows])
