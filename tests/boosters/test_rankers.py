"""Rankers and callbacks of both boosters."""

import copy
import inspect
import io
import pickle
from dataclasses import dataclass

import joblib
import lightgbm
import numpy as np
import numpy.testing as npt
import pandas as pd
import pytest
import sklearn
import xgboost
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
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
    shuffled,
    sizes_of,
    twins,
)

import gapboost as gb
import gapboost.lightgbm
import gapboost.xgboost
from gapboost._boosters.metrics import metric_names
from gapboost.objectives import LambdaRank

# --- parameters -----------------------------------------------------------------------------------


@twins
def test_clone_and_set_params(twin):
    ranker = twin.ranker(measure=gb.xGAP(g=(0.5, 0.5)), learning_rate=0.3, max_bin=17)
    copied = clone(ranker)
    npt.assert_equal(copied.get_params(), ranker.get_params())
    copied.set_params(measure="egap", g=[0.1, 0.9], learning_rate=0.2, max_bin=19)
    changed = copied.get_params()
    assert (changed["measure"], changed["g"], changed["learning_rate"], changed["max_bin"]) == (
        "egap",
        [0.1, 0.9],
        0.2,
        19,
    )
    assert ranker.get_params()["max_bin"] == 17
    assert copied.fit(TRAIN.X, TRAIN.y, TRAIN.qid).measure_ == gb.eGAP(g=(0.1, 0.9))


@twins
def test_fit_leaves_the_parameters_alone(twin):
    ranker = twin.ranker(random_state=3)
    before = ranker.get_params()
    ranker.fit(TRAIN.X, TRAIN.y, TRAIN.qid)
    npt.assert_equal(ranker.get_params(), before)
    npt.assert_equal(clone(ranker).get_params(), before)
    assert not clone(ranker).__sklearn_is_fitted__()


@twins
def test_parameters_can_change_after_fit_without_changing_the_model(twin):
    ranker = twin.fitted()
    expected = ranker.predict(TEST.X)
    ranker.set_params(measure="egap", g=(0.3, 0.7), n_jobs=2, learning_rate=0.9, n_estimators=2)
    npt.assert_array_equal(ranker.predict(TEST.X), expected)
    assert ranker.measure_ == gb.GAP(g=(0.5, 0.5))
    ranker.set_params(objective=gb.LambdaRank(gb.nDCG()))
    npt.assert_array_equal(ranker.predict(TEST.X), expected)
    assert ranker.objective_ == gb.LambdaRank(gb.GAP(g=(0.5, 0.5)))


@twins
@pytest.mark.parametrize("fitted", [False, True])
def test_pickle_and_joblib(twin, fitted):
    ranker = twin.ranker(measure=gb.GAP(g=(0.4, 0.6)))
    if fitted:
        ranker.fit(TRAIN.X, TRAIN.y, TRAIN.qid, eval_set=(VALI.X, VALI.y), eval_qid=VALI.qid)
    stream = io.BytesIO()
    joblib.dump(ranker, stream)
    stream.seek(0)
    for loaded in (pickle.loads(pickle.dumps(ranker)), joblib.load(stream), copy.deepcopy(ranker)):
        npt.assert_equal(loaded.get_params(), ranker.get_params())
        assert loaded.__sklearn_is_fitted__() is fitted
        if fitted:
            npt.assert_array_equal(loaded.predict(TEST.X), ranker.predict(TEST.X))
            assert loaded.score(TEST.X, TEST.y, TEST.qid) == ranker.score(TEST.X, TEST.y, TEST.qid)
            assert loaded.evals_result_ == ranker.evals_result_


@twins
def test_a_fitted_ranker_does_not_keep_the_training_data(twin):
    few = len(pickle.dumps(twin.fitted(n_estimators=1)))
    repeated = np.concatenate([TRAIN.qid + i * 10_000 for i in range(20)])
    many = twin.ranker(n_estimators=1).fit(
        np.tile(TRAIN.X, (20, 1)), np.tile(TRAIN.y, 20), repeated
    )
    assert len(pickle.dumps(many)) < few + 4 * len(repeated)


