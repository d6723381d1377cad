"""Models for exporters and explainers; `test_ways_to_predict` compares the scores."""

import json

import lightgbm
import numpy as np
import numpy.testing as npt
import pandas as pd
import pytest
import xgboost
from engines import vespa_scores
from sklearn.exceptions import NotFittedError
from twins import LIGHTGBM, SIZES, TEST, TRAIN, XGBOOST, booster_of, onnx_scores, twins

from gapboost.export import write_vespa

# ONNX models take float32.
X, T = (data.X.astype(np.float32) for data in (TRAIN, TEST))
# Like XGBoost's, in another order.
TURNED = [f"f{(i + 7) % TRAIN.n_features}" for i in range(TRAIN.n_features)]


def scores_of(booster, X):
    if isinstance(booster, lightgbm.Booster):
        return booster.predict(X)
    return booster.inplace_predict(X, missing=np.nan)


def category(data):
    letters = np.array(list("hbfdaecg"))
    chosen = np.random.default_rng(0).choice([1, 4, 6], len(data)) + data.y % 2
    return pd.Categorical(letters[chosen], categories=sorted(letters))


def is_often(data):
    return data.y % 2 > 0


@pytest.mark.parametrize("column", [category, is_often])
@twins
def test_categories_are_exported_by_code_and_bools_as_0_and_1(twin, column, tmp_path):
    """For ONNX, and for search engines, which have no categories."""

    def frame(data):
        return pd.DataFrame({"x": data.X[:, 0].astype(np.float32), "other": column(data)})

    options = {} if twin is LIGHTGBM else {"enable_categorical": True}
    ranker = twin.ranker(n_estimators=20, **options).fit(frame(TRAIN), TRAIN.y, TRAIN.qid)
    rows = frame(TEST)
    expected = ranker.predict(rows)
    codes = rows.other.cat.codes if column is category else rows.other
    numbers = rows.assign(other=codes).astype(np.float32).to_numpy()
    found = onnx_scores(twin.module.exportable(ranker), numbers)
    npt.assert_allclose(found, expected, rtol=0, atol=1e-6)
    assert ranker.feature_importances_[1] > 0
    if column is is_often:
        write_vespa(ranker, rows[:20], tmp_path / "model.json")
        content = json.loads((tmp_path / "model.json").read_text())
        found = vespa_scores(content, list(rows), numbers[:20].tolist())
        npt.assert_allclose(found, expected[:20], rtol=0, atol=1e-6)


@twins
def test_exportable_takes_the_boosters_own_training_and_its_own_result(twin):
    """And leaves the booster as it was."""
    objective, dataset = twin.module.objective("gap"), twin.dataset(X, TRAIN.y, SIZES)
    if twin is LIGHTGBM:
        booster = lightgbm.train({**twin.native, "objective": objective}, dataset, 10)
        with pytest.raises(NotImplementedError, match="Unsupported LightGbm objective"):
            onnx_scores(booster, T)  # the reason for `exportable`
    else:
        booster = xgboost.train(twin.native, dataset, 10, obj=objective)
    before = scores_of(booster, T)
    once = twin.module.exportable(booster)
    for exported in (once, twin.module.exportable(once)):
        npt.assert_allclose(onnx_scores(exported, T), before, rtol=0, atol=1e-6)
    npt.assert_array_equal(scores_of(booster, T), before)


REFUSED = {
    "linear_tree": (LIGHTGBM, {"linear_tree": True}, "linear_tree=True"),
    "zero_as_missing": (LIGHTGBM, {"zero_as_missing": True}, "zero_as_missing=True"),
    "gblinear": (XGBOOST, {"booster": "gblinear", "max_depth": None}, "booster is 'gblinear' in"),
    "missing": (XGBOOST, {"missing": -999}, "missing is -999 in model"),
}


