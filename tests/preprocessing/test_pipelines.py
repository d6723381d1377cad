"""Query-relative features in pipelines with the rankers: routing, searches, evaluation sets."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from ranking_task import NAMES, RANKERS, task
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

import gapboost as gb
from gapboost.model_selection import GSearchCV, measure_scorer
from gapboost.preprocessing import QueryRelativeFeatures, query_relative_features

TARGET = gb.nDCG(k=10)
both = pytest.mark.parametrize("ranker", RANKERS, ids=NAMES)


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def expected_scores(ranker):
    X, y, qid = task()
    added = query_relative_features(X, qid)
    return clone(ranker).fit(added, y, qid=qid).predict(added)


@both
@pytest.mark.usefixtures("routing")
def test_qid_reaches_both_steps(ranker):
    X, y, qid = task()
    pipeline = make_pipeline(StandardScaler(), QueryRelativeFeatures(n_jobs=1), clone(ranker))
    pipeline.set_params(standardscaler="passthrough").fit(X, y, qid=qid)
    scores = pipeline.predict(X, qid=qid)
    np.testing.assert_array_equal(scores, expected_scores(ranker))
    measure = pipeline[-1].measure_
    assert pipeline.score(X, y, qid=qid) == gb.evaluate(measure, y, scores, qid)[measure]
    with pytest.raises(ValueError, match=r"^qid is missing in transform; expected"):
        pipeline.predict(X)


@both
def test_the_column_qid_needs_no_routing(ranker):
    X, y, qid = task()
    frame = pd.DataFrame(X).add_prefix("f").assign(qid=qid)
    pipeline = make_pipeline(QueryRelativeFeatures(n_jobs=1), clone(ranker)).fit(frame, y)
    np.testing.assert_array_equal(pipeline.predict(frame), expected_scores(ranker))
    assert pipeline[-1].feature_names_in_.tolist() == [n for n in pipeline[0].get_feature_names_out() if n != "qid"]


@both
def test_without_routing_the_error_names_it(ranker):
    X, y, qid = task()
    pipeline = make_pipeline(QueryRelativeFeatures(), clone(ranker))
    with pytest.raises(ValueError, match=r"^qid is missing in fit; expected .*enable_metadata_routing=True"):
        pipeline.fit(X, y, **{f"{pipeline.steps[-1][0]}__qid": qid})


@pytest.mark.slow(keep=1)
@both
@pytest.mark.usefixtures("routing")
def test_grid_search(ranker):
    X, y, qid = task()
    pipeline = Pipeline([("features", QueryRelativeFeatures(n_jobs=1)), ("ranker", clone(ranker))])
    grid = {"features__kinds": [("zscore",), ("rank",)], "ranker__learning_rate": [0.1, 0.3]}
    search = GridSearchCV(pipeline, grid, scoring=measure_scorer(TARGET), cv=GroupKFold(2), refit=False)
    found = search.fit(X, y, qid=qid, groups=qid)
    train, test = next(GroupKFold(2).split(X, y, qid))
    params = found.cv_results_["params"]
    for number, candidate in enumerate(params):
        added = query_relative_features(X, qid, kinds=candidate["features__kinds"])
        alone = clone(ranker).set_params(learning_rate=candidate["ranker__learning_rate"])
        scores = alone.fit(added[train], y[train], qid=qid[train]).predict(added[test])
        value = gb.evaluate(TARGET, y[test], scores, qid[test])[TARGET]
        assert found.cv_results_["split0_test_score"][number] == value


@pytest.mark.usefixtures("routing")
def test_evaluation_sets_by_transform_input():
    X, y, qid = task()
    frame = pd.DataFrame(X).add_prefix("f").assign(qid=qid)
    ranker = clone(RANKERS[0]).set_fit_request(eval_X=True, eval_y=True)
    steps = [("features", QueryRelativeFeatures(n_jobs=1)), ("ranker", ranker)]
    pipeline = Pipeline(steps, transform_input=["eval_X"]).fit(frame, y, eval_X=frame, eval_y=y)
    (log,) = pipeline[-1].evals_result_.values()
    measure = pipeline[-1].measure_
    value = gb.evaluate(measure, y, pipeline.predict(frame), qid)[measure]
    assert next(iter(log.values()))[-1] == pytest.approx(value, abs=1e-12)


def test_a_search_over_g_takes_the_table_with_features():
    """Values depend on their own query alone, so that features can be added before the search."""
    X, y, qid = task()
    added = query_relative_features(X, qid)
    search = GSearchCV(RANKERS[0], {"g": [(0.5, 0.5)]}, scoring=TARGET, cv=2).fit(added, y, qid=qid)
    assert search.n_features_in_ == 2 * X.shape[1]
