"""Each way to predict in docs/guide/production.md gives the scores that its table says."""

import pickle
from functools import lru_cache
from typing import Any, NamedTuple

import joblib
import lightgbm
import numpy as np
import numpy.testing as npt
import pandas as pd
import pytest
import treelite
import xgboost
from twins import LIGHTGBM, TEST, TRAIN, VALI, XGBOOST, Twin, onnx_scores

from gapboost.xgboost import XGBGAPRanker

NAMES = [f"feature_{i}" for i in range(TRAIN.n_features)]


STOPPED, NAMED = "stopped early", "names of columns"
LINEAR = {"booster": "gblinear", "max_depth": None, "learning_rate": 0.01}
# Trainings: the booster, what else is given to it, and parameters.
CASES = {
    "lightgbm": (LIGHTGBM, NAMED, {}),
    "lightgbm stopped": (LIGHTGBM, STOPPED, {}),
    "lightgbm use_missing=False": (LIGHTGBM, NAMED, {"use_missing": False}),
    "lightgbm use_missing=False stopped": (LIGHTGBM, STOPPED, {"use_missing": False}),
    "lightgbm zero_as_missing": (LIGHTGBM, NAMED, {"zero_as_missing": True}),
    "lightgbm zero_as_missing stopped": (LIGHTGBM, STOPPED, {"zero_as_missing": True}),
    "lightgbm dart": (LIGHTGBM, None, {"boosting_type": "dart"}),
    "xgboost": (XGBOOST, NAMED, {}),
    "xgboost stopped": (XGBOOST, STOPPED, {}),
    "xgboost missing=-1": (XGBOOST, NAMED, {"missing": -1.0}),
    "xgboost missing=-1 stopped": (XGBOOST, STOPPED, {"missing": -1.0}),
    "xgboost forest": (XGBOOST, STOPPED, {"num_parallel_tree": 3, "subsample": 0.5}),
    "xgboost dart": (XGBOOST, STOPPED, {"booster": "dart", "rate_drop": 0.3}),
    "xgboost base_score": (XGBOOST, None, {"base_score": 2.0}),
    "xgboost gblinear": (XGBOOST, STOPPED, LINEAR),
}


class Fitted(NamedTuple):
    """A fitted ranker, rows as it takes them and as an array, and the expected scores."""

    twin: Twin
    ranker: Any
    rows: Any
    array: np.ndarray
    expected: np.ndarray


def with_gaps(data, missing=np.nan):
    """Return the features in float32, of which a quarter is missing, as an array."""
    # Below zero, so that -1 is also a number that splits would compare.
    X = data.X - 2 if missing == -1 else data.X
    drawn = np.random.default_rng(0).random(X.shape) < 0.25
    return np.where(drawn, missing, X).astype(np.float32)


@lru_cache
def fitted(case):
    twin, what, given = CASES[case]
    missing = given.get("missing", np.nan)
    array = with_gaps(TEST, missing)
    train, vali, test = with_gaps(TRAIN, missing), with_gaps(VALI, missing), array
    if what == NAMED:
        train, vali, test = (pd.DataFrame(rows, columns=NAMES) for rows in (train, vali, test))
    parameters, fit = {"n_estimators": 8, **given}, {}
    if what == STOPPED:
        of_ranker, fit = twin.stopping(4)
        parameters = {"learning_rate": 0.5, **given, **of_ranker, "n_estimators": 60}
        fit |= {"eval_set": [(vali, VALI.y)], "eval_qid": [VALI.qid]}
    ranker = twin.ranker(**parameters).fit(train, TRAIN.y, TRAIN.qid, **fit)
    assert (0 < ranker.best_iteration_ < 56) == (what == STOPPED)
    return Fitted(twin, ranker, test, array, ranker.predict(test))


def through_joblib(f, file):
    joblib.dump(f.ranker, file)
    return joblib.load(file).predict(f.rows)


def exported(f):
    return f.twin.module.exportable(f.ranker)


def through_onnx(f, _):
    return onnx_scores(exported(f), f.array)


def through_treelite(f, _):
    if f.twin is LIGHTGBM:
        return treelite.gtil.predict(
            treelite.frontend.from_lightgbm(exported(f)), f.array.astype(np.float64)
        )
    return treelite.gtil.predict(treelite.frontend.from_xgboost(exported(f)), f.array)


def in_place(booster, rows, **missing):
    # XGBoost 3.1 does not take data frames of pandas 3 here.
    return booster.inplace_predict(np.asarray(rows), **missing)


def native(booster, rows):
    return (
        booster.predict(rows) if isinstance(booster, lightgbm.Booster) else in_place(booster, rows)
    )


