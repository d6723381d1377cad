"""Options of the boosters beyond plain trees take effect with our objectives, or are refused."""

import numpy as np
import numpy.testing as npt
import pytest
import xgboost
from twins import LIGHTGBM, QID, SIZES, TEST, TRAIN, XGBOOST, X, Y, twins

import gapboost as gb
import gapboost.lightgbm
import gapboost.xgboost

UNTRAINED = gb.evaluate(gb.GAP(g=(0.5, 0.5)), TEST.y, np.zeros(len(TEST)), TEST.qid)[
    gb.GAP(g=(0.5, 0.5))
]


def learns(ranker):
    return ranker.score(TEST.X, TEST.y, TEST.qid) > UNTRAINED + 0.2


@twins
def test_dart(twin):
    parameters = (
        {"boosting_type": "dart", "drop_rate": 0.5}
        if twin is LIGHTGBM
        else {"booster": "dart", "rate_drop": 0.5}
    )
    ranker = twin.fitted(n_estimators=20, **parameters)
    assert learns(ranker)
    assert (ranker.predict(TEST.X) != twin.fitted(n_estimators=20).predict(TEST.X)).any()
    if twin is XGBOOST:  # LightGBM's does not always repeat itself with an objective from Python
        npt.assert_array_equal(
            twin.fitted(n_estimators=20, **parameters).predict(TEST.X), ranker.predict(TEST.X)
        )


@twins
def test_goss_and_gradient_based_sampling(twin):
    if twin is XGBOOST and xgboost.__version__.startswith(("3.0.", "3.1.")):
        pytest.skip("XGBoost samples so on processors from 3.2 on")
    # LightGBM samples from round 1 / learning_rate on.
    sampling = (
        {"data_sample_strategy": "goss", "top_rate": 0.2, "other_rate": 0.2}
        if twin is LIGHTGBM
        else {"sampling_method": "gradient_based", "subsample": 0.4}
    )
    parameters = {"n_estimators": 20, "learning_rate": 0.3, "random_state": 0}
    ranker = twin.fitted(**parameters, **sampling)
    assert learns(ranker)
    assert (ranker.predict(TEST.X) != twin.fitted(**parameters).predict(TEST.X)).any()


def two_features(data):
    """Relevance falls and then rises in the first feature; later it depends on the second."""
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, size=(len(data), 2))
    score = x[:, 0] + 2 * x[:, 0] ** 2 + (x[:, 0] > 0) * x[:, 1]
    return x, (score > 0.5).astype(int) + (score > 1.5)


@twins
@pytest.mark.parametrize("sign", [1, -1])
def test_monotone_constraints(twin, sign):
    x, y = two_features(TRAIN)
    grid = np.column_stack(
        [np.tile(np.linspace(-1, 1, 50), 5), np.repeat(np.linspace(-1, 1, 5), 50)]
    )

    def steps(**parameters):
        ranker = twin.ranker(n_estimators=20, **parameters).fit(sign * x, y, QID)
        return np.diff(ranker.predict(sign * grid).reshape(5, 50), axis=1)

    assert (steps() < 0).any()
    limits = [sign, 0] if twin is LIGHTGBM else (sign, 0)
    bound = steps(monotone_constraints=limits)
    assert (bound >= 0).all()
    assert (bound > 0).any()


@twins
def test_a_query_of_weight_2_is_the_query_twice(twin):
    """The whole model, scores to start from and bins included."""
    x = np.floor(X * 2)  # few values: the bins are the same with some rows twice
    # No ties: they would be broken in another order.
    start = np.random.default_rng(0).normal(size=len(Y))
    weights = np.where(np.arange(40) % 3 == 0, 2.0, 1.0)
    again = np.flatnonzero(np.repeat(weights, SIZES) == 2)
    rows = np.concatenate([np.arange(len(Y)), again])
    qid = np.concatenate([QID, QID[again] + 10**6])
    parameters = {"min_child_samples": 1} if twin is LIGHTGBM else {"tree_method": "exact"}
    parameters |= {
        "n_estimators": 10,
        "objective": gb.LambdaRank(gb.GAP(g=(0.5, 0.5))),
        **twin.no_draws,
    }
    weighted = twin.ranker(**parameters).fit(
        x, Y, QID, sample_weight=weights, **{twin.start: start}
    )
    twice = twin.ranker(**parameters).fit(x[rows], Y[rows], qid, **{twin.start: start[rows]})
    plain = twin.ranker(**parameters).fit(x, Y, QID, **{twin.start: start})
    npt.assert_allclose(weighted.predict(x), twice.predict(x), rtol=0, atol=1e-4)
    assert np.abs(weighted.predict(x) - plain.predict(x)).max() > 0.01


# Predictions for arrays in main memory by a model on the device: XGBoost copies them, and says so.
