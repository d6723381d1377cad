"""Contributions sum to score differences: both boosters, every kind of model that they train."""

import lightgbm
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import shap
import sklearn
import xgboost
from matplotlib import pyplot
from matplotlib.text import Text
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from twins import LIGHTGBM, TEST, TRAIN, VALI, XGBOOST, twins

import gapboost as gb
from gapboost import explain
from gapboost.preprocessing import QueryRelativeFeatures

ROUNDS = 30
NAMES = [f"feature {i}" for i in range(23)]
FRAME = pd.DataFrame(TEST.X, columns=NAMES)


def with_categories(data):
    """Return the features as a data frame with categories and missing values."""
    X = pd.DataFrame(data.X, columns=NAMES)
    X = X.where(np.random.default_rng(0).random(X.shape) > 0.2)
    # The strongest feature as a category.
    quarter = np.digitize(data.X[:, 0], np.quantile(TRAIN.X[:, 0], [0.25, 0.5, 0.75]))
    return X.drop(columns=NAMES[0]).assign(quarter=pd.Categorical(quarter, categories=range(4)))


def raw_scores(model, X):
    if isinstance(model, lightgbm.Booster):
        return model.predict(X, raw_score=True)
    if isinstance(model, xgboost.Booster):
        data = xgboost.DMatrix(X, enable_categorical=True)
        return model.predict(data, output_margin=True).astype(np.float64)
    return model.predict(X).astype(np.float64)


def check_sums(model, X):
    """Sums of all rows and of one pair are differences of the scores."""
    exact = raw_scores(model, X)
    assert np.ptp(exact) > 0.1, "the model must tell rows apart"
    of_float32 = isinstance(model, xgboost.XGBModel | xgboost.Booster)
    allowed = (1e-5 if of_float32 else 1e-9) * np.abs(exact).max()
    found = explain.query(model, X)
    sums = found.values.sum(axis=1)
    np.testing.assert_allclose(sums, exact - exact.mean(), rtol=0, atol=2 * allowed)
    a, b = int(exact.argmax()), int(exact.argmin())
    one = explain.pair(model, X, a, b)
    np.testing.assert_allclose(one.values.sum(), exact[a] - exact[b], rtol=0, atol=allowed)


MODELS = {
    "plain": (LIGHTGBM, {}),
    "dart": (LIGHTGBM, {"boosting_type": "dart"}),
    "rf": (LIGHTGBM, {"boosting_type": "rf", "subsample": 0.5, "subsample_freq": 1}),
    "plain of XGBoost": (XGBOOST, {}),
    "dart of XGBoost": (XGBOOST, {"booster": "dart", "rate_drop": 0.2}),
    "several trees a round": (XGBOOST, {"num_parallel_tree": 3, "subsample": 0.5}),
    "base_score": (XGBOOST, {"base_score": 3.5}),
    "large scores": (XGBOOST, {"learning_rate": 30.0, "max_depth": 6}),
    "linear": (XGBOOST, {"booster": "gblinear", "max_depth": None}),
}


@pytest.mark.parametrize("vendor", [False, True], ids=["ours", "vendor"])
@pytest.mark.parametrize("case", MODELS)
@pytest.mark.filterwarnings("ignore:.*gblinear.*")
def test_rankers(case, vendor):
    twin, parameters = MODELS[case]
    parameters = {"n_estimators": ROUNDS, **parameters}
    if not vendor:
        if case == "rf":
            pytest.skip("a forest of LightGBM's own")
        return check_sums(twin.fitted(**parameters), TEST.X)
    ranker = twin.vendor(n_jobs=1, **{**twin.parameters, **parameters})
    ranker.fit(TRAIN.X, TRAIN.y, group=np.unique(TRAIN.qid, return_counts=True)[1])
    return check_sums(ranker, TEST.X)


