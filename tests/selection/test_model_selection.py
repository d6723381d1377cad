"""Grids over g, and the search: scikit-learn's results on the same folds, with any `n_jobs`."""

import math
import pickle

import numpy as np
import numpy.testing as npt
import pytest
import sklearn
from ranking_task import RANKERS, assert_same_search, both, task
from scipy import stats
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    PredefinedSplit,
    RandomizedSearchCV,
)
from sklearn.pipeline import Pipeline
from xgboost.callback import EarlyStopping

import gapboost as gb
from gapboost.lightgbm import LGBMGAPRanker
from gapboost.model_selection import (
    GSearchCV,
    measure_scorer,
    query_folds,
    simplex_grid,
    uniform_g,
)
from gapboost.xgboost import XGBGAPRanker
from gapboost.xgboost.dask import DaskXGBGAPRanker

TARGET = gb.nDCG(k=10)
X, Y, QID = task()
WEIGHT = 1.0 + np.random.default_rng(4).random(len(QID))


# --- grids ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n_grades", "steps"), [(1, 1), (1, 7), (2, 10), (3, 10), (6, 3)])
def test_simplex_grid_is_the_whole_lattice(n_grades, steps):
    grid = simplex_grid(n_grades, steps)
    assert len(grid) == len(set(grid)) == math.comb(steps + n_grades - 1, n_grades - 1)
    assert grid == sorted(grid)
    for g in grid:
        assert gb.GAP(g=g).g == g
        assert min(g) >= 0
        assert sum(g) == pytest.approx(1, abs=1e-12)


def test_grids_print_well():
    assert simplex_grid(2, 10)[3] == (0.3, 0.7)  # no 0.30000000000000004: grids print well
    assert gb.GAP(g=uniform_g(3)) == gb.GAP().resolved(np.array([0, 1, 2, 3]))


# --- the search is scikit-learn's -----------------------------------------------------------------


class FirstRows(BaseEstimator, TransformerMixin):
    """A step that learns from the order of the rows."""

    def fit(self, X, y=None):
        self.scale_ = 1 + np.abs(X[:20]).mean(axis=0)
        return self

    def transform(self, X):
        return X / self.scale_ + np.arange(len(X))[:, None] % 2


def pipeline(step, ranker):
    return Pipeline([("step", step), ("ranker", ranker)])


def feature_weights():
    """Two arrays that numpy prints alike."""
    weights = np.ones((2, 1010))
    weights[1, 100:900] = 1e-6
    return list(weights)


LGBM, XGB = RANKERS
G = simplex_grid(2, 2)
# Estimator, grid and rows of features.
SEARCHES = {
    "g and trees": (LGBM, {"g": G, "n_estimators": [2, 5]}, X),
    "bagged": (LGBM, {"subsample": [0.6, 0.9], "subsample_freq": [1], "n_estimators": [2, 5]}, X),
    "xgboost": (XGB, {"g": G, "n_estimators": [2, 5], "subsample": [0.6, 1.0]}, X),
    "dart": (XGB, {"booster": ["dart"], "rate_drop": [0.2], "g": G, "n_estimators": [5]}, X),
    "two grids": (
        XGB,
        [
            {"g": G, "n_estimators": [3], "max_bin": [4, 256]},
            {"learning_rate": [0.3], "n_estimators": [2, 5]},
        ],
        X,
    ),
    "generators": (
        LGBM,
        {"random_state": [np.random.default_rng(3), np.random.RandomState(4)], "n_estimators": [5]},
        X,
    ),
    # XGBoost draws columns by weight where it draws a part of them.
    "values that print alike": (
        XGB,
        {"feature_weights": feature_weights(), "colsample_bynode": [0.01], "n_estimators": [4]},
        np.tile(X, 50)[:, :1010],
    ),
    "order of rows": (
        pipeline(FirstRows(), LGBM),
        {"ranker__g": G, "ranker__n_estimators": [2, 4]},
        X,
    ),
    "steps that are exchanged": (
        pipeline("passthrough", XGB),
        {"step": ["passthrough", PCA(3, random_state=0)], "ranker__n_estimators": [2, 4]},
        X,
    ),
}