@twins
def test_parameters_and_predict_are_those_of_the_booster_and_ours(twin):
    theirs = set(twin.vendor().get_params()) - {"objective"}
    assert theirs | {"measure", "g", "objective"} <= set(twin.ranker_class().get_params())
    theirs, ours = (
        [(p.name, p.kind) for p in inspect.signature(kind.predict).parameters.values()]
        for kind in (twin.vendor, twin.ranker_class)
    )
    assert ours == theirs


@twins
def test_repr_shows_what_was_changed(twin):
    changed = {"measure": "egap", "g": (0.5, 0.5), "n_estimators": 7}
    ranker = twin.ranker_class(**changed)
    assert all(f"{name}={value!r}" in repr(ranker) for name, value in changed.items())
    assert repr(clone(ranker)) == repr(ranker)


# --- what is fitted -------------------------------------------------------------------------------


@twins
def test_attributes_after_fit(twin):
    frame = pd.DataFrame(TRAIN.X, columns=TRAIN.feature_names)
    ranker = twin.ranker().fit(frame, TRAIN.y, TRAIN.qid)
    assert ranker.__sklearn_is_fitted__()
    assert ranker._estimator_type == "ranker"
    assert ranker.__sklearn_tags__().input_tags.allow_nan
    assert not sklearn.base.is_regressor(ranker)
    assert ranker.n_features_in_ == TRAIN.n_features
    assert ranker.feature_names_in_.tolist() == TRAIN.feature_names
    assert ranker.n_queries_in_ == 40
    assert ranker.measure_ == gb.GAP(g=(0.5, 0.5))
    assert ranker.g_ == (0.5, 0.5)
    assert ranker.objective_ == LambdaRank(gb.GAP(g=(0.5, 0.5)))
    assert ranker.best_iteration_ == 0
    assert ranker.feature_importances_.shape == (TRAIN.n_features,)
    assert ranker.feature_importances_.sum() > 0
    assert twin.fitted(measure="ndcg").g_ is None


@twins
def test_before_fit(twin):
    ranker = twin.ranker()
    assert not ranker.__sklearn_is_fitted__()
    for name in ("measure_", "objective_", "g_", "best_iteration_", "n_queries_in_"):
        assert not hasattr(ranker, name)
    with pytest.raises(NotFittedError):
        ranker.predict(TEST.X)
    with pytest.raises(NotFittedError):
        ranker.score(TEST.X, TEST.y, TEST.qid)


@twins
def test_g_is_uniform_over_the_grades_that_occur_in_the_training_labels(twin):
    y = np.where(TRAIN.y == 2, 4, TRAIN.y)
    assert twin.ranker().fit(TRAIN.X, y, TRAIN.qid).g_ == (0.5, 0.0, 0.0, 0.5)


@twins
def test_score_is_the_mean_of_the_measure(twin):
    ranker = twin.fitted(measure="egap", g=(0.2, 0.8))
    predicted = ranker.predict(TEST.X)
    measure = gb.eGAP(g=(0.2, 0.8))
    weights = np.arange(1.0, 21.0)
    order, _ = shuffled(TEST)
    assert (
        ranker.score(TEST.X, TEST.y, TEST.qid)
        == gb.evaluate(measure, TEST.y, predicted, TEST.qid)[measure]
    )
    assert (
        ranker.score(TEST.X, TEST.y, qid=TEST.qid, sample_weight=weights)
        == gb.evaluate(measure, TEST.y, predicted, TEST.qid, sample_weight=weights)[measure]
    )
    npt.assert_allclose(
        ranker.score(TEST.X[order], TEST.y[order], qid=TEST.qid[order]),
        ranker.score(TEST.X, TEST.y, qid=TEST.qid),
        rtol=1e-12,
    )


# --- evaluation sets and early stopping -----------------------------------------------------------


