"""Grids over g, and the search: scikit-learn's results on the same folds, with any `n_jobs`."""

import math
import pickle

import joblib
import numpy as np
import pytest
import sklearn
from ranking_task import NAMES, RANKERS, task
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import ColumnTransformer
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, PredefinedSplit
from sklearn.pipeline import Pipeline

import gapboost as gb
from gapboost.lightgbm import LGBMGAPRanker
from gapboost.model_selection import GSearchCV, measure_scorer, simplex_grid, uniform_g
from gapboost.xgboost import XGBGAPRanker

TARGET = gb.nDCG(k=10)
both = pytest.mark.parametrize("ranker", RANKERS, ids=NAMES)


# --- grids ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n_grades", "steps"), [(1, 1), (1, 7), (2, 10), (3, 1), (3, 10), (4, 6), (6, 3)]
)
def test_simplex_grid_is_the_whole_lattice(n_grades, steps):
    grid = simplex_grid(n_grades, steps)
    assert len(grid) == len(set(grid)) == math.comb(steps + n_grades - 1, n_grades - 1)
    assert grid == sorted(grid)
    for g in grid:
        assert isinstance(g, tuple)
        assert all(type(x) is float and x >= 0 and (x * steps) % 1 < 1e-9 for x in g) or steps == 7
        assert gb.GAP(g=g).g == g
        assert sum(g) == pytest.approx(1, abs=1e-12)


def test_simplex_grid_options_are_filters():
    grid = simplex_grid(3, 6)
    assert simplex_grid(3, 6, full_support=True) == [g for g in grid if min(g) > 0]
    assert simplex_grid(3, 6, monotone="increasing") == [g for g in grid if g[0] <= g[1] <= g[2]]
    assert simplex_grid(3, 6, monotone="decreasing", full_support=True) == [
        g for g in grid if g[0] >= g[1] >= g[2] > 0
    ]
    with pytest.raises(ValueError, match="expected at least 3"):
        simplex_grid(3, 2, full_support=True)
    assert simplex_grid(2, 10)[3] == (0.3, 0.7)  # no 0.30000000000000004: grids print well


def test_uniform_g():
    assert uniform_g(1) == (1.0,)
    assert gb.GAP(g=uniform_g(3)) == gb.GAP().resolved(np.array([0, 1, 2, 3]))


# --- scorers --------------------------------------------------------------------------------------


def test_scorer_is_a_value():
    scorer = measure_scorer(gb.GAP(g=(0.5, 0.5), k=5))
    assert repr(scorer) == "measure_scorer(GAP(g=(0.5, 0.5), k=5))"
    assert scorer == pickle.loads(pickle.dumps(scorer)) == sklearn.clone(scorer, safe=False)


# --- the search -----------------------------------------------------------------------------------


def by_scikit_learn(ranker, grid, X, y, qid, cv, sample_weight=None, scoring=TARGET):
    weight = {} if sample_weight is None else {"sample_weight": sample_weight}
    with sklearn.config_context(enable_metadata_routing=True):
        search = GridSearchCV(ranker, grid, scoring=measure_scorer(scoring), cv=cv, refit=True)
        groups = {"groups": qid} if hasattr(cv, "split") else {}
        return search.fit(X, y, qid=qid, **groups, **weight)


def assert_same_search_scores(found, expected):
    for key, values in expected.cv_results_.items():
        if key.startswith(("split", "mean_test", "std_test", "rank_test")):
            np.testing.assert_array_equal(found.cv_results_[key], values)


def assert_same_search(found, expected):
    for key, values in expected.cv_results_.items():
        if key.startswith(("split", "mean_test", "std_test", "rank_test")):
            np.testing.assert_array_equal(found.cv_results_[key], values)
        elif key.startswith("param_"):
            assert found.cv_results_[key].tolist() == values.tolist()
    assert found.cv_results_["params"] == expected.cv_results_["params"]
    assert found.best_params_ == expected.best_params_
    assert (found.best_index_, found.best_score_, found.n_splits_) == (
        expected.best_index_,
        expected.best_score_,
        expected.n_splits_,
    )


def weights_of_documents(qid):
    return np.random.default_rng(4).random(len(qid))


def weights_of(qid):
    ids, code = np.unique(qid, return_inverse=True)
    return np.random.default_rng(2).random(len(ids))[code]


