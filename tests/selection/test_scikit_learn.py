"""The rankers inside scikit-learn: searches, folds and pipelines by query, estimator checks."""

from functools import partial

import numpy as np
import numpy.testing as npt
import pandas as pd
import pytest
import sklearn
from ranking_task import RANKERS, assert_same_search, both, task
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    HalvingGridSearchCV,
    RandomizedSearchCV,
    cross_val_predict,
    cross_validate,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import gapboost as gb
from gapboost.lightgbm import LGBMGAPRanker
from gapboost.model_selection import GSearchCV, measure_scorer, simplex_grid
from gapboost.xgboost import XGBGAPRanker

TARGET = gb.nDCG(k=10)
SCORER = measure_scorer(TARGET)
X, Y, QID = task()


def scores_by_hand(ranker, cv, weight=None, target=TARGET):
    """Return the value of the target on the test rows of each fold."""
    values = []
    for train, test in cv.split(X, Y, QID):
        given = {} if weight is None else {"sample_weight": weight[train]}
        fitted = sklearn.clone(ranker).fit(X[train], Y[train], qid=QID[train], **given)
        measure = target or fitted.measure_
        value = gb.evaluate(
            measure,
            Y[test],
            fitted.predict(X[test]),
            QID[test],
            sample_weight=None if weight is None else weight[test],
        )
        values.append(value[measure])
    return values


GRID = {"g": simplex_grid(2, 1), "learning_rate": [0.1, 0.3]}
SEARCHES = {
    "grid": GridSearchCV,
    "random": partial(RandomizedSearchCV, n_iter=2),
    "halving": partial(
        HalvingGridSearchCV, resource="n_estimators", min_resources=2, max_resources=4
    ),
}


@pytest.mark.slow(keep=2)
@both
@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.usefixtures("routing")
def test_searches_score_whole_queries_by_the_target(ranker, search):
    found = SEARCHES[search](ranker, GRID, scoring=SCORER, cv=GroupKFold(3))
    results = found.fit(X, Y, qid=QID, groups=QID).cv_results_
    splits = [results[f"split{i}_test_score"][-1] for i in range(3)]
    candidate = sklearn.clone(ranker).set_params(**results["params"][-1])
    if search == "halving":
        candidate.set_params(n_estimators=int(results["n_resources"][-1]))
    assert splits == scores_by_hand(candidate, GroupKFold(3))


@both
@pytest.mark.parametrize("scoring", [None, SCORER], ids=["score", "scorer"])
@pytest.mark.usefixtures("routing")
def test_cross_validate_routes_ids_and_weights(ranker, scoring):
    ids, code = np.unique(QID, return_inverse=True)
    weight = np.random.default_rng(1).random(len(ids))[code]
    given = {"qid": QID, "groups": QID, "sample_weight": weight}
    found = cross_validate(ranker, X, Y, scoring=scoring, cv=GroupKFold(3), params=given)
    expected = scores_by_hand(ranker, GroupKFold(3), weight, TARGET if scoring else None)
    assert found["test_score"].tolist() == expected


@both
@pytest.mark.usefixtures("routing")
def test_pipelines_and_several_scorers(ranker):
    pipeline = make_pipeline(StandardScaler(), ranker)
    grid = {f"{pipeline.steps[-1][0]}__g": [(1.0, 0.0), (0.5, 0.5)]}
    scoring = {"ndcg": SCORER, "ap": measure_scorer(gb.AP())}
    search = GridSearchCV(pipeline, grid, scoring=scoring, refit="ap", cv=GroupKFold(3))
    search.fit(X, Y, qid=QID, groups=QID)
    assert search.score(X, Y, qid=QID) == gb.evaluate(gb.AP(), Y, search.predict(X), QID)[gb.AP()]


