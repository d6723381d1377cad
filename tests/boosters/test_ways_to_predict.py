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
from twins import LIGHTGBM, TEST, TRAIN, VALI, XGBOOST, onnx_scores

from gapboost.xgboost import XGBGAPRanker

NAMES = [f"feature_{i}" for i in range(TRAIN.n_features)]


class Case(NamedTuple):
    """A training: what is missing in features, early stopping, column names, other parameters."""

    booster: str
    missing: str
    stopping: bool
    named: bool
    parameters: tuple = ()

    @property
    def twin(self):
        return LIGHTGBM if self.booster == "lightgbm" else XGBOOST

    def __str__(self):
        """Return the id of the test."""
        words = [
            self.booster,
            self.missing,
            "stopped" if self.stopping else "",
            "named" if self.named else "",
        ]
        return "-".join(filter(None, [*words, *(str(value) for _, value in self.parameters)]))


LINEAR = {"booster": "gblinear", "max_depth": None}
MISSING = {
    "lightgbm": {
        "nan": {},
        "use_missing=False": {"use_missing": False},
        "zero_as_missing": {"zero_as_missing": True},
    },
    "xgboost": {"nan": {}, "-1": {"missing": -1.0}},
}
CASES = [
    Case(booster, missing, stopping, named)
    for booster in MISSING
    for missing in MISSING[booster]
    for stopping, named in ((False, True), (True, False))
] + [
    Case("xgboost", "nan", True, False, (("num_parallel_tree", 3), ("subsample", 0.5))),
    Case("xgboost", "nan", True, False, (("booster", "dart"), ("rate_drop", 0.3))),
    Case("xgboost", "nan", False, False, (("base_score", 2.0),)),
    Case("xgboost", "nan", True, False, (*LINEAR.items(), ("learning_rate", 0.01))),
    Case("lightgbm", "nan", False, False, (("boosting_type", "dart"),)),
]


class Fitted(NamedTuple):
    """A fitted ranker, rows as it takes them and as an array, and the expected scores."""

    case: Case
    ranker: Any
    rows: Any
    array: np.ndarray
    expected: np.ndarray


def rows_of(data, case):
    """Return the features in float32, of which a quarter is missing, as an array."""
    gap = -1.0 if case.missing == "-1" else np.nan
    # Below zero, so that -1 is also a number that splits would compare.
    X = data.X - 2 * (data.X.mean() > 0) if case.missing == "-1" else data.X
    drawn = np.random.default_rng(0).random(data.X.shape) < 0.25
    return np.where(drawn, gap, X).astype(np.float32)


def table(X, case):
    return pd.DataFrame(X, columns=NAMES) if case.named else X


@lru_cache
def fitted(case):
    parameters = {"n_estimators": 8, **MISSING[case.booster][case.missing], **dict(case.parameters)}
    train, vali, test = (rows_of(data, case) for data in (TRAIN, VALI, TEST))
    fit = {}
    if case.stopping:
        parameters = {"learning_rate": 0.5, **parameters, "n_estimators": 60}
        of_ranker, fit = case.twin.stopping(4)
        parameters |= of_ranker
        fit = {**fit, "eval_set": [(table(vali, case), VALI.y)], "eval_qid": [VALI.qid]}
    ranker = case.twin.ranker(**parameters).fit(table(train, case), TRAIN.y, TRAIN.qid, **fit)
    assert (0 < ranker.best_iteration_ < 56) == case.stopping
    rows = table(test, case)
    return Fitted(case, ranker, rows, test, ranker.predict(rows))


def through_joblib(f, file):
    joblib.dump(f.ranker, file)
    return joblib.load(file).predict(f.rows)


def exported(f):
    return f.case.twin.module.exportable(f.ranker)


def through_onnx(f, _):
    return onnx_scores(exported(f), f.array)


def through_treelite(f, _):
    if f.case.twin is LIGHTGBM:
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
        (model.booster_ if f.case.twin is LIGHTGBM else model).save_model(file)
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
        for case in CASES
        for name, predict in {**BOTH, **EXPORTED, **native_ways(case.booster)}.items()
    ]


def expectation(case, way):
    """Return "same", "different", or the error that the way ends in."""
    if "gblinear" in dict(case.parameters).values():
        if way in EXPORTED:
            return "booster is 'gblinear' in model; expected trees"
        if "inplace_predict" in way:
            return "Inplace predict is not supported"
    if way in EXPORTED and case.missing == "zero_as_missing":
        return "zero_as_missing=True; expected"
    if case.missing == "-1":
        if way in EXPORTED:
            return r"missing is -1\.0 in model; expected"
        return "same" if way in BOTH else "different"
    return "same"


@pytest.mark.parametrize(("case", "way", "predict"), ways())
def test_scores_are_those_of_the_ranker(case, way, predict, tmp_path):
    f, expected = fitted(case), expectation(case, way)
    file = str(tmp_path / ("model.txt" if case.twin is LIGHTGBM else "model.json"))
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


@pytest.mark.parametrize("case", [case for case in CASES if case.missing == "-1"], ids=str)
@pytest.mark.parametrize("way", native_ways("xgboost"))
def test_every_reader_of_an_xgboost_file_takes_the_missing_value(case, way, tmp_path):
    f = fitted(case)
    npt.assert_array_equal(
        native_ways("xgboost")[way](f, str(tmp_path / "model.json"), missing=-1), f.expected
    )