@twins
def test_the_curve_is_evaluate_at_each_iteration(twin):
    order, _ = shuffled(VALI)
    weights = np.linspace(0.5, 3.0, VALI.n_queries)
    ranker = twin.ranker().fit(
        TRAIN.X,
        TRAIN.y,
        TRAIN.qid,
        eval_set=[(VALI.X[order], VALI.y[order]), (TEST.X, TEST.y), (VALI.X, VALI.y)],
        eval_qid=[VALI.qid[order], TEST.qid, VALI.qid],
        **{twin.eval_weight: [None, None, weights]},
    )
    measure = ranker.measure_
    for eval_set, data, weight in ((0, VALI, None), (1, TEST, None), (2, VALI, weights)):
        curve = twin.curve(ranker, eval_set)
        assert len(curve) == 5
        for i, value in enumerate(curve):
            scores = twin.staged(ranker, data.X, i + 1)
            expected = gb.evaluate(measure, data.y, scores, data.qid, sample_weight=weight)[measure]
            npt.assert_allclose(value, expected, rtol=0, atol=1e-6)
    assert abs(twin.curve(ranker, 0) - twin.curve(ranker, 2)).max() > 1e-4  # weights count


@twins
def test_early_stopping_keeps_the_best_iteration(twin):
    parameters, fit = twin.stopping(5)
    ranker = twin.fitted(evals=[VALI], n_estimators=100, learning_rate=0.3, fit=fit, **parameters)
    curve = twin.curve(ranker)
    best = int(np.argmax(curve))
    assert 0 < best < len(curve) - 1
    assert len(curve) == best + 1 + 5
    assert ranker.best_iteration_ == best + 1
    shorter, longer = (
        twin.fitted(n_estimators=n, learning_rate=0.3).predict(TEST.X)
        for n in (best + 1, len(curve))
    )
    npt.assert_array_equal(ranker.predict(TEST.X), shorter)
    assert (ranker.predict(TEST.X) != longer).any()
    score = gb.evaluate(ranker.measure_, VALI.y, ranker.predict(VALI.X), VALI.qid)[ranker.measure_]
    assert score == pytest.approx(curve.max(), abs=1e-6)


@twins
def test_one_pair_is_an_eval_set(twin):
    listed = twin.fitted(evals=[VALI])
    weights = np.linspace(0.5, 3.0, VALI.n_queries)
    start = np.linspace(-1.0, 1.0, len(VALI))
    for qid in (VALI.qid, [VALI.qid], VALI.qid.tolist()):
        ranker = twin.ranker().fit(
            TRAIN.X, TRAIN.y, TRAIN.qid, eval_set=(VALI.X, VALI.y), eval_qid=qid
        )
        assert ranker.evals_result_ == listed.evals_result_
    more = {twin.eval_weight: weights, twin.eval_start: start}
    as_lists = {name: [value] for name, value in more.items()}
    plain = twin.ranker().fit(
        TRAIN.X, TRAIN.y, TRAIN.qid, eval_set=(VALI.X, VALI.y), eval_qid=VALI.qid, **more
    )
    inside = twin.fitted(evals=[VALI], fit=as_lists)
    assert plain.evals_result_ == inside.evals_result_
    assert plain.evals_result_ != listed.evals_result_


@twins
@pytest.mark.parametrize("sort", [True, False])
def test_the_training_set_as_eval_set(twin, sort):
    order = slice(None) if sort else shuffled(TRAIN)[0]
    X, y, qid = TRAIN.X[order], TRAIN.y[order], TRAIN.qid[order]
    ranker = twin.ranker().fit(
        X, y, qid, eval_set=[(X, y), (VALI.X, VALI.y)], eval_qid=[qid, VALI.qid]
    )
    assert list(ranker.evals_result_) == (
        ["training", "valid_1"] if twin is LIGHTGBM else ["validation_0", "validation_1"]
    )
    for eval_set, data in ((0, TRAIN), (1, VALI)):
        curve = twin.curve(ranker, eval_set)
        for i, value in enumerate(curve):
            scores = twin.staged(ranker, data.X, i + 1)
            expected = gb.evaluate(ranker.measure_, data.y, scores, data.qid)[ranker.measure_]
            npt.assert_allclose(value, expected, rtol=0, atol=1e-6)


# --- rows and queries -----------------------------------------------------------------------------


