"""Contributions sum to score differences: both boosters, every kind of model that they train.

Scores of XGBoost are held against the leaves of the saved model, added up in float64. Its own
`predict` adds up in float32.
"""

import json

import lightgbm
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn
import xgboost
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from twins import LIGHTGBM, TEST, TRAIN, VALI, XGBOOST, twins

from gapboost import explain
from gapboost.preprocessing import QueryRelativeFeatures
from gapboost.xgboost.inputs import kind_of

ROUNDS = 30


def as_frame(data):
    """Return the features as a data frame with categories and missing values."""
    X = pd.DataFrame(data.X, columns=[f"feature {i}" for i in range(23)])
    X = X.where(np.random.default_rng(0).random(X.shape) > 0.2)
    # The strongest feature as a category.
    quarter = np.digitize(data.X[:, 0], np.quantile(TRAIN.X[:, 0], [0.25, 0.5, 0.75]))
    return X.drop(columns="feature 0").assign(quarter=pd.Categorical(quarter, categories=range(4)))


def sums_of_leaves(booster, data, rounds):
    """Return the scores of an XGBoost model but for the base score, in float64."""
    used = booster[:rounds]
    model = json.loads(used.save_raw("json"))["learner"]["gradient_booster"]
    if model["name"] == "gblinear":
        weights = np.array(model["model"]["weights"])[:-1]
        return np.nan_to_num(np.asarray(data, np.float32).astype(float)) @ weights
    of_trees = model.get("gbtree", model)["model"]
    # From XGBoost 3.4 on, the second one.
    drop = model.get("weight_drop", of_trees.get("weight_drop"))
    trees = of_trees["trees"]
    leaves = used.predict(data, pred_leaf=True).reshape(data.num_row(), -1).astype(int)
    return sum(
        np.array(tree["split_conditions"], np.float64)[leaf]
        * (1.0 if drop is None else drop[number])
        for number, (tree, leaf) in enumerate(zip(trees, leaves.T, strict=True))
    )


def exact_scores(model, X):
    """Return float64 scores, up to a constant."""
    if isinstance(model, lightgbm.LGBMModel | lightgbm.Booster):
        return margins(model, X)
    if isinstance(model, xgboost.Booster):
        data = xgboost.DMatrix(X, enable_categorical=True)
        return sums_of_leaves(model, data, model.num_boosted_rounds())
    booster = model.get_booster()
    if kind_of(booster) == "gblinear":
        model_of = json.loads(booster.save_raw("json"))["learner"]["gradient_booster"]["model"]
        return (
            np.nan_to_num(np.asarray(X, np.float32).astype(float))
            @ np.array(model_of["weights"])[:-1]
        )
    data = xgboost.DMatrix(X, missing=model.missing, enable_categorical=model.enable_categorical)
    best = booster.attr("best_iteration")
    return sums_of_leaves(
        booster, data, booster.num_boosted_rounds() if best is None else int(best) + 1
    )


def margins(model, X):
    """Return the scores as the model predicts them, before any transformation."""
    if isinstance(model, lightgbm.LGBMModel):
        return model.predict(X)
    if isinstance(model, lightgbm.Booster):
        return model.predict(X, raw_score=True)
    if isinstance(model, xgboost.Booster):
        return model.predict(
            xgboost.DMatrix(X, enable_categorical=True), output_margin=True
        ).astype(np.float64)
    return model.predict(X, output_margin=True).astype(np.float64)


def check_sums(model, X, rounds=ROUNDS):
    """All pairs of rows, and `pair` itself; returns the largest deviations."""
    exact, predicted = exact_scores(model, X), margins(model, X)
    found = explain.query(model, X)
    sums = found.contributions.sum(axis=1)
    # Differences of all pairs lie within the range of what differs by row.
    to_exact, to_predicted = np.ptp(sums - exact), np.ptp(sums - predicted)
    assert np.ptp(exact) > 0.1, "the model must tell rows apart"
    assert to_exact < 1e-6
    # XGBoost rounds each of its additions to float32, half a unit in the last place, in both rows.
    of_float32 = isinstance(model, xgboost.XGBModel | xgboost.Booster)
    unit = np.finfo(np.float32).eps * np.abs(predicted).max() * rounds if of_float32 else 0.0
    assert to_predicted < 1e-6 + unit
    np.testing.assert_array_equal(found.scores, predicted)
    a, b = int(predicted.argmax()), int(predicted.argmin())
    one = explain.pair(model, X, a, b)
    np.testing.assert_allclose(one.contributions.sum(), exact[a] - exact[b], rtol=0, atol=1e-6)
    np.testing.assert_allclose(
        [one.score_a, one.score_b], predicted[[a, b]], rtol=0, atol=1e-6 + unit
    )
    assert one.score_a > one.score_b
    return to_exact, to_predicted


