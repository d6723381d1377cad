"""Query-relative features in pipelines with the rankers: routing, searches, evaluation sets."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from ranking_task import RANKERS, assert_same_search, both, task
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OrdinalEncoder, StandardScaler
from sklearn.svm import SVC

import gapboost as gb
from gapboost.calibration import CalibratedRanker
from gapboost.comparison import compare_rankers
from gapboost.model_selection import GSearchCV, measure_scorer
from gapboost.preprocessing import QueryRelativeFeatures, query_relative_features

TARGET = gb.nDCG(k=10)


def expected_scores(ranker):
    X, y, qid = task()
    added = query_relative_features(X, qid)
    return clone(ranker).fit(added, y, qid=qid).predict(added)


@both
@pytest.mark.usefixtures("routing")
def test_qid_reaches_both_steps(ranker):
    X, y, qid = task()
    pipeline = make_pipeline(StandardScaler(), QueryRelativeFeatures(), clone(ranker))
    pipeline.set_params(standardscaler="passthrough").fit(X, y, qid=qid)
    scores = pipeline.predict(X, qid=qid)
    np.testing.assert_array_equal(scores, expected_scores(ranker))
    measure = pipeline[-1].measure_
    assert pipeline.score(X, y, qid=qid) == gb.evaluate(measure, y, scores, qid)[measure]
    with pytest.raises(ValueError, match=r"^qid is missing in transform; expected"):
        pipeline.predict(X)


@both
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_columns_of_text_are_for_the_steps(ranker, library):
    """A step makes numbers of them; without it boosters get a table that they cannot read."""
    X, y, qid = task()
    table = {name: X[:, i] for i, name in enumerate("ab")}
    table["letter"] = np.array(list("xyz"))[y % 3]
    table = {"pandas": pd.DataFrame, "polars": pl.DataFrame}[library](table)
    encoded = make_column_transformer((OrdinalEncoder(), ["letter"]), remainder="passthrough")
    pipeline = make_pipeline(encoded, clone(ranker))
    name = pipeline.steps[-1][0]
    search = GSearchCV(pipeline, {f"{name}__g": [(0.5, 0.5)]}, scoring=TARGET, cv=2)
    fitted = search.fit(table, y, qid).best_estimator_
    assert search.best_score_ > 0.9
    assert gb.report(fitted, table, y, qid).values["value"].min() > 0.9
    found = gb.report(fitted, table, qid=qid, X_train=table, qid_train=[f"{q} before" for q in qid])
    assert "letter" in found.features.index
    pair = {"piped": pipeline, "reversed": clone(pipeline)}
    compared = compare_rankers(table, y, qid, pair, measures=TARGET, cv=2, repeats=1)
    assert compared.means()[TARGET.name].min() > 0.9
    calibrated = CalibratedRanker(fitted).fit(table, y, qid=qid)
    assert calibrated.predict_proba(table).shape == (len(y), 1)
    alone = clone(ranker).fit(X[:, :3], y, qid=qid)
    with pytest.raises(ValueError, match=r"do(es)? not hold numbers \(\['letter'\]\)"):
        gb.report(alone, table, y, qid)


@both
def test_the_column_qid_needs_no_routing(ranker):
    X, y, qid = task()
    frame = pd.DataFrame(X).add_prefix("f").assign(qid=qid)
    pipeline = make_pipeline(QueryRelativeFeatures(), clone(ranker)).fit(frame, y)
    np.testing.assert_array_equal(pipeline.predict(frame), expected_scores(ranker))
    assert pipeline[-1].feature_names_in_.tolist() == [
        n for n in pipeline[0].get_feature_names_out() if n != "qid"
    ]


@pytest.mark.usefixtures("routing")
def test_evaluation_sets_by_transform_input():
    X, y, qid = task()
    frame = pd.DataFrame(X).add_prefix("f").assign(qid=qid)
    ranker = clone(RANKERS[0]).set_fit_request(eval_X=True, eval_y=True)
    steps = [("features", QueryRelativeFeatures()), ("ranker", ranker)]
    pipeline = Pipeline(steps, transform_input=["eval_X"]).fit(frame, y, eval_X=frame, eval_y=y)
    (log,) = pipeline[-1].evals_result_.values()
    measure = pipeline[-1].measure_
    value = gb.evaluate(measure, y, pipeline.predict(frame), qid)[measure]
    assert next(iter(log.values()))[-1] == pytest.approx(value, abs=1e-12)


# --- GSearchCV ------------------------------------------------------------------------------------


def steps(ranker, **parameters):
    return Pipeline([("features", QueryRelativeFeatures(**parameters)), ("ranker", clone(ranker))])


GRID = {"g": [(0.2, 0.8), (0.8, 0.2)], "learning_rate": [0.1, 0.5]}


def of_ranker(params):
    return {name.removeprefix("ranker__"): value for name, value in params.items()}


@pytest.mark.parametrize(("ranker", "form"), [*zip(RANKERS, ["qid", "column"], strict=True)])
def test_a_search_over_a_pipeline_is_that_over_the_transformed_features(ranker, form):
    """Values depend on their own query alone, so that features can be added before the search."""
    X, y, qid = task()
    weight = np.random.default_rng(0).random(len(y))
    expected = GSearchCV(ranker, GRID, scoring=TARGET, cv=3)
    expected.fit(query_relative_features(X, qid), y, qid=qid, sample_weight=weight)
    table = pd.DataFrame(X).add_prefix("f").assign(qid=qid) if form == "column" else X
    given = {"qid": qid} if form == "qid" else {}
    grid = {f"ranker__{name}": values for name, values in GRID.items()}
    found = GSearchCV(steps(ranker), grid, scoring=TARGET, cv=3).fit(
        table, y, sample_weight=weight, **given
    )
    assert_same_search(found, expected)
    assert of_ranker(found.best_params_) == expected.best_params_
    scores = expected.predict(query_relative_features(X, qid))
    np.testing.assert_array_equal(found.predict(table, **given), scores)
    assert found.score(table, y, **given) == gb.evaluate(TARGET, y, scores, qid)[TARGET]
    assert found.best_estimator_[-1].n_features_in_ == 2 * X.shape[1]
    if form == "qid":
        with sklearn.config_context(enable_metadata_routing=True):
            np.testing.assert_array_equal(found.best_estimator_.predict(X, qid=qid), scores)
        with pytest.raises(ValueError, match=r"^qid is missing in transform; expected"):
            found.predict(X)


@pytest.mark.slow(keep=1)
@both
def test_steps_are_fitted_on_each_training_fold(ranker):
    """SelectKBest learns from the grades: the results are those of scikit-learn's search."""
    X, y, qid = task()
    pipeline = Pipeline([("chosen", SelectKBest(f_classif)), *steps(ranker).steps])
    grid = {
        "chosen__k": [5, 20],
        "features__kinds": [("zscore",), ("rank",)],
        "ranker__n_estimators": [2, 4],
    }
    found = GSearchCV(pipeline, grid, scoring=TARGET, cv=3).fit(X, y, qid=qid)
    with sklearn.config_context(enable_metadata_routing=True):
        search = GridSearchCV(pipeline, grid, scoring=measure_scorer(TARGET), cv=GroupKFold(3))
        expected = search.fit(X, y, qid=qid, groups=qid)
        np.testing.assert_array_equal(
            found.predict(X, qid), expected.best_estimator_.predict(X, qid=qid)
        )
    assert_same_search(found, expected)
    assert found.best_params_ == expected.best_params_
    assert not hasattr(pipeline[0], "scores_")


