"""The rankers inside scikit-learn: searches, folds and pipelines by query, estimator checks."""

import numpy as np
import pytest
import sklearn
from ranking_task import NAMES, RANKERS, task
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.feature_selection import RFECV
from sklearn.metrics import r2_score
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    HalvingGridSearchCV,
    RandomizedSearchCV,
    cross_val_predict,
    cross_val_score,
    cross_validate,
    permutation_test_score,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import gapboost as gb
from gapboost.lightgbm import LGBMGAPRanker
from gapboost.model_selection import GSearchCV, MeasureScorer, measure_scorer, simplex_grid
from gapboost.xgboost import XGBGAPRanker

TARGET = gb.nDCG(k=10)
SEEN: list[tuple[str, tuple[str, ...]]] = []  # ("fit" | "score", the qid that arrived)


class Watched:
    def fit(self, X, y, qid=None, sample_weight=None, **rest):
        SEEN.append(("fit", tuple(qid)))
        return super().fit(X, y, qid, sample_weight, **rest)

    def score(self, X, y, qid=None, sample_weight=None):
        SEEN.append(("score", tuple(qid)))
        return super().score(X, y, qid, sample_weight)


class WatchedLGBM(Watched, LGBMGAPRanker):
    pass


class WatchedXGB(Watched, XGBGAPRanker):
    pass


class WatchedScorer(MeasureScorer):
    def __call__(self, estimator, X, y, qid=None, sample_weight=None):
        SEEN.append(("score", tuple(qid)))
        return super().__call__(estimator, X, y, qid, sample_weight)


WATCHED = [WatchedLGBM(n_estimators=4, n_jobs=1, verbose=-1), WatchedXGB(n_estimators=4, n_jobs=1)]
both = pytest.mark.parametrize("ranker", RANKERS, ids=NAMES)
watched = pytest.mark.parametrize("ranker", WATCHED, ids=NAMES)


@pytest.fixture
def routing():
    SEEN.clear()
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def check_folds(qid, n_folds, n_candidates):
    """Each fold holds whole queries that its fit did not see; all folds cover all queries."""
    whole = dict(zip(*np.unique(qid, return_counts=True), strict=True))
    tested = []
    for (first, train), (second, test) in zip(SEEN[0::2], SEEN[1::2], strict=True):
        assert (first, second) == ("fit", "score")
        assert not set(train) & set(test)
        assert set(train) | set(test) == set(whole)
        for side in (train, test):
            assert all(
                whole[i] == n for i, n in zip(*np.unique(side, return_counts=True), strict=True)
            )
        tested.append(frozenset(test))
    assert len(tested) == n_folds * n_candidates
    assert len(set(tested)) == n_folds
    assert sum(len(test) for test in set(tested)) == len(whole)


GRID = {"g": simplex_grid(2, 2), "learning_rate": [0.1, 0.3]}
SEARCHES = {
    "grid": (
        lambda est, p: GridSearchCV(
            est, _named(GRID, p), scoring=WatchedScorer(TARGET), cv=GroupKFold(3), refit=False
        ),
        6,
    ),
    "random": (
        lambda est, p: RandomizedSearchCV(
            est,
            _named(GRID, p),
            n_iter=2,
            random_state=0,
            scoring=WatchedScorer(TARGET),
            cv=GroupKFold(3),
            refit=False,
        ),
        2,
    ),
    "halving": (
        lambda est, p: HalvingGridSearchCV(
            est,
            _named({"g": GRID["g"]}, p),
            resource=f"{p}n_estimators",
            min_resources=1,
            max_resources=3,
            scoring=WatchedScorer(TARGET),
            return_train_score=False,
            cv=GroupKFold(3),
            refit=False,
        ),
        3 + 1,
    ),
}


def _named(grid, prefix):
    return {f"{prefix}{name}": values for name, values in grid.items()}


@pytest.mark.slow(keep=1)
@watched
@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.usefixtures("routing")
def test_searches_keep_queries_whole(ranker, search):
    X, y, qid = task()
    make, n_candidates = SEARCHES[search]
    found = make(ranker, "").fit(X, y, qid=qid, groups=qid)
    check_folds(qid, 3, n_candidates)
    assert np.isfinite(found.cv_results_["mean_test_score"]).all()
    assert found.best_params_["g"] in GRID["g"]


@pytest.mark.slow(keep=1)
@watched
@pytest.mark.usefixtures("routing")
def test_pipeline(ranker):
    X, y, qid = task()
    pipeline = make_pipeline(StandardScaler(), ranker)
    step = pipeline.steps[-1][0]
    search = SEARCHES["grid"][0](pipeline, f"{step}__").fit(X, y, qid=qid, groups=qid)
    check_folds(qid, 3, 6)
    assert np.ptp(search.cv_results_["mean_test_score"]) > 0
    SEEN.clear()
    assert 0 < pipeline.fit(X, y, qid=qid).score(X, y, qid=qid) <= 1


