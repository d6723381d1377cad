"""Pipelines in a comparison: query ids for their steps, evaluation sets, categories, tuning."""

from importlib.util import find_spec

import lightgbm
import numpy as np
import numpy.testing as npt
import pandas as pd
import polars as pl
import pytest
import sklearn
import xgboost
from cheap_rankers import Noisy, made
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import make_column_transformer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

import gapboost as gb
from gapboost.comparison import compare_rankers, standard_rankers
from gapboost.comparison.rankers import describe
from gapboost.comparison.spaces import SPACES
from gapboost.comparison.training import Trainer
from gapboost.lightgbm import LGBMGAPRanker
from gapboost.preprocessing import QueryRelativeFeatures, query_relative_features
from gapboost.xgboost import XGBGAPRanker

X, Y, QID = (column[np.argsort(made(30, 8)[2], kind="stable")] for column in made(30, 8))
# Numbers are added in the order of the rows, which a shuffle would change.
GIVEN = {"measures": "map", "cv": 3, "repeats": 1, "shuffle": False}
SMALL = {"n_estimators": 4, "n_jobs": 1}
QUIET = {"verbose": False, "allow_writing_files": False}
RANKERS = {
    "LGBMRanker": lightgbm.LGBMRanker(**SMALL, verbose=-1),
    "LGBMGAPRanker": LGBMGAPRanker(**SMALL, verbose=-1),
    "XGBRanker": xgboost.XGBRanker(**SMALL),
    "XGBGAPRanker": XGBGAPRanker(**SMALL),
}
CATBOOST = {}
if find_spec("catboost"):
    from catboost import CatBoostRanker

    loss = {"loss_function": "QueryRMSE"}
    CATBOOST["CatBoost"] = CatBoostRanker(iterations=4, thread_count=1, **loss, **QUIET)
OTHERS = {
    "LGBMRegressor": lightgbm.LGBMRegressor(**SMALL, verbose=-1),
    "rank:map": xgboost.XGBRanker(**SMALL, objective="rank:map"),
    "Noisy": Noisy(),
}


def piped(rankers, *steps):
    return {
        name: make_pipeline(*(steps or (QueryRelativeFeatures(),)), ranker)
        for name, ranker in rankers.items()
    }


NO_POLARS = pytest.mark.skipif(
    lightgbm.__version__.startswith("4.6"), reason="LightGBM 4.6 itself takes no tables of polars"
)


def rows_of(queries):
    return np.flatnonzero(np.isin(QID, np.unique(QID)[queries]))


def fit_by_hand(name, ranker, table, train, weights):
    """Fit with sizes or ids of queries, or neither; weights in the form that the ranker takes."""
    given = {"qid": QID[train]}
    if name == "LGBMRanker":
        given = {"group": np.unique(QID[train], return_counts=True)[1]}
    elif name in ("LGBMRegressor", "Noisy", "CatBoost"):
        given = {"group_id": QID[train]} if name == "CatBoost" else {}
    if weights is not None:
        of_queries = weights[train].reshape(-1, 8).mean(axis=1)
        if name == "CatBoost":
            given["group_weight"] = np.repeat(of_queries, 8)
        elif name != "Noisy":
            of_vendor = name in ("XGBRanker", "rank:map")
            given["sample_weight"] = of_queries if of_vendor else weights[train]
    grades = (Y > 0).astype(int) if name == "rank:map" else Y
    return (
        sklearn.clone(ranker).set_params(random_state=1).fit(table[train], grades[train], **given)
    )


WEIGHTS = np.random.default_rng(0).uniform(0.1, 5, 30 * 8)


@pytest.mark.parametrize(
    ("form", "steps", "weights"),
    [
        (np.asarray, False, WEIGHTS),
        (np.asarray, True, WEIGHTS[:30]),
        (pd.DataFrame, False, None),
        pytest.param(pl.DataFrame, True, None, marks=NO_POLARS),
    ],
    ids=["weights of rows", "weights of queries", "pandas", "polars"],
)
def test_values_are_those_of_training_by_hand(form, steps, weights):
    rankers = {**RANKERS, **OTHERS, **(CATBOOST if form is np.asarray else {})}
    table = query_relative_features(X, QID) if steps else X
    given = piped(rankers) if steps else rankers
    found = compare_rankers(form(X), Y, QID, given, sample_weight=weights, **GIVEN)
    of_rows = weights if weights is None or len(weights) == len(Y) else np.repeat(weights, 8)
    for number, split in enumerate(found.training.splits):
        train, test = rows_of(split.train), rows_of(split.test)
        for name, ranker in rankers.items():
            scores = fit_by_hand(name, ranker, table, train, of_rows).predict(table[test])
            expected = gb.evaluate("map", Y[test], scores, QID[test], per_query=True)
            npt.assert_array_equal(found.values(name, "map")[number], next(iter(expected.values())))


def test_the_best_is_a_pipeline_that_predicts():
    found = compare_rankers(X, Y, QID, piped({"one": Noisy(0.1), "other": Noisy(0.2)}), **GIVEN)
    added = query_relative_features(X, QID)
    expected = found.best_[-1].predict(added)
    assert found.best_[-1].weights_.shape == (10,)
    with sklearn.config_context(enable_metadata_routing=True):
        npt.assert_array_equal(found.best_.predict(X, qid=QID), expected)