# Booster, parameters, and the number of float32 additions a round.
OURS = {
    "lightgbm": (LIGHTGBM, {}, 1),
    "lightgbm dart": (LIGHTGBM, {"boosting_type": "dart"}, 1),
    "lightgbm goss": (LIGHTGBM, {"data_sample_strategy": "goss"}, 1),
    "lightgbm for ndcg": (LIGHTGBM, {"measure": "ndcg@10"}, 1),
    "xgboost": (XGBOOST, {}, 1),
    "xgboost dart": (XGBOOST, {"booster": "dart", "rate_drop": 0.2}, 1),
    "xgboost several trees a round": (XGBOOST, {"num_parallel_tree": 3, "subsample": 0.5}, 3),
    "xgboost base_score": (XGBOOST, {"base_score": 3.5}, 1),
    "xgboost linear": (XGBOOST, {"booster": "gblinear", "max_depth": None}, 23),
}


@pytest.mark.parametrize("case", OURS)
def test_our_rankers(case):
    twin, parameters, trees = OURS[case]
    check_sums(twin.fitted(n_estimators=ROUNDS, **parameters), TEST.X, ROUNDS * trees)


def test_large_scores_of_xgboost():
    """The error is relative to the scores: contributions of a tree are float32."""
    ranker = XGBOOST.fitted(n_estimators=100, learning_rate=30.0, max_depth=6)
    exact = exact_scores(ranker, TEST.X)
    assert np.abs(exact).max() > 10
    sums = explain.query(ranker, TEST.X).contributions.sum(axis=1)
    assert np.ptp(sums - exact) < 1e-6 * np.abs(exact).max()


def test_a_large_base_score_of_xgboost():
    """Contributions keep their precision, which `predict` in float32 loses."""
    ranker = XGBOOST.fitted(n_estimators=ROUNDS, base_score=3000.0)
    sums = explain.query(ranker, TEST.X).contributions.sum(axis=1)
    assert np.ptp(sums - exact_scores(ranker, TEST.X)) < 1e-6
    assert np.ptp(sums - margins(ranker, TEST.X)) > 1e-5


VENDORS = {
    "lightgbm": (LIGHTGBM, {}, 1),
    "lightgbm dart": (LIGHTGBM, {"boosting_type": "dart"}, 1),
    "lightgbm rf": (LIGHTGBM, {"boosting_type": "rf", "subsample": 0.5, "subsample_freq": 1}, 1),
    "xgboost": (XGBOOST, {}, 1),
    "xgboost pairwise": (XGBOOST, {"objective": "rank:pairwise"}, 1),
    "xgboost several trees a round": (XGBOOST, {"num_parallel_tree": 3, "subsample": 0.5}, 3),
    "xgboost linear": (XGBOOST, {"booster": "gblinear", "max_depth": None}, 23),
}


@pytest.mark.parametrize("case", VENDORS)
def test_rankers_of_the_boosters(case):
    twin, parameters, trees = VENDORS[case]
    ranker = twin.vendor(n_estimators=ROUNDS, n_jobs=1, **{**twin.parameters, **parameters})
    queries = (
        {"group": np.unique(TRAIN.qid, return_counts=True)[1]}
        if twin is LIGHTGBM
        else {"qid": TRAIN.qid}
    )
    ranker.fit(TRAIN.X, TRAIN.y, **queries)
    check_sums(ranker, TEST.X, ROUNDS * trees)


@twins
def test_boosters(twin):
    ranker = twin.fitted(n_estimators=ROUNDS)
    booster = ranker.booster_ if twin is LIGHTGBM else ranker.get_booster()
    check_sums(booster, TEST.X)
    np.testing.assert_allclose(
        explain.query(booster, TEST.X).contributions,
        explain.query(ranker, TEST.X).contributions,
        atol=1e-12,
    )


def test_a_booster_with_a_transformed_prediction():
    """Scores are those of ``raw_score`` and ``output_margin``, before the transformation."""
    y = (TRAIN.y > 0).astype(int)
    check_sums(
        lightgbm.train(
            {**LIGHTGBM.native, "objective": "binary"}, lightgbm.Dataset(TRAIN.X, y), ROUNDS
        ),
        TEST.X,
    )
    data = xgboost.DMatrix(TRAIN.X, y)
    check_sums(
        xgboost.train({"max_depth": 3, "objective": "binary:logistic"}, data, ROUNDS), TEST.X
    )


