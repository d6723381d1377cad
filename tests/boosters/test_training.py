"""Training on judged collections: every measure rises on validation queries, as `evaluate` says."""

import functools

import numpy as np
import numpy.testing as npt
import pytest
from collections_on_disk import FOLDS
from twins import LIGHTGBM, XGBOOST, twins

import gapboost as gb
from gapboost.datasets import load_digits_ranking, load_letor_fold

MEASURES = [
    gb.GAP(g=(0.5, 0.5)),
    gb.xGAP(g=(0.5, 0.5)),
    gb.eGAP(g=(0.5, 0.5)),
    gb.AP(rel=1),
    gb.nDCG(k=10),
    gb.Precision(k=10),
    gb.DCG(gains="linear", k=10),
    gb.RBP(p=0.9),
    gb.Recall(k=30),
    gb.KendallTau(),
    gb.SpearmanRho(),
    gb.INSQ(t=2),
    0.5 * gb.GAP(g=(0.5, 0.5)) + 0.5 * gb.AP(),
    0.7 * gb.GAP(g=(0.5, 0.5)) + 0.3 * gb.nDCG(k=10),
]


load = functools.cache(load_letor_fold)


@pytest.mark.slow(keep=2)
@pytest.mark.parametrize("twin", [LIGHTGBM, XGBOOST], ids=lambda twin: twin.name)
@pytest.mark.parametrize("measure", MEASURES, ids=str)
@pytest.mark.parametrize("folder", FOLDS)
def test_every_measure_rises(folder, measure, twin):
    train, vali, test = load(folder / "Fold1")
    rounds = 60
    parameters, fit = twin.stopping(25)
    small_trees = (
        {"verbose": -1, "num_leaves": 7, "learning_rate": 0.1}
        if twin is LIGHTGBM
        else {"max_depth": 3, "learning_rate": 0.2}  # its steps are half as long
    )
    ranker = twin.ranker_class(
        measure=measure, n_estimators=rounds, n_jobs=1, **small_trees, **parameters
    ).fit(train.X, train.y, train.qid, eval_set=[(vali.X, vali.y)], eval_qid=[vali.qid], **fit)

    (curve,) = (
        np.array(values) for curves in ranker.evals_result_.values() for values in curves.values()
    )
    best = ranker.best_iteration_
    assert best == np.argmax(curve) + 1
    assert len(curve) == min(rounds, best + 25)

    # The trees after the best one are dropped.
    stages = np.unique(np.linspace(1, best, 6, dtype=int))
    staged = [twin.staged(ranker, vali.X, n_trees) for n_trees in stages]
    expected = [gb.evaluate(measure, vali.y, scores, vali.qid)[measure] for scores in staged]
    npt.assert_allclose(curve[stages - 1], expected, rtol=0, atol=1e-6)
    npt.assert_array_equal(ranker.predict(vali.X), staged[-1])

    untrained = [
        gb.evaluate(measure, data.y, np.zeros(len(data)), data.qid)[measure]
        for data in (vali, test)
    ]
    assert untrained[0] < curve[0] < curve.max() - 0.01
    assert ranker.score(test.X, test.y, test.qid) > untrained[1]


@twins
def test_digits(twin):
    """Both boosters learn the same task about as well, and better than any feature."""
    train, _, test = load_digits_ranking((120, 40, 40), 30)
    ranker = twin.ranker(n_estimators=60).fit(train.X, train.y, train.qid)
    measure = ranker.measure_
    best_feature = max(
        gb.evaluate(measure, test.y, sign * test.X[:, j], test.qid)[measure]
        for j in range(test.n_features)
        for sign in (-1, 1)
    )
    score = ranker.score(test.X, test.y, test.qid)
    assert score > best_feature + 0.05
    assert score == pytest.approx(0.72, abs=0.02)
