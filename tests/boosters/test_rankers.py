"""Rankers of both boosters: parameters, fitted attributes, rows, and training that goes on."""

import copy
import pickle
import re

import lightgbm
import numpy as np
import numpy.testing as npt
import pandas as pd
import pytest
import sklearn
import xgboost
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from twins import LIGHTGBM, QID, TEST, TRAIN, VALI, XGBOOST, X, Y, booster_of, shuffled, twins

import gapboost as gb

GAP = gb.GAP(g=(0.5, 0.5))

# --- parameters -----------------------------------------------------------------------------------


@twins
def test_parameters_are_those_of_the_booster_and_ours(twin):
    theirs = set(twin.vendor().get_params()) - {"objective"}
    assert theirs | {"measure", "g", "objective"} <= set(twin.ranker_class().get_params())


@twins
def test_predict_takes_what_the_booster_takes(twin):
    rounds = {"num_iteration": 2} if twin is LIGHTGBM else {"iteration_range": (0, 2)}
    ranker = twin.fitted()
    for given in (rounds, {"raw_score" if twin is LIGHTGBM else "output_margin": True}):
        expected = ranker.to_vendor().predict(TEST.X, **given)
        npt.assert_array_equal(ranker.predict(TEST.X, **given), expected)


@twins
def test_clone_set_params_and_repr(twin):
    given = {"measure": gb.xGAP(g=(0.5, 0.5)), "learning_rate": 0.3, "max_bin": 17}
    ranker = twin.ranker_class(**given)
    assert all(f"{name}={value!r}" in repr(ranker) for name, value in given.items())
    copied = clone(ranker)
    assert repr(copied) == repr(ranker)
    npt.assert_equal(copied.get_params(), ranker.get_params())
    changed = {"measure": "egap", "g": [0.1, 0.9], "learning_rate": 0.2, "max_bin": 19}
    copied.set_params(**changed)
    assert {name: copied.get_params()[name] for name in changed} == changed
    assert {name: ranker.get_params()[name] for name in given} == given
    assert copied.fit(X, Y, QID).measure_ == gb.eGAP(g=(0.1, 0.9))


@twins
def test_parameters_can_change_after_fit_without_changing_the_model(twin):
    ranker = twin.fitted()
    expected = ranker.predict(TEST.X)
    changed = {"measure": "egap", "g": (0.3, 0.7), "objective": gb.LambdaRank(gb.nDCG())}
    ranker.set_params(**changed, n_jobs=2, learning_rate=0.9, n_estimators=2)
    if twin is XGBOOST:  # it passes them to the booster, which does not know ours
        ranker.set_params(eval_metric="egap")
        booster_of(ranker).save_config()
    npt.assert_array_equal(ranker.predict(TEST.X), expected)
    assert ranker.objective_ == gb.LambdaRank(GAP)


@twins
@pytest.mark.parametrize("fitted", [False, True])
def test_copies(twin, fitted):
    ranker = twin.ranker(measure=gb.GAP(g=(0.4, 0.6)))
    if fitted:
        ranker.fit(X, Y, QID, eval_set=[(VALI.X, VALI.y)], eval_qid=[VALI.qid])
    for loaded in (pickle.loads(pickle.dumps(ranker)), copy.deepcopy(ranker)):
        npt.assert_equal(loaded.get_params(), ranker.get_params())
        assert loaded.__sklearn_is_fitted__() is fitted
        if fitted:
            npt.assert_array_equal(loaded.predict(TEST.X), ranker.predict(TEST.X))
            assert loaded.score(TEST.X, TEST.y, TEST.qid) == ranker.score(TEST.X, TEST.y, TEST.qid)
            assert loaded.evals_result_ == ranker.evals_result_


@twins
def test_a_fitted_ranker_does_not_keep_the_training_data(twin):
    few = len(pickle.dumps(twin.fitted(n_estimators=1)))
    repeated = np.concatenate([QID + i * 10_000 for i in range(20)])
    many = twin.ranker(n_estimators=1).fit(np.tile(X, (20, 1)), np.tile(Y, 20), repeated)
    assert len(pickle.dumps(many)) < few + 4 * len(repeated)


@twins
@pytest.mark.parametrize(
    "seed", [np.random.RandomState(0), np.int64(5)], ids=["generator", "number"]
)
def test_random_state_orders_ties(twin, seed):
    """A generator gives one seed a fit; a number gives itself."""
    again = copy.deepcopy(seed)
    found, expected = (twin.fitted(random_state=kind).predict(TEST.X) for kind in (seed, again))
    npt.assert_array_equal(found, expected)
    if isinstance(seed, np.integer):
        same = twin.fitted(random_state=int(seed))
        npt.assert_array_equal(found, same.predict(TEST.X))
        assert same.objective_ == gb.LambdaRank(GAP, random_state=5)
        seed = 6
    assert (twin.fitted(random_state=seed).predict(TEST.X) != found).any()


