"""Weights of documents: each gradient has its own, and metrics use the mean weight of a query.

LightGBM's own objectives do the same.
"""

import lightgbm
import numpy as np
import numpy.testing as npt
import pytest
import xgboost
from twins import LIGHTGBM, XGBOOST, gradients, metric_values, twins
from twins import SIZES as TRAIN_SIZES
from twins import X as TRAIN_X
from twins import Y as TRAIN_Y

import gapboost as gb

RNG = np.random.default_rng(0)
SIZES = RNG.integers(3, 30, 60)
QID = np.repeat(np.arange(len(SIZES)), SIZES)
N = len(QID)
X = RNG.normal(size=(N, 4))
Y = np.clip(np.round(X[:, 0] + X[:, 1] + RNG.normal(size=N)) + 1, 0, 3).astype(int)
SCORES = RNG.normal(size=N)
WEIGHTS = RNG.choice([0.0, 0.5, 1.0, 2.5], N)
MEANS = np.bincount(QID, WEIGHTS) / SIZES
OBJECTIVES = [
    gb.LambdaRank(gb.GAP()),
    gb.LambdaRank(0.5 * gb.AP() + gb.nDCG()),
    gb.SoftRank(gb.AP()),
]


@pytest.mark.parametrize("objective", OBJECTIVES, ids=repr)
def test_gradients_are_those_without_weights_times_the_weights(objective):
    plain = objective.gradients(Y, SCORES, QID)
    weighted = objective.gradients(Y, SCORES, QID, sample_weight=WEIGHTS)
    # In units of rows, by the weighted mean of the lengths.
    if not isinstance(objective, gb.LambdaRank):
        plain = [part * (MEANS @ SIZES / MEANS.sum()) / SIZES.mean() for part in plain]
    for one, other in zip(weighted, plain, strict=True):
        npt.assert_allclose(one, other * WEIGHTS, rtol=1e-12, atol=1e-15)  # no hessian is 0
    by_query = RNG.uniform(0.1, 3, len(SIZES))
    for one, other in zip(
        objective.gradients(Y, SCORES, QID, sample_weight=by_query),
        objective.gradients(Y, SCORES, QID, sample_weight=by_query[QID]),
        strict=True,
    ):
        npt.assert_array_equal(one, other)


def test_a_query_is_evaluated_by_the_mean_of_its_weights():
    values = gb.evaluate("gap", Y, SCORES, QID, per_query=True)[gb.GAP()]
    order = RNG.permutation(N)
    found = gb.evaluate("gap", Y[order], SCORES[order], QID[order], sample_weight=WEIGHTS[order])
    assert found[gb.GAP()] == pytest.approx(np.average(values, weights=MEANS), rel=1e-14)


@twins
def test_a_query_of_weight_2_is_the_query_twice(twin):
    """The whole model, scores to start from and bins included."""
    x = np.floor(TRAIN_X * 2)  # few values: the bins are the same with some rows twice
    qid = np.repeat(np.arange(40), TRAIN_SIZES)
    # No ties: they would be broken in another order.
    start = np.random.default_rng(0).normal(size=len(qid))
    weights = np.where(np.arange(40) % 3 == 0, 2.0, 1.0)
    again = np.flatnonzero(weights[qid] == 2)
    rows = np.concatenate([np.arange(len(qid)), again])
    parameters = {"min_child_samples": 1} if twin is LIGHTGBM else {"tree_method": "exact"}
    parameters |= {
        "n_estimators": 10,
        "objective": gb.LambdaRank(gb.GAP(), step=1),
        **twin.no_draws,
    }

    def scores(rows, qid, weights=None):
        fit = {"sample_weight": weights, twin.start: start[rows]}
        return twin.ranker(**parameters).fit(x[rows], TRAIN_Y[rows], qid, **fit).predict(x)

    weighted, plain = (scores(np.arange(len(qid)), qid, w) for w in (weights, None))
    twice = scores(rows, np.concatenate([qid, qid[again] + 10**6]))
    npt.assert_allclose(weighted, twice, rtol=0, atol=1e-4)
    assert np.abs(weighted - plain).max() > 0.01


