"""The measure that is trained for stops training, whatever else is reported."""

import lightgbm
import numpy as np
import numpy.testing as npt
import pandas as pd
import pytest
import xgboost
from sklearn.base import clone
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
    booster_of,
    sizes_of,
    twins,
)

import gapboost as gb

EARLY = {"n_estimators": 100, "learning_rate": 0.3}
# It is the same in every round: training would stop after the first.
CONSTANT = gb.AP(rel=200)
WATCHED = {"nothing more": [], "more": ["ndcg@1", CONSTANT, "p@3"]}


def of_lightgbm(**options):
    return {"callbacks": [lightgbm.early_stopping(5, verbose=False, **options)]}


def of_xgboost(**options):
    return {"callbacks": [xgboost.callback.EarlyStopping(rounds=5, **options)]}


# The booster, and a function that returns parameters and arguments of fit.
WAYS = {
    "LightGBM's callback": (LIGHTGBM, lambda: ({}, of_lightgbm())),
    "by the first metric": (LIGHTGBM, lambda: ({}, of_lightgbm(first_metric_only=True))),
    "early_stopping_round": (LIGHTGBM, lambda: ({"early_stopping_round": 5}, {})),
    "n_iter_no_change": (LIGHTGBM, lambda: ({"n_iter_no_change": 5}, {})),
    "early_stopping_rounds": (XGBOOST, lambda: ({"early_stopping_rounds": 5}, {})),
    "XGBoost's callback": (XGBOOST, lambda: (of_xgboost(), {})),
    "maximize": (XGBOOST, lambda: (of_xgboost(maximize=True), {})),
    "save_best": (XGBOOST, lambda: (of_xgboost(save_best=True), {})),
    "named": (
        XGBOOST,
        lambda: (of_xgboost(metric_name="gap", data_name="validation_1"), {}),
    ),
}


@pytest.mark.parametrize(
    ("twin", "name"), [(LIGHTGBM, "early_stopping_round"), (XGBOOST, "early_stopping_rounds")]
)
def test_rounds_that_are_no_number(twin, name):
    with pytest.raises(ValueError, match=f"^{name} is '5'"):
        twin.fitted(evals=[VALI], **{name: "5"})


def test_a_metric_that_is_not_reported_cannot_stop():
    given = {"eval_metric": "map@5", **of_xgboost(metric_name="map@5")}
    with pytest.raises(ValueError, match=r"^metric_name .* one of \['gap', 'ap@5'\]"):
        XGBOOST.fitted(evals=[VALI], **given)


@twins
def test_functions_that_stop_are_passed_themselves(twin):
    def mine(y_true, y_score):
        return ("mine", 1.0, True) if twin is LIGHTGBM else 1.0

    with pytest.raises(ValueError, match=r"^stopping_metric is 'mine'.*one of .*<function"):
        twin.fitted(evals=[VALI], watch={"eval_metric": mine}, stopping_metric="mine")


def fitted(way, watched, evals=(TEST, VALI), **more):
    twin, stopping = WAYS[way]
    parameters, fit = stopping()
    watch = {"eval_metric": watched or None}
    return twin.fitted(evals=evals, fit=fit, watch=watch, **{**EARLY, **parameters, **more})


@pytest.mark.parametrize("watched", WATCHED)
@pytest.mark.parametrize("way", WAYS)
def test_the_best_round_is_kept(way, watched):
    """LightGBM stops by any set: here by that of which there is one."""
    twin, _ = WAYS[way]
    ranker = fitted(way, WATCHED[watched], (VALI,) if twin is LIGHTGBM else (TEST, VALI))
    curve = twin.curve(ranker)
    best = int(np.argmax(curve)) + 1
    assert 1 < best == ranker.best_iteration_ == len(curve) - 5
    shorter = twin.fitted(**{**EARLY, "n_estimators": best})
    npt.assert_array_equal(ranker.predict(TEST.X), shorter.predict(TEST.X))
    score = gb.evaluate(ranker.measure_, VALI.y, ranker.predict(VALI.X), VALI.qid)
    assert score[ranker.measure_] == pytest.approx(curve.max(), abs=1e-6)