# --- what is fitted -------------------------------------------------------------------------------


@twins
def test_attributes_after_fit(twin):
    frame = pd.DataFrame(X, columns=TRAIN.feature_names)
    ranker = twin.ranker()
    for name in ("measure_", "objective_", "g_", "best_iteration_", "n_queries_in_"):
        assert not hasattr(ranker, name)
    assert not ranker.__sklearn_is_fitted__()
    for call in (lambda: ranker.predict(X), lambda: ranker.score(X, Y, QID)):
        with pytest.raises(NotFittedError):
            call()
    ranker.fit(frame, Y, QID)
    assert ranker.__sklearn_is_fitted__()
    assert ranker._estimator_type == "ranker"
    assert ranker.__sklearn_tags__().input_tags.allow_nan
    assert not sklearn.base.is_regressor(ranker)
    assert ranker.n_features_in_ == TRAIN.n_features
    assert ranker.feature_names_in_.tolist() == TRAIN.feature_names
    assert ranker.n_queries_in_ == 40
    assert (ranker.measure_, ranker.g_) == (GAP, (0.5, 0.5))
    assert ranker.objective_ == gb.LambdaRank(GAP)
    assert ranker.best_iteration_ == 0
    assert ranker.feature_importances_.shape == (TRAIN.n_features,)
    assert ranker.feature_importances_.sum() > 0
    assert twin.fitted(measure="ndcg").g_ is None
    assert not hasattr(twin.fitted(), "feature_names_in_")


@twins
def test_g_is_uniform_over_the_grades_that_occur_in_the_training_labels(twin):
    """Grades above 31 are none of LightGBM's."""
    y, vali = (np.where(data.y == 2, 40, data.y) for data in (TRAIN, VALI))
    ranker = twin.ranker().fit(X, y, QID, eval_set=[(VALI.X, vali)], eval_qid=[VALI.qid])
    assert ranker.g_ == (0.5, *[0.0] * 38, 0.5)
    npt.assert_array_equal(ranker.predict(TEST.X), twin.fitted().predict(TEST.X))


@twins
def test_ids_of_two_columns(twin):
    table = pd.DataFrame(X).add_prefix("x")
    with pytest.raises(ValueError, match="zip"):
        twin.ranker().fit(table, Y, table[["x0", "x1"]])


@twins
def test_weights_of_1_are_no_ids(twin):
    with pytest.raises(ValueError, match=r"^qid is 1\.0 in every row.*sample_weight"):
        twin.ranker().fit(X, Y, np.ones(len(Y)))
    twin.ranker().fit(X, Y, np.ones(len(Y), int))


@twins
@pytest.mark.parametrize(
    ("lowest", "parameters", "message"),
    [
        (1, {}, r"no grade 0.*y - 1"),
        (1, {"measure": "ndcg"}, r"no grade 0"),
        (0, {"g": (0.2, 0.3, 0.5)}, r"gives 0\.5 to grades that y lacks.*highest grade is 2"),
        (0, {"measure": gb.xGAP(g=(0.2, 0.3, 0.25, 0.25))}, r"gives 0\.5 to grades"),
        (0, {"g": (0.4, 0.6)}, None),
        (0, {"g": (0.4, 0.6, 0.0)}, None),
        (0.5, {}, None),
    ],
)
def test_grades_that_begin_elsewhere_than_the_measure(twin, lowest, parameters, message, recwarn):
    twin.ranker(**{"g": None, **parameters}).fit(X, TRAIN.y + lowest, QID)
    found = [str(one.message) for one in recwarn if one.filename == __file__]
    assert len(found) == (message is not None)
    assert not found or re.search(message, found[0])


@twins
def test_score_is_the_mean_of_the_measure(twin):
    measure, (order, _) = gb.eGAP(g=(0.2, 0.8)), shuffled(TEST)
    ranker = twin.fitted(measure="egap", g=measure.g)
    predicted = ranker.predict(TEST.X)
    for weight in (None, np.arange(1.0, 21.0)):
        found = ranker.score(TEST.X, TEST.y, TEST.qid, sample_weight=weight)
        expected = gb.evaluate(measure, TEST.y, predicted, TEST.qid, sample_weight=weight)
        assert found == expected[measure]
    found = ranker.score(TEST.X[order], TEST.y[order], qid=TEST.qid[order])
    assert found == pytest.approx(ranker.score(TEST.X, TEST.y, qid=TEST.qid), rel=1e-12)