def by_scikit_learn(estimator, grid, rows, cv, weight=None):
    given = {} if weight is None else {"sample_weight": weight}
    given |= {"groups": QID} if hasattr(cv, "split") else {}
    with sklearn.config_context(enable_metadata_routing=True):
        search = GridSearchCV(
            estimator, grid, scoring=measure_scorer(TARGET), cv=cv, error_score="raise"
        )
        return search.fit(rows, Y, qid=QID, **given)


@pytest.mark.slow(keep=2)
@pytest.mark.parametrize("name", [*reversed(SEARCHES)])
def test_same_as_grid_search(name):
    estimator, grid, rows = SEARCHES[name]
    weight = WEIGHT if "order" in name or "grids" in name else None
    found = GSearchCV(estimator, grid, scoring=TARGET, cv=3)
    found.fit(rows, Y, qid=QID, sample_weight=weight)
    expected = by_scikit_learn(estimator, grid, rows, GroupKFold(3), weight)
    assert_same_search(found, expected)
    assert len(set(found.cv_results_["mean_test_score"])) > 1
    npt.assert_array_equal(found.predict(rows), expected.predict(rows))
    assert found.score(rows, Y, QID) == gb.evaluate(TARGET, Y, found.predict(rows), QID)[TARGET]


@both
def test_folds_with_rows_in_any_order(ranker):
    folds = [
        tuple(np.random.default_rng(i).permutation(rows) for rows in fold)
        for i, fold in enumerate(GroupKFold(3).split(X, Y, QID))
    ]
    grid = {"g": G, "n_estimators": [2, 4]}
    found = GSearchCV(ranker, grid, scoring=TARGET, cv=folds).fit(X, Y, qid=QID)
    assert_same_search(found, by_scikit_learn(ranker, grid, X, folds))


# --- what scikit-learn's search does not have -----------------------------------------------------


@both
def test_every_number_of_trees_is_a_candidate(ranker):
    search = GSearchCV(ranker, {"g": simplex_grid(2, 1)}, scoring=TARGET, cv=2).fit(X, Y, qid=QID)
    assert [p["n_estimators"] for p in search.cv_results_["params"]] == [1, 2, 3, 4] * 2
    assert search.best_estimator_.n_estimators == search.best_params_["n_estimators"]
    assert search.best_estimator_.g_ == search.best_params_["g"]


@pytest.mark.parametrize("n_folds", [3, 5])
def test_candidates_near_the_best(n_folds):
    """The mean difference from the best is at most its standard error over the folds."""
    search = GSearchCV(LGBM, {"g": simplex_grid(2, 8)}, scoring=TARGET, cv=n_folds)
    results = search.fit(X, Y, qid=QID).cv_results_
    folds = np.array([results[f"split{i}_test_score"] for i in range(n_folds)])
    behind = folds[:, [folds.mean(axis=0).argmax()]] - folds
    errors = behind.std(axis=0, ddof=1) / np.sqrt(n_folds)
    npt.assert_array_equal(results["near_best_test_score"], behind.mean(axis=0) <= errors)
    assert 0 < results["near_best_test_score"].sum() < len(errors)


@pytest.mark.slow
def test_same_results_with_any_number_of_jobs():
    grid = {"g": simplex_grid(2, 3), "learning_rate": [0.1, 0.3]}
    alone = GSearchCV(LGBM, grid, scoring=TARGET, cv=2, refit=False).fit(X, Y, qid=QID)
    together = sklearn.clone(alone).set_params(n_jobs=3).fit(X, Y, qid=QID)
    assert_same_search(together, alone)


def test_several_targets_the_first_chooses():
    targets = [gb.AP(), gb.GAP(g=(0.5, 0.5))]
    grid = {"g": G, "n_estimators": [2, 4]}
    search = GSearchCV(LGBM, grid, scoring=targets, cv=3).fit(X, Y, qid=QID)
    for target in targets:
        alone = GSearchCV(LGBM, grid, scoring=target, cv=3, refit=False).fit(X, Y, qid=QID)
        for key in ("mean_test", "rank_test", "split2_test", "near_best_test"):
            npt.assert_array_equal(
                search.cv_results_[f"{key}_{target.name}"], alone.cv_results_[f"{key}_score"]
            )
        assert target != targets[0] or search.best_params_ == alone.best_params_