@pytest.mark.parametrize("way", ["LightGBM's callback", "early_stopping_round"])
def test_every_metric_stops_lightgbm_where_the_user_says_so(way):
    ranker = fitted(way, ["ndcg@5", CONSTANT], (VALI,), first_metric_only=False)
    assert ranker.best_iteration_ == 1
    assert len(LIGHTGBM.curve(ranker)) == 6


def test_the_callback_of_the_user_stays_as_it_was():
    stopping = lightgbm.early_stopping(5, verbose=False)
    before = dict(vars(stopping))
    fit = {"callbacks": [stopping], "eval_metric": [CONSTANT]}
    first, again = (LIGHTGBM.fitted(evals=[VALI], fit=fit, **EARLY) for _ in range(2))
    assert vars(stopping) == before
    assert len(LIGHTGBM.curve(first)) == len(LIGHTGBM.curve(again)) > 6


@twins
def test_one_callback_stops_several_fits(twin):
    """XGBoost's callbacks keep the values of the training before; ours are copies."""
    parameters, fit = ({}, of_lightgbm()) if twin is LIGHTGBM else (of_xgboost(), {})
    easy = {"eval_set": [(X.copy(), Y)], "eval_qid": [QID]}
    hard = {"eval_set": [(VALI.X, VALI.y)], "eval_qid": [VALI.qid]}
    ranker = twin.ranker(**EARLY, **parameters).fit(X, Y, QID, **easy, **fit)
    fresh, of_fit = twin.stopping(5)
    expected = twin.fitted(evals=[VALI], fit=of_fit, **EARLY, **fresh)
    for again in (ranker, clone(ranker)):
        again.fit(X, Y, QID, **hard, **fit)
        assert again.best_iteration_ == expected.best_iteration_
        npt.assert_array_equal(twin.curve(again), twin.curve(expected))


@twins
def test_0_rounds_are_no_early_stopping(twin):
    name = {"lightgbm": "early_stopping_round", "xgboost": "early_stopping_rounds"}[twin.name]
    ranker = twin.ranker(n_estimators=9, **{name: 0})
    fitted = ranker.fit(X, Y, QID, eval_set=[(VALI.X, -VALI.y + 2)], eval_qid=[VALI.qid])
    assert len(twin.curve(fitted)) == 9
    ranker.fit(X, Y, QID)


def test_the_training_set_of_lightgbm_has_the_weights_of_training():
    given = {"eval_set": [(X, Y)], "eval_qid": [QID], "eval_sample_weight": [np.arange(1.0, 41.0)]}
    with pytest.raises(ValueError, match="is that of the training set"):
        LIGHTGBM.ranker().fit(X, Y, QID, **given)
    LIGHTGBM.ranker().fit(X, Y, QID, np.arange(1.0, 41.0), **given)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("place", [0, 1])
@twins
def test_the_training_set_does_not_stop_training(twin, place, weighted):
    """It is recognized by the same objects, whatever weights XGBoost reports it with."""
    if weighted and twin is LIGHTGBM:
        return
    sets = [(VALI.X, VALI.y, VALI.qid, None)]
    sets.insert(place, (X, Y, QID, np.arange(1.0, 41.0) if weighted else None))
    parameters, fit = twin.stopping(5)
    ranker = twin.ranker(**{**EARLY, "n_estimators": 60, **parameters}).fit(
        X,
        Y,
        QID,
        eval_set=[each[:2] for each in sets],
        eval_qid=[each[2] for each in sets],
        **{twin.eval_weight: [each[3] for each in sets]},
        **fit,
    )
    # LightGBM reports the training set first.
    curve = twin.curve(ranker, 1 if twin is LIGHTGBM else 1 - place)
    assert ranker.best_iteration_ == np.argmax(curve) + 1 == len(curve) - 5