def test_first_trees_are_those_of_lambdarank_with_weights_of_rows():
    """LightGBM's own objective, with pairs of any depth and without its two normalizations."""
    settings = {"n_estimators": 2, "num_leaves": 7, "min_child_samples": 5, "verbose": -1}
    own = lightgbm.LGBMRanker(**settings, lambdarank_norm=False, lambdarank_truncation_level=1000)
    own.fit(X, Y, sample_weight=WEIGHTS, group=SIZES, init_score=SCORES)
    objective = gb.LambdaRank(gb.nDCG(), score_distance=None, step=1, normalize=False)
    of_lightgbm = {"max_bin": 255, "random_state": 0}
    ours = LIGHTGBM.ranker_class(**settings, objective=objective, **of_lightgbm)
    ours.fit(X, Y, QID, sample_weight=WEIGHTS, init_score=SCORES)
    npt.assert_allclose(ours.predict(X), own.predict(X), rtol=2e-3, atol=1e-4)
    first, second = (
        model.booster_.dump_model()["tree_info"][0]["tree_structure"] for model in (ours, own)
    )
    assert first["split_feature"] == second["split_feature"]
    assert first["threshold"] == second["threshold"]


def test_histograms_of_xgboost_are_weighted():
    """Bins of a weighted matrix are others than those of a matrix without weights."""
    rng = np.random.default_rng(0)
    qid, X = np.repeat(np.arange(40), 10), rng.normal(size=(400, 3))
    y, weight = (X[:, 0] > rng.normal(size=400)).astype(int), rng.choice([0.1, 10.0], size=40)
    ranker = XGBOOST.ranker_class(n_estimators=3, max_bin=4, n_jobs=1)
    scores = ranker.fit(X, y, qid, sample_weight=weight).predict(X)
    settings = {"objective": "rank:ndcg", "base_score": 0.0, "disable_default_eval_metric": 1}
    settings |= {"max_bin": 4, "nthread": 1, "reg_lambda": 5.0, "max_depth": 5}

    def native(**weights):
        data = xgboost.QuantileDMatrix(X, label=y, qid=qid, max_bin=4, nthread=1, **weights)
        gradients = gb.xgboost.objective(weight=np.repeat(weight, 10))
        return xgboost.train(settings, data, 3, obj=gradients).inplace_predict(X)

    npt.assert_array_equal(scores, native(weight=weight))
    assert (scores != native()).any()


# --- native callbacks -----------------------------------------------------------------------------


def test_lightgbm_has_them_in_its_data_set():
    objective, metric = LIGHTGBM.module.objective("gap"), LIGHTGBM.module.eval_metric("gap")
    data = lightgbm.Dataset(X, Y, group=SIZES, weight=WEIGHTS, params=LIGHTGBM.native).construct()
    plain = gradients(LIGHTGBM, objective, SCORES, Y, SIZES)
    for one, other in zip(objective(SCORES, data), plain, strict=True):
        npt.assert_allclose(one, other * WEIGHTS, rtol=1e-6, atol=1e-20)
    expected = gb.evaluate("gap", Y, SCORES, QID, sample_weight=WEIGHTS)[gb.GAP()]
    assert metric(SCORES, data)[0][1] == pytest.approx(expected, rel=1e-6)


def test_xgboost_gets_them_beside_its_data_set():
    objective = XGBOOST.module.objective
    weighted = gradients(XGBOOST, objective("gap", weight=WEIGHTS), SCORES, Y, SIZES)
    plain = gradients(XGBOOST, objective("gap"), SCORES, Y, SIZES)
    for one, other in zip(weighted, plain, strict=True):
        npt.assert_allclose(one, other * WEIGHTS, rtol=1e-6, atol=1e-20)
    with pytest.raises(ValueError, match="weight has 3 values"):
        gradients(XGBOOST, objective("gap", weight=WEIGHTS[:3]), SCORES, Y, SIZES)
    values = metric_values(XGBOOST, XGBOOST.module.eval_metric("ap"), SCORES, Y, SIZES, MEANS)
    expected = gb.evaluate("ap", Y, SCORES, QID, sample_weight=WEIGHTS)[gb.AP()]
    assert values["map-ap"] == pytest.approx(expected, rel=1e-6)
