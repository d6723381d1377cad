"""scikit-learn's searches, curves and inspection: which keep queries whole."""

from functools import partial
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
import sklearn
from pages import claim
from sklearn.compose import ColumnTransformer
from sklearn.frozen import FrozenEstimator
from sklearn.inspection import partial_dependence, permutation_importance
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    cross_validate,
    learning_curve,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from twins import LIGHTGBM, QID, SIZES, TEST, X, Y, twins

from gapboost.calibration import CalibratedRanker
from gapboost.model_selection import measure_scorer

GROUPS, SCORER = GroupKFold(4), measure_scorer("ndcg@5")


class Recorder(LIGHTGBM.ranker_class):
    """Record the sizes of queries of each fit."""

    seen: ClassVar = []

    def fit(self, X, y, qid=None, **given):
        self.seen.append(np.unique(qid, return_counts=True)[1])
        return super().fit(X, y, qid, **given)


def halving(ranker, **resource):
    from sklearn.experimental import enable_halving_search_cv  # noqa: F401
    from sklearn.model_selection import HalvingGridSearchCV

    grid = {"learning_rate": [0.05, 0.1, 0.3]}
    search = HalvingGridSearchCV(ranker, grid, cv=GROUPS, refit=False, **resource)
    search.fit(X, Y, qid=QID, groups=QID)


def grid_search(ranker, folds=GROUPS, **given):
    search = GridSearchCV(ranker, {"learning_rate": [0.1, 0.3]}, cv=folds, refit=False)
    search.fit(X, Y, qid=QID, **given)


def validation(ranker, folds=GROUPS, **given):
    cross_validate(ranker, X, Y, cv=folds, params={"qid": QID, **given}, scoring=SCORER)


def of_learning_curve(ranker):
    given = {"cv": GROUPS, "scoring": SCORER, "params": {"qid": QID, "groups": QID}}
    learning_curve(ranker, X, Y, train_sizes=[0.33], **given)


def assert_cuts(cuts, tool):
    """Check whether a fit got a part of a query."""
    Recorder.seen.clear()
    with sklearn.config_context(enable_metadata_routing=True):
        tool(Recorder(verbose=-1, n_jobs=1, n_estimators=2))
    assert any(set(sizes) != {SIZES[0]} for sizes in Recorder.seen) == cuts


@claim("`GridSearchCV`, `cross_validate`", "agrees", "folds of whole queries by `GroupKFold`")
@pytest.mark.parametrize("tool", [grid_search, validation], ids=lambda tool: tool.__name__)
def test_tools_of_scikit_learn_with_folds_of_whole_queries(tool):
    assert_cuts(False, partial(tool, groups=QID))


@claim("`GridSearchCV`, `cross_validate`", "differs", "default folds cut queries")
@pytest.mark.parametrize("tool", [grid_search, validation], ids=lambda tool: tool.__name__)
def test_default_folds_of_scikit_learn_cut_queries(tool):
    assert_cuts(True, partial(tool, folds=KFold(3)))


@claim("`HalvingGridSearchCV`", "agrees", 'with `resource="n_estimators"`')
def test_halving_of_trees_keeps_queries():
    assert_cuts(False, partial(halving, resource="n_estimators", max_resources=9))


@claim("`HalvingGridSearchCV`", "differs", "cuts queries otherwise: it draws rows")
def test_halving_of_rows_cuts_queries():
    assert_cuts(True, partial(halving, min_resources=200, random_state=0))


@claim("`learning_curve`", "differs", "cuts queries")
def test_learning_curves_cut_queries():
    assert_cuts(True, of_learning_curve)


@claim("`partial_dependence`", "differs", "refuses rankers")
@twins
def test_partial_dependence_refuses_rankers(twin):
    ranker = twin.fitted()
    for model in (ranker, ranker.to_vendor()):
        with pytest.raises(ValueError, match="regressor or classifier"):
            partial_dependence(model, TEST.X, [0])


@claim("`permutation_importance`", "differs", "shuffles `qid` if it is a column")
@twins
def test_permutation_importance_shuffles_a_column_of_query_ids(twin):
    frame = pd.DataFrame(X[:, :2], columns=["a", "b"]).assign(qid=QID)
    ranker = twin.ranker().fit(frame, Y)
    seen = []

    def score(ranker, frame, y):
        seen.append((frame["qid"] != QID).any())
        return ranker.score(frame, y)

    permutation_importance(ranker, frame, Y, scoring=score, n_repeats=2, random_state=0)
    assert seen == [False] * 5 + [True] * 2


# --- pipelines ------------------------------------------------------------------------------------


def test_columns_of_a_column_transformer():
    frame = pd.DataFrame(X[:, :2], columns=["a", "b"]).assign(qid=QID)
    scaled = ColumnTransformer([("scaled", StandardScaler(), ["a"])], remainder="passthrough")
    assert isinstance(scaled.fit_transform(frame), np.ndarray)
    found = scaled.set_output(transform="pandas").fit_transform(frame)
    assert list(found.columns) == ["scaled__a", "remainder__b", "remainder__qid"]


def test_predict_of_a_search_takes_no_query_ids():
    with sklearn.config_context(enable_metadata_routing=True):
        search = GridSearchCV(LIGHTGBM.ranker(), {"n_estimators": [2]}, scoring=SCORER, cv=GROUPS)
        search.fit(X, Y, qid=QID, groups=QID)
        with pytest.raises(TypeError, match="qid"):
            search.predict(X, qid=QID)


def test_a_pipeline_fits_steps_that_are_not_frozen_again():
    scaler = StandardScaler().fit(X)
    ranker = LIGHTGBM.ranker().fit(scaler.transform(X), Y, QID)
    for step, is_kept in ((scaler, False), (FrozenEstimator(scaler), True)):
        before = scaler.mean_.copy()
        pipeline = make_pipeline(step, CalibratedRanker(ranker))
        pipeline.fit(TEST.X, TEST.y, calibratedranker__qid=TEST.qid)
        assert (pipeline[0].mean_ == before).all() == is_kept