@pytest.mark.parametrize(("twin", "parameters", "message"), REFUSED.values(), ids=REFUSED)
def test_what_exporters_write_wrongly_is_refused(twin, parameters, message, tmp_path):
    """A ranker; its booster and the one of its file, unless they do not know the parameter."""
    ranker = twin.fitted(**parameters)
    booster = booster_of(ranker)
    booster.save_model(tmp_path / "model.json")
    boosters = [booster, type(booster)(model_file=str(tmp_path / "model.json"))]
    for model in [ranker, *([] if "missing" in parameters else boosters)]:
        with pytest.raises(ValueError, match=message):
            twin.module.exportable(model)


def test_exportable_refuses_lightgbms_random_forests():
    """Exporters sum their trees."""
    forest = {"boosting": "rf", "bagging_freq": 1, "bagging_fraction": 0.5}
    parameters = {**LIGHTGBM.native, **forest, "objective": "lambdarank"}
    booster = lightgbm.train(parameters, LIGHTGBM.dataset(X, TRAIN.y, SIZES), 3)
    with pytest.raises(ValueError, match="boosting='rf'"):
        LIGHTGBM.module.exportable(booster)


@pytest.mark.parametrize("use_missing", [True, False])
def test_exported_lightgbm_sends_zeros_and_gaps_as_the_ranker_does(use_missing):
    """There are no gaps in training, or they are not used."""
    ranker = LIGHTGBM.ranker(n_estimators=20, use_missing=use_missing).fit(X, TRAIN.y, TRAIN.qid)
    exported = LIGHTGBM.module.exportable(ranker)
    gaps = np.random.default_rng(0).random(T.shape) < 0.3
    for rows in (T, np.where(gaps, np.float32(np.nan), T), np.where(gaps, np.float32(0), T)):
        npt.assert_allclose(onnx_scores(exported, rows), ranker.predict(rows), rtol=0, atol=1e-6)


@pytest.mark.parametrize("objective", ["binary:logistic", "count:poisson", "rank:pairwise"])
def test_exportable_predicts_as_xgboosts_own_objective_does(objective):
    data = XGBOOST.dataset(X, (TRAIN.y > 0).astype(float), SIZES)
    booster = xgboost.train({"objective": objective, "max_depth": 3, "nthread": 1}, data, 5)
    npt.assert_array_equal(scores_of(XGBOOST.module.exportable(booster), T), scores_of(booster, T))


# --- names of features ----------------------------------------------------------------------------


def test_exportable_keeps_the_names_of_lightgbms_features(tmp_path):
    names = [f"feature_{i}" for i in range(TRAIN.n_features)]
    ranker = LIGHTGBM.ranker().fit(pd.DataFrame(X, columns=names), TRAIN.y, TRAIN.qid)
    exported = LIGHTGBM.module.exportable(ranker)
    exported.save_model(tmp_path / "model.txt")
    for booster in (exported, lightgbm.Booster(model_file=tmp_path / "model.txt")):
        assert booster.feature_name() == names


def test_exportable_leaves_out_names_of_xgboosts_features():
    """An ONNX converter would read one such as f1 as a position."""
    ranker = XGBOOST.ranker().fit(pd.DataFrame(X, columns=TURNED), TRAIN.y, TRAIN.qid)
    exported = XGBOOST.module.exportable(ranker)
    assert exported.feature_names is None
    expected = ranker.predict(pd.DataFrame(T, columns=TURNED))
    npt.assert_allclose(onnx_scores(exported, T), expected, rtol=0, atol=1e-6)
    assert booster_of(ranker).feature_names == TURNED


@twins
def test_exportable_refuses_what_is_no_model_of_the_library(twin):
    other = XGBOOST if twin is LIGHTGBM else LIGHTGBM
    ranker = other.fitted()
    for model in (ranker, booster_of(ranker), "model.json", None):
        with pytest.raises(TypeError, match=f"model is a {type(model).__name__}"):
            twin.module.exportable(model)
    with pytest.raises(NotFittedError):
        twin.module.exportable(twin.ranker())