class Unrequested(StandardScaler):
    """Transformer that takes query ids, and says nothing about metadata routing."""

    def fit(self, X, y=None, qid=None):
        return super().fit(X)


def test_searches_that_cannot_be():
    X, y, qid = task()
    frame = pd.DataFrame(X).add_prefix("f").assign(qid=pd.factorize(qid)[0])
    trees = {"lgbmgapranker__n_estimators": [2]}
    scaled = make_pipeline(StandardScaler(), clone(RANKERS[0]))
    for pipeline, grid, given, error, message in (
        (make_pipeline(StandardScaler(), SVC()), {"svc__C": [1.0]}, {}, TypeError, r"SVC\(\)"),
        (steps(RANKERS[0]), {"ranker": [SVC()]}, {}, ValueError, r"SVC\(\)"),
        (steps(RANKERS[0]), {"ranker__n_estimators": [0]}, {}, ValueError, "n_estimators"),
        (
            make_pipeline(Unrequested(), clone(RANKERS[0])),
            trees,
            {},
            UnsetMetadataPassedError,
            "Unrequested",
        ),
        (scaled, trees, {"X": frame, "qid": None}, ValueError, "^X has a column 'qid'"),
    ):
        search = GSearchCV(pipeline, grid, scoring=TARGET, cv=2)
        with pytest.raises(error, match=message):
            search.fit(**{"X": X, "y": y, "qid": qid, **given})