# --- rows -----------------------------------------------------------------------------------------

IDS = {
    "negative": lambda qid: -qid,
    "string": lambda qid: np.char.add("query ", qid.astype(str)),
    # Equal in their lower 32 bits.
    "64 bit": lambda qid: qid.astype(np.int64) * 2**32,
    "pandas": lambda qid: pd.Series([f"q{q}" for q in qid], index=np.arange(len(qid))[::-1]),
}


@twins
@pytest.mark.parametrize("kind", IDS)
def test_rows_in_any_order_of_queries_and_any_id(twin, kind):
    order, grouped = shuffled(TRAIN)
    vali_order, vali_grouped = shuffled(VALI, seed=1)
    start, vali_start = np.sin(np.arange(len(TRAIN))), np.cos(np.arange(len(VALI)))
    weights, position = 1.0 + QID % 3, np.arange(len(TRAIN)) % 7

    def fit(rows, vali_rows, ids=np.asarray):
        return twin.ranker(measure="egap").fit(
            X[rows],
            Y[rows],
            ids(QID[rows]),
            sample_weight=weights[rows],
            position=position[rows],
            eval_set=[(VALI.X[vali_rows], VALI.y[vali_rows])],
            eval_qid=[ids(VALI.qid[vali_rows])],
            **{twin.start: start[rows], twin.eval_start: [vali_start[vali_rows]]},
        )

    expected, found = fit(grouped, vali_grouped), fit(order, vali_order, IDS[kind])
    npt.assert_array_equal(found.predict(TEST.X), expected.predict(TEST.X))
    assert found.evals_result_ == expected.evals_result_
    assert found.position_bias_ == expected.position_bias_
    assert found.n_queries_in_ == 40


# --- scores to start from, and continuation -------------------------------------------------------


@twins
def test_training_starts_from_the_given_scores(twin):
    order, _ = shuffled(TRAIN)
    rows = X[order], Y[order], QID[order]
    evaluation = {"eval_set": [(VALI.X, VALI.y)], "eval_qid": [VALI.qid]}
    whole = twin.ranker(n_estimators=8, **twin.no_draws).fit(*rows, **evaluation)
    first = twin.ranker(**twin.no_draws).fit(*rows)
    starts = {twin.start: first.predict(rows[0]), twin.eval_start: [first.predict(VALI.X)]}
    rest = twin.ranker(n_estimators=3, **twin.no_draws).fit(*rows, **evaluation, **starts)
    found = first.predict(TEST.X) + rest.predict(TEST.X)
    npt.assert_allclose(found, whole.predict(TEST.X), rtol=0, atol=1e-4)
    npt.assert_allclose(twin.curve(rest), twin.curve(whole)[5:], rtol=0, atol=1e-3)


@twins
@pytest.mark.parametrize("stopped", [False, True])
def test_training_continues_from_the_best_iteration(twin, stopped, tmp_path):
    """Continue from the ranker, its booster, its file or `to_vendor()`: all hold the same trees."""
    parameters, fit = twin.stopping(3) if stopped else ({}, {})
    options = {"learning_rate": 0.5, **twin.no_draws}
    n, evals = (60, [VALI]) if stopped else (5, [])
    first = twin.fitted(evals=evals, fit=fit, n_estimators=n, **options, **parameters)
    best, path = first.best_iteration_ or 5, str(tmp_path / "model.json")
    assert 0 < best < 57
    booster_of(first).save_model(path)
    whole = twin.fitted(n_estimators=best + 2, **options).predict(TEST.X)
    for model in (first, booster_of(first), path, first.to_vendor()):
        rest = twin.fitted(n_estimators=2, fit={twin.continued: model}, **options)
        npt.assert_allclose(rest.predict(TEST.X), whole, rtol=0, atol=1e-5)
        staged = twin.staged(rest, TEST.X, best)
        npt.assert_allclose(staged, first.predict(TEST.X), rtol=0, atol=1e-6)


