"""XGBoost alone: its data sets, the direction of its early stopping, and its loaded models."""

import numpy as np
import numpy.testing as npt
import pandas as pd
import pytest
import xgboost
from twins import TEST, TRAIN, VALI, XGBOOST, sizes_of

import gapboost as gb
from gapboost.xgboost import XGBGAPRanker, eval_metric, objective

X, Y, QID = TRAIN.X, TRAIN.y, TRAIN.qid
SIZES = sizes_of(QID)
EARLY = {"n_estimators": 100, "learning_rate": 0.3}


def by_qid(data=TRAIN, **more):
    return xgboost.DMatrix(data.X, label=data.y, qid=data.qid, nthread=1, **more)


def by_group(data=TRAIN):
    dmatrix = xgboost.DMatrix(data.X, label=data.y, nthread=1)
    dmatrix.set_group(sizes_of(data.qid))
    return dmatrix


def quantile(data=TRAIN, ref=None):
    return xgboost.QuantileDMatrix(data.X, label=data.y, qid=data.qid, ref=ref, nthread=1)


# --- early stopping -------------------------------------------------------------------------------


@pytest.mark.slow(keep=2)
@pytest.mark.parametrize(
    "parameters",
    [
        {"early_stopping_rounds": 5},
        {"callbacks": lambda: [xgboost.callback.EarlyStopping(rounds=5)]},
        {"callbacks": lambda: [xgboost.callback.EarlyStopping(rounds=5, maximize=None)]},
        {"callbacks": lambda: [xgboost.callback.EarlyStopping(rounds=5, maximize=True)]},
        {"callbacks": lambda: [xgboost.callback.EarlyStopping(rounds=5, save_best=True)]},
        {
            "callbacks": lambda: [
                xgboost.callback.EarlyStopping(
                    rounds=5, metric_name="map-gap", data_name="validation_0"
                )
            ]
        },
    ],
    ids=[
        "early_stopping_rounds",
        "callback",
        "maximize=None",
        "maximize=True",
        "save_best",
        "named",
    ],
)
def test_every_way_of_early_stopping_maximizes(parameters):
    parameters = {name: value() if callable(value) else value for name, value in parameters.items()}
    ranker = XGBOOST.fitted(evals=[VALI], **EARLY, **parameters)
    curve = XGBOOST.curve(ranker)
    best = int(np.argmax(curve))
    assert 0 < best < len(curve) - 1
    assert ranker.best_iteration == best
    assert ranker.best_iteration_ == best + 1
    assert len(curve) == best + 1 + 5
    npt.assert_array_equal(
        ranker.predict(TEST.X),
        XGBOOST.fitted(**{**EARLY, "n_estimators": best + 1}).predict(TEST.X),
    )


@pytest.mark.slow(keep=2)
@pytest.mark.parametrize("measure", ["gap", "xgap", "egap", "ap", "ndcg", "precision"])
def test_every_measure_is_maximized(measure):
    ranker = XGBOOST.fitted(evals=[VALI], measure=measure, early_stopping_rounds=3, **EARLY)
    (curve,) = ranker.evals_result_["validation_0"].values()
    assert ranker.best_iteration == np.argmax(curve)


def test_early_stopping_goes_by_the_measure_trained_for_in_the_last_set():
    # The metric beside it never changes: it would stop training in round 6.
    ranker = XGBOOST.fitted(
        evals=[TEST, VALI],
        eval_metric=[gb.AP(rel=200), gb.nDCG()],
        early_stopping_rounds=5,
        **EARLY,
    )
    curve = XGBOOST.curve(ranker, 1)
    assert ranker.best_iteration == np.argmax(curve) > 0
    assert len(curve) == ranker.best_iteration + 6


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize(
    "measure", ["gap", gb.Precision(k=10), [gb.AP(rel=200), gb.xGAP()]], ids=str
)
def test_native_early_stopping_without_maximize(measure):
    curves = {}
    dtrain = by_qid()
    booster = xgboost.train(
        {**XGBOOST.native, "learning_rate": 0.3},
        dtrain,
        100,
        obj=objective("gap"),
        custom_metric=eval_metric(measure),
        evals=[(dtrain, "train"), (by_qid(VALI), "vali")],
        early_stopping_rounds=5,
        evals_result=curves,
        verbose_eval=False,
    )
    curve = list(curves["vali"].values())[-1]
    assert booster.best_iteration == np.argmax(curve)
    assert 0 < booster.best_iteration == len(curve) - 6


# --- data sets ------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [by_qid, by_group, quantile])
def test_kinds_of_DMatrix(make):
    curves = {}
    dtrain = make()
    valid = quantile(VALI, dtrain) if make is quantile else make(VALI)
    booster = xgboost.train(
        XGBOOST.native,
        dtrain,
        5,
        obj=objective("gap"),
        custom_metric=eval_metric("gap"),
        evals=[(valid, "vali")],
        evals_result=curves,
        verbose_eval=False,
    )
    expected = XGBOOST.fitted(evals=[VALI])
    npt.assert_allclose(booster.predict(by_qid(TEST)), expected.predict(TEST.X), rtol=0, atol=1e-6)
    npt.assert_allclose(curves["vali"]["map-gap"], XGBOOST.curve(expected), rtol=0, atol=2e-6)