@both
def test_without_routing_predictions_by_fold_and_a_column_qid_work(ranker):
    table = pd.DataFrame(X).add_prefix("x").assign(qid=QID)
    searches = [
        GridSearchCV(ranker, {"n_estimators": [3]}, scoring=SCORER, cv=GroupKFold(3)),
        GSearchCV(ranker, {"n_estimators": [3]}, scoring=TARGET, cv=3),
    ]
    found, expected = searches[0].fit(table, Y, groups=QID), searches[1].fit(table, Y)
    assert_same_search(found, expected)
    assert found.score(table, Y) == expected.score(table, Y)
    scores = cross_val_predict(ranker, X, Y, groups=QID, cv=GroupKFold(3), params={"qid": QID})
    train, test = next(GroupKFold(3).split(X, Y, QID))
    expected = sklearn.clone(ranker).fit(X[train], Y[train], qid=QID[train]).predict(X[test])
    npt.assert_array_equal(scores[test], expected)


def test_all_rows_are_never_taken_for_one_query():
    for ranker in RANKERS:
        with pytest.raises(ValueError, match="qid"):
            sklearn.clone(ranker).fit(X, Y)
        fitted = sklearn.clone(ranker).fit(X, Y, qid=QID)
        for score in (fitted.score, lambda *rows, fitted=fitted: SCORER(fitted, *rows)):
            with pytest.raises(ValueError, match="qid"):
                score(X, Y)


@pytest.mark.usefixtures("routing")
def test_a_g_search_can_itself_be_cross_validated():
    search = GSearchCV(RANKERS[0], {"g": simplex_grid(2, 1)}, scoring=TARGET, cv=2)
    given = {"qid": QID, "groups": QID}
    found = cross_validate(search, X, Y, cv=GroupKFold(2), params=given, error_score="raise")
    assert ((found["test_score"] > 0) & (found["test_score"] <= 1)).all()


def test_scorer_is_a_value():
    scorer = measure_scorer(gb.GAP(g=(0.5, 0.5), k=5))
    assert scorer == sklearn.clone(scorer, safe=False) != measure_scorer(gb.GAP(g=(0.5, 0.5)))
    with pytest.raises(ValueError, match=r"^measure "):
        measure_scorer("gap")


# --- scikit-learn's own checks --------------------------------------------------------------------


class OneQuery:
    """Treat all rows as one query in scikit-learn's checks; users get an error without qid."""

    def fit(self, X, y, qid=None, sample_weight=None):
        qid = np.zeros(sklearn.utils.validation._num_samples(X)) if qid is None else qid
        return super().fit(X, y, qid, sample_weight)

    def score(self, X, y, qid=None, sample_weight=None):
        qid = np.zeros(sklearn.utils.validation._num_samples(X)) if qid is None else qid
        return super().score(X, y, qid, sample_weight)


class OneQueryLGBM(OneQuery, LGBMGAPRanker):
    pass


class OneQueryXGB(OneQuery, XGBGAPRanker):
    pass


ROW_WEIGHTS = "a document of weight 2 is not the same as two documents: these would make more pairs"
CANNOT_APPLY = {
    "check_sample_weight_equivalence_on_dense_data": ROW_WEIGHTS,
    "check_sample_weight_equivalence_on_sparse_data": ROW_WEIGHTS,
}


# What LightGBM and XGBoost say of sparse formats that they convert, and we of grades 1 and 2.
@pytest.mark.slow(keep=10)
@pytest.mark.filterwarnings(
    "ignore:Converting data to scipy sparse matrix",
    "ignore:Unknown data type",
    "ignore:y has no grade 0",
)
@parametrize_with_checks(
    # XGBoost's default leaf floor wants more than one query.
    [
        OneQueryLGBM(n_estimators=3, min_child_samples=1, n_jobs=1),
        OneQueryXGB(n_estimators=3, min_child_weight=1e-3, n_jobs=1),
    ],
    expected_failed_checks=lambda estimator: CANNOT_APPLY,
)
def test_estimator(estimator, check):
    check(estimator)