@pytest.mark.parametrize("order", ["abc", "cab"])
@pytest.mark.parametrize("kind", ["categories", "xgboost.XGBRanker"])
def test_rounds_after_the_best_one_are_not_continued(kind, order, tmp_path):
    """These models of XGBoost keep them; `predict` does not use them."""
    own = kind == "categories"

    def frame(data, categories="abc"):
        letters = np.array(list("bca"))[data.y % 3]
        by_chance = np.random.default_rng(0).random(len(data)) < 0.5
        letter = pd.Categorical(np.where(by_chance, "a", letters), categories=list(categories))
        X = pd.DataFrame(data.X[:, :4], columns=list("wxyz"))
        return X.assign(letter=letter) if own else X

    options = {"n_jobs": 1, "n_estimators": 60, "early_stopping_rounds": 3, "learning_rate": 1.0}
    ranker = (
        XGBOOST.ranker_class(enable_categorical=True, **options)
        if own
        else xgboost.XGBRanker(eval_metric="ndcg@5", **options)
    )
    evaluation = {"eval_set": [(frame(VALI), VALI.y)], "eval_qid": [VALI.qid], "verbose": False}
    ranker.fit(frame(TRAIN), TRAIN.y, qid=TRAIN.qid, **evaluation)
    expected, path = ranker.predict(frame(TEST)), tmp_path / "model.json"
    assert ranker.best_iteration + 1 < ranker.get_booster().num_boosted_rounds()
    ranker.save_model(path)
    for model in (ranker, ranker.get_booster(), path):
        again = XGBOOST.ranker(n_estimators=1, learning_rate=1e-9, enable_categorical=own)
        again.fit(frame(TRAIN, order), TRAIN.y, TRAIN.qid, xgb_model=model)
        npt.assert_allclose(again.predict(frame(TEST)), expected, rtol=0, atol=1e-6)
        npt.assert_allclose(again.predict(frame(TEST, order)), expected, rtol=0, atol=1e-6)
    assert ranker.best_iteration + 1 < ranker.get_booster().num_boosted_rounds()


@twins
def test_a_model_of_another_booster_does_not_continue(twin):
    other = (XGBOOST if twin is LIGHTGBM else LIGHTGBM).fitted(n_estimators=1)
    for model in (other, booster_of(other), 3):
        with pytest.raises(TypeError, match=rf"^{twin.continued} is a .*; expected a ranker"):
            twin.fitted(fit={twin.continued: model})


# --- errors in the midst of training --------------------------------------------------------------


@twins
@pytest.mark.parametrize(
    "error", [RuntimeError("stop"), KeyboardInterrupt()], ids=["error", "interrupt"]
)
def test_an_error_in_the_midst_of_training_changes_nothing(twin, error):
    parameters, fit = twin.interrupting(error)
    ranker = twin.ranker(**parameters)
    with pytest.raises(type(error)):
        ranker.fit(X, Y, QID, **fit)
    assert not ranker.__sklearn_is_fitted__()

    if twin is XGBOOST:
        ranker.set_params(callbacks=None)
    ranker.fit(X, Y, QID, eval_set=[(VALI.X, VALI.y)], eval_qid=[VALI.qid])
    expected, curves = ranker.predict(TEST.X), copy.deepcopy(ranker.evals_result_)
    npt.assert_array_equal(expected, twin.fitted().predict(TEST.X))
    ranker.set_params(measure="ap", **parameters)
    with pytest.raises(type(error)):
        ranker.fit(X[:, :5], Y, QID, **fit)
    npt.assert_array_equal(ranker.predict(TEST.X), expected)
    assert ranker.evals_result_ == curves
    assert ranker.measure_ == GAP
    assert ranker.n_features_in_ == TRAIN.n_features


# --- units ----------------------------------------------------------------------------------------


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
    objective = gb.LambdaRank("ndcg", step=1)
    found = twin.ranker_class(objective=objective, **free).fit(X, y, [7, 7]).predict(X)
    npt.assert_allclose(found, expected, rtol=1e-5)
    assert found[1] > 0


@twins
def test_steps_grow_with_the_eighth_root_of_the_documents(twin):
    """A longer step is a larger learning rate; the trees stay the same."""
    ranker, root = twin.fitted(), (len(TRAIN) / 30_000) ** 0.125
    assert ranker.step_ == pytest.approx(root)
    rate = 0.1 if twin is LIGHTGBM else 0.3
    same = twin.fitted(objective=gb.LambdaRank(gb.GAP(), step=1), learning_rate=rate * root)
    npt.assert_allclose(ranker.predict(TEST.X), same.predict(TEST.X), rtol=0, atol=1e-5)
    assert same.step_ == 1.0
    # Objectives that bound their hessians need no rule.
    assert twin.fitted(objective=gb.SoftRank(gb.GAP())).step_ == 1.0


def test_names_for_the_columns_of_an_array():
    names = [f"x{i}" for i in range(X.shape[1])]
    ranker = LIGHTGBM.ranker().fit(X, Y, QID, feature_name=names)
    table = pd.DataFrame(X, columns=names)
    expected = LIGHTGBM.ranker().fit(X, Y, QID).predict(X)
    npt.assert_array_equal(ranker.predict(table), expected)
    with pytest.raises(ValueError, match="'x1' where 'x0' was"):
        ranker.predict(table[[names[1], names[0], *names[2:]]])