@twins
def test_categories_and_missing_values(twin):
    X, X_test = as_frame(TRAIN), as_frame(TEST)
    parameters = {} if twin is LIGHTGBM else {"enable_categorical": True}
    ranker = twin.ranker(n_estimators=ROUNDS, **parameters).fit(X, TRAIN.y, qid=TRAIN.qid)
    check_sums(ranker, X_test)
    found = explain.query(ranker, X_test, TEST.qid)
    assert found.feature_names == tuple(X.columns)
    assert np.abs(found.contributions[:, -1]).max() > 0.01, "the category counts"


@twins
def test_other_codes_of_the_same_categories(twin):
    """Data frames may list the categories in another order."""
    X, X_test = as_frame(TRAIN), as_frame(TEST)
    parameters = {} if twin is LIGHTGBM else {"enable_categorical": True}
    ranker = twin.ranker(n_estimators=ROUNDS, **parameters).fit(X, TRAIN.y, qid=TRAIN.qid)
    turned = X_test.assign(quarter=X_test["quarter"].cat.reorder_categories([3, 1, 0, 2]))
    np.testing.assert_allclose(
        explain.query(ranker, turned).contributions,
        explain.query(ranker, X_test).contributions,
        atol=1e-12,
    )


@pytest.mark.parametrize("vendor", [False, True], ids=["ours", "vendor"])
@pytest.mark.filterwarnings("ignore::lightgbm.basic.LGBMDeprecationWarning")
@twins
def test_early_stopping_counts_up_to_the_best_round(twin, vendor):
    parameters, fit = twin.stopping(3)
    if not vendor:
        ranker = twin.fitted(
            n_estimators=200, evals=[VALI], fit=fit, learning_rate=0.5, **parameters
        )
    else:
        ranker = twin.vendor(
            n_estimators=200, n_jobs=1, learning_rate=0.5, **twin.parameters, **parameters
        )
        sizes = [np.unique(data.qid, return_counts=True)[1] for data in (TRAIN, VALI)]
        watched = {"eval_set": [(VALI.X, VALI.y)]}
        queries = {"group": sizes[0], "eval_group": [sizes[1]]}
        ranker.fit(TRAIN.X, TRAIN.y, **watched, **fit, **queries)
    best = ranker.best_iteration_ if twin is LIGHTGBM or not vendor else ranker.best_iteration + 1
    assert 0 < best < 197
    check_sums(ranker, TEST.X, best)
    if vendor:
        booster = ranker.booster_ if twin is LIGHTGBM else ranker.get_booster()
        # LightGBM's Booster predicts by the best round too, XGBoost's by all.
        same = np.allclose(margins(booster, TEST.X), margins(ranker, TEST.X), atol=1e-4)
        assert same == (twin is LIGHTGBM)
        check_sums(booster, TEST.X, 200)


@twins
def test_initial_scores_are_no_part_of_predictions(twin):
    start = np.linspace(0, 3, len(TRAIN.y))
    check_sums(twin.fitted(n_estimators=ROUNDS, fit={twin.start: start}), TEST.X)


@twins
def test_missing_is_what_the_ranker_says(twin):
    if twin is LIGHTGBM:
        pytest.skip("a parameter of XGBoost")
    ranker = twin.fitted(n_estimators=ROUNDS, missing=0.0)
    assert (TEST.X == 0).any()
    check_sums(ranker, TEST.X)


TABLES = {
    "lists": lambda X: X.tolist(),
    "float32": lambda X: X.astype(np.float32),
    "integers": lambda X: X.astype(int),
    "pandas": pd.DataFrame,
    "sparse": sparse.csr_matrix,
    "sparse by columns": sparse.csc_matrix,
    "polars": lambda X: pl.DataFrame({f"c{i}": column for i, column in enumerate(X.T)}),
    "arrow": lambda X: pa.table({f"c{i}": column for i, column in enumerate(X.T)}),
}


@pytest.mark.parametrize("kind", TABLES)
@twins
def test_tables(twin, kind):
    # XGBoost takes a zero that a sparse matrix does not hold for a missing value, in predictions
    # too.
    ranker = twin.fitted(n_estimators=5, **({} if twin is LIGHTGBM else {"missing": 0.0}))
    rounded = TEST.X.round()
    X = TABLES[kind](rounded)
    expected, found = explain.query(ranker, rounded), explain.query(ranker, X)
    np.testing.assert_allclose(found.contributions, expected.contributions, atol=1e-12)
    np.testing.assert_array_equal(found.scores, ranker.predict(X))
    one = explain.pair(ranker, X, 3, 7)
    assert one.values_a == rounded[3].tolist()
    assert one.values_b == rounded[7].tolist()
    difference = expected.contributions[3] - expected.contributions[7]
    np.testing.assert_allclose(one.contributions, difference, atol=1e-12)


