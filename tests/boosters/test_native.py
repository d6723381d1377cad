"""Objectives and metrics for the boosters' own training functions and data sets."""

import copy
import inspect
import pickle
import weakref

import lightgbm
import numpy as np
import numpy.testing as npt
import pytest
import xgboost
from sklearn.base import clone
from sklearn.model_selection import GroupKFold
from twins import (
    LIGHTGBM,
    QID,
    SIZES,
    TEST,
    TRAIN,
    VALI,
    XGBOOST,
    X,
    Y,
    gradients,
    metric_values,
    sizes_of,
    twins,
)

import gapboost as gb

GAP, ONE_LABEL = gb.GAP(g=(0.5, 0.5)), gb.OfLabel(gb.AP(), 0)
SCORES = np.random.default_rng(0).normal(size=len(Y)).astype(np.float32)
WEIGHTS = np.linspace(0.5, 3.0, len(SIZES)).astype(np.float32)


def check_gradients(twin, found, objective, data=TRAIN, scores=SCORES, y=None, weight=None):
    """Compare gradients with the objective's own, in the units of the booster.

    Smooth objectives multiply a query by the mean size of the queries themselves.
    """
    y = data.y if y is None else y
    expected = objective.gradients(y, scores, data.qid, sample_weight=weight)
    if isinstance(objective, gb.LambdaRank):
        of_grad, of_hess = twin.scales(data.qid)
        expected = objective.step_for(len(y)) * of_grad * expected[0], of_hess * expected[1]
    for a, b in zip(found, expected, strict=True):
        assert a.dtype == np.float32
        npt.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


@twins
@pytest.mark.parametrize(
    "objective",
    [
        gb.LambdaRank(gb.GAP(g=(0.2, 0.8))),
        gb.LambdaRank(gb.AP(), sigma=2.0),
        gb.SoftRank(GAP),
        gb.ApproxRank(GAP),
    ],
    ids=repr,
)
def test_gradients_are_those_of_the_objective(twin, objective):
    found = gradients(twin, twin.module.objective(objective), SCORES, Y, SIZES, WEIGHTS)
    check_gradients(twin, found, objective, weight=WEIGHTS)


@twins
def test_metrics_are_those_of_evaluate(twin):
    # Two of them are the same on these labels.
    measures = [gb.GAP(g=(0.5, 0.5)), gb.GAP(), gb.nDCG(k=3), gb.Precision(k=5)]
    for weight in (None, WEIGHTS):
        found = metric_values(twin, twin.module.eval_metric(measures), SCORES, Y, SIZES, weight)
        expected = gb.evaluate(measures, Y, SCORES, QID, sample_weight=weight)
        assert len(found) == len(measures)
        npt.assert_allclose(list(found.values()), list(expected.values()), rtol=1e-6)


# --- what callbacks know of a data set ------------------------------------------------------------


@twins
def test_one_objective_serves_several_data_sets_in_turn(twin, preparations):
    objective = twin.module.objective("gap", g=GAP.g)
    datasets = [(data, twin.dataset(data.X, data.y, sizes_of(data.qid))) for data in (TRAIN, VALI)]
    rng = np.random.default_rng(0)
    for _ in range(3):
        for data, dataset in datasets:
            scores = rng.normal(size=len(data))
            check_gradients(twin, objective(scores, dataset), gb.LambdaRank(GAP), data, scores)
    # 3 by the expected values.
    for data, _ in datasets:
        assert sum(made.queries.n_rows == len(data) for made in preparations) == 1 + 3


@twins
def test_new_labels_are_seen(twin):
    objective = twin.module.objective("gap", g=GAP.g)
    metric = twin.module.eval_metric("gap", g=GAP.g)
    labels = Y.astype(np.float32)
    dataset = twin.dataset(X, labels, SIZES)
    for seed in range(3):
        found = objective(SCORES, dataset)
        check_gradients(twin, found, gb.LambdaRank(GAP), y=labels)
        expected = gb.evaluate(GAP, labels, SCORES, QID)[GAP]
        assert metric(SCORES, dataset)[0][1] == pytest.approx(expected)
        labels[:] = np.random.default_rng(seed).permutation(labels)
        dataset.set_label(labels)


def test_labels_that_change_in_place_are_seen():
    """LightGBM's own ranker passes an array of labels in place of a data set."""
    labels = Y.astype(np.float32)
    metric = LIGHTGBM.module.eval_metric(GAP)
    for _ in range(2):
        labels[:] = labels[::-1].copy()
        ((_, found, _),) = metric(labels, SCORES, None, SIZES)
        assert found == pytest.approx(gb.evaluate(GAP, labels, SCORES, QID)[GAP], abs=1e-12)


@twins
def test_data_sets_that_are_gone_are_forgotten(twin):
    scores, kept = np.zeros(len(Y)), twin.dataset(X, Y, SIZES)
    for callback in (twin.module.objective("gap"), twin.module.eval_metric("gap")):
        for _ in range(5):
            gone = twin.dataset(X, Y, SIZES)
            callback(scores, gone)
            callback(scores, kept)
        reference = weakref.ref(gone)
        del gone
        assert reference() is None
        assert len(callback._known) == 1