@pytest.mark.slow(keep=4)
@twins
@pytest.mark.parametrize("kind", ["int", "negative", "string", "64 bit", "pandas"])
def test_rows_in_any_order_of_queries_and_any_id(twin, kind):
    order, grouped = shuffled(TRAIN)
    vali_order, vali_grouped = shuffled(VALI, seed=1)
    ids = {
        "int": lambda qid: qid,
        "negative": lambda qid: -qid,
        "string": lambda qid: np.char.add("query ", qid.astype(str)),
        # equal in their lower 32 bits
        "64 bit": lambda qid: qid.astype(np.int64) * 2**32,
        "pandas": lambda qid: pd.Series([f"q{q}" for q in qid], index=np.arange(len(qid))[::-1]),
    }[kind]
    start, vali_start = np.sin(np.arange(len(TRAIN))), np.cos(np.arange(len(VALI)))
    weights = 1.0 + TRAIN.qid % 3

    def fit(rows, vali_rows, ids):
        return twin.ranker(measure="egap").fit(
            TRAIN.X[rows],
            TRAIN.y[rows],
            ids(TRAIN.qid[rows]),
            sample_weight=weights[rows],
            eval_set=[(VALI.X[vali_rows], VALI.y[vali_rows])],
            eval_qid=[ids(VALI.qid[vali_rows])],
            **{twin.start: start[rows], twin.eval_start: [vali_start[vali_rows]]},
        )

    expected = fit(grouped, vali_grouped, lambda qid: qid)
    found = fit(order, vali_order, ids)
    npt.assert_array_equal(found.predict(TEST.X), expected.predict(TEST.X))
    assert found.evals_result_ == expected.evals_result_
    assert found.n_queries_in_ == 40


# --- weights --------------------------------------------------------------------------------------


@twins
def test_weights_are_one_a_query_or_one_a_row(twin):
    order, _ = shuffled(TRAIN)
    X, y, qid = TRAIN.X[order], TRAIN.y[order], TRAIN.qid[order]
    distinct, first = np.unique(qid, return_index=True)
    in_order = distinct[np.argsort(first)]
    of_query = dict(zip(in_order, np.linspace(0.1, 4.0, len(in_order)), strict=True))
    by_query = twin.ranker().fit(X, y, qid, sample_weight=list(of_query.values()))
    by_row = twin.ranker().fit(X, y, qid, sample_weight=[of_query[q] for q in qid])
    ones = twin.ranker().fit(X, y, qid, sample_weight=np.ones(len(y)))
    unweighted = twin.ranker().fit(X, y, qid)
    npt.assert_array_equal(by_query.predict(TEST.X), by_row.predict(TEST.X))
    npt.assert_array_equal(ones.predict(TEST.X), unweighted.predict(TEST.X))
    assert np.abs(by_query.predict(TEST.X) - unweighted.predict(TEST.X)).max() > 1e-3


# --- scores to start from, and continuation -------------------------------------------------------


@twins
def test_training_starts_from_the_given_scores(twin):
    order, _ = shuffled(TRAIN)
    X, y, qid = TRAIN.X[order], TRAIN.y[order], TRAIN.qid[order]
    whole = twin.ranker(n_estimators=8, **twin.no_draws)
    whole.fit(X, y, qid, eval_set=[(VALI.X, VALI.y)], eval_qid=[VALI.qid])
    first = twin.ranker(**twin.no_draws).fit(X, y, qid)
    rest = twin.ranker(n_estimators=3, **twin.no_draws).fit(
        X,
        y,
        qid,
        eval_set=[(VALI.X, VALI.y)],
        eval_qid=[VALI.qid],
        **{twin.start: first.predict(X), twin.eval_start: [first.predict(VALI.X)]},
    )
    npt.assert_allclose(
        first.predict(TEST.X) + rest.predict(TEST.X), whole.predict(TEST.X), rtol=0, atol=1e-4
    )
    npt.assert_allclose(twin.curve(rest), twin.curve(whole)[5:], rtol=0, atol=1e-3)


