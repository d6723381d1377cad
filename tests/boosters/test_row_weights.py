"""Weights of documents: each gradient has its own, and metrics use the mean weight of a query.

LightGBM's own objectives do the same.
"""

import lightgbm
import numpy as np
import pytest
from twins import LIGHTGBM, XGBOOST, gradients, metric_values, twins

import gapboost as gb

RNG = np.random.default_rng(0)
SIZES = RNG.integers(3, 30, 60)
QID = np.repeat(np.arange(len(SIZES)), SIZES)
N = len(QID)
X = RNG.normal(size=(N, 4))
Y = np.clip(np.round(X[:, 0] + X[:, 1] + RNG.normal(size=N)) + 1, 0, 3).astype(int)
SCORES = RNG.normal(size=N)
WEIGHTS = RNG.choice([0.0, 0.5, 1.0, 2.5], N)
OBJECTIVES = [
    gb.LambdaRank(gb.GAP()),
    gb.LambdaRank(gb.nDCG(k=5)),
    gb.LambdaRank(0.5 * gb.AP() + gb.nDCG()),
    gb.SoftRank(gb.AP()),
]


@pytest.mark.parametrize("objective", OBJECTIVES, ids=repr)
def test_gradients_are_those_without_weights_times_the_weights(objective):
    plain = objective.gradients(Y, SCORES, QID)
    weighted = objective.gradients(Y, SCORES, QID, sample_weight=WEIGHTS)
    # In units of rows, by the weighted mean of the lengths.
    if not isinstance(objective, gb.LambdaRank):
        mean = np.array([WEIGHTS[q == QID].mean() for q in range(len(SIZES))])
        plain = [part * (mean @ SIZES / mean.sum()) / SIZES.mean() for part in plain]
    for one, other in zip(weighted, plain, strict=True):
        np.testing.assert_allclose(one, other * WEIGHTS, rtol=1e-12, atol=1e-15)  # no hessian is 0


@pytest.mark.parametrize("objective", OBJECTIVES, ids=repr)
def test_weights_that_are_constant_in_every_query_change_no_bit(objective):
    by_query = RNG.uniform(0.1, 3, len(SIZES))
    for one, other in zip(
        objective.gradients(Y, SCORES, QID, sample_weight=by_query),
        objective.gradients(Y, SCORES, QID, sample_weight=by_query[QID]),
        strict=True,
    ):
        assert np.array_equal(one, other)


@pytest.mark.parametrize("shuffled", [False, True])
def test_a_query_is_evaluated_by_the_mean_of_its_weights(shuffled):
    order = RNG.permutation(N) if shuffled else np.arange(N)
    mean = np.array([WEIGHTS[q == QID].mean() for q in np.unique(QID[order], return_index=True)[0]])
    values = gb.evaluate("gap", Y, SCORES, QID, per_query=True)
    wanted = np.average(values[gb.GAP()], weights=mean)
    found = gb.evaluate("gap", Y[order], SCORES[order], QID[order], sample_weight=WEIGHTS[order])
    assert found[gb.GAP()] == pytest.approx(wanted, rel=1e-14)


@twins
def test_rankers_train_and_report_by_them(twin):
    """Models equal the boosters' own with weighted gradients; reported values equal `evaluate`."""
    ranker = twin.ranker(n_estimators=5).fit(
        X,
        Y,
        QID,
        sample_weight=WEIGHTS,
        eval_set=[(X, Y)],
        eval_qid=[QID],
        **{twin.eval_weight: [WEIGHTS]},
    )
    value = gb.evaluate(ranker.measure_, Y, ranker.predict(X), QID, sample_weight=WEIGHTS)
    assert twin.curve(ranker)[-1] == pytest.approx(value[ranker.measure_], abs=1e-6)
    plain = twin.ranker(n_estimators=5).fit(X, Y, QID)
    assert not np.allclose(ranker.predict(X), plain.predict(X))


def test_natively_lightgbm_has_them_in_its_data_set():
    data = lightgbm.Dataset(X, Y, group=SIZES, weight=WEIGHTS, params=LIGHTGBM.native).construct()
    natively = LIGHTGBM.module.objective("gap")(SCORES, data)
    for one, other in zip(
        natively,
        gradients(LIGHTGBM, LIGHTGBM.module.objective("gap"), SCORES, Y, SIZES),
        strict=True,
    ):
        np.testing.assert_allclose(one, other * WEIGHTS, rtol=1e-6, atol=1e-20)
    values = {name: value for name, value, _ in LIGHTGBM.module.eval_metric("gap")(SCORES, data)}
    expected = gb.evaluate("gap", Y, SCORES, QID, sample_weight=WEIGHTS)
    assert values["map-gap"] == pytest.approx(expected[gb.GAP()], rel=1e-6)


def test_natively_xgboost_is_told_them_beside_its_data_set():
    weighted = gradients(XGBOOST, XGBOOST.module.objective("gap", weight=WEIGHTS), SCORES, Y, SIZES)
    plain = gradients(XGBOOST, XGBOOST.module.objective("gap"), SCORES, Y, SIZES)
    for one, other in zip(weighted, plain, strict=True):
        np.testing.assert_allclose(one, other * WEIGHTS, rtol=1e-6, atol=1e-20)
    with pytest.raises(
        ValueError, match=r"weight has 3 values; expected one a query \(60\) or one a row"
    ):
        gradients(XGBOOST, XGBOOST.module.objective("gap", weight=WEIGHTS[:3]), SCORES, Y, SIZES)


def test_first_trees_are_those_of_lambdarank_with_weights_of_rows():
    """LightGBM's own objective, with pairs of any depth and without its two normalizations."""
    settings = {
        "n_estimators": 2,
        "num_leaves": 7,
        "min_child_samples": 5,
        "verbose": -1,
        "n_jobs": 1,
    }
    own = lightgbm.LGBMRanker(**settings, lambdarank_norm=False, lambdarank_truncation_level=1000)
    own.fit(X, Y, sample_weight=WEIGHTS, group=SIZES, init_score=SCORES)
    objective = gb.LambdaRank(gb.nDCG(), normalize=False)
    ours = LIGHTGBM.ranker_class(**settings, objective=objective, extra_trees=False, random_state=0)
    ours.fit(X, Y, QID, sample_weight=WEIGHTS, init_score=SCORES)
    np.testing.assert_allclose(ours.predict(X), own.predict(X), rtol=2e-3, atol=1e-4)
    first, second = (
        model.booster_.dump_model()["tree_info"][0]["tree_structure"] for model in (ours, own)
    )
    assert (first["split_feature"], first["threshold"]) == (
        second["split_feature"],
        second["threshold"],
    )


@twins
def test_positions_whose_documents_weigh_nothing_learn_nothing(twin):
    position = np.concatenate([np.arange(n) % 4 for n in SIZES])
    weights = np.where(position == 2, 0.0, WEIGHTS + 0.1)
    ranker = twin.ranker(n_estimators=5).fit(X, Y, QID, sample_weight=weights, position=position)
    assert ranker.position_bias_[2] == 0.0
    assert all(ranker.position_bias_[p] != 0.0 for p in (0, 1, 3))


@twins
def test_metrics_of_native_data_sets_take_the_mean(twin):
    mean = np.array([WEIGHTS[q == QID].mean() for q in range(len(SIZES))])
    values = metric_values(twin, twin.module.eval_metric("ndcg@5"), SCORES, Y, SIZES, mean)
    expected = gb.evaluate("ndcg@5", Y, SCORES, QID, sample_weight=WEIGHTS)
    assert values["ndcg@5"] == pytest.approx(next(iter(expected.values())), rel=1e-6)