def test_weights_of_queries_on_a_DMatrix():
    weights = np.linspace(0.5, 3.0, len(SIZES)).astype(np.float32)
    curves = {}
    booster = xgboost.train(
        {**XGBOOST.native, "tree_method": "exact"},
        by_qid(weight=weights),
        5,
        obj=objective("gap"),
        custom_metric=eval_metric("gap"),
        evals=[(by_qid(VALI, weight=np.arange(30.0)), "vali")],
        evals_result=curves,
        verbose_eval=False,
    )
    ranker = XGBOOST.fitted(tree_method="exact", fit={"sample_weight": weights})
    npt.assert_allclose(booster.predict(by_qid(TEST)), ranker.predict(TEST.X), rtol=0, atol=1e-6)
    measure = ranker.measure_
    expected = gb.evaluate(
        measure, VALI.y, ranker.predict(VALI.X), VALI.qid, sample_weight=np.arange(30.0)
    )[measure]
    assert curves["vali"]["map-gap"][-1] == pytest.approx(expected, abs=2e-6)


def test_cv_keeps_queries_whole():
    seen = []

    def metric(scores, dmatrix):
        seen.append(len(dmatrix.get_group()))
        return eval_metric("gap")(scores, dmatrix)

    result = xgboost.cv(
        XGBOOST.native,
        by_qid(),
        10,
        nfold=4,
        obj=objective("gap"),
        custom_metric=metric,
        early_stopping_rounds=3,
        as_pandas=False,
        seed=0,
    )
    assert set(seen) == {10, 30}
    curve = result["test-map-gap-mean"]
    assert curve[-1] > curve[0]
    # Stopped upwards: cv cuts its curves at the best round.
    assert len(curve) == np.argmax(curve) + 1


# --- parameters -----------------------------------------------------------------------------------


@pytest.mark.slow(keep=2)
@pytest.mark.parametrize(
    "parameters",
    [
        {"booster": "gblinear", "max_depth": None, "learning_rate": 1.0},
        {"booster": "dart", "rate_drop": 0.1},
        {"tree_method": "exact"},
        {"tree_method": "approx"},
        {"grow_policy": "lossguide", "max_leaves": 7},
        {"subsample": 0.5, "colsample_bytree": 0.5},
        {"monotone_constraints": "(1" + ",0" * 22 + ")"},
        {"num_parallel_tree": 2},
        {"feature_weights": np.linspace(0.1, 1.0, 23), "colsample_bynode": 0.5},
        {"eta": 0.5},
        {"verbosity": 0, "validate_parameters": True},
    ],
    ids=str,
)
def test_ways_of_boosting(parameters):
    ranker = XGBOOST.fitted(evals=[VALI], n_estimators=10, **parameters)
    curve = XGBOOST.curve(ranker)
    assert curve[-1] > curve[0]
    expected = gb.evaluate(ranker.measure_, VALI.y, ranker.predict(VALI.X), VALI.qid)[
        ranker.measure_
    ]
    # XGBoost drops trees anew when it scores the sets in a round of dart, not in predict.
    assert curve[-1] == pytest.approx(expected, abs=1e-6)


def test_the_training_set_as_eval_set_is_binned_once(monkeypatch):
    made = []

    def counted(*args, **kwargs):
        made.append(kwargs["ref"])
        return xgboost.QuantileDMatrix(*args, **kwargs)

    monkeypatch.setattr(xgboost.sklearn, "QuantileDMatrix", counted)
    XGBOOST.ranker().fit(X, Y, QID, eval_set=[(X, Y), (VALI.X, VALI.y)], eval_qid=[QID, VALI.qid])
    train, vali = made
    assert train is None
    assert vali is not None


# --- pandas ---------------------------------------------------------------------------------------


def test_categories_in_another_order_continue_a_model():
    letters = np.array(list("abcdef"))

    def frame(y, categories):
        rng = np.random.default_rng(0)
        of_grade = letters[np.array([[2, 3], [0, 5], [1, 4]])[y, rng.integers(2, size=len(y))]]
        chosen = np.where(rng.random(len(y)) < 0.3, rng.choice(letters, len(y)), of_grade)
        return pd.DataFrame(
            {
                "letter": pd.Categorical(chosen, categories=list(categories)),
                "x": rng.normal(size=len(y)),
            }
        )

    parameters = {"enable_categorical": True}
    first = XGBOOST.ranker(**parameters).fit(frame(Y, "abcdef"), Y, QID)

    def continued(categories, vali_categories):
        return XGBOOST.ranker(**parameters).fit(
            frame(Y, categories),
            Y,
            QID,
            xgb_model=first,
            eval_set=(frame(VALI.y, vali_categories), VALI.y),
            eval_qid=VALI.qid,
        )

    expected = continued("abcdef", "abcdef")
    found = continued("cabfed", "cfbeda")
    assert found.evals_result_ == expected.evals_result_
    for categories in ("abcdef", "fbdcea"):
        npt.assert_array_equal(
            found.predict(frame(TEST.y, categories)), expected.predict(frame(TEST.y, "abcdef"))
        )


# --- loaded models --------------------------------------------------------------------------------


def test_histograms_are_weighted():
    """Bins of a weighted matrix are others than those of a matrix without weights."""
    rng = np.random.default_rng(0)
    qid, X = np.repeat(np.arange(40), 10), rng.normal(size=(400, 3))
    y, weight = (X[:, 0] > rng.normal(size=400)).astype(int), rng.choice([0.1, 10.0], size=40)
    ranker = XGBGAPRanker(n_estimators=3, max_bin=4, n_jobs=1)
    scores = ranker.fit(X, y, qid, sample_weight=weight).predict(X)
    settings = {"objective": "rank:ndcg", "base_score": 0.0, "disable_default_eval_metric": 1}
    settings |= {"max_bin": 4, "nthread": 1}

    def native(**weights):
        data = xgboost.QuantileDMatrix(X, label=y, qid=qid, max_bin=4, nthread=1, **weights)
        gradients = objective(weight=np.repeat(weight, 10))
        return xgboost.train(settings, data, 3, obj=gradients).inplace_predict(X)

    npt.assert_array_equal(scores, native(weight=weight))
    assert (scores != native()).any()
