"""The boosters' own rankers made of fitted ones: for tools and people that do not know gapboost."""

import joblib
import lightgbm
import numpy as np
import numpy.testing as npt
import pandas as pd
import pytest
import xgboost
from own_process import run_python
from sklearn.exceptions import NotFittedError
from twins import LIGHTGBM, SIZES, TEST, TRAIN, VALI, XGBOOST, booster_of, twins

from gapboost._boosters.ranker import OWN_NAMES
from gapboost.xgboost import XGBGAPRanker


@twins
def test_the_same_kind_parameters_and_predictions(twin):
    ranker = twin.fitted(measure="egap", g=(0.2, 0.8), learning_rate=0.2, subsample=0.9, max_bin=31)
    vendor = ranker.to_vendor()
    assert type(vendor) is twin.vendor
    npt.assert_array_equal(vendor.predict(TEST.X), ranker.predict(TEST.X))
    expected = {name: value for name, value in ranker.get_params().items() if name not in OWN_NAMES}
    found = vendor.get_params()
    assert found.pop("objective") == {"lightgbm": "lambdarank", "xgboost": "rank:ndcg"}[twin.name]
    npt.assert_equal(found, expected)
    npt.assert_array_equal(vendor.feature_importances_, ranker.feature_importances_)
    assert vendor.n_features_in_ == TRAIN.n_features
    with pytest.raises(NotFittedError):
        twin.ranker().to_vendor()


@twins
def test_early_stopping_is_kept(twin):
    parameters, fit = twin.stopping(3)
    ranker = twin.fitted(evals=[VALI], n_estimators=200, learning_rate=0.5, fit=fit, **parameters)
    vendor = ranker.to_vendor()
    npt.assert_array_equal(vendor.predict(TEST.X), ranker.predict(TEST.X))
    if twin is LIGHTGBM:
        assert vendor.best_iteration_ == ranker.best_iteration_ < 200
        assert vendor.best_score_ == ranker.best_score_
        assert vendor.evals_result_ == ranker.evals_result_
    else:
        assert vendor.best_iteration + 1 == ranker.best_iteration_ < 200
        assert vendor.evals_result() == ranker.evals_result()


@twins
def test_data_frames_with_categories(twin):
    frame = pd.DataFrame(TRAIN.X[:, :6], columns=list("abcdef"))
    frame["kind"] = pd.Categorical(np.array(["x", "y", "z"])[TRAIN.y])
    options = {"enable_categorical": True} if twin is XGBOOST else {}
    ranker = twin.ranker(**options).fit(frame, TRAIN.y, TRAIN.qid)
    vendor = ranker.to_vendor()
    npt.assert_array_equal(vendor.predict(frame), ranker.predict(frame))
    assert list(vendor.feature_names_in_) == list(frame)


@pytest.mark.parametrize("fit", [{}, {"callbacks": [lightgbm.early_stopping(3, verbose=False)]}])
def test_lightgbms_predictions_stop_early_too(fit):
    early = {"pred_early_stop": True, "pred_early_stop_margin": 0.1, "pred_early_stop_freq": 2}
    ranker = LIGHTGBM.fitted(evals=[VALI], fit=fit, n_estimators=20, learning_rate=0.3)
    scores = ranker.predict(TRAIN.X, **early)
    assert np.abs(scores - ranker.predict(TRAIN.X)).max() > 0.1
    npt.assert_array_equal(scores, ranker.to_vendor().predict(TRAIN.X, **early))
    npt.assert_array_equal(scores, ranker.set_params(**early).predict(TRAIN.X))


@twins
def test_it_stands_alone(twin):
    """Fitting one of them, or changing its booster, does not change the other."""
    ranker = twin.fitted()
    expected, vendor = ranker.predict(TEST.X), ranker.to_vendor()
    assert booster_of(vendor) is not booster_of(ranker)
    vendor.fit(TRAIN.X, TRAIN.y, group=SIZES)
    npt.assert_array_equal(ranker.predict(TEST.X), expected)
    assert not np.array_equal(vendor.predict(TEST.X), expected)


@twins
def test_files_say_the_boosters_own_objective(twin, tmp_path):
    ranker = twin.fitted()
    booster_of(ranker.to_vendor()).save_model(tmp_path / "model.json")
    if twin is LIGHTGBM:
        text = (tmp_path / "model.json").read_text()
        assert "\nobjective=lambdarank\n" in text
        assert "\n[objective: lambdarank]\n" in text
        return
    loaded = xgboost.XGBRanker()
    loaded.load_model(tmp_path / "model.json")
    assert loaded.objective == "rank:ndcg"
    again = XGBGAPRanker()
    again.load_model(tmp_path / "model.json")
    npt.assert_array_equal(again.to_vendor().predict(TEST.X), ranker.predict(TEST.X))


# Rankers, then vendors in a process that cannot import gapboost.
LOAD = """
import sys, joblib, pathlib, numpy as np
data, *paths = sys.argv[1:]
if paths[-1].endswith("vendor"):
    sys.modules["gapboost"] = None
data = np.load(data)
for path in paths:
    ranker = joblib.load(path)
    np.testing.assert_array_equal(ranker.predict(data["X"]), data[pathlib.Path(path).stem])
    if not path.endswith("vendor"):
        assert ranker.score(data["X"], data["y"], data["qid"]) > 0.5
"""


@pytest.mark.slow
def test_copies_in_another_process(tmp_path):
    fitted = {twin.name: twin.fitted() for twin in (LIGHTGBM, XGBOOST)}
    scores = {name: ranker.predict(TEST.X) for name, ranker in fitted.items()}
    np.savez(tmp_path / "data.npz", X=TEST.X, y=TEST.y, qid=TEST.qid, **scores)
    for name, ranker in fitted.items():
        joblib.dump(ranker, tmp_path / f"{name}.joblib")
        joblib.dump(ranker.to_vendor(), tmp_path / f"{name}.vendor")
    for kind in ("joblib", "vendor"):
        paths = [tmp_path / f"{name}.{kind}" for name in fitted]
        run_python(LOAD, tmp_path / "data.npz", *paths)