@pytest.mark.slow(keep=1)
@both
def test_same_as_randomized_search(ranker):
    """Of lists and distributions, in one grid or several."""
    several = [
        {"g": G, "n_estimators": [2, 5], "learning_rate": stats.uniform(0.05, 0.3)},
        {"n_estimators": stats.randint(1, 5), "g": G},
    ]
    for grid in (several[0], several):
        given = {"n_iter": 5, "random_state": 3, "cv": GroupKFold(2)}
        found = GSearchCV(ranker, grid, scoring=TARGET, **given).fit(X, Y, qid=QID)
        given |= {"scoring": measure_scorer(TARGET), "error_score": "raise"}
        with sklearn.config_context(enable_metadata_routing=True):
            expected = RandomizedSearchCV(ranker, grid, **given).fit(X, Y, qid=QID, groups=QID)
        assert found.cv_results_["params"] == expected.cv_results_["params"]
        assert_same_search(found, expected)


def test_drawn_settings_have_every_number_of_trees():
    grid = {"learning_rate": stats.uniform(0.05, 0.3)}
    search = GSearchCV(LGBM, grid, scoring=TARGET, cv=2, n_iter=3, random_state=0)
    results = search.fit(X, Y, qid=QID).cv_results_
    assert [p["n_estimators"] for p in results["params"]] == [1, 2, 3, 4] * 3
    assert len(set(results["param_learning_rate"])) == 3


def test_a_fold_without_weights_is_no_nan():
    (train, test), *_ = query_folds(QID, 2)
    weight = np.ones(len(QID))
    weight[test] = 0
    search = GSearchCV(LGBM, {"n_estimators": [2]}, scoring=TARGET, cv=[(train, test)])
    with pytest.raises(ValueError, match=r"^eval_sample_weight.* has the sum 0"):
        search.fit(X, Y, QID, weight)


def test_a_search_predicts_after_fit():
    search = GSearchCV(LGBM, {"n_estimators": [2]}, scoring=TARGET)
    with pytest.raises(NotFittedError):
        search.predict(X)


def test_query_folds():
    def splits(cv, random_state=None):
        search = GSearchCV(
            LGBM, {"n_estimators": [2]}, scoring=TARGET, cv=cv, random_state=random_state
        )
        return search.set_params(refit=False).fit(X, Y, qid=QID).cv_results_["mean_test_score"]

    assert splits(3) == splits(GroupKFold(3)) == splits(query_folds(QID, 3))
    halves = GroupKFold(3, shuffle=True, random_state=4)
    assert splits(3, 4) == splits(halves) == splits(query_folds(QID, halves)) != splits(3)
    of_fold = np.empty(len(QID), dtype=int)
    for number, (train, test) in enumerate(query_folds(QID, 3)):
        of_fold[test] = number
        assert not set(QID[train]) & set(QID[test])
    assert splits(PredefinedSplit(of_fold)) == splits(3)


def test_folds_are_rows_of_whole_queries_each_of_them_once():
    qid = ["a", "a", "b", "b"]
    whole, mask = ([0, 1], [2, 3]), np.array([True, True, False, False])
    for fold in (whole, (mask, ~mask), ([-4, -3], [3, 2])):
        assert query_folds(qid, [fold])[0][0] is fold[0]
    for fold, found in (
        (([0, 0], [2, 3]), "repeats"),
        (([0, 1], [2, 3, -1]), "repeats"),
        (([0], [2, 3]), "cuts"),
        (([0, 1], [1, 2, 3]), "cuts"),
    ):
        with pytest.raises(ValueError, match=f"^fold 1 of cv {found}"):
            query_folds(qid, [whole, fold])