@pytest.mark.slow(keep=2)
@watched
@pytest.mark.parametrize("scoring", [None, WatchedScorer(TARGET)], ids=["default", "scorer"])
@pytest.mark.usefixtures("routing")
def test_cross_validate(ranker, scoring):
    X, y, qid = task()
    weight = dict(zip(np.unique(qid), np.random.default_rng(1).random(36), strict=True))
    weight = np.array([weight[i] for i in qid])
    cv = GroupKFold(3)
    found = cross_validate(
        ranker,
        X,
        y,
        scoring=scoring,
        cv=cv,
        params={"qid": qid, "groups": qid, "sample_weight": weight},
    )
    check_folds(qid, 3, 1)
    for score, (train, test) in zip(found["test_score"], cv.split(X, y, qid), strict=True):
        fitted = sklearn.clone(ranker).fit(
            X[train], y[train], qid=qid[train], sample_weight=weight[train]
        )
        measure = TARGET if scoring else fitted.measure_
        values = gb.evaluate(
            measure, y[test], fitted.predict(X[test]), qid[test], sample_weight=weight[test]
        )
        assert score == values[measure]


@pytest.mark.slow(keep=1)
@both
@pytest.mark.usefixtures("routing")
def test_several_scorers_and_refit(ranker):
    X, y, qid = task()
    scoring = {"ndcg": measure_scorer(TARGET), "ap": measure_scorer(gb.AP())}
    search = GridSearchCV(
        ranker, {"g": [(1.0, 0.0), (0.5, 0.5)]}, scoring=scoring, refit="ap", cv=GroupKFold(3)
    )
    search.fit(X, y, qid=qid, groups=qid)
    assert search.best_estimator_.g_ == search.best_params_["g"]
    assert search.score(X, y, qid=qid) == gb.evaluate(gb.AP(), y, search.predict(X), qid)[gb.AP()]


@both
@pytest.mark.usefixtures("routing")
def test_default_score_serves_a_search_that_leaves_the_measure_alone(ranker):
    X, y, qid = task()
    search = GridSearchCV(ranker, {"learning_rate": [0.1, 0.3]}, cv=GroupKFold(2)).fit(
        X, y, qid=qid, groups=qid
    )
    assert search.best_score_ == search.cv_results_["mean_test_score"].max()


@pytest.mark.slow
@both
@pytest.mark.usefixtures("routing")
def test_tools_that_tell_a_fit_nothing_work_with_folds_of_whole_queries(ranker):
    X, y, qid = task()
    ranker, routed = sklearn.clone(ranker), {"qid": qid, "groups": qid}
    train, test = next(GroupKFold(3).split(X, y, qid))
    expected = sklearn.clone(ranker).fit(X[train], y[train], qid=qid[train])
    scores = cross_val_predict(ranker, X, y, cv=GroupKFold(3), params=routed)
    np.testing.assert_array_equal(scores[test], expected.predict(X[test]))
    found = cross_val_score(ranker, X, y, scoring="r2", cv=GroupKFold(3), params=routed)
    assert found[0] == r2_score(y[test], expected.predict(X[test]))
    score, _, _ = permutation_test_score(
        ranker,
        X,
        y,
        scoring=WatchedScorer(TARGET),
        cv=GroupKFold(3),
        n_permutations=1,
        params=routed,
    )
    assert 0 < score < 1
    SEEN.clear()
    RFECV(ranker, step=0.5, scoring=WatchedScorer(TARGET), cv=GroupKFold(3)).fit(
        X, y, qid=qid, groups=qid
    )
    assert {len(set(queries)) for which, queries in SEEN if which == "score"} == {12}


# --- routing off ----------------------------------------------------------------------------------


@both
def test_without_routing_predictions_by_fold_work(ranker):
    X, y, qid = task()
    scores = cross_val_predict(ranker, X, y, groups=qid, cv=GroupKFold(3), params={"qid": qid})
    train, test = next(GroupKFold(3).split(X, y, qid))
    expected = sklearn.clone(ranker).fit(X[train], y[train], qid=qid[train]).predict(X[test])
    np.testing.assert_array_equal(scores[test], expected)


def test_a_scorer_never_takes_all_rows_for_one_query():
    X, y, qid = task()
    ranker = sklearn.clone(RANKERS[0]).fit(X, y, qid=qid)
    with pytest.raises(ValueError, match="qid is missing in score"):
        ranker.score(X, y)
    with pytest.raises(ValueError, match=r"qid did not reach measure_scorer\(nDCG\(k=10\)\)"):
        measure_scorer(TARGET)(ranker, X, y)


@pytest.mark.usefixtures("routing")
def test_a_g_search_can_itself_be_cross_validated():
    X, y, qid = task()
    search = GSearchCV(RANKERS[0], {"g": simplex_grid(2, 1)}, scoring=TARGET, cv=2)
    found = cross_validate(
        search, X, y, cv=GroupKFold(2), params={"qid": qid, "groups": qid}, error_score="raise"
    )
    assert ((found["test_score"] > 0) & (found["test_score"] <= 1)).all()


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


# What LightGBM and XGBoost say of sparse formats that they convert.
@pytest.mark.slow(keep=10)
@pytest.mark.filterwarnings(
    "ignore:Converting data to scipy sparse matrix", "ignore:Unknown data type"
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


def test_missing_qid_is_an_error_for_users():
    X, y, _ = task()
    for ranker in RANKERS:
        with pytest.raises(ValueError, match="qid is missing"):
            sklearn.clone(ranker).fit(X, y)
