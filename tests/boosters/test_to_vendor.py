"""The boosters' own rankers made of fitted ones: for tools and people that do not know gapboost."""

import json
import pickle
import subprocess
import sys

import joblib
import lightgbm
import numpy as np
import pandas as pd
import pytest
import xgboost
from sklearn.exceptions import NotFittedError

import gapboost as gb
from gapboost._boosters.ranker import OWN_NAMES
from gapboost.datasets import load_digits_ranking
from gapboost.lightgbm import LGBMGAPRanker
from gapboost.xgboost import XGBGAPRanker

TRAIN, VALI, TEST = load_digits_ranking((40, 30, 20), 20)
RANKERS = {
    "lightgbm": (
        LGBMGAPRanker,
        lightgbm.LGBMRanker,
        {"n_jobs": 1, "verbose": -1, "min_child_samples": 5},
    ),
    "xgboost": (XGBGAPRanker, xgboost.XGBRanker, {"n_jobs": 1}),
}
boosters = pytest.mark.parametrize("booster", RANKERS)


def fitted(library, X=TRAIN.X, fit=None, **parameters):
    kind, _, always = RANKERS[library]
    ranker = kind(**{"n_estimators": 6, **always, **parameters})
    return ranker.fit(X, TRAIN.y, TRAIN.qid, **(fit or {}))


def check_same(vendor, ranker, X=TEST.X):
    np.testing.assert_array_equal(vendor.predict(X), ranker.predict(X))


@boosters
def test_the_same_kind_parameters_and_predictions(booster):
    ranker = fitted(
        booster, measure="egap", g=(0.2, 0.8), learning_rate=0.2, subsample=0.9, max_bin=31
    )
    vendor = ranker.to_vendor()
    assert type(vendor) is RANKERS[booster][1]
    check_same(vendor, ranker)
    expected = {name: value for name, value in ranker.get_params().items() if name not in OWN_NAMES}
    found = vendor.get_params()
    assert found.pop("objective") == {"lightgbm": "lambdarank", "xgboost": "rank:ndcg"}[booster]
    np.testing.assert_equal(found, expected)
    np.testing.assert_array_equal(vendor.feature_importances_, ranker.feature_importances_)
    assert vendor.n_features_in_ == TRAIN.X.shape[1]


@boosters
def test_early_stopping_is_kept(booster):
    stops = (
        {"callbacks": [lightgbm.early_stopping(3, verbose=False)]} if booster == "lightgbm" else {}
    )
    patience = {} if stops else {"early_stopping_rounds": 3}
    evals = {"eval_set": [(VALI.X, VALI.y)], "eval_qid": [VALI.qid], **stops}
    ranker = fitted(booster, fit=evals, n_estimators=200, learning_rate=0.5, **patience)
    vendor = ranker.to_vendor()
    check_same(vendor, ranker)
    if booster == "lightgbm":
        assert vendor.best_iteration_ == ranker.best_iteration_ < 200
        assert vendor.booster_.num_trees() == ranker.booster_.num_trees()
        assert vendor.best_score_ == ranker.best_score_
        assert vendor.evals_result_ == ranker.evals_result_
    else:
        assert vendor.best_iteration + 1 == ranker.best_iteration_ < 200
        assert vendor.get_booster().num_boosted_rounds() == ranker.best_iteration_
        assert vendor.evals_result() == ranker.evals_result()


@boosters
def test_data_frames_with_categories(booster):
    frame = pd.DataFrame(TRAIN.X[:, :6], columns=list("abcdef"))
    frame["kind"] = pd.Categorical(np.array(["x", "y", "z"])[TRAIN.y])
    options = {"enable_categorical": True} if booster == "xgboost" else {}
    ranker = fitted(booster, X=frame, **options)
    check_same(ranker.to_vendor(), ranker, frame)
    assert list(ranker.to_vendor().feature_names_in_) == list(frame)


@pytest.mark.slow
def test_after_pickle_and_without_gapboost(tmp_path):
    for booster in RANKERS:
        ranker = pickle.loads(pickle.dumps(fitted(booster)))
        check_same(ranker.to_vendor(), ranker)
        joblib.dump(ranker.to_vendor(), tmp_path / f"{booster}.joblib")
        np.save(tmp_path / f"{booster}.npy", ranker.predict(TEST.X))
    np.save(tmp_path / "X.npy", TEST.X)
    code = """
import sys
sys.modules["gapboost"] = None
import joblib, numpy as np
X = np.load("X.npy")
for booster in ("lightgbm", "xgboost"):
    ranker, scores = joblib.load(f"{booster}.joblib"), np.load(f"{booster}.npy")
    np.testing.assert_array_equal(ranker.predict(X), scores)
print("done")
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.stdout == "done\n", done.stderr


@boosters
def test_it_stands_alone(booster):
    """Fitting one of them does not change the other."""
    ranker = fitted(booster)
    expected = ranker.predict(TEST.X)
    vendor = ranker.to_vendor()
    vendor.fit(TRAIN.X, TRAIN.y, group=np.unique(TRAIN.qid, return_counts=True)[1])
    np.testing.assert_array_equal(ranker.predict(TEST.X), expected)
    assert not np.array_equal(vendor.predict(TEST.X), expected)
    assert ranker.measure_ == gb.GAP(g=(0.5, 0.5))


def test_xgboosts_files_say_rank_ndcg(tmp_path):
    ranker = fitted("xgboost", eval_metric=gb.nDCG(k=5))
    ranker.to_vendor().save_model(tmp_path / "model.json")
    learner = json.loads((tmp_path / "model.json").read_text())["learner"]
    assert learner["objective"]["name"] == "rank:ndcg"
    loaded = xgboost.XGBRanker()
    loaded.load_model(tmp_path / "model.json")
    check_same(loaded, ranker)
    assert loaded.objective == "rank:ndcg"
    again = XGBGAPRanker()
    again.load_model(tmp_path / "model.json")
    check_same(again.to_vendor(), ranker)


def test_lightgbms_files_say_lambdarank(tmp_path):
    ranker = fitted("lightgbm")
    ranker.to_vendor().booster_.save_model(tmp_path / "model.txt")
    text = (tmp_path / "model.txt").read_text()
    assert "\nobjective=lambdarank\n" in text
    assert "\n[objective: lambdarank]\n" in text
    check_same(lightgbm.Booster(model_file=tmp_path / "model.txt"), ranker)


@pytest.mark.parametrize(
    ("library", "parameters"),
    [
        ("lightgbm", {"linear_tree": True}),
        ("lightgbm", {"boosting_type": "dart", "random_state": 0}),
        ("lightgbm", {"extra_trees": False}),
        ("xgboost", {"booster": "gblinear"}),
        ("xgboost", {"booster": "dart", "rate_drop": 0.5}),
    ],
)
def test_every_kind_of_model(library, parameters):
    ranker = fitted(library, **parameters)
    check_same(ranker.to_vendor(), ranker)


@boosters
def test_before_fit(booster):
    with pytest.raises(NotFittedError):
        RANKERS[booster][0]().to_vendor()
