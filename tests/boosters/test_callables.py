"""Functions as metrics, native callbacks, progress bars, and objectives in model files."""

import copy
import gc
import pickle
import weakref

import lightgbm
import numpy as np
import numpy.testing as npt
import pytest
import xgboost
from twins import LIGHTGBM, QID, SIZES, VALI, XGBOOST, X, Y, shuffled, twins

import gapboost as gb

# --- functions as metrics -------------------------------------------------------------------------


def pushed(y_true, y_pred):
    return "pushed", float(y_pred @ y_true), True


def grouped(y_true, y_pred, weight, group):
    starts = np.cumsum(group) - group
    return [("tops", float(np.maximum.reduceat(y_pred, starts).mean()), False)]


def ndcg_of_query(y_true, y_score):
    return float(y_true[np.argmax(y_score)])


def spread(y_true, y_score):
    return float(np.ptp(y_score))


def test_lightgbm_calls_functions_with_rows_query_by_query():
    order, rows = shuffled(VALI)
    ranker = LIGHTGBM.ranker().fit(
        X,
        Y,
        QID,
        eval_set=[(VALI.X[order], VALI.y[order])],
        eval_qid=[VALI.qid[order]],
        eval_metric=[pushed, "ap", grouped],
    )
    log = ranker.evals_result_["valid_0"]
    assert set(log) == {"map-gap", "map-ap", "pushed", "tops"}
    scores = ranker.predict(VALI.X[rows])
    npt.assert_allclose(log["pushed"][-1], scores @ VALI.y[rows])
    tops = [scores[VALI.qid[rows] == q].max() for q in np.unique(VALI.qid)]
    npt.assert_allclose(log["tops"][-1], np.mean(tops))


def test_xgboost_calls_functions_for_each_query():
    ranker = XGBOOST.fitted(evals=[VALI], eval_metric=[ndcg_of_query, "ap", spread])
    log = ranker.evals_result_["validation_0"]
    assert list(log)[-1] == "map-gap"  # XGBoost stops by the last
    assert set(log) == {"map-gap", "map-ap", "ndcg_of_query", "spread"}
    scores = ranker.predict(VALI.X)
    queries = [VALI.qid == q for q in np.unique(VALI.qid)]
    values = [np.ptp(scores[rows]) for rows in queries]
    sizes = [rows.sum() for rows in queries]
    npt.assert_allclose(log["spread"][-1], np.average(values, weights=sizes), rtol=1e-5)


@pytest.mark.parametrize("name", ["function", "its name"])
@twins
def test_a_function_can_stop_training(twin, name):
    function = pushed if twin is LIGHTGBM else spread
    stopping = function if name == "function" else function.__name__
    parameters, fit = twin.stopping(3)
    given = {"eval_metric": ["ap", function]}
    ranker = twin.ranker(
        n_estimators=60,
        stopping_metric=stopping,
        **parameters,
        **({} if twin is LIGHTGBM else given),
    )
    fit = {**fit, **(given if twin is LIGHTGBM else {})}
    ranker.fit(X, Y, QID, eval_set=[(VALI.X, VALI.y)], eval_qid=[VALI.qid], **fit)
    values = twin.curve(ranker, metric=function.__name__)
    best = np.argmax(values) if twin is LIGHTGBM else np.argmin(values)  # spread is minimized
    assert ranker.best_iteration_ == best + 1


@pytest.mark.parametrize("metric", ["ndcg@5", "map-gap", "gap", gb.nDCG(k=5), gb.AP()])
@twins
def test_any_reported_measure_can_stop_training(twin, metric):
    parameters, fit = twin.stopping(3)
    extra = {"eval_metric": ["ap", "ndcg@5"]}
    options = {"n_estimators": 60, "learning_rate": 0.5, "stopping_metric": metric}
    ranker = twin.ranker(**options, **parameters, **({} if twin is LIGHTGBM else extra))
    fit = {**fit, **(extra if twin is LIGHTGBM else {})}
    ranker.fit(X, Y, QID, eval_set=[(VALI.X, VALI.y)], eval_qid=[VALI.qid], **fit)
    name = {"gap": "map-gap", gb.nDCG(k=5): "ndcg@5", gb.AP(): "map-ap"}.get(metric, metric)
    assert ranker.best_iteration_ == np.argmax(twin.curve(ranker, metric=name)) + 1