VARIANTS = [
    LGBMGAPRanker(
        n_jobs=1, verbose=-1, subsample=0.6, subsample_freq=1, colsample_bytree=0.5, random_state=3
    ),
    # Not dart: with an objective from Python LightGBM draws its dropped trees differently now and
    # then, whatever the seed.
    LGBMGAPRanker(
        n_jobs=1, verbose=-1, data_sample_strategy="goss", learning_rate=0.3, random_state=1
    ),
    XGBGAPRanker(n_jobs=1, subsample=0.6, colsample_bynode=0.5, random_state=3),
    XGBGAPRanker(n_jobs=1, booster="dart", rate_drop=0.2),
    XGBGAPRanker(n_jobs=1, tree_method="exact"),
]


BAGGED = [
    LGBMGAPRanker(n_jobs=1, verbose=-1, subsample=0.6, subsample_freq=1, n_estimators=5),
    XGBGAPRanker(n_jobs=1, subsample=0.6, n_estimators=5),
]


@pytest.mark.parametrize(
    ("ranker", "where", "source"),
    [
        pytest.param(
            BAGGED[0], "estimator", np.random.RandomState, id="lightgbm-estimator-RandomState"
        ),
        pytest.param(BAGGED[0], "grid", np.random.default_rng, id="lightgbm-grid-Generator"),
        pytest.param(BAGGED[1], "grid", np.random.RandomState, id="xgboost-grid-RandomState"),
    ],
)
def test_same_as_grid_search_for_any_source_of_random_numbers(ranker, where, source):
    """Every candidate, on every fold and all data, begins with the source as it was given."""
    X, y, qid = task()

    def asked():
        if where == "estimator":
            one = sklearn.clone(ranker).set_params(random_state=source(3))
            return one, {"g": simplex_grid(2, 1), "n_estimators": [2, 5]}
        same = source(3)
        return ranker, {"random_state": [source(4), same, same], "n_estimators": [2, 5]}

    found = GSearchCV(*asked(), scoring=TARGET, cv=3).fit(X, y, qid=qid)
    expected = by_scikit_learn(*asked(), X, y, qid, GroupKFold(3))
    for fold in range(3):
        name = f"split{fold}_test_score"
        np.testing.assert_array_equal(found.cv_results_[name], expected.cv_results_[name])
    np.testing.assert_array_equal(
        found.best_estimator_.predict(X), expected.best_estimator_.predict(X)
    )
    assert len(set(found.cv_results_["mean_test_score"])) > 2


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize(
    ("ranker", "weight_of"),
    [
        pytest.param(VARIANTS[0], lambda qid: None, id="lgbm-bagged-equal"),
        pytest.param(VARIANTS[0], weights_of, id="lgbm-bagged-queries"),
        pytest.param(VARIANTS[1], weights_of_documents, id="lgbm-goss-documents"),
        pytest.param(VARIANTS[2], weights_of_documents, id="xgb-bagged-documents"),
        pytest.param(VARIANTS[3], lambda qid: None, id="xgb-dart-equal"),
        pytest.param(VARIANTS[4], weights_of, id="xgb-exact-queries"),
    ],
)
def test_same_as_grid_search(ranker, weight_of):
    X, y, qid = task()
    weight = weight_of(qid)
    grid = {"g": simplex_grid(2, 2), "n_estimators": [2, 5]}
    found = GSearchCV(ranker, grid, scoring=TARGET, cv=3).fit(X, y, qid=qid, sample_weight=weight)
    expected = by_scikit_learn(ranker, grid, X, y, qid, GroupKFold(3), weight)
    assert_same_search(found, expected)
    assert len({round(s, 12) for s in found.cv_results_["mean_test_score"]}) > 3
    np.testing.assert_array_equal(found.predict(X), expected.predict(X))
    assert found.score(X, y, qid) == gb.evaluate(TARGET, y, found.predict(X), qid)[TARGET]


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize(
    ("ranker", "binning"),
    [
        (RANKERS[0], {"max_bin": [4, 255]}),
        (RANKERS[0], {"min_child_samples": [60, 5]}),
        (RANKERS[1], {"max_bin": [4, 256]}),
    ],
    ids=["lgbm-max_bin", "lgbm-min_child_samples", "xgb-max_bin"],
)
def test_parameters_of_the_binning(ranker, binning):
    X, y, qid = task()
    grid = [
        {"g": [(0.5, 0.5), (1.0, 0.0)], "n_estimators": [3], **binning},
        {"learning_rate": [0.3], "n_estimators": [2, 5]},
    ]
    found = GSearchCV(ranker, grid, scoring=gb.AP(), cv=3).fit(X, y, qid=qid)
    assert_same_search(
        found, by_scikit_learn(ranker, grid, X, y, qid, GroupKFold(3), scoring=gb.AP())
    )


