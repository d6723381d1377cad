"""Calls of the boosters' own rankers, made with ours: containers, words, copies, files and pictures."""

import inspect
import pickle
import warnings

import lightgbm
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import xgboost
from sklearn.base import clone
from sklearn.exceptions import DataConversionWarning
from twins import LIGHTGBM, TEST, TRAIN, VALI, XGBOOST, twins

from gapboost.model_selection import GSearchCV

X, Y, QID = TRAIN.X, TRAIN.y, TRAIN.qid
WEIGHTS = 1.0 + QID % 3


def same_model(one, other):
    np.testing.assert_array_equal(one.predict(TEST.X), other.predict(TEST.X))
    assert one.evals_result_ == other.evals_result_


# --- columns -----------------------------------------------------------------------------------------------------------

COLUMNS = {
    "numpy": lambda v: v.reshape(-1, 1),
    "masked": lambda v: np.ma.array(v.reshape(-1, 1)),
    "pandas": lambda v: pd.DataFrame({"v": v}),
    "arrow": lambda v: pa.table({"v": pa.chunked_array([v[:7], v[7:]])}),
    "polars": lambda v: pl.DataFrame({"v": v}),
}


@pytest.mark.slow(keep=2)
@pytest.mark.parametrize("kind", COLUMNS)
@twins
def test_columns_of_one_value_a_row(twin, kind):
    """Grades, weights and first scores, of training and evaluation sets."""
    start = np.linspace(-1.0, 1.0, len(Y))

    def fitted(shape):
        y, weight, first = shape(Y), shape(WEIGHTS), shape(start)
        fit = {
            "sample_weight": weight,
            twin.start: first,
            "eval_set": [(VALI.X, shape(VALI.y)), (X, y)],
            "eval_qid": [VALI.qid, QID],
            twin.eval_weight: [shape(np.ones(len(VALI.y))), weight],
            twin.eval_start: [shape(np.zeros(len(VALI.y))), first],
        }
        return twin.ranker().fit(X, y, QID, **fit)

    with pytest.warns(DataConversionWarning, match="taken as 1d array") as caught:
        found = fitted(COLUMNS[kind])
    assert any(str(w.message).startswith(f"y and sample_weight and {twin.start} of shape") for w in caught)
    assert any("eval_set[0] y" in str(w.message) for w in caught)
    assert {w.filename for w in caught if w.category is DataConversionWarning} == {__file__}
    with warnings.catch_warnings():
        warnings.simplefilter("error", DataConversionWarning)
        expected = fitted(np.asarray)
    same_model(found, expected)


@twins
def test_columns_of_other_shapes_and_with_masks_stay_errors(twin):
    with pytest.raises(ValueError, match=r"y has shape \(\d+, 2\)"):
        twin.ranker().fit(X, np.column_stack([Y, Y]), QID)
    with pytest.warns(DataConversionWarning), pytest.raises(ValueError, match="y holds 1 masked values"):
        twin.ranker().fit(X, np.ma.array(Y, mask=np.arange(len(Y)) == 3).reshape(-1, 1), QID)
    with pytest.raises(ValueError, match=r"y_true has shape \(\d+, 1\)"):
        twin.fitted().score(TEST.X, TEST.y.reshape(-1, 1), TEST.qid)


def test_a_search_takes_a_column_too():
    grid = {"g": [(0.5, 0.5), (0.9, 0.1)]}
    searches = []
    for y in (Y.clip(0, 2), Y.clip(0, 2).reshape(-1, 1)):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            searches.append(GSearchCV(LIGHTGBM.ranker(), grid, scoring="ap", cv=2).fit(X, y, QID))
    assert any(w.category is DataConversionWarning for w in caught)
    assert searches[0].best_score_ == searches[1].best_score_


# --- classes, copies, pictures ---------------------------------------------------------------------------------------------


@twins
@pytest.mark.filterwarnings("ignore:(?s).*own.*are not used")  # what XGBoost says of it
def test_subclasses_take_parameters_of_their_own(twin):
    class Mine(twin.ranker_class):
        def __init__(self, *, own=3, measure="ndcg", **kwargs):
            super().__init__(measure=measure, **kwargs)
            self.own = own

    mine = Mine(own=4, n_estimators=3, n_jobs=1)
    assert {"own": 4, "measure": "ndcg", "n_estimators": 3}.items() <= mine.get_params().items()
    found = pickle.loads(pickle.dumps(clone(mine).get_params()))
    assert found["own"] == 4
    same_model(mine.fit(X, Y, QID), twin.ranker_class(measure="ndcg", n_estimators=3, n_jobs=1).fit(X, Y, QID))


def test_pictures_of_lightgbm():
    plt = pytest.importorskip("matplotlib.pyplot")
    ranker = LIGHTGBM.fitted(evals=[VALI], metric="ndcg")
    for picture in (
        lightgbm.plot_importance(ranker),
        lightgbm.plot_metric(ranker, metric="ndcg"),
        lightgbm.plot_metric(ranker, metric="map-gap"),
        lightgbm.plot_split_value_histogram(ranker, feature=int(np.argmax(ranker.feature_importances_))),
    ):
        assert picture.has_data()
    plt.close("all")


def test_pictures_of_xgboost():
    plt = pytest.importorskip("matplotlib.pyplot")
    assert xgboost.plot_importance(XGBOOST.fitted()).has_data()
    plt.close("all")


@twins
def test_signatures_of_the_installed_boosters_are_taken(twin):
    """A new parameter or argument of theirs is met here before a user meets it."""
    ours, theirs = twin.ranker_class, twin.vendor
    for method in ("__init__", "fit", "predict"):
        known = inspect.signature(getattr(ours, method)).parameters
        wanted = inspect.signature(getattr(theirs, method)).parameters
        assert wanted.keys() - known.keys() == set()
    defaults = {name: value for name, value in theirs().get_params().items() if name != "objective"}
    ours(**{**defaults, "n_estimators": 2}).fit(X, Y, QID)
