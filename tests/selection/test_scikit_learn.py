"""The rankers inside scikit-learn: searches, folds and pipelines by query, estimator checks."""

import re

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
    KFold,
    RandomizedSearchCV,
    cross_val_predict,
    cross_val_score,
    cross_validate,
    learning_curve,
    permutation_test_score,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import gapboost as gb
from gapboost._boosters.search_guard import SEARCH_VARIABLES
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
@pytest.mark.parametrize(
    "varied", [{"g": [(0.5, 0.5), (1.0, 0.0)]}, {"measure": ["gap", "ap"]}], ids=["g", "measure"]
)
def test_search_by_each_candidates_own_measure_is_refused(ranker, varied):
    X, y, qid = task()
    for search in (
        GridSearchCV(ranker, varied, cv=GroupKFold(2)),
        RandomizedSearchCV(ranker, varied, n_iter=2, cv=GroupKFold(2)),
        HalvingGridSearchCV(
            ranker, varied, resource="n_estimators", max_resources=4, cv=GroupKFold(2)
        ),
    ):
        with pytest.raises(
            ValueError,
            match=r"(?s)fits failed.*scores each candidate by its own measure.*measure_scorer",
        ):
            search.fit(X, y, qid=qid, groups=qid)


@pytest.mark.usefixtures("routing")
def test_own_measure_is_refused_in_pipelines_and_for_objectives_by_value():
    X, y, qid = task()
    pipeline = make_pipeline(StandardScaler(), RANKERS[0])
    # Before 1.9 scikit-learn brings no metadata to the score of a pipeline.
    refused = (
        "varies lgbmgapranker__g and scores each candidate by its own measure|qid reaches fit but "
        "not the scorer"
    )
    with pytest.raises(ValueError, match=refused):
        GridSearchCV(pipeline, {"lgbmgapranker__g": [(0.5, 0.5)]}, cv=GroupKFold(2)).fit(
            X, y, qid=qid, groups=qid
        )
    objectives = [gb.LambdaRank(gb.GAP(g=(0.5, 0.5))), gb.LambdaRank(gb.AP())]
    with pytest.raises(
        ValueError, match="varies objective and scores each candidate by its own measure"
    ):
        GridSearchCV(RANKERS[0], {"objective": objectives}, cv=GroupKFold(2)).fit(
            X, y, qid=qid, groups=qid
        )


@both
@pytest.mark.usefixtures("routing")
def test_default_score_serves_a_search_that_leaves_the_measure_alone(ranker):
    X, y, qid = task()
    search = GridSearchCV(ranker, {"learning_rate": [0.1, 0.3]}, cv=GroupKFold(2)).fit(
        X, y, qid=qid, groups=qid
    )
    assert search.best_score_ == search.cv_results_["mean_test_score"].max()


@both
@pytest.mark.usefixtures("routing")
def test_cut_queries_are_refused(ranker):
    X, y, qid = task()
    with pytest.raises(
        ValueError,
        match=r"36 queries, such as 'query .*expected folds of whole queries: cv=GroupKFold",
    ):
        cross_validate(ranker, X, y, cv=KFold(3), params={"qid": qid}, error_score="raise")
    with pytest.raises(ValueError, match='resource is "n_samples"'):
        HalvingGridSearchCV(
            ranker,
            {"g": [(0.5, 0.5), (1.0, 0.0)]},
            scoring=measure_scorer(TARGET),
            cv=GroupKFold(2),
            min_resources=300,
        ).fit(X, y, qid=qid, groups=qid)


# Folds of whole queries, scored by the candidate's own measure, as scikit-learn's loop holds them
# when it fits.
LOOP = """
def _fit_and_score(estimator, X, y, scorer, parameters, train, test, fit_params, score_params):
    fit_params = {name: values[train] for name, values in fit_params.items()}
    score_params_test = {name: values[test] for name, values in score_params.items()}
    estimator.fit(X[train], y[train], **fit_params)
"""


class _PassthroughScorer:
    """Stand-in of scikit-learn's class for a ranker's own `score`."""


def loop(source, *, cut=False, parameters=None, score_params="routed"):
    X, y, qid = task()
    namespace = {"__name__": "sklearn.model_selection._validation"}
    exec(source, namespace)
    routed = {"qid": qid}
    train, test = next(KFold(3).split(X) if cut else GroupKFold(3).split(X, groups=qid))
    score_params = routed if score_params == "routed" else score_params
    estimator = sklearn.clone(RANKERS[0])
    namespace["_fit_and_score"](
        estimator, X, y, _PassthroughScorer(), parameters, train, test, routed, score_params
    )
    return estimator


def test_the_loop_of_these_tests_is_refused_as_scikit_learns_is():
    for refused, given in {
        "varies g": {"parameters": {"g": (0.5, 0.5)}},
        "qid reaches fit but not the scorer": {"score_params": {}},
        "in both the training and the test rows": {"cut": True},
    }.items():
        with pytest.raises(ValueError, match=refused):
            loop(LOOP, **given)
    assert loop(LOOP).n_queries_in_ == 24


@pytest.mark.parametrize("name", SEARCH_VARIABLES)
def test_nothing_is_said_where_scikit_learn_calls_a_local_otherwise(name):
    renamed = re.sub(rf"\b{name}\b", f"{name}_of_another_version", LOOP)
    assert renamed != LOOP
    for given in ({}, {"parameters": {"g": (0.5, 0.5)}}):
        assert loop(renamed, **given).n_queries_in_ == 24


@pytest.mark.parametrize(
    "change",
    [
        "score_params_test = None",
        "score_params_test = list(score_params_test.items())",
        "score_params = None",
        "score_params = score_params_test",
        "scorer = None",
        "parameters = list(parameters or [])",
    ],
)
def test_nothing_is_said_where_scikit_learn_keeps_something_else_in_a_local(change):
    changed = LOOP.replace("    estimator.fit", f"    {change}\n    estimator.fit")
    assert loop(changed).n_queries_in_ == 24


@pytest.mark.usefixtures("routing")
def test_learning_curves_cut_queries():
    X, y, qid = task()
    options = {
        "train_sizes": [0.5, 1.0],
        "cv": GroupKFold(3),
        "params": {"qid": qid, "groups": qid},
    }
    with pytest.raises(ValueError, match="lack some of their documents"):
        learning_curve(RANKERS[0], X, y, error_score="raise", **options)


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
@pytest.mark.parametrize("scoring", [None, measure_scorer(TARGET)], ids=["default", "scorer"])
def test_without_routing_an_error_says_what_to_do(ranker, scoring):
    X, y, qid = task()
    advice = (
        r"(?s)fits failed.*qid reaches fit but not the "
        r"scorer.*enable_metadata_routing=True.*GSearchCV"
    )
    with pytest.raises(ValueError, match=advice):
        GridSearchCV(ranker, {"learning_rate": [0.1, 0.3]}, scoring=scoring, cv=GroupKFold(3)).fit(
            X, y, qid=qid, groups=qid
        )
    with pytest.raises(ValueError, match=advice):
        cross_validate(
            ranker, X, y, scoring=scoring, cv=GroupKFold(3), groups=qid, params={"qid": qid}
        )
    pipeline = make_pipeline(StandardScaler(), ranker)
    step = pipeline.steps[-1][0]
    with pytest.raises(ValueError, match=advice):
        GridSearchCV(
            pipeline, {f"{step}__learning_rate": [0.1]}, scoring=scoring, cv=GroupKFold(3)
        ).fit(X, y, **{f"{step}__qid": qid}, groups=qid)


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