@pytest.mark.parametrize("levels", [4, 16])
def test_fractional_grades(levels):
    rng = np.random.default_rng(5)
    X, qid = rng.standard_normal((900, 3)), rng.integers(0, 9, 900)
    y = np.round(3 * rng.random(900) * levels) / levels
    grid = {"measure": [gb.AP(rel=1), gb.GAP()], "n_estimators": [2]}
    found = GSearchCV(RANKERS[1], grid, scoring=TARGET, cv=3, refit=False).fit(X, y, qid=qid)
    expected = by_scikit_learn(RANKERS[1], grid, X, y, qid, GroupKFold(3))
    np.testing.assert_array_equal(
        found.cv_results_["mean_test_score"], expected.cv_results_["mean_test_score"]
    )


def test_a_fold_without_weight():
    X, y, qid = task()
    ids = np.unique(qid)
    weight = np.isin(qid, ids[:1]).astype(float)
    with pytest.raises(ValueError, match="sample_weight is zero for every query"):
        GSearchCV(RANKERS[0], {"g": [(0.5, 0.5)]}, scoring=TARGET, cv=3).fit(
            X, y, qid=qid, sample_weight=weight
        )


@both
def test_every_number_of_trees_is_a_candidate(ranker):
    X, y, qid = task()
    search = GSearchCV(ranker, {"g": simplex_grid(2, 1)}, scoring=TARGET, cv=2).fit(X, y, qid=qid)
    assert [p["n_estimators"] for p in search.cv_results_["params"]] == [1, 2, 3, 4] * 2
    assert search.best_estimator_.n_estimators == search.best_params_["n_estimators"]
    assert search.best_estimator_.g_ == search.best_params_["g"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("ranker", "backend"),
    [(RANKERS[0], "loky"), (RANKERS[0], "threading"), (RANKERS[1], "threading")],
    ids=["lgbm-processes", "lgbm-threads", "xgb-threads"],
)
def test_same_results_with_any_number_of_jobs(ranker, backend):
    X, y, qid = task()
    grid = {"g": simplex_grid(2, 3), "learning_rate": [0.1, 0.3]}
    alone = GSearchCV(ranker, grid, scoring=TARGET, cv=2, refit=False).fit(X, y, qid=qid)
    with joblib.parallel_config(backend):
        together = GSearchCV(ranker, grid, scoring=TARGET, cv=2, refit=False, n_jobs=2).fit(
            X, y, qid=qid
        )
    assert_same_search(together, alone)


def test_several_targets_the_first_chooses():
    X, y, qid = task()
    targets = [gb.AP(), gb.GAP(g=(0.5, 0.5))]
    grid = {"g": simplex_grid(2, 2), "n_estimators": [2, 4]}
    search = GSearchCV(RANKERS[0], grid, scoring=targets, cv=3).fit(X, y, qid=qid)
    for target in targets:
        alone = GSearchCV(RANKERS[0], grid, scoring=target, cv=3, refit=False).fit(X, y, qid=qid)
        for key in ("mean_test", "std_test", "rank_test", "split2_test"):
            np.testing.assert_array_equal(
                search.cv_results_[f"{key}_{target}"], alone.cv_results_[f"{key}_score"]
            )
        if target == targets[0]:
            assert search.best_params_ == alone.best_params_
    assert search.score(X, y, qid) == gb.evaluate(gb.AP(), y, search.predict(X), qid)[gb.AP()]


def test_overlapping_grids_repeat_a_candidate():
    X, y, qid = task()
    grid = {"g": [(0.5, 0.5)], "n_estimators": [2, 3]}
    scores = GSearchCV(RANKERS[0], [grid, grid], scoring=TARGET, cv=2, refit=False).fit(
        X, y, qid=qid
    )
    scores = scores.cv_results_["split1_test_score"]
    np.testing.assert_array_equal(scores[:2], scores[2:])


