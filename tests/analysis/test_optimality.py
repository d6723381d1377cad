"""Local optimality of linear models by random alterations."""

import numpy as np
import pytest
from scipy import sparse

import gapboost as gb
from gapboost.analysis import local_optimality
from gapboost.analysis.result import generators

MEASURES = (gb.GAP(g=(0.5, 0.5)), gb.Precision(k=2))


def test_every_alteration_is_evaluated():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    y = np.clip(np.round(X[:, 0] + 0.5 * X[:, 1] + rng.normal(size=60)), 0, 2).astype(int)
    qid, weights = np.repeat(["a", "b", "c"], 20), np.array([1.0, 0.0, -1.0, 0.5])
    order = np.random.default_rng(1).permutation(len(y))
    options = dict(n_directions=7, step_sizes=(0.2, 2.0), random_state=4, n_jobs=1)
    result = local_optimality(MEASURES, weights, X, y, qid, **options)
    mixed = sparse.csr_matrix(X[order]), y[order], qid[order]
    again = local_optimality(MEASURES, weights, *mixed, **options)
    np.testing.assert_allclose(again.changes, result.changes, rtol=0, atol=1e-12)
    assert result.changes.shape == (2, 7, 2)
    for d, generator in enumerate(generators(4, 7)):
        direction = generator.standard_normal(4)
        direction /= np.linalg.norm(direction)
        for s, step in enumerate((0.2, 2.0)):
            before, after = (
                gb.evaluate(MEASURES, y, X @ w, qid) for w in (weights, weights + step * direction)
            )
            for m, measure in enumerate(MEASURES):
                expected = after[measure] - before[measure]
                assert result.changes[m, d, s] == pytest.approx(expected, abs=1e-12)
    assert result.improved.tolist() == (result.changes > 1e-12).sum(axis=(1, 2)).tolist()
    assert result.improved.min() > 0
    assert (result.improved_by_epsilon <= result.improved).all()
    assert result.weight_norm == pytest.approx(1.5)