def through_exported_file(f, file):
    booster = exported(f)
    booster.save_model(file)
    return native(type(booster)(model_file=file), f.rows)


def loaded(ranker, file):
    ranker.load_model(file)
    return ranker


# The keys of all ways are on the page, up to " (".
BOTH = {
    "joblib.load": through_joblib,
    "pickle.loads": lambda f, _: pickle.loads(pickle.dumps(f.ranker)).predict(f.rows),
    "to_vendor().predict": lambda f, _: f.ranker.to_vendor().predict(f.rows),
}
EXPORTED = {
    "ONNX": through_onnx,
    "treelite": through_treelite,
    "exportable(ranker)": lambda f, _: native(exported(f), f.rows),
    "exportable(ranker) (file)": through_exported_file,
}
# What reads model files. XGBoost's readers take `missing`, by default NaN.
READERS = {
    "lightgbm": {"lightgbm.Booster": lambda file, X: lightgbm.Booster(model_file=file).predict(X)},
    "xgboost": {
        "model.json).inplace_predict": lambda file, X, **m: in_place(
            xgboost.Booster(model_file=file), X, **m
        ),
        "DMatrix": lambda file, X, **m: xgboost.Booster(model_file=file).predict(
            xgboost.DMatrix(X, nthread=1, **m)
        ),
        "xgboost.XGBRanker().load_model": lambda file, X, **m: loaded(
            xgboost.XGBRanker(n_jobs=1, **m), file
        ).predict(X),
        "XGBGAPRanker().load_model": lambda file, X, **m: loaded(
            XGBGAPRanker(n_jobs=1, **m), file
        ).predict(X),
    },
}
MODELS = {
    "lightgbm": {"booster_.predict": lambda f, _: f.ranker.booster_.predict(f.rows)},
    "xgboost": {
        "get_booster().inplace_predict": lambda f, _, **m: in_place(
            f.ranker.get_booster(), f.rows, **m
        )
    },
}


def of_file(read, of_vendor):
    """Return a way to predict: save the ranker or its `to_vendor()`, and read the file."""

    def predict(f, file, **missing):
        model = f.ranker.to_vendor() if of_vendor else f.ranker
        (model.booster_ if f.twin is LIGHTGBM else model).save_model(file)
        return read(file, f.rows, **missing)

    return predict


def native_ways(booster):
    """Return the ways that need nothing but the library."""
    readers = READERS[booster].items()
    files = {name: of_file(read, False) for name, read in readers}
    files |= {f"{name} (of to_vendor)": of_file(read, True) for name, read in readers}
    return {**MODELS[booster], **files}


def ways():
    return [
        pytest.param(case, name, predict, id=f"{case}-{name}")
        for case, (twin, *_) in CASES.items()
        for name, predict in {**BOTH, **EXPORTED, **native_ways(twin.name)}.items()
    ]


def expectation(case, way):
    """Return "same", "different", or the error that the way ends in."""
    if "gblinear" in case:
        if way in EXPORTED:
            return "booster is 'gblinear' in model; expected trees"
        if "inplace_predict" in way:
            return "Inplace predict is not supported"
    if way in EXPORTED and "zero_as_missing" in case:
        return "zero_as_missing=True; expected"
    if "missing=-1" in case:
        if way in EXPORTED:
            return r"missing is -1\.0 in model; expected"
        return "same" if way in BOTH else "different"
    return "same"


@pytest.mark.parametrize(("case", "way", "predict"), ways())
def test_scores_are_those_of_the_ranker(case, way, predict, tmp_path):
    f, expected = fitted(case), expectation(case, way)
    file = str(tmp_path / ("model.txt" if f.twin is LIGHTGBM else "model.json"))
    assert np.ptp(f.expected) > 0.1
    if expected not in ("same", "different"):
        with pytest.raises((ValueError, xgboost.core.XGBoostError), match=expected):
            predict(f, file)
        return
    found = predict(f, file).ravel()
    if expected == "same":
        npt.assert_allclose(found, f.expected, rtol=0, atol=2e-6)
    else:
        assert np.abs(found - f.expected).max() > 0.01


@pytest.mark.parametrize("case", [case for case in CASES if "missing=-1" in case])
@pytest.mark.parametrize("way", native_ways("xgboost"))
def test_every_reader_of_an_xgboost_file_takes_the_missing_value(case, way, tmp_path):
    f = fitted(case)
    npt.assert_array_equal(
        native_ways("xgboost")[way](f, str(tmp_path / "model.json"), missing=-1), f.expected
    )