def test_folds():
    X, y, qid = task()
    grid = {"g": [(0.5, 0.5)], "n_estimators": [2]}

    def splits(cv, random_state=None):
        search = GSearchCV(
            RANKERS[0], grid, scoring=TARGET, cv=cv, refit=False, random_state=random_state
        )
        results = search.fit(X, y, qid=qid).cv_results_
        return [results[f"split{i}_test_score"][0] for i in range(3)]

    pairs = list(GroupKFold(3).split(X, y, qid))
    assert splits(3) == splits(GroupKFold(3)) == splits(pairs)
    halves = GroupKFold(3, shuffle=True, random_state=4)
    assert splits(3, 4) == splits(3, 4) == splits(halves) != splits(3)
    of_fold = np.empty(len(qid), dtype=int)
    for number, (_, test) in enumerate(pairs):
        of_fold[test] = number
    assert splits(PredefinedSplit(of_fold)) == splits(3)


def test_ids_without_an_order():
    X, y, qid = task()
    number = np.array([int(i.split()[1]) for i in qid])
    mixed = np.array(
        [n if n % 2 else str(i) for n, i in zip(number.tolist(), qid, strict=True)], dtype=object
    )
    assert {type(i) for i in mixed} == {int, str}
    search = GSearchCV(RANKERS[0], {"g": [(0.5, 0.5)]}, scoring=TARGET, cv=3).fit(X, y, qid=mixed)
    assert 0 < search.best_score_ <= 1


def test_folds_keep_ids_of_different_types_apart():
    X, y, qid = task()
    _, code = np.unique(qid, return_inverse=True)
    kinds = (str, int, float, "{}\0".format)
    ids = [kinds[c % 4](c // 4) for c in code.tolist()]
    grid = {"g": [(0.5, 0.5)], "n_estimators": [3]}
    found, expected = (
        GSearchCV(RANKERS[0], grid, scoring=TARGET, cv=PredefinedSplit(code % 3)).fit(
            X, y, qid=given
        )
        for given in (ids, code)
    )
    assert found.best_score_ == expected.best_score_
    assert GSearchCV(RANKERS[0], grid, scoring=TARGET, cv=3).fit(X, y, qid=ids).n_splits_ == 3


def test_weights_of_queries_or_rows():
    X, y, qid = task()
    by_row = weights_of(qid)
    _, first = np.unique(qid, return_index=True)
    by_query = by_row[np.sort(first)]
    grid = {"g": [(0.5, 0.5)], "n_estimators": [3]}
    scores = [
        GSearchCV(RANKERS[0], grid, scoring=TARGET, cv=2)
        .fit(X, y, qid=qid, sample_weight=w)
        .best_score_
        for w in (by_row, by_query, None)
    ]
    assert scores[0] == scores[1] != scores[2]


def test_pandas():
    pd = pytest.importorskip("pandas")
    X, y, qid = task()
    grid = {"g": simplex_grid(2, 1), "n_estimators": [3]}
    frame = pd.DataFrame(X, index=np.arange(len(X))[::-1])
    found = GSearchCV(RANKERS[0], grid, scoring=TARGET, cv=2).fit(
        frame, pd.Series(y), qid=pd.Series(qid)
    )
    plain = GSearchCV(RANKERS[0], grid, scoring=TARGET, cv=2).fit(X, y, qid=qid)
    np.testing.assert_array_equal(
        found.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"]
    )
    assert pd.DataFrame(found.cv_results_)["param_g"].tolist() == simplex_grid(2, 1)


def test_progress_and_clone(capsys):
    X, y, qid = task()
    search = GSearchCV(RANKERS[0], {"g": simplex_grid(2, 1)}, scoring=TARGET, cv=2, progress=True)
    again = pickle.loads(pickle.dumps(sklearn.clone(search).fit(X, y, qid=qid)))
    assert "4/4" in capsys.readouterr().err
    assert again.n_features_in_ == X.shape[1]
    quiet = sklearn.clone(search).set_params(progress=False).fit(X, y, qid=qid)
    assert (
        GSearchCV(RANKERS[0], search.param_grid, scoring=TARGET, cv=2).fit(X, y, qid=qid).progress
        is None
    )
    assert capsys.readouterr().err == ""
    assert quiet.best_params_ == again.best_params_
    assert not hasattr(sklearn.clone(search).set_params(refit=False), "predict")


def fit(grid=None, estimator=RANKERS[0], qid="given", **options):
    X, y, ids = task()
    options = {"scoring": TARGET, "cv": 2, **options}
    GSearchCV(estimator, {"g": [(0.5, 0.5)]} if grid is None else grid, **options).fit(
        X, y, qid=ids if qid == "given" else qid
    )


@pytest.mark.slow(keep=8)
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"scoring": gb.GAP(g=(1.0,))},
            r"y holds the grade 2, but GAP\(g=\(1.0,\)\) is defined for the grades 0..1",
        ),
        (
            {"grid": {"g": [(0.5, 0.5), (1.0,)]}},
            r"y holds the grade 2, but GAP\(g=\(1.0,\)\) is defined for the grades 0..1",
        ),
        ({"cv": KFold(3)}, "fold 0 of cv cuts .* such as 'query .*expected every query whole"),
        ({"cv": [(np.arange(576), np.arange(0))]}, "fold 0 of cv has no test rows"),
        ({"cv": GroupKFold(2), "random_state": 1}, "random_state is 1 but cv is GroupKFold"),
        (
            {"estimator": LGBMGAPRanker(num_trees=3, verbose=-1)},
            "ended after 3 of 100 rounds",
        ),
        (
            {"grid": {"num_iterations": [3, 5]}},
            "ended after 3 of 4 rounds",
        ),
        (
            {"estimator": LGBMGAPRanker(n_estimators="10")},
            "^n_estimators is '10'; expected a whole number >= 1",
        ),
        (
            {"estimator": XGBGAPRanker(early_stopping_rounds=1)},
            r"early_stopping_rounds is 1; expected None: ",
        ),
        *(
            (
                {"estimator": LGBMGAPRanker(verbose=-1, **{name: 1})},
                rf"{name} is 1; expected None: ",
            )
            for name in (
                "early_stopping_round",
                "early_stopping_rounds",
                "early_stopping",
                "n_iter_no_change",
            )
        ),
    ],
)
def test_searches_that_cannot_be(arguments, message):
    with pytest.raises((ValueError, TypeError), match=message):
        fit(**arguments)