@twins
def test_boosters(twin):
    ranker = twin.fitted(n_estimators=ROUNDS)
    booster = ranker.booster_ if twin is LIGHTGBM else ranker.get_booster()
    check_sums(booster, TEST.X)
    # Scores are those before the transformation of an objective.
    y = (TRAIN.y > 0).astype(int)
    if twin is LIGHTGBM:
        parameters = {**twin.native, "objective": "binary"}
        check_sums(lightgbm.train(parameters, lightgbm.Dataset(TRAIN.X, y), ROUNDS), TEST.X)
    else:
        parameters = {"max_depth": 3, "objective": "binary:logistic"}
        check_sums(xgboost.train(parameters, xgboost.DMatrix(TRAIN.X, y), ROUNDS), TEST.X)


@twins
def test_categories_and_missing_values(twin):
    X, X_test = with_categories(TRAIN), with_categories(TEST)
    parameters = {} if twin is LIGHTGBM else {"enable_categorical": True}
    ranker = twin.ranker(n_estimators=ROUNDS, **parameters).fit(X, TRAIN.y, qid=TRAIN.qid)
    check_sums(ranker, X_test)
    found = explain.query(ranker, X_test, TEST.qid)
    assert found.feature_names == list(X.columns)
    assert np.abs(found.values[:, -1]).max() > 0.01, "the category counts"
    # A data frame may list the categories in another order.
    turned = X_test.assign(quarter=X_test["quarter"].cat.reorder_categories([3, 1, 0, 2]))
    np.testing.assert_allclose(
        explain.query(ranker, turned, TEST.qid).values, found.values, atol=1e-12
    )


@pytest.mark.filterwarnings("ignore::lightgbm.basic.LGBMDeprecationWarning")
@twins
def test_early_stopping_counts_up_to_the_best_round(twin):
    parameters, fit = twin.stopping(3)
    ranker = twin.fitted(n_estimators=200, evals=[VALI], fit=fit, learning_rate=0.5, **parameters)
    assert 0 < ranker.best_iteration_ < 197
    check_sums(ranker, TEST.X)
    check_sums(ranker.booster_ if twin is LIGHTGBM else ranker.get_booster(), TEST.X)
    # XGBoost's own ranker keeps the later rounds, and predicts without them.
    train, vali = (np.unique(data.qid, return_counts=True)[1] for data in (TRAIN, VALI))
    given = {**twin.parameters, **parameters, "n_estimators": 200, "learning_rate": 0.5}
    vendor = twin.vendor(n_jobs=1, **given)
    evals = {"eval_set": [(VALI.X, VALI.y)], "eval_group": [vali]}
    vendor.fit(TRAIN.X, TRAIN.y, group=train, **evals, **fit)
    check_sums(vendor, TEST.X)


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
    # XGBoost takes a zero that a sparse matrix does not hold for a missing value.
    ranker = twin.fitted(**({} if twin is LIGHTGBM else {"missing": 0.0}))
    rounded = TEST.X.round()
    X = TABLES[kind](rounded)
    expected, found = explain.query(ranker, rounded), explain.query(ranker, X)
    np.testing.assert_allclose(found.values, expected.values, atol=1e-12)
    np.testing.assert_array_equal(np.asarray(found.data, float), rounded)
    scores = ranker.predict(X)
    # XGBoost adds in float32: the error is that of the largest score.
    np.testing.assert_allclose(
        found.values.sum(axis=1) + found.base_values, scores, rtol=0, atol=1e-6 * scores.max()
    )
    one = explain.pair(ranker, X, 3, 7)
    np.testing.assert_allclose(one.values, expected.values[3] - expected.values[7], atol=1e-6)