@twins
def test_copies_and_pickles_compute_the_same(twin):
    data = twin.dataset(X, Y, SIZES)
    for callback in (twin.module.objective("ndcg@5"), twin.module.eval_metric(["ap", "gap"])):
        expected = callback(SCORES, data)
        for other in (copy.deepcopy(callback), pickle.loads(pickle.dumps(callback))):
            for one, two in zip(other(SCORES, data), expected, strict=True):
                npt.assert_array_equal(one, two)


# --- LightGBM -------------------------------------------------------------------------------------


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["", "weighted"])
def test_callbacks_in_lightgbms_own_ranker(weights, preparations):
    new = "eval_X" in inspect.signature(lightgbm.LGBMRanker.fit).parameters
    vali = {"eval_X": VALI.X, "eval_y": VALI.y} if new else {"eval_set": [(VALI.X, VALI.y)]}
    theirs = lightgbm.LGBMRanker(
        n_estimators=5,
        n_jobs=1,
        objective=gb.lightgbm.objective("gap", g=(0.3, 0.7)),
        metric="None",
        **LIGHTGBM.parameters,
    ).fit(
        X,
        Y,
        group=SIZES,
        sample_weight=None if weights is None else np.repeat(weights, SIZES),
        **vali,
        eval_group=[sizes_of(VALI.qid)],
        eval_metric=gb.lightgbm.eval_metric("gap", g=(0.3, 0.7)),
    )
    # It calls deep copies of the objective, which must share what they know.
    assert len(preparations) == 1
    ours = LIGHTGBM.fitted(g=(0.3, 0.7), evals=[VALI], fit={"sample_weight": weights})
    npt.assert_allclose(theirs.predict(TEST.X), ours.predict(TEST.X), rtol=0, atol=1e-6)
    npt.assert_allclose(LIGHTGBM.curve(theirs), LIGHTGBM.curve(ours), rtol=0, atol=1e-6)
    assert list(theirs.evals_result_["valid_0"]) == ["gap"]
    assert clone(theirs).objective is theirs.objective


# --- XGBoost --------------------------------------------------------------------------------------


def by_qid(data=TRAIN, **more):
    return xgboost.DMatrix(data.X, label=data.y, qid=data.qid, nthread=1, **more)


def by_group(data=TRAIN, weight=None):
    return XGBOOST.dataset(data.X, data.y, sizes_of(data.qid), weight)


def quantile(data=TRAIN, **more):
    return xgboost.QuantileDMatrix(data.X, label=data.y, qid=data.qid, nthread=1, **more)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("make", [by_qid, by_group, quantile])
def test_kinds_of_matrices(make, weighted):
    curves, weights = {}, np.arange(30.0)
    of_train, of_vali = ({"weight": w} if weighted else {} for w in (WEIGHTS, weights))
    train = make(**of_train)
    valid = make(VALI, **of_vali, **({"ref": train} if make is quantile else {}))
    booster = xgboost.train(
        XGBOOST.native,
        train,
        5,
        obj=gb.xgboost.objective("gap"),
        custom_metric=gb.xgboost.eval_metric("gap"),
        evals=[(valid, "vali")],
        evals_result=curves,
        verbose_eval=False,
    )
    fit = {"sample_weight": WEIGHTS, "sample_weight_eval_set": [weights]} if weighted else {}
    expected = XGBOOST.fitted(evals=[VALI], fit=fit)
    npt.assert_allclose(booster.predict(by_qid(TEST)), expected.predict(TEST.X), rtol=0, atol=1e-6)
    npt.assert_allclose(curves["vali"]["map-gap"], XGBOOST.curve(expected), rtol=0, atol=2e-6)


@pytest.mark.parametrize("tree_method", ["hist", "approx", "exact"])
def test_the_documented_settings_train_as_the_ranker(tree_method):
    settings = {"objective": "rank:ndcg", "base_score": 0.0, "disable_default_eval_metric": 1}
    options = {"tree_method": tree_method, "max_depth": 4, "learning_rate": 0.3}
    settings |= {**options, "nthread": 1, "reg_lambda": 5.0}
    booster = xgboost.train(settings, by_qid(), 10, obj=gb.xgboost.objective("gap"))
    ranker = gb.xgboost.XGBGAPRanker(n_estimators=10, n_jobs=1, **options).fit(X, Y, QID)
    npt.assert_array_equal(booster.inplace_predict(VALI.X), ranker.predict(VALI.X))


def test_cross_validation_keeps_queries_whole():
    seen = []

    def metric(scores, matrix):
        seen.append(len(matrix.get_group()))
        return gb.xgboost.eval_metric("gap")(scores, matrix)

    found = xgboost.cv(
        XGBOOST.native, by_qid(), 40, nfold=4, obj=gb.xgboost.objective("gap"),
        custom_metric=metric, early_stopping_rounds=3, as_pandas=False, seed=0,
    )  # fmt: skip
    assert set(seen) == {10, 30}
    curve = found["test-map-gap-mean"]
    # cv cuts its curves at the best round.
    assert len(curve) == np.argmax(curve) + 1 > 1
    folds = GroupKFold(4).split(X, Y, QID)
    parameters = {**LIGHTGBM.native, "objective": gb.lightgbm.objective("gap"), "metric": "None"}
    data = lightgbm.Dataset(X, Y, group=SIZES)
    metric = gb.lightgbm.eval_metric("gap")
    found = lightgbm.cv(parameters, data, 10, folds=folds, feval=metric)["valid gap-mean"]
    assert found[-1] > found[0]