def test_candidates_with_one_short_repr_are_told_apart():
    """scikit-learn and numpy shorten what they print."""
    X, y, qid = task()
    X = np.column_stack([np.random.default_rng(0).random((len(X), 30)), X])
    columns = [list(range(34)), [*range(30), 35], list(range(53))]
    steps = [ColumnTransformer([("kept", "passthrough", kept)]) for kept in columns]
    weights = np.eye(2, 1500)[:, np.arange(1500) % 64]
    wide = np.tile(X, 29)[:, :1500]
    pipeline = Pipeline([("kept", steps[0]), ("ranker", RANKERS[0])])
    for estimator, grid, rows in [
        (pipeline, {"kept": steps, "ranker__n_estimators": [4]}, X),
        (
            sklearn.clone(RANKERS[1]).set_params(colsample_bynode=0.01),
            {"feature_weights": [weights[0] + 1e-9, weights[1] + 1e-9], "n_estimators": [4]},
            wide,
        ),
    ]:
        found = GSearchCV(estimator, grid, scoring=TARGET, cv=3).fit(rows, y, qid=qid)
        assert_same_search_scores(
            found, by_scikit_learn(estimator, grid, rows, y, qid, GroupKFold(3))
        )
        assert len(set(found.cv_results_["mean_test_score"])) > 1


class FirstRows(BaseEstimator, TransformerMixin):
    """A step that learns from the order of the rows."""

    def fit(self, X, y=None):
        self.scale_ = 1 + np.abs(X[:20]).mean(axis=0)
        return self

    def transform(self, X):
        return X / self.scale_ + np.arange(len(X))[:, None] % 2


def test_steps_get_rows_in_the_order_of_the_caller():
    X, y, qid = task()
    pipeline = Pipeline([("first", FirstRows()), ("ranker", RANKERS[0])])
    grid = {"ranker__g": simplex_grid(2, 1), "ranker__n_estimators": [2, 4]}
    folds = [
        tuple(np.random.default_rng(i).permutation(rows) for rows in fold)
        for i, fold in enumerate(GroupKFold(3).split(X, y, qid))
    ]
    for cv in (GroupKFold(3), folds):
        found = GSearchCV(pipeline, grid, scoring=TARGET, cv=cv).fit(X, y, qid=qid)
        expected = by_scikit_learn(pipeline, grid, X, y, qid, cv)
        assert_same_search(found, expected)
        np.testing.assert_array_equal(found.predict(X), expected.predict(X))
