"""Data frames of other libraries: the model and the numbers of plain arrays."""

import importlib

import numpy as np
import numpy.testing as npt
import pandas as pd
import pytest
from pages import claim
from twins import LIGHTGBM, QID, TEST, TRAIN, X, Y, twins

import gapboost as gb
from gapboost.preprocessing import query_relative_features

NAMES = TRAIN.feature_names


def modin_frame(columns):
    pytest.importorskip("modin.config").Engine.put("Python")
    return importlib.import_module("modin.pandas").DataFrame(columns)


FRAMES = {
    "pandas": pd.DataFrame,
    "polars": lambda columns: pytest.importorskip("polars").DataFrame(columns),
    "pyarrow": lambda columns: pytest.importorskip("pyarrow").table(columns),
    "modin": modin_frame,
}
ALL = pytest.mark.parametrize("kind", FRAMES)


def features(kind, X):
    return FRAMES[kind](dict(zip(NAMES, X.T.copy(), strict=True)))


@claim("pandas, polars, pyarrow, modin", "agrees", "features, query ids, grades, scores")
@ALL
@twins
def test_rankers_take_frames(twin, kind):
    plain = twin.fitted()
    columns = FRAMES[kind]({"y": Y, "qid": QID})
    ranker = twin.ranker().fit(features(kind, X), columns["y"], qid=columns["qid"])
    npt.assert_array_equal(ranker.predict(features(kind, TEST.X)), plain.predict(TEST.X))


@claim("pandas, polars, pyarrow, modin", "agrees", "`qid` as a column of the features")
@ALL
@twins
def test_rankers_take_a_column_of_query_ids(twin, kind):
    frame = FRAMES[kind]({**dict(zip(NAMES, X.T.copy(), strict=True)), "qid": QID})
    ranker = twin.ranker().fit(frame, Y)
    npt.assert_array_equal(ranker.predict(features(kind, TEST.X)), twin.fitted().predict(TEST.X))


@ALL
def test_evaluate_takes_columns(kind):
    scores = np.random.default_rng(0).random(len(TEST.y))
    frame = FRAMES[kind]({"y": TEST.y, "score": scores, "qid": TEST.qid})
    found = gb.evaluate(["gap", "ndcg@5"], frame["y"], frame["score"], frame["qid"])
    assert found == gb.evaluate(["gap", "ndcg@5"], TEST.y, scores, TEST.qid)


@ALL
def test_query_relative_features_of_frames(kind):
    found = query_relative_features(features(kind, X), QID)
    npt.assert_array_equal(np.asarray(found), query_relative_features(X, QID))
    assert type(found) is type(features(kind, X))


@claim("pandas, polars, pyarrow, modin", "differs", "categories for LightGBM: pandas alone")
@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_lightgbm_takes_categories_of_pandas_alone(kind):
    letters = pd.Series(np.array(list("abc"))[QID % 3], dtype="category")
    if kind == "polars":
        letters = FRAMES[kind]({"letter": letters.tolist()})["letter"]
        letters = letters.cast(importlib.import_module("polars").Categorical)
    elif kind == "pyarrow":
        letters = FRAMES[kind]({"letter": letters.tolist()})["letter"].dictionary_encode()
    frame = FRAMES[kind]({"x": X[:, 0].copy(), "letter": letters})
    if kind == "pandas":
        LIGHTGBM.ranker().fit(frame, Y, QID)
    else:
        with pytest.raises((TypeError, ValueError)):
            LIGHTGBM.ranker().fit(frame, Y, QID)


def test_a_join_makes_floats_of_large_ids():
    first, second = 2**53, 2**53 + 1
    left = pd.DataFrame({"key": ["a", "b", "c"]})
    right = pd.DataFrame({"key": ["a", "b"], "id": [first, second]})
    assert left.merge(right, how="left").id.nunique() == 1