@twins
def test_query_relative_features_in_a_pipeline(twin):
    """Their transformer reads the column ``qid``; a pair is transformed within its whole query."""
    tables = [pd.DataFrame(d.X, columns=NAMES).assign(qid=d.qid) for d in (TRAIN, TEST)]
    pipeline = make_pipeline(QueryRelativeFeatures(), twin.ranker(n_estimators=ROUNDS))
    pipeline.fit(tables[0], TRAIN.y)
    scores = pipeline.predict(tables[1]).astype(float)
    one = explain.pair(pipeline, tables[1], 5, 2)
    assert one.base_values == pytest.approx(scores[2])
    assert one.values.sum() == pytest.approx(scores[5] - scores[2], abs=1e-5)
    assert one.feature_names[-1] == "feature 22_zscore_in_query"
    with sklearn.config_context(enable_metadata_routing=True):
        pipeline.fit(TRAIN.X, TRAIN.y, qid=TRAIN.qid)  # without a column qid
    np.testing.assert_array_equal(explain.pair(pipeline, TEST.X, 5, 2, TEST.qid).values, one.values)
    without_names = make_pipeline(FunctionTransformer(np.asarray), twin.fitted())
    assert explain.pair(without_names, TEST.X, 0, 1).feature_names[:2] == ["X[:, 0]", "X[:, 1]"]


def test_shap_draws_a_pair_and_a_query():
    pyplot.switch_backend("Agg")
    ranker = LIGHTGBM.fitted()
    ax = shap.plots.waterfall(explain.pair(ranker, FRAME, 4, 9), show=False)
    labels = " ".join(label.get_text() for label in ax.get_yticklabels())
    assert "feature" in labels
    assert any("E[f(X)]" in text.get_text() for text in ax.figure.findobj(Text))
    assert " | " in labels
    found = explain.query(ranker, FRAME, TEST.qid)[TEST.qid == TEST.qid[25]]
    shap.plots.heatmap(found, show=False)
    pyplot.close("all")


@twins
def test_contributions_of_a_query_are_centered_in_any_order_of_rows(twin):
    order = np.random.default_rng(0).permutation(len(TEST.y))
    ranker = twin.fitted(n_estimators=20)
    ids = np.array([f"query {q}" for q in TEST.qid])[order]
    found = explain.query(ranker, TEST.X[order], ids)
    scores = pd.Series(ranker.predict(TEST.X[order]).astype(float))
    means = scores.groupby(ids).transform("mean")
    np.testing.assert_allclose(found.base_values, means, atol=1e-6)
    np.testing.assert_allclose(found.values.sum(axis=1), scores - means, atol=1e-6)
    np.testing.assert_allclose(pd.DataFrame(found.values).groupby(ids).mean(), 0, atol=1e-12)
    by_column = explain.query(ranker, FRAME.iloc[order].assign(qid=ids))
    np.testing.assert_array_equal(by_column.values, found.values)


# --- measures -------------------------------------------------------------------------------------


@pytest.mark.parametrize("measure", ["ndcg@10", gb.GAP(g=(0.5, 0.5))], ids=str)
@twins
def test_losses_of_a_measure(twin, measure):
    order = np.random.default_rng(0).permutation(len(TEST.y))
    X, y, qid = TEST.X[order], TEST.y[order], TEST.qid[order]
    ranker = twin.fitted(n_estimators=20)
    found = explain.measure(ranker, X, y, qid, measure)
    (values,) = gb.evaluate(measure, y, ranker.predict(X), qid, per_query=True).values()
    assert found.index.tolist() == list(dict.fromkeys(qid))
    centered = explain.query(ranker, X, qid).values
    for feature in range(23):
        # Scores without the feature differ by more than rounding here.
        left = np.delete(centered, feature, axis=1).sum(axis=1).round(6)
        (without,) = gb.evaluate(measure, y, left, qid, per_query=True).values()
        moved = pd.Series(centered[:, feature]).groupby(qid, sort=False).agg(np.ptp) > 1e-9
        expected = np.where(moved, values - without, 0.0)
        np.testing.assert_allclose(found.iloc[:, feature], expected, atol=1e-9)
    assert found.abs().max().max() > 0.01