def test_kinds_of_ids_and_weights():
    def scores(ids=QID, **given):
        search = GSearchCV(LGBM, {"n_estimators": [3]}, scoring=TARGET, cv=folds)
        return search.fit(X, Y, qid=ids, **given).cv_results_["mean_test_score"]

    folds = query_folds(QID, 3)
    _, first, code = np.unique(QID, return_index=True, return_inverse=True)
    assert scores([("q", str(c)) for c in code.tolist()]) == scores()
    of_query = np.random.default_rng(2).random(len(first))
    weighted = scores(sample_weight=of_query[code])
    assert weighted == scores(sample_weight=of_query[code[np.sort(first)]]) != scores()
    grouped = np.argsort(code, kind="stable")
    search = GSearchCV(LGBM, {"n_estimators": [3]}, scoring=TARGET, cv=3)
    sizes = search.fit(X[grouped], Y[grouped], group=np.bincount(code)).best_score_
    assert sizes == search.fit(X[grouped], Y[grouped], QID[grouped]).best_score_


def test_progress_and_copies(capsys):
    search = GSearchCV(LGBM, {"g": simplex_grid(2, 1)}, scoring=TARGET, cv=2, progress=True)
    again = pickle.loads(pickle.dumps(sklearn.clone(search).fit(X, Y, qid=QID)))
    assert "4/4" in capsys.readouterr().err
    assert again.n_features_in_ == X.shape[1]
    quiet = sklearn.clone(search).set_params(progress=None).fit(X, Y, qid=QID)
    assert capsys.readouterr().err == ""
    assert quiet.best_params_ == again.best_params_
    assert not hasattr(sklearn.clone(search).set_params(refit=False), "predict")


HALVES = [np.arange(288), np.arange(288, 576)]
NO_FOLDS = [HALVES, HALVES[:1], [(*HALVES, HALVES[0])], [(None, None)], [(HALVES[0], [999])]]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"scoring": gb.GAP(g=(1.0,))}, r"^y holds the grade 2"),
        ({"param_grid": {"g": [(0.5, 0.5), (1.0,)]}}, r"^y holds the grade 2"),
        ({"cv": KFold(3)}, "^fold 0 of cv cuts .* a query id for each user and part"),
        ({"cv": [(np.arange(576), np.arange(0))]}, "^fold 0 of cv has no test rows"),
        *(({"cv": n}, rf"n_splits={n}\b") for n in (99, 1)),
        ({"cv": GroupKFold(2), "random_state": 1}, "^cv "),
        *(({"cv": cv}, "^cv is ") for cv in ("3", 2.5, None)),
        *(({"cv": cv}, "^fold 0 of cv .* rows") for cv in NO_FOLDS),
        ({"param_grid": {"subsample": stats.uniform()}}, "^param_grid has distributions"),
        ({"n_iter": 0}, "^n_iter is 0"),
        (
            {"estimator": Pipeline([("r", LGBM)]), "param_grid": {"num_leaves": [3]}},
            "^Invalid parameter 'num_leaves' for estimator Pipeline",
        ),
        ({"estimator": DaskXGBGAPRanker()}, "^estimator "),
        ({"estimator": LGBMGAPRanker(num_trees=3, verbose=-1)}, "^estimator has num_trees=3"),
        ({"param_grid": {"num_iterations": [3, 8]}}, "^estimator has num_iterations=3"),
        ({"estimator": LGBMGAPRanker(n_iter_no_change=3)}, "early stopping"),
        ({"estimator": XGBGAPRanker(early_stopping_rounds=1)}, "early stopping"),
        (
            {"estimator": XGBGAPRanker(callbacks=[EarlyStopping(rounds=1)])},
            "^training of .* ended after .* no early stopping",
        ),
        ({"estimator": XGBGAPRanker(stopping_metric="ap")}, "^stopping_metric "),
    ],
)
def test_searches_that_cannot_be(arguments, message):
    given = {"estimator": LGBM, "param_grid": {"g": [(0.5, 0.5)]}, "scoring": TARGET, "cv": 2}
    with pytest.raises((ValueError, TypeError), match=message):
        GSearchCV(**{**given, **arguments}).fit(X, Y, qid=QID)


def test_arguments_that_other_searches_take_are_named_with_ours():
    search = GSearchCV(LGBMGAPRanker(), {}, scoring="ap", cv=2)
    with pytest.raises(ValueError, match=r"(?s)groups=.* -> qid=.*callbacks=.* -> leave it out"):
        search.fit(X, Y, groups=QID, callbacks=[])