@twins
def test_training_continues_a_model(twin, tmp_path):
    whole = twin.fitted(n_estimators=8, **twin.no_draws)
    first = twin.fitted(**twin.no_draws)
    booster = first.booster_ if twin is LIGHTGBM else first.get_booster()
    path = str(tmp_path / "model.json")
    booster.save_model(path)
    for model in (first, booster, path):
        rest = twin.fitted(n_estimators=3, fit={twin.continued: model}, **twin.no_draws)
        npt.assert_allclose(rest.predict(TEST.X), whole.predict(TEST.X), rtol=0, atol=1e-5)


@twins
def test_trees_that_continue_a_model_stopped_early_predict(twin):
    """XGBoost's own ranker goes on predicting by the old best iteration."""
    parameters, fit = twin.stopping(2)
    first = twin.fitted(evals=[VALI], n_estimators=100, learning_rate=0.3, fit=fit, **parameters)
    assert 0 < first.best_iteration_ < 90
    rest = twin.fitted(n_estimators=5, fit={twin.continued: first})
    assert np.abs(rest.predict(TEST.X) - first.predict(TEST.X)).max() > 0.01


@twins
def test_training_continues_from_the_best_iteration(twin, tmp_path):
    """Continue from the ranker, its booster, its file or `to_vendor()`: all hold the same trees."""
    parameters, fit = twin.stopping(3)
    parameters |= {"n_estimators": 60, "learning_rate": 0.5, **twin.no_draws}
    first = twin.fitted(evals=[VALI], fit=fit, **parameters)
    best, path = first.best_iteration_, str(tmp_path / "model.json")
    assert 0 < best < 57
    (first.booster_ if twin is LIGHTGBM else first).save_model(path)
    booster = first.booster_ if twin is LIGHTGBM else first.get_booster()
    for model in (first, booster, path, first.to_vendor()):
        rest = twin.fitted(n_estimators=2, fit={twin.continued: model}, **twin.no_draws)
        npt.assert_allclose(
            twin.staged(rest, TEST.X, best), first.predict(TEST.X), rtol=0, atol=1e-6
        )
        trees = (
            rest.booster_.num_trees()
            if twin is LIGHTGBM
            else rest.get_booster().num_boosted_rounds()
        )
        assert trees == best + 2


# --- errors and interrupts ------------------------------------------------------------------------


@twins
@pytest.mark.parametrize(
    "error", [RuntimeError("stop"), KeyboardInterrupt()], ids=["error", "interrupt"]
)
def test_an_error_in_the_midst_of_training_changes_nothing(twin, error):
    parameters, fit = twin.interrupting(error)
    ranker = twin.ranker(**parameters)
    with pytest.raises(type(error)):
        ranker.fit(TRAIN.X, TRAIN.y, TRAIN.qid, **fit)
    assert not ranker.__sklearn_is_fitted__()
    with pytest.raises(NotFittedError):
        ranker.predict(TEST.X)

    if twin is XGBOOST:
        ranker.set_params(callbacks=None)
    ranker.fit(TRAIN.X, TRAIN.y, TRAIN.qid, eval_set=(VALI.X, VALI.y), eval_qid=VALI.qid)
    expected, curves = ranker.predict(TEST.X), copy.deepcopy(ranker.evals_result_)
    npt.assert_array_equal(expected, twin.fitted().predict(TEST.X))
    ranker.set_params(measure="ap", **parameters)
    with pytest.raises(type(error)):
        ranker.fit(TRAIN.X[:, :5], TRAIN.y, TRAIN.qid, **fit)
    npt.assert_array_equal(ranker.predict(TEST.X), expected)
    assert ranker.evals_result_ == curves
    assert ranker.measure_ == gb.GAP(g=(0.5, 0.5))
    assert ranker.n_features_in_ == TRAIN.n_features


@twins
def test_a_measure_that_no_swap_changes_is_refused_on_long_lists_too(twin):
    """The sums over pairs of long lists leave rounding where they ought to cancel."""
    rng = np.random.default_rng(0)
    y, X, qid = rng.integers(0, 2, 2000), rng.normal(size=(2000, 3)), np.repeat(np.arange(5), 400)
    with pytest.raises(ValueError, match="no swap of two documents of y changes it"):
        twin.ranker(measure=gb.Precision(k=500)).fit(X, y, qid)