@twins
def test_sums_that_differ_by_rounding_are_tied(twin):
    """Documents that differ in one feature of an additive model are tied without that feature."""
    rng = np.random.default_rng(0)
    # Pairs of documents that differ in the first feature only, in which a higher grade has a higher
    # value.
    others = np.repeat(rng.normal(size=(400, 4)), 2, axis=0)
    first = np.tile([0.0, 1.0], 400) + rng.random(800) / 2
    X, y, qid = np.column_stack((first, others)), np.tile([0, 1], 400), np.repeat(np.arange(100), 8)
    stumps = {"num_leaves": 2, "extra_trees": False} if twin is LIGHTGBM else {"max_depth": 1}
    ranker = twin.ranker(n_estimators=60, **stumps).fit(X, y + (others[:, 0] > 0), qid=qid)
    found = explain.measure(ranker, X, y, np.repeat(np.arange(400), 2), "ap")
    # Each query is one pair: right with all contributions, and tied without the first, (1 + 1/2) /
    # 2.
    right = ranker.predict(X)[1::2] > ranker.predict(X)[::2]
    assert right.mean() > 0.9
    np.testing.assert_allclose(found[right]["X[:, 0]"], 0.25, atol=1e-12)
    assert not found.drop(columns="X[:, 0]").to_numpy().any()


def test_features_of_one_name_are_all_kept():
    """Steps of a pipeline may give one name to two features."""
    names = ["same", *NAMES[1:-1], "same"]
    step = FunctionTransformer(np.asarray, feature_names_out=lambda *_: np.array(names))
    pipeline = make_pipeline(step, LIGHTGBM.fitted())
    found = explain.measure(pipeline, TEST.X, TEST.y, TEST.qid)
    assert found.columns.tolist() == names
    expected = explain.measure(pipeline[-1], TEST.X, TEST.y, TEST.qid)
    np.testing.assert_array_equal(found.to_numpy(), expected.to_numpy())


# --- refused --------------------------------------------------------------------------------------


REFUSED = {
    "no ranker": (lambda: "gap", TypeError),
    "a transformer": (lambda: make_pipeline(StandardScaler().fit(TRAIN.X)), TypeError),
    "several scores": (
        lambda: lightgbm.LGBMClassifier(n_estimators=2, verbose=-1).fit(TRAIN.X, TRAIN.y),
        ValueError,
    ),
    "linear leaves": (lambda: LIGHTGBM.fitted(linear_tree=True), lightgbm.basic.LightGBMError),
    "not fitted": (XGBOOST.ranker, NotFittedError),
    "not fitted, of LightGBM": (lightgbm.LGBMRanker, NotFittedError),
}


@pytest.mark.parametrize("case", REFUSED)
@pytest.mark.filterwarnings("ignore")
def test_refuses_models(case):
    make, error = REFUSED[case]
    with pytest.raises(error, match=r"ranker|fit|linear trees"):
        explain.pair(make(), TEST.X, 0, 1)


@pytest.mark.parametrize(
    ("call", "argument"),
    [
        (lambda ranker: explain.query(ranker, FRAME.assign(qid=TEST.qid), TEST.qid), "qid"),
        (lambda ranker: explain.pair(ranker, TEST.X, 0, -1, TEST.qid), "a is a row of query"),
        (lambda ranker: explain.pair(ranker, FRAME.assign(qid=TEST.qid), -1, 0), "a is a row of"),
        (lambda ranker: explain.measure(ranker, TEST.X[:-1], TEST.y, TEST.qid), "Found"),
        (lambda ranker: explain.measure(ranker, TEST.X[:0], TEST.y[:0], TEST.qid[:0]), "X"),
        (lambda ranker: explain.measure(ranker, TEST.X[0], TEST.y, TEST.qid), "X"),
    ],
)
def test_refuses_arguments(call, argument):
    with pytest.raises(ValueError, match=f"^{argument} "):
        call(LIGHTGBM.fitted())


@pytest.mark.parametrize(
    ("a", "b", "named"), [(len(TEST.X), 0, "a"), (0, -len(TEST.X) - 1, "b"), (0, "row", "b")]
)
def test_rows_of_a_pair_exist(a, b, named):
    with pytest.raises((IndexError, TypeError), match=f"^{named} is "):
        explain.pair(LIGHTGBM.fitted(), TEST.X, a, b)