# --- what callbacks refuse ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "measure", "g", "message"),
    [
        *((name, "mpa", None, "^measure is") for name in ("objective", "eval_metric")),
        *((name, "gap", (0.5, 0.6), "^g is") for name in ("objective", "eval_metric")),
        *((name, ONE_LABEL, None, "^measure is") for name in ("objective", "eval_metric")),
        ("objective", gb.LambdaRank(gb.GAP()), GAP.g, "^g is"),
        ("eval_metric", [], None, r"^measure is \[\]"),
        ("eval_metric", ["gap", "ap"], GAP.g, "^measure is"),
    ],
)
@twins
def test_arguments(twin, name, measure, g, message):
    with pytest.raises((ValueError, TypeError), match=message):
        getattr(twin.module, name)(measure, g=g)


@twins
def test_data_sets(twin):
    if twin is LIGHTGBM:
        without = lightgbm.Dataset(X, label=Y, params=LIGHTGBM.native).construct()
    else:
        without = xgboost.DMatrix(X, label=Y)
    for make in (twin.module.objective, twin.module.eval_metric):
        call = make("gap")
        with pytest.raises(ValueError, match="the data set has no query groups"):
            call(SCORES, without)
        with pytest.raises(ValueError, match="label"):
            call(SCORES, twin.dataset(X, Y - 1.0, SIZES))
        with pytest.raises(ValueError, match="scores"):
            call(np.full(len(Y), np.nan), twin.dataset(X, Y, SIZES))
    with pytest.raises(ValueError, match="label"):
        twin.module.objective("gap")(SCORES, twin.dataset(X, QID % 2, SIZES))


def xgb_ranker(metric):
    evals = {"eval_set": [(X, Y)], "eval_qid": [QID], "verbose": False}
    xgboost.XGBRanker(n_estimators=1, eval_metric=metric).fit(X, Y, qid=QID, **evals)


@pytest.mark.parametrize("name", ["objective", "eval_metric"])
def test_callbacks_of_the_other_library(name):
    ours, theirs = (getattr(module, name)("gap") for module in (gb.lightgbm, gb.xgboost))
    data, matrix = lightgbm.Dataset(X, Y, group=SIZES), by_qid()
    watched = {"evals": [(matrix, "a")], "verbose_eval": False}
    calls = {
        "objective": (
            lambda: xgboost.train({}, matrix, 1, obj=ours),
            lambda: lightgbm.train({"objective": theirs, "verbose": -1}, data, 1),
            lambda: lightgbm.LGBMRanker(objective=theirs, verbose=-1).fit(X, Y, group=SIZES),
        ),
        "eval_metric": (
            lambda: xgboost.train({}, matrix, 1, custom_metric=ours, **watched),
            lambda: lightgbm.train({"verbose": -1}, data, 1, [data], feval=theirs),
            lambda: xgb_ranker(ours),
            lambda: xgb_ranker(theirs),
        ),
    }
    for call in calls[name]:
        with pytest.raises(TypeError, match=r"(\w+)\.train takes gapboost\.\1.*XGBGAPRanker"):
            call()


def test_lightgbm_refuses_what_it_would_ignore():
    parameters = {**LIGHTGBM.native, "objective": gb.lightgbm.objective("gap")}
    ignored = {"lambdarank_norm": False, "bagging_by_query": True, "label_gain": [0, 1, 3]}
    for name, value in ignored.items():
        with pytest.raises(ValueError, match=name):
            lightgbm.train({**parameters, name: value}, lightgbm.Dataset(X, Y, group=SIZES), 2)
    # LightGBM's own metric has these gains.
    own = {**parameters, "label_gain": [0, 1, 3], "metric": "ndcg"}
    lightgbm.train(own, lightgbm.Dataset(X, Y, group=SIZES), 2)
    data = lightgbm.Dataset(X, Y, group=SIZES, position=np.arange(len(Y)) % 10)
    with pytest.raises(ValueError, match="positions"):
        lightgbm.train(parameters, data, 2)
    # LightGBM leaves positions out of subsets, and folds are subsets.
    rows = np.arange(SIZES[:10].sum())
    folds = [(rows, np.arange(len(rows), len(Y)))]
    data.construct()
    for train in (
        lambda: lightgbm.train(parameters, data.subset(rows), 2),
        lambda: lightgbm.cv(parameters, data, 2, folds=folds),
    ):
        with pytest.raises(ValueError, match="positions"):
            train()
    with pytest.raises(ValueError, match="in part"):
        lightgbm.cv(parameters, lightgbm.Dataset(X, Y, group=SIZES), 2, nfold=3)