@twins
@pytest.mark.parametrize(
    "seed",
    [np.random.RandomState(0), np.random.default_rng(0), np.int64(5)],
    ids=lambda s: type(s).__name__,
)
def test_kinds_of_random_state(twin, seed):
    """A generator gives one seed a fit; a number gives itself."""
    again = copy.deepcopy(seed)
    found, expected = (twin.fitted(random_state=kind).predict(TEST.X) for kind in (seed, again))
    npt.assert_array_equal(found, expected)
    if isinstance(seed, np.integer):
        npt.assert_array_equal(found, twin.fitted(random_state=int(seed)).predict(TEST.X))
    else:
        assert (twin.fitted(random_state=seed).predict(TEST.X) != found).any()


@twins
def test_the_seed_orders_ties(twin):
    models = [twin.fitted(random_state=seed).predict(TEST.X) for seed in (0, 1)]
    assert (models[0] != models[1]).any()


# --- the callbacks in native training -------------------------------------------------------------


@twins
@pytest.mark.parametrize(
    "measure",
    [gb.GAP(g=(0.3, 0.7)), gb.xGAP(), gb.nDCG(k=5), LambdaRank(gb.AP(), sigma=2.0)],
    ids=str,
)
def test_native_training_is_what_the_ranker_does(twin, measure):
    objective = twin.module.objective(measure)
    parameters = {"objective": measure} if isinstance(measure, LambdaRank) else {"measure": measure}
    predict = twin.train(twin.dataset(X, Y, SIZES), objective)
    npt.assert_allclose(
        predict(TEST.X), twin.fitted(**parameters).predict(TEST.X), rtol=0, atol=1e-6
    )


@twins
def test_callback_gradients_are_those_of_the_objective(twin):
    scores = np.random.default_rng(0).normal(size=len(Y))
    weights = np.linspace(0.5, 3.0, len(SIZES)).astype(np.float32)
    found = gradients(twin, twin.module.objective("gap", g=(0.2, 0.8)), scores, Y, SIZES, weights)
    expected = LambdaRank(gb.GAP(g=(0.2, 0.8))).gradients(Y, scores, QID, sample_weight=weights)
    for a, b, scale in zip(found, expected, twin.scales(QID), strict=True):
        assert a.dtype == np.float32
        npt.assert_allclose(a, scale * b, rtol=1e-5, atol=1e-6)


@twins
def test_steps_are_as_long_as_those_of_the_boosters_own_objective(twin):
    """Each leaf is gradient over hessian: there are two documents, one tree and no penalty."""
    X, y = np.array([[0.0], [1.0]]), [0, 1]
    free = {"n_estimators": 1, "learning_rate": 1.0, "min_child_weight": 0, "n_jobs": 1}
    if twin is LIGHTGBM:
        free |= {"min_child_samples": 1, "min_data_in_bin": 1, "verbose": -1}
        expected = lightgbm.LGBMRanker(**free).fit(X, y, group=[2]).predict(X)
    else:
        free |= {"reg_lambda": 0}
        expected = xgboost.XGBRanker(**free).fit(X, y, qid=[7, 7]).predict(X)
    found = twin.ranker_class(measure="ndcg", **free).fit(X, y, [7, 7]).predict(X)
    npt.assert_allclose(found, expected, rtol=1e-5)
    assert found[1] > 0


@twins
def test_callback_metrics_are_those_of_evaluate(twin):
    scores = np.random.default_rng(0).normal(size=len(Y)).astype(np.float32)
    weights = np.linspace(0.5, 3.0, len(SIZES))
    measures = [gb.GAP(g=(0.2, 0.8)), gb.GAP(), gb.nDCG(k=3), gb.Precision(k=5)]
    for weight in (None, weights):
        found = metric_values(twin, twin.module.eval_metric(measures), scores, Y, SIZES, weight)
        expected = gb.evaluate(measures, Y, scores, QID, sample_weight=weight)
        assert len(found) == len(measures)
        npt.assert_allclose(list(found.values()), list(expected.values()), rtol=1e-6)