@pytest.mark.parametrize("kind", ["gbtree", "dart", "gblinear"])
def test_only_a_gbtree_is_the_model_of_the_best_round(kind):
    """Later rounds of dart change the weights of trees, and a gblinear keeps its last round."""
    parameters = {"booster": kind, "early_stopping_rounds": 5, **EARLY}
    parameters |= {"dart": {"rate_drop": 0.5}, "gblinear": {"max_depth": None}}.get(kind, {})
    ranker = XGBOOST.fitted(evals=[VALI], random_state=0, **parameters)
    curve, best = XGBOOST.curve(ranker), ranker.best_iteration_
    kept = booster_of(ranker).num_boosted_rounds()
    assert kept == (len(curve) if kind == "gblinear" else best)
    assert best == len(curve) - 5
    assert ranker.best_score == pytest.approx(curve.max(), abs=1e-6)
    same = ranker.score(VALI.X, VALI.y, VALI.qid) == pytest.approx(curve.max(), abs=1e-6)
    assert same == (kind == "gbtree")


def test_the_training_set_alone_stops_xgboost():
    ranker = XGBOOST.fitted(
        evals=[TRAIN], **{**EARLY, "n_estimators": 300}, early_stopping_rounds=2
    )
    curve = XGBOOST.curve(ranker)
    assert ranker.best_iteration_ == np.argmax(curve) + 1 == len(curve) - 2 < 298


def test_names_in_a_callback_of_xgboost_win():
    """Higher is better for every measure, whatever XGBoost guesses from its name."""
    stopping = of_xgboost(metric_name="ap", data_name="validation_0")
    ranker = XGBOOST.fitted(evals=[VALI, TEST], eval_metric="ap", **EARLY, **stopping)
    curve = XGBOOST.curve(ranker, 0, "ap")
    assert ranker.best_iteration_ == np.argmax(curve) + 1 == len(curve) - 5


def test_the_direction_in_a_callback_of_xgboost_wins():
    ranker = XGBOOST.fitted(evals=[VALI], **EARLY, **of_xgboost(maximize=False))
    values = XGBOOST.curve(ranker)
    assert ranker.best_iteration_ == np.argmin(values) + 1
    assert len(values) == ranker.best_iteration_ + 5


def test_xgboost_returns_the_rounds_that_predict(monkeypatch):
    """Trackers log what `xgboost.train` returns."""
    returned, train = [], xgboost.train
    monkeypatch.setattr(
        xgboost, "train", lambda *a, **k: returned.append(train(*a, **k)) or returned[0]
    )
    ranker = XGBOOST.fitted(evals=[VALI], early_stopping_rounds=5, **EARLY)
    assert returned[0].num_boosted_rounds() == ranker.best_iteration_ < 100


@pytest.mark.parametrize("watched", WATCHED)
def test_native_early_stopping_of_lightgbm(watched):
    """XGBoost's is tested in its cross-validation."""
    curves, train = {}, LIGHTGBM.dataset(X, Y, SIZES)
    objective, metrics = LIGHTGBM.module.objective("gap"), ["gap", *WATCHED[watched]]
    booster = lightgbm.train(
        {**LIGHTGBM.native, "learning_rate": 0.3, "objective": objective, "metric": "None"},
        train,
        100,
        valid_sets=[train.create_valid(VALI.X, VALI.y, group=sizes_of(VALI.qid))],
        feval=LIGHTGBM.module.eval_metric(metrics),
        callbacks=[
            lightgbm.early_stopping(5, first_metric_only=True, verbose=False),
            lightgbm.record_evaluation(curves),
        ],
    )
    curve = curves["valid_0"]["gap"]
    assert 1 < booster.best_iteration == np.argmax(curve) + 1 == len(curve) - 5


# --- another metric stops training ----------------------------------------------------------------


