"""Smoke test of both boosters, for every combination of versions (`tests.support.versions`)."""

import pickle

import lightgbm
import numpy as np
import numpy.testing as npt
import pandas as pd
import pytest
import xgboost

import gapboost as gb
import gapboost.lightgbm
import gapboost.xgboost
from gapboost.datasets import load_digits_ranking
from gapboost.lightgbm import LGBMGAPRanker
from gapboost.model_selection import GSearchCV
from gapboost.xgboost import XGBGAPRanker

pytestmark = pytest.mark.slow

TRAIN, VALI, TEST = load_digits_ranking((36, 20, 20), 16)
NATIVE = {"verbosity": 0, "learning_rate": 0.3, "nthread": 1}
MEASURE = gb.GAP(g=(0.5, 0.5))
UNTRAINED = gb.evaluate(MEASURE, TEST.y, np.zeros(len(TEST)), TEST.qid)[MEASURE]


def frame(data):
    return pd.DataFrame(data.X, columns=data.feature_names)


def unfitted(booster, **parameters):
    parameters = {
        "measure": MEASURE,
        "n_estimators": 30,
        "learning_rate": 0.3,
        "n_jobs": 1,
        **parameters,
    }
    if booster == "lightgbm":
        return LGBMGAPRanker(min_child_samples=5, verbose=-1, **parameters)
    return XGBGAPRanker(max_depth=3, **parameters)


def fitted(booster, of=lambda data: data.X, **parameters):
    """Stopped early on the second evaluation set, on tables that `of` makes."""
    stopping, callbacks = {"early_stopping_rounds": 5}, {}
    if booster == "lightgbm":
        stopping, callbacks = {}, {"callbacks": [lightgbm.early_stopping(5, verbose=False)]}
    X = of(TRAIN)
    return unfitted(booster, **stopping, **parameters).fit(
        X,
        TRAIN.y,
        TRAIN.qid,
        eval_set=[(X, TRAIN.y), (of(VALI), VALI.y)],
        eval_qid=[TRAIN.qid, VALI.qid],
        **callbacks,
    )


boosters = pytest.mark.parametrize("booster", ["lightgbm", "xgboost"])


@boosters
@pytest.mark.parametrize("of", [lambda data: data.X, frame], ids=["array", "frame"])
def test_train_stop_evaluate_and_reload(booster, of):
    ranker = fitted(booster, of)
    scores = ranker.predict(of(TEST))
    assert gb.evaluate(MEASURE, TEST.y, scores, TEST.qid)[MEASURE] > UNTRAINED + 0.2
    curve = list(ranker.evals_result_.values())[-1]["map-gap"]
    assert ranker.best_iteration_ == np.argmax(curve) + 1 < 30
    assert ranker.score(of(VALI), VALI.y, VALI.qid) == pytest.approx(max(curve), abs=1e-6)
    for copy in (pickle.loads(pickle.dumps(ranker)), ranker.to_vendor()):
        npt.assert_array_equal(copy.predict(frame(TEST) if of is frame else TEST.X), scores)


@boosters
def test_model_files(booster, tmp_path):
    ranker = fitted(booster)
    path = tmp_path / "model.json"
    ranker.get_booster().save_model(path) if booster == "xgboost" else ranker.booster_.save_model(
        path
    )
    if booster == "xgboost":
        loaded = XGBGAPRanker()
        loaded.load_model(path)
        assert loaded.measure_ == MEASURE
    else:
        loaded = lightgbm.Booster(model_file=path)
    npt.assert_array_equal(loaded.predict(TEST.X), ranker.predict(TEST.X))


def test_lightgbm_by_its_own_train():
    dataset = lightgbm.Dataset(TRAIN.X, TRAIN.y, group=np.bincount(TRAIN.qid)[np.unique(TRAIN.qid)])
    curves = {}
    lightgbm.train(
        {**NATIVE, "objective": gapboost.lightgbm.objective("gap")},
        dataset,
        10,
        valid_sets=[dataset],
        feval=gapboost.lightgbm.eval_metric("gap"),
        callbacks=[lightgbm.record_evaluation(curves)],
    )
    curve = curves["training"]["map-gap"]
    assert curve[-1] > curve[0]


def test_xgboost_by_its_own_train():
    matrix = xgboost.DMatrix(TRAIN.X, TRAIN.y, qid=TRAIN.qid)
    curves = {}
    xgboost.train(
        {**NATIVE, "base_score": 0.0, "disable_default_eval_metric": 1},
        matrix,
        10,
        evals=[(matrix, "training")],
        obj=gapboost.xgboost.objective("gap"),
        custom_metric=gapboost.xgboost.eval_metric("gap"),
        evals_result=curves,
        verbose_eval=False,
    )
    curve = curves["training"]["map-gap"]
    assert curve[-1] > curve[0]


@boosters
def test_search_over_g(booster):
    grid = {"g": [(0.2, 0.8), (0.8, 0.2)]}
    search = GSearchCV(
        unfitted(booster, measure="gap", n_estimators=5), grid, scoring="ndcg@10", cv=3
    )
    search.fit(TRAIN.X, TRAIN.y, qid=TRAIN.qid)
    assert search.best_params_["g"] in grid["g"]
    assert gb.evaluate(MEASURE, TEST.y, search.predict(TEST.X), TEST.qid)[MEASURE] > UNTRAINED + 0.2


@boosters
def test_continued_training(booster):
    def trained(rounds, **fit):
        return unfitted(booster, n_estimators=rounds, **options).fit(
            TRAIN.X, TRAIN.y, TRAIN.qid, **fit
        )

    options = {"extra_trees": False} if booster == "lightgbm" else {}
    first = trained(3)
    continued = trained(2, **{"init_model" if booster == "lightgbm" else "xgb_model": first})
    npt.assert_allclose(continued.predict(TEST.X), trained(5).predict(TEST.X), rtol=0, atol=1e-5)


def test_weights_of_features_in_xgboost():
    weights = np.repeat([0.0, 1.0], [10, TRAIN.n_features - 10])
    ranker = unfitted("xgboost", n_estimators=5, feature_weights=weights, colsample_bynode=0.5)
    assert not ranker.fit(TRAIN.X, TRAIN.y, TRAIN.qid).feature_importances_[:10].any()