@twins
def test_one_objective_serves_several_data_sets_in_turn(twin, preparations):
    objective = twin.module.objective("gap", g=(0.5, 0.5))
    train, vali = twin.dataset(X, Y, SIZES), twin.dataset(VALI.X, VALI.y, sizes_of(VALI.qid))
    rng = np.random.default_rng(0)
    for _ in range(3):
        for data, dataset in ((TRAIN, train), (VALI, vali)):
            scores = rng.normal(size=len(data))
            expected = LambdaRank(gb.GAP(g=(0.5, 0.5))).gradients(data.y, scores, data.qid)[0]
            npt.assert_allclose(
                objective(scores, dataset)[0],
                twin.scales(data.qid)[0] * expected,
                rtol=1e-5,
                atol=1e-6,
            )
    # 3 by the expected values.
    assert sum(data.queries.n_rows == len(VALI) for data in preparations) == 1 + 3
    assert sum(data.queries.n_rows == len(TRAIN) for data in preparations) == 1 + 3


@twins
def test_new_labels_are_seen(twin):
    objective = twin.module.objective("gap", g=(0.5, 0.5))
    metric = twin.module.eval_metric("gap", g=(0.5, 0.5))
    scores = np.random.default_rng(0).normal(size=len(Y))
    labels = Y.astype(np.float32)
    dataset = twin.dataset(X, labels, SIZES)
    for _ in range(3):
        expected = LambdaRank(gb.GAP(g=(0.5, 0.5))).gradients(labels, scores, QID)[0]
        npt.assert_allclose(
            objective(scores, dataset)[0], twin.scales(QID)[0] * expected, rtol=1e-5, atol=1e-6
        )
        measured = gb.evaluate(gb.GAP(g=(0.5, 0.5)), labels, scores, QID)
        assert metric(scores, dataset)[0][1] == pytest.approx(*measured.values())
        labels[:] = np.random.default_rng(int(labels.sum())).permutation(labels)
        twin.relabelled(dataset, labels)


@twins
def test_a_data_set_without_groups_is_refused(twin):
    if twin is LIGHTGBM:
        dataset = lightgbm.Dataset(X, label=Y, params=LIGHTGBM.native).construct()
    else:
        dataset = xgboost.DMatrix(X, label=Y)
    for callback in (twin.module.objective("gap"), twin.module.eval_metric("gap")):
        with pytest.raises(ValueError, match="the data set has no query groups"):
            callback(np.zeros(len(Y)), dataset)


@dataclass(frozen=True, repr=False)
class Worded(gb.AP):
    """A measure of someone's own with a word for a parameter."""

    word: str = ""


def test_names_of_metrics_are_short_distinct_and_maximized():
    measures = [
        gb.GAP(),
        gb.GAP(k=10),
        gb.xGAP(),
        gb.eGAP(g=(0.5, 0.5)),
        gb.AP(),
        gb.nDCG(k=10),
        gb.Precision(k=5),
    ]
    assert metric_names(measures) == [
        "map-gap",
        "map-gap@10",
        "map-xgap",
        "map-egap",
        "map-ap",
        "ndcg@10",
        "precision@5",
    ]
    alike = metric_names([gb.GAP(g=(0.5, 0.5)), gb.GAP(g=(0.2, 0.8)), gb.AP(rel=1), gb.AP(rel=2)])
    assert len(set(alike)) == 4
    sums = metric_names([0.7 * gb.GAP(k=5) + 0.3 * gb.AP(k=5), 2 * gb.AP() + 0.5 * gb.nDCG(k=10)])
    assert sums == ["map-0.7*gap+0.3*ap@5", "map-2*ap+0.5*ndcg@10"]
    alike += metric_names([gb.AP(rel=1) + gb.RR(), gb.AP(rel=2) + gb.RR(), gb.RR(rel=2)])
    alike += metric_names([Worded(word="a:b"), Worded(word="a b"), Worded(word="ab")])
    assert len(set(alike)) == 10
    for name in alike:
        assert name.startswith("map-")
        assert not set(name) & set(" :\t")