class Logarithm(TransformerMixin, BaseEstimator):
    """Transformer that keeps nothing in `fit`."""

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return np.log1p(np.abs(X))


@pytest.mark.parametrize(
    ("steps", "table"),
    [
        ((Logarithm(),), np.log1p(np.abs(X))),
        ((StandardScaler(), "passthrough"), None),
        ((Logarithm(), QueryRelativeFeatures()), query_relative_features(np.log1p(np.abs(X)), QID)),
        (
            (make_column_transformer((QueryRelativeFeatures(), [0, 1]), remainder="drop"),),
            query_relative_features(X[:, :2], QID),
        ),
    ],
    ids=["without state", "scaled", "two steps", "some columns"],
)
def test_other_steps(steps, table):
    rankers = {"GAP": RANKERS["LGBMGAPRanker"], "one": Noisy()}
    found = compare_rankers(X, Y, QID, piped(rankers, *steps), **GIVEN)
    if table is not None:
        expected = compare_rankers(table, Y, QID, rankers, **GIVEN)
        assert found.to_pandas().equals(expected.to_pandas())
    assert not sklearn.get_config()["enable_metadata_routing"]


# --- tuning ---------------------------------------------------------------------------------------


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize(
    ("library", "ranker"),
    [
        ("lightgbm", RANKERS["LGBMRanker"]),
        ("xgboost", RANKERS["XGBRanker"]),
        *(("catboost", ranker) for ranker in CATBOOST.values()),
    ],
)
def test_the_space_of_a_library_is_for_the_last_step(library, ranker, monkeypatch):
    trees = "iterations" if library == "catboost" else "n_estimators"
    monkeypatch.setitem(SPACES, library, {**SPACES[library], trees: [2, 3]})
    added = query_relative_features(X, QID)
    expected = compare_rankers(added, Y, QID, {"a": ranker, "b": ranker}, **GIVEN, tune=2)
    both = {"a": ranker, "piped": Pipeline([("f", QueryRelativeFeatures()), ("ranker", ranker)])}
    found = compare_rankers(X, Y, QID, both, **GIVEN, tune=2)
    plain, prefixed = found.training.candidates.values()
    assert prefixed == [
        {f"ranker__{name}": value for name, value in each.items()} for each in plain
    ]
    npt.assert_array_equal(found.values("piped", "map"), expected.values("b", "map"))


def test_all_steps_have_parameters_to_tune():
    steps = [QueryRelativeFeatures(), "passthrough"]
    spaces = {
        "one": {"queryrelativefeatures": steps, "noisy__noise": [0.1]},
        "other": {"queryrelativefeatures__kinds": [("zscore",), ("rank",)]},
    }
    found = compare_rankers(
        X, Y, QID, piped({"one": Noisy(), "other": Noisy()}), **GIVEN, tune=2, spaces=spaces
    )
    train, vali = (
        rows_of(part) for part in (found.training.splits[0].train, found.training.splits[0].vali)
    )
    for name in ("one", "other"):
        searched = found.results[name, 0].searched
        for params, values in zip(found.training.candidates[name], searched, strict=True):
            table = X
            if params.get("queryrelativefeatures") != "passthrough":
                table = query_relative_features(
                    X, QID, kinds=params.get("queryrelativefeatures__kinds", ("zscore",))
                )
            model = Noisy(params.get("noisy__noise", 0.3), random_state=1)
            scores = model.fit(table[train], Y[train]).predict(table[vali])
            expected = gb.evaluate("map", Y[vali], scores, QID[vali], per_query=True)
            npt.assert_array_equal(values, next(iter(expected.values())))
    assert vars(steps[0]) == vars(QueryRelativeFeatures())


# --- standard rankers -----------------------------------------------------------------------------


def test_a_pipeline_is_described_by_its_steps():
    pipeline = make_pipeline(QueryRelativeFeatures(), RANKERS["XGBRanker"])
    assert describe(RANKERS["XGBRanker"]) in describe(pipeline)
    assert "LightGBM GAP" in standard_rankers()


# --- errors ---------------------------------------------------------------------------------------


WRONG = {
    "rows": (FunctionTransformer(lambda X: X[::2]), Noisy(), ValueError, "fails"),
    "text": (
        FunctionTransformer(lambda X: pd.DataFrame(X).astype(str)),
        RANKERS["LGBMGAPRanker"],
        ValueError,
        r"X has columns that do not hold numbers \(\[0, 1",
    ),
    "no ranker": (StandardScaler(), StandardScaler(), TypeError, "with fit, predict"),
    "a class": (StandardScaler(), Noisy, TypeError, "with fit, predict"),
    "no transformer": (Noisy(), Noisy(), ValueError, "transform"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_unusable_pipelines_are_named_before_the_first_training(wrong, monkeypatch):
    monkeypatch.setattr(Trainer, "run", lambda self, *given: pytest.fail("trained"))
    step, last, kind, message = WRONG[wrong]
    with pytest.raises(kind, match=f"'wrong'.*{message}"):
        compare_rankers(X, Y, QID, {"right": Noisy(), "wrong": make_pipeline(step, last)}, **GIVEN)