@twins
def test_pipelines(twin):
    pipeline = make_pipeline(StandardScaler(), twin.ranker(n_estimators=ROUNDS))
    frame = pd.DataFrame(TRAIN.X, columns=[f"feature {i}" for i in range(23)])
    pipeline.fit(frame, TRAIN.y, **{f"{pipeline.steps[-1][0]}__qid": TRAIN.qid})
    X = pd.DataFrame(TEST.X, columns=frame.columns)
    found = explain.query(pipeline, X, TEST.qid)
    np.testing.assert_array_equal(found.scores, pipeline.predict(X))
    assert found.feature_names == tuple(frame.columns)
    check_sums(pipeline[-1], pipeline[:-1].transform(X))
    without_names = make_pipeline(FunctionTransformer(np.asarray), pipeline[-1])
    assert explain.pair(without_names, TEST.X, 0, 1).feature_names[:2] == ("x0", "x1")


@twins
def test_query_relative_features_in_a_pipeline(twin):
    """Their transformer reads the column ``qid``; a pair is transformed within its whole query."""
    names = [f"feature {i}" for i in range(23)]
    tables = [pd.DataFrame(data.X, columns=names).assign(qid=data.qid) for data in (TRAIN, TEST)]
    pipeline = make_pipeline(QueryRelativeFeatures(), twin.ranker(n_estimators=ROUNDS))
    pipeline.fit(tables[0], TRAIN.y)
    scores = pipeline.predict(tables[1]).astype(float)
    one = explain.pair(pipeline, tables[1], 5, 2)
    assert (one.score_a, one.score_b) == (scores[5], scores[2])
    assert one.feature_names[-1] == "feature 22_zscore_in_query"
    assert "qid" not in one.feature_names
    np.testing.assert_array_equal(explain.query(pipeline, tables[1]).qid, TEST.qid)
    with sklearn.config_context(enable_metadata_routing=True):
        pipeline.fit(TRAIN.X, TRAIN.y, qid=TRAIN.qid)  # without a column qid
    np.testing.assert_array_equal(
        explain.pair(pipeline, TEST.X, 5, 2, TEST.qid).contributions, one.contributions
    )
    np.testing.assert_array_equal(explain.query(pipeline, TEST.X, TEST.qid).scores, scores)
    with pytest.raises(ValueError, match="qid is missing in transform"):
        explain.pair(pipeline, TEST.X, 5, 2)


def three_classes(library):
    """Return a model with three scores a row."""
    y = TRAIN.y.astype(int) % 3
    if library is lightgbm:
        return lightgbm.train(
            {"objective": "multiclass", "num_class": 3, "verbose": -1},
            lightgbm.Dataset(TRAIN.X, y),
            2,
        )
    return xgboost.train(
        {"objective": "multi:softprob", "num_class": 3}, xgboost.DMatrix(TRAIN.X, y), 2
    )


REFUSED = {
    "no ranker": (
        lambda: "gap",
        TypeError,
        r"ranker is 'gap'; expected a fitted ranker of gapboost, LightGBM",
    ),
    "a transformer": (
        lambda: make_pipeline(StandardScaler().fit(TRAIN.X)),
        TypeError,
        "ranker is StandardScaler",
    ),
    "several scores of LightGBM": (
        lambda: three_classes(lightgbm),
        ValueError,
        "ranker has 3 scores a row",
    ),
    "several scores of XGBoost": (
        lambda: three_classes(xgboost),
        ValueError,
        "ranker has 3 scores a row",
    ),
    "linear leaves": (
        lambda: LIGHTGBM.fitted(linear_tree=True),
        ValueError,
        "ranker has linear models in its leaves.*expected trees",
    ),
    "not fitted": (XGBOOST.ranker, NotFittedError, "not fitted"),
    "not fitted, of LightGBM": (lightgbm.LGBMRanker, NotFittedError, "not fitted"),
}


@pytest.mark.parametrize("case", REFUSED)
@pytest.mark.filterwarnings("ignore")
def test_refuses_models(case):
    make, error, message = REFUSED[case]
    with pytest.raises(error, match=message):
        explain.pair(make(), TEST.X, 0, 1)


def test_refuses_sums_that_are_not_the_scores(monkeypatch):
    """A library whose contributions do not add up gets an error, not a table."""
    ranker = LIGHTGBM.fitted()
    predict = type(ranker).predict
    monkeypatch.setattr(
        type(ranker),
        "predict",
        lambda self, X, **o: predict(self, X, **o) * (2 if o.get("pred_contrib") else 1),
    )
    with pytest.raises(
        ValueError, match=r"ranker has contributions whose sums differ.*expected a model"
    ):
        explain.query(ranker, TEST.X, TEST.qid)