# --- native callbacks -----------------------------------------------------------------------------


@twins
def test_data_sets_that_are_gone_are_forgotten(twin):
    scores, kept = np.zeros(len(Y)), twin.dataset(X, Y, SIZES)
    for callback in (twin.module.objective("gap"), twin.module.eval_metric("gap")):
        gone = [weakref.ref(twin.dataset(X, Y, SIZES)) for _ in range(1)]
        for _ in range(5):
            callback(scores, twin.dataset(X, Y, SIZES))
            callback(scores, kept)
        gc.collect()
        assert gone[0]() is None
        assert len(callback._known._entries) == 1


@twins
def test_copies_and_pickles_compute_the_same(twin):
    rng, data = np.random.default_rng(0), twin.dataset(X, Y, SIZES)
    scores = rng.normal(size=len(Y))
    for callback in (twin.module.objective("ndcg@5"), twin.module.eval_metric(["ap", "gap"])):
        expected = callback(scores, data)
        for other in (copy.deepcopy(callback), pickle.loads(pickle.dumps(callback))):
            for one, two in zip(other(scores, data), expected, strict=True):
                npt.assert_array_equal(one, two)


# --- progress -------------------------------------------------------------------------------------


@twins
def test_progress(twin, capsys):
    bar = twin.module.progress()
    fit = {"callbacks": [bar]} if twin is LIGHTGBM else {}
    parameters = {} if twin is LIGHTGBM else {"callbacks": [bar]}
    for _ in range(2):  # a bar for each fit
        twin.fitted(evals=[VALI], fit=fit, **parameters)
    text = capsys.readouterr().err
    assert text.count("5round") + text.count("5/5") >= 2
    assert "map-gap" in text
    pickle.loads(pickle.dumps(twin.fitted()))
    if twin is LIGHTGBM:
        data = lightgbm.Dataset(X, Y, group=SIZES)
        folds = [(np.arange(400), np.arange(400, 800))]
        settings = {"objective": "regression", "verbose": -1}
        lightgbm.cv(settings, data, 3, folds=folds, callbacks=[bar])
    else:
        xgboost.cv({}, twin.dataset(X, Y, SIZES), 3, callbacks=[bar])


# --- factors of positions -------------------------------------------------------------------------


@pytest.mark.parametrize("penalty", [0.0, 0.02])
@pytest.mark.parametrize("how", [gb.LambdaRank(gb.nDCG()), gb.SoftRank(gb.AP())], ids=repr)
@twins
def test_factors_of_positions_follow_newton_steps(twin, how, penalty):
    """Gradients are those at scores plus factors, and each factor takes LightGBM's Newton step."""
    rng = np.random.default_rng(1)
    position, start = rng.integers(0, 5, len(Y)), 0.1 * rng.normal(size=len(Y))
    options = {
        **twin.no_draws,
        "objective": how,
        "learning_rate": 0.25,
        "lambdarank_position_bias_regularization": penalty,
    }
    factors, scores = np.zeros(5), start
    for rounds in range(1, 4):
        grad, hess = how.gradients(Y, scores + factors[position], QID)
        first, second = (np.bincount(position, column) for column in (grad, hess))
        n = np.bincount(position)
        step = (-first - n * penalty * factors) / (second + n * penalty + 0.001)
        factors = factors + 0.25 * step
        ranker = twin.ranker(n_estimators=rounds, **options)
        ranker.fit(X, Y, QID, position=position, **{twin.start: start})
        found = [ranker.position_bias_[i] for i in range(5)]
        npt.assert_allclose(found, factors, rtol=1e-3, atol=1e-5)
        raw = {"base_margin": start} if twin is XGBOOST else {}
        scores = ranker.predict(X, **raw) + (0 if twin is XGBOOST else start)
    assert np.ptp(factors) > 0.01