def pushed(y_true, y_pred):
    """Return a metric as LightGBM calls it."""
    return "pushed", float(y_pred @ y_true), True


def spread(y_true, y_score):
    """Return a metric as XGBoost calls it, which minimizes this one."""
    return float(np.ptp(y_score))


NAMES = {"gap": "gap", gb.nDCG(k=5): "ndcg@5", gb.AP(): "ap"}


@pytest.mark.parametrize("stopping", ["ndcg@5", "gap", gb.nDCG(k=5), gb.AP(), "function"])
@twins
def test_any_reported_metric_can_stop_training(twin, stopping):
    function = pushed if twin is LIGHTGBM else spread
    stopping = function if stopping == "function" else stopping
    parameters, fit = twin.stopping(3)
    watch = {"eval_metric": ["ap", "ndcg@5", function]}
    options = {"n_estimators": 60, "learning_rate": 0.5, "stopping_metric": stopping}
    ranker = twin.fitted(evals=[VALI], fit=fit, watch=watch, **options, **parameters)
    name = NAMES.get(stopping, function.__name__ if callable(stopping) else stopping)
    curve = twin.curve(ranker, metric=name)
    best = np.argmin(curve) if name == "spread" else np.argmax(curve)
    assert ranker.best_iteration_ == best + 1


@pytest.mark.parametrize("name", ["map@5", "valid_0-map@5", "AP_at_5"])
@twins
def test_a_callback_that_misses_a_metric_learns_its_name(twin, name):
    """Optuna's callback of LightGBM raises ValueError, and that of XGBoost KeyError."""
    kind, right = (ValueError, "ap@5") if twin is LIGHTGBM else (KeyError, "validation_0-ap@5")
    parameters, fit = twin.interrupting(kind(f"no '{name}'") if twin is LIGHTGBM else kind(name))
    with pytest.raises(kind) as caught:
        twin.fitted(evals=[VALI], fit=fit, watch={"eval_metric": "ap@5"}, **parameters)
    assert f"did you mean '{right}'?" in caught.value.__notes__[0]


# --- what is left of a model ----------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["gbtree", "dart"])
def test_models_that_stopped_early_know_their_categories(kind, tmp_path):
    """XGBoost would drop categories in a slice of a booster, and then misread other codes.

    So all rounds are kept, and a plain booster uses them.
    """

    def frame(data, categories):
        letters = np.array(list("abcd"))[np.digitize(data.X[:, 10], (2, 6, 10))]
        letters = pd.Categorical(letters, categories=list(categories))
        return pd.DataFrame({"letter": letters, "x": data.X[:, 1]})

    parameters = {"booster": kind, "enable_categorical": True, "early_stopping_rounds": 5, **EARLY}
    evaluation = {"eval_set": [(frame(VALI, "abcd"), VALI.y)], "eval_qid": [VALI.qid]}
    ranker = XGBOOST.ranker(**parameters)
    ranker.fit(frame(TRAIN, "abcd"), TRAIN.y, TRAIN.qid, **evaluation)
    rounds = booster_of(ranker).num_boosted_rounds()
    assert ranker.best_iteration_ < rounds == len(XGBOOST.curve(ranker))
    expected = ranker.predict(frame(TEST, "abcd"))
    assert len(set(expected)) > 4
    ranker.save_model(tmp_path / "model.json")
    loaded, theirs = (kind(enable_categorical=True) for kind in (XGBOOST.ranker, XGBOOST.vendor))
    for model in (loaded, theirs):
        model.load_model(tmp_path / "model.json")
    for model in (ranker, loaded):
        npt.assert_array_equal(model.predict(frame(TEST, "dcba")), expected)
    npt.assert_array_equal(theirs.predict(frame(TEST, "abcd")), expected)
    plain = xgboost.Booster(model_file=tmp_path / "model.json")
    found = plain.predict(xgboost.DMatrix(frame(TEST, "abcd"), enable_categorical=True))
    assert np.abs(found - expected).max() > 0.01
