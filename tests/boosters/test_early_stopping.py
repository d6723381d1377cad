"""The measure that is trained for stops training, whatever else is watched."""

import lightgbm
import numpy as np
import numpy.testing as npt
import pandas as pd
import pytest
import xgboost
from twins import LIGHTGBM, SIZES, TEST, TRAIN, VALI, XGBOOST, sizes_of, twins

import gapboost as gb

EARLY = {"n_estimators": 100, "learning_rate": 0.3}

# It is the same in every round: training would stop after the first.
CONSTANT = gb.AP(rel=200)
WATCHED = [[], ["ndcg@5", "ndcg@10"], [CONSTANT], ["ndcg@1", CONSTANT, "p@3"]]

EARLY_STOPPING_ROUND = (
    "early_stopping_round",
    "early_stopping_rounds",
    "early_stopping",
    "n_iter_no_change",
)
WAYS = [
    (LIGHTGBM, {}, {"callbacks": lambda: [lightgbm.early_stopping(5, verbose=False)]}),
    (
        LIGHTGBM,
        {},
        {"callbacks": lambda: (lightgbm.early_stopping(5, first_metric_only=True, verbose=False),)},
    ),
    *((LIGHTGBM, {name: 5}, {}) for name in EARLY_STOPPING_ROUND),
    (XGBOOST, {"early_stopping_rounds": 5}, {}),
    (XGBOOST, {"callbacks": lambda: [xgboost.callback.EarlyStopping(rounds=5)]}, {}),
]


def fitted(twin, parameters, fit, watched, evals=(VALI,)):
    parameters, fit = (
        {k: v() if callable(v) else v for k, v in given.items()} for given in (parameters, fit)
    )
    if watched:
        (fit if twin is LIGHTGBM else parameters)["eval_metric"] = watched
    return twin.fitted(evals=evals, fit=fit, **{**EARLY, **parameters})


def n_rounds(ranker):
    """Rounds of the whole training, those after the best included."""
    return len(next(iter(next(iter(ranker.evals_result_.values())).values())))


@pytest.mark.slow(keep=4)
@pytest.mark.parametrize(("twin", "parameters", "fit"), WAYS)
@pytest.mark.parametrize("evals", [(VALI,), (TEST, VALI)], ids=["one set", "two sets"])
def test_watching_more_measures_does_not_change_where_training_stops(twin, parameters, fit, evals):
    alone, *others = (fitted(twin, parameters, fit, watched, evals) for watched in WATCHED)
    assert 1 < alone.best_iteration_ == n_rounds(alone) - 5 < 95
    for other, watched in zip(others, WATCHED[1:], strict=True):
        assert len(next(iter(other.evals_result_.values()))) == 1 + len(watched)
        assert (other.best_iteration_, n_rounds(other)) == (alone.best_iteration_, n_rounds(alone))
        assert (other.predict(TEST.X) == alone.predict(TEST.X)).all()


@pytest.mark.parametrize("way", [0, 2], ids=["callback", "parameter"])
def test_every_measure_stops_where_the_user_says_so(way):
    _, parameters, fit = WAYS[way]
    ranker = fitted(LIGHTGBM, {**parameters, "first_metric_only": False}, fit, ["ndcg@5", CONSTANT])
    assert ranker.best_iteration_ == 1
    assert n_rounds(ranker) == 6


def test_the_callback_of_the_user_stays_as_it_was():
    stopping = lightgbm.early_stopping(5, verbose=False)
    before = dict(vars(stopping))
    first, again = (
        fitted(LIGHTGBM, {}, {"callbacks": lambda: [stopping]}, [CONSTANT]) for _ in range(2)
    )
    assert vars(stopping) == before
    assert n_rounds(first) == n_rounds(again) > 6


@twins
@pytest.mark.parametrize("watched", WATCHED, ids=len)
def test_native_early_stopping_by_the_measure_in_the_place_that_the_booster_looks_at(twin, watched):
    """LightGBM's `first_metric_only` stops by the first metric, XGBoost by the last."""
    objective, eval_metric, curves = twin.module.objective("gap"), twin.module.eval_metric, {}
    if twin is LIGHTGBM:
        train, vali = twin.dataset(TRAIN.X, TRAIN.y, SIZES), (VALI.X, VALI.y, sizes_of(VALI.qid))
        booster = lightgbm.train(
            {**twin.native, "learning_rate": 0.3, "objective": objective, "metric": "None"},
            train,
            100,
            valid_sets=[train.create_valid(vali[0], vali[1], group=vali[2])],
            feval=eval_metric(["gap", *watched]),
            callbacks=[
                lightgbm.early_stopping(5, first_metric_only=True, verbose=False),
                lightgbm.record_evaluation(curves),
            ],
        )
        best = booster.best_iteration
    else:
        booster = xgboost.train(
            {**twin.native, "learning_rate": 0.3},
            twin.dataset(TRAIN.X, TRAIN.y, SIZES),
            100,
            obj=objective,
            custom_metric=eval_metric([*watched, "gap"]),
            evals=[(twin.dataset(VALI.X, VALI.y, sizes_of(VALI.qid)), "vali")],
            early_stopping_rounds=5,
            evals_result=curves,
            verbose_eval=False,
        )
        best = booster.best_iteration + 1
    parameters, fit = twin.stopping(5)
    expected = twin.fitted(evals=[VALI], fit=fit, **{**EARLY, **parameters})
    (values, *_) = next(iter(curves.values())).values()
    assert (best, len(values)) == (expected.best_iteration_, n_rounds(expected))


@pytest.mark.parametrize("kind", ["gbtree", "dart"])
def test_models_that_stopped_early_know_their_categories(kind, tmp_path):
    """XGBoost drops categories in a slice of a booster, and then misreads other codes."""

    def frame(data, categories):
        letters = np.array(list("abcd"))[np.digitize(data.X[:, 10], (2, 6, 10))]
        return pd.DataFrame(
            {"letter": pd.Categorical(letters, categories=list(categories)), "x": data.X[:, 1]}
        )

    parameters = {"booster": kind, "enable_categorical": True, "early_stopping_rounds": 5, **EARLY}
    ranker = XGBOOST.ranker(**parameters).fit(
        frame(TRAIN, "abcd"),
        TRAIN.y,
        qid=TRAIN.qid,
        eval_set=[(frame(VALI, "abcd"), VALI.y)],
        eval_qid=[VALI.qid],
    )
    assert ranker.get_booster().num_boosted_rounds() < n_rounds(ranker)  # rounds were dropped
    expected = ranker.predict(frame(TEST, "abcd"))
    assert len(set(expected)) > 4
    ranker.save_model(tmp_path / "model.json")
    loaded = XGBOOST.ranker(enable_categorical=True)
    loaded.load_model(tmp_path / "model.json")
    for model in (ranker, loaded):
        npt.assert_array_equal(model.predict(frame(TEST, "dcba")), expected)
