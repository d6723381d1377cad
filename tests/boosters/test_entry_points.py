"""Each own parameter takes effect or is refused at each entry point, and refuses the same data."""

import inspect
import warnings
from dataclasses import dataclass

import lightgbm
import numpy as np
import pytest
import xgboost
from entry_points import BAD_DATA, BETWEEN_GRADES, CHANGES, GOOD, MANY, PER_QUERY, many_values, rows

import gapboost.lightgbm
import gapboost.xgboost
from gapboost._boosters.own_parameters import OWN_NAMES
from gapboost.lightgbm import LGBMGAPRanker
from gapboost.model_selection import GSearchCV
from gapboost.xgboost import XGBGAPRanker

pytestmark = pytest.mark.timeout(300)

VALIDATION = rows(seed=8)
SMALL = {"lightgbm": {"verbose": -1, "min_child_samples": 2}, "xgboost": {"max_depth": 3}}
LOCAL = {"lightgbm": LGBMGAPRanker, "xgboost": XGBGAPRanker}
NATIVE = {"lightgbm": gapboost.lightgbm, "xgboost": gapboost.xgboost}


def fitted(kind, booster, given, parameters, wrap=np.asarray, **fixed):
    """Scores of the training rows by a ranker; with early stopping it sees a validation set."""
    parameters = {"n_estimators": 3, **SMALL[booster], **fixed, **parameters}
    metrics = {"eval_metric": parameters.pop("eval_metric", None)} if booster == "lightgbm" else {}
    if "early_stopping_rounds" in parameters:
        metrics |= {
            "eval_set": [(wrap(VALIDATION.X), wrap(VALIDATION.y))],
            "eval_qid": [wrap(VALIDATION.qid)],
        }
    ranker = kind(**parameters)
    ranker.fit(
        wrap(given.X),
        wrap(given.y),
        qid=wrap(given.qid),
        sample_weight=wrap(given.weight),
        **metrics,
    )
    return ranker.predict(given.X)


def local(booster, given, parameters):
    return fitted(LOCAL[booster], booster, given, parameters, n_jobs=1)


def search(booster, given, parameters):
    parameters = {"n_estimators": 3, **SMALL[booster], **parameters}
    if booster == "lightgbm":
        parameters.pop("eval_metric", None)
    # The values of the measure that all candidates are scored by.
    found = GSearchCV(
        LOCAL[booster](**parameters, n_jobs=1), {}, scoring="ndcg@5", cv=2, progress=False
    )
    found.fit(given.X, given.y, qid=given.qid, sample_weight=given.weight)
    return np.append(found.cv_results_["mean_test_score"], found.predict(given.X))


def native_data(booster, given):
    if booster == "lightgbm":
        return lightgbm.Dataset(
            given.X, given.y, group=given.group, weight=given.weight, params={"verbose": -1}
        )
    # XGBoost has one weight a query, and checks weights itself.
    return xgboost.DMatrix(given.X, given.y, qid=given.qid, weight=given.weight[::PER_QUERY])


def cv(booster, given, parameters):
    taken = inspect.signature(NATIVE[booster].cv).parameters
    arguments = {name: value for name, value in parameters.items() if name in taken}
    params = {
        **SMALL[booster],
        **{name: v for name, v in parameters.items() if name not in arguments},
    }
    data = native_data(booster, given)
    found = NATIVE[booster].cv(
        params, data, 3, **arguments, eval_metric="ndcg@5", n_folds=2, n_jobs=1
    )
    (curve,) = (curve for measure, curve in found.items() if repr(measure) == "nDCG(k=5)")
    return curve.mean


def native(booster, given, parameters):
    ours = NATIVE[booster].objective(**parameters, n_jobs=1)
    data = native_data(booster, given)
    if booster == "lightgbm":
        model = lightgbm.train({**SMALL[booster], "objective": ours}, data, 3)
        return model.predict(given.X)
    model = xgboost.train(
        {**SMALL[booster], "base_score": 0.0, "disable_default_eval_metric": 1}, data, 3, obj=ours
    )
    return model.predict(data)


@dataclass(frozen=True)
class EntryPoint:
    """A way into a training, and what it calls grades and weights."""

    train: object
    names: dict


OURS = {"y": "y", "weight": "sample_weight"}
THEIRS = {"y": "label", "weight": "weight"}
ENTRY_POINTS = {
    "fit": EntryPoint(local, OURS),
    "GSearchCV": EntryPoint(search, OURS),
    "cv": EntryPoint(cv, THEIRS),
    "train": EntryPoint(native, THEIRS),
}
TAKEN = [
    (entry, name)
    for name, change in CHANGES.items()
    for entry in ENTRY_POINTS
    if entry not in change.refused_by
]
entry_point = pytest.mark.parametrize("entry", ENTRY_POINTS)
booster = pytest.mark.parametrize("booster", LOCAL)


def test_every_own_parameter_is_here():
    assert CHANGES.keys() == set(OWN_NAMES)


@pytest.mark.parametrize("name", CHANGES)
@entry_point
@booster
def test_an_own_parameter_takes_effect_or_is_refused(booster, entry, name):
    point, change = ENTRY_POINTS[entry], CHANGES[name]
    if entry in change.refused_by:
        with pytest.raises((ValueError, TypeError), match=name):
            point.train(booster, GOOD, {name: change.value})
        return
    before = point.train(booster, GOOD, {**change.beside})
    after = point.train(booster, GOOD, {**change.beside, name: change.value})
    assert np.abs(after - before).max() > 1e-6


@pytest.mark.parametrize(("entry", "name"), TAKEN)
@booster
def test_an_unusable_own_parameter_is_refused(booster, entry, name):
    with pytest.raises((ValueError, TypeError), match=f"^{name} is "):
        ENTRY_POINTS[entry].train(booster, GOOD, {name: CHANGES[name].unusable})


@pytest.mark.parametrize("case", BAD_DATA)
@entry_point
@booster
def test_bad_data_are_refused_in_the_same_words(booster, entry, case):
    point, bad = ENTRY_POINTS[entry], BAD_DATA[case]
    with pytest.raises(ValueError, match=f"^{point.names[bad.argument]} .*({bad.says})"):
        point.train(booster, bad.rows, bad.parameters)


@entry_point
@booster
def test_labels_that_are_no_grades_are_warned_of(booster, entry):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ENTRY_POINTS[entry].train(booster, many_values(), BETWEEN_GRADES)
    name = ENTRY_POINTS[entry].names["y"]
    assert any(
        str(w.message).startswith(f"{name} holds") and MANY in str(w.message) for w in caught
    )
