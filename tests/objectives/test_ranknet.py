"""RankNet counts all pairs of different grades alike, whatever its measure."""

import numpy as np
import pytest
from rankings import random_rankings

import gapboost as gb


def loss(y, s, sigma=1.0, truncation=None):
    """The sum over pairs of log(1 + e^(-sigma (s_i - s_j))) with y_i > y_j."""
    rank = np.argsort(np.argsort(-s))
    better = y[:, None] > y[None, :]
    if truncation:
        better &= np.minimum(rank[:, None], rank[None, :]) < truncation
    return np.logaddexp(0, -sigma * (s[:, None] - s[None, :]))[better].sum()


@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize(("sigma", "truncation"), [(1.0, None), (0.3, None), (2.0, 3)])
@pytest.mark.parametrize("graded", ["whole", "fractional"])
def test_gradients_are_derivatives_of_the_loss(sigma, truncation, normalize, graded):
    rng = np.random.default_rng(0)
    data = random_rankings(rng, 6, ties=False)
    # Random numbers are more than 64 different grades.
    y = data.grades if graded == "whole" else rng.random(len(data.grades)) * 3
    weight = rng.uniform(0.5, 2, 6)
    objective = gb.RankNet(gb.nDCG(k=2), sigma=sigma, truncation=truncation, normalize=normalize)
    grad, hess = objective.gradients(y, data.scores, data.qid, sample_weight=weight)
    for rows, factor in zip(data.rows.values(), weight, strict=True):
        s, n = data.scores[rows].astype(float), len(rows)
        steps = 1e-4 * np.eye(n)
        up, at, down = (
            np.array([loss(y[rows], s + sign * step, sigma, truncation) for step in steps])
            for sign in (1, 0, -1)
        )
        first, second = (up - down) / 2e-4, (up - 2 * at + down) / 1e-8
        total = np.abs(first).sum()
        if normalize and total > 0:
            factor = factor * np.log2(1 + total) / total
        assert grad[rows] == pytest.approx(factor * first, rel=1e-5, abs=1e-7)
        assert hess[rows] == pytest.approx(factor * second, rel=1e-4, abs=1e-5)
    assert np.abs(grad).max() > 0.1


def test_the_measure_and_the_order_of_rows_have_no_part():
    rng = np.random.default_rng(1)
    data = random_rankings(rng, 5, ties=True)
    expected = gb.RankNet(gb.AP()).gradients(data.grades, data.scores, data.qid)
    for measure in (gb.GAP(), gb.ERR(top=3), 0.5 * gb.GAP() + 0.5 * gb.nDCG(k=3)):
        found = gb.RankNet(measure).gradients(data.grades, data.scores, data.qid)
        np.testing.assert_array_equal(found, expected)
    order = rng.permutation(len(data.grades))
    found = gb.RankNet(gb.AP()).gradients(data.grades[order], data.scores[order], data.qid[order])
    np.testing.assert_allclose(
        np.array(found), np.array(expected)[:, order], rtol=1e-12, atol=1e-12
    )


def test_one_of_several_labels():
    y = np.array([[1, 0], [0, 2], [2, 1]])
    scores = [3.0, 2.0, 1.0]
    found = gb.RankNet(gb.OfLabel(gb.AP(), 1)).gradients(y, scores)
    np.testing.assert_array_equal(found, gb.RankNet(gb.AP()).gradients(y[:, 1], scores))
    with pytest.raises(ValueError, match=r"^measure is .*; expected a measure of one label"):
        gb.RankNet(gb.OfLabel(gb.AP(), 0) + gb.OfLabel(gb.AP(), 1))


def test_long_queries_are_near_linear():
    """A query of 200,000 documents has 10 billion pairs."""
    n = 200_000
    rng = np.random.default_rng(0)
    grades = rng.integers(0, 2, n)
    grad, _ = gb.RankNet(gb.AP()).gradients(grades, rng.standard_normal(n))
    assert (grad[grades == 1] < 0).all()
    assert (grad[grades == 0] > 0).all()
