"""What pages say of other tools: the table of docs/works_with.md, and single sentences."""

from typing import ClassVar

import lightgbm
import numpy as np
import pandas as pd
import pytest
import pytrec_eval
import sklearn
import treelite
import xgboost
from scipy.sparse import csr_matrix
from sklearn.inspection import partial_dependence, permutation_importance
from sklearn.model_selection import GroupKFold, learning_curve
from twins import LIGHTGBM, QID, SIZES, TEST, VALI, X, Y, onnx_scores, twins

import gapboost as gb
from gapboost.model_selection import measure_scorer

# Warnings are the libraries' own.
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


@pytest.mark.parametrize("measure", ["gap", "ndcg@5"])
def test_lightgbm_tuner_minimizes_our_metrics(measure):
    tuner = pytest.importorskip("optuna_integration.lightgbm")
    metric = gb.lightgbm.eval_metric(measure)
    train = lightgbm.Dataset(X, Y, group=SIZES, params=LIGHTGBM.native)
    vali = train.create_valid(VALI.X, VALI.y, group=np.unique(VALI.qid, return_counts=True)[1])
    ((name, _, is_higher_better),) = metric(np.zeros(len(VALI.y)), vali.construct())
    parameters = {**LIGHTGBM.native, "objective": gb.lightgbm.objective(measure), "metric": name}
    found = tuner.LightGBMTuner(parameters, train, valid_sets=[vali], feval=metric)
    assert is_higher_better
    assert not found.higher_is_better()


@twins
def test_mlflows_autologging_logs_the_model_that_predicts(twin, tmp_path):
    """Of our rankers, also after early stopping. None of LightGBM's own ranker loads."""
    mlflow = pytest.importorskip("mlflow")
    flavor, before, fit = getattr(mlflow, twin.name), mlflow.get_tracking_uri(), twin.vendor.fit
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path}/runs.db")
    flavor.autolog(silent=True)
    try:
        mlflow.create_experiment("here", artifact_location=(tmp_path / "files").as_uri())
        mlflow.set_experiment("here")
        parameters, of_fit = twin.stopping(3)
        with mlflow.start_run():
            ours = twin.fitted(
                evals=[VALI], fit=of_fit, n_estimators=60, learning_rate=0.5, **parameters
            )
        (logged,) = mlflow.search_logged_models(output_format="list")
        loaded = flavor.load_model(logged.model_uri)
        rows = TEST.X if twin is LIGHTGBM else xgboost.DMatrix(TEST.X)
        np.testing.assert_array_equal(loaded.predict(rows), ours.predict(TEST.X))
        if twin is LIGHTGBM:
            with mlflow.start_run():
                twin.vendor(n_estimators=2).fit(X, Y, group=SIZES)
            models = mlflow.search_logged_models(output_format="list")
            assert sorted(str(model.status) for model in models) == ["FAILED", "READY"]
    finally:
        flavor.autolog(disable=True)
        mlflow.set_tracking_uri(before)
    assert twin.vendor.fit is fit


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
    search = HalvingGridSearchCV(ranker, grid, cv=GroupKFold(4), refit=False, **resource)
    search.fit(X, Y, qid=QID, groups=QID)


def of_learning_curve(ranker):
    scorer, given = measure_scorer("ndcg@5"), {"qid": QID, "groups": QID}
    learning_curve(ranker, X, Y, cv=GroupKFold(4), train_sizes=[0.33], scoring=scorer, params=given)


@pytest.mark.parametrize(
    ("tool", "cuts"),
    [
        (lambda ranker: halving(ranker, min_resources=200, random_state=0), True),
        (lambda ranker: halving(ranker, resource="n_estimators", max_resources=9), False),
        (of_learning_curve, True),
    ],
    ids=["halving", "halving trees", "learning_curve"],
)
def test_tools_of_scikit_learn_that_draw_rows_cut_queries(tool, cuts):
    Recorder.seen.clear()
    with sklearn.config_context(enable_metadata_routing=True):
        tool(Recorder(verbose=-1, n_jobs=1, n_estimators=2))
    assert any(set(sizes) != {SIZES[0]} for sizes in Recorder.seen) == cuts


@twins
def test_partial_dependence_refuses_rankers(twin):
    ranker = twin.fitted()
    for model in (ranker, ranker.to_vendor()):
        with pytest.raises(ValueError, match="regressor or classifier"):
            partial_dependence(model, TEST.X, [0])


@twins
def test_shap_knows_xgboosts_expected_value_after_the_first_values(twin):
    shap = pytest.importorskip("shap")
    ranker = twin.fitted()
    explainer = shap.TreeExplainer(ranker)
    before = np.array(explainer.expected_value)
    sums = explainer.shap_values(TEST.X).sum(axis=1)
    np.testing.assert_allclose(sums + explainer.expected_value, ranker.predict(TEST.X), atol=1e-5)
    assert (before == pytest.approx(explainer.expected_value, abs=1e-6)) == (twin is LIGHTGBM)


@pytest.mark.parametrize("tool", ["ONNX", "treelite"])
def test_missing_values_that_training_did_not_have(tool):
    ranker = LIGHTGBM.fitted()
    rows = np.where(np.random.default_rng(0).random(TEST.X.shape) < 0.3, np.nan, TEST.X)
    model = LIGHTGBM.module.exportable(ranker)
    if tool == "ONNX":
        found = onnx_scores(model, rows.astype(np.float32))
    else:
        found = treelite.gtil.predict(treelite.frontend.from_lightgbm(model), rows).ravel()
    np.testing.assert_allclose(found, ranker.predict(rows), atol=1e-6)
    np.testing.assert_array_equal(ranker.predict(rows), ranker.predict(np.nan_to_num(rows)))


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


def test_onnx_merges_neighbors_in_float32_and_treelite_does_not():
    seconds = 1.7e9 + np.arange(len(Y), dtype=float)[:, None] % SIZES[0]
    ranker = LIGHTGBM.ranker().fit(seconds, np.arange(len(Y)) % SIZES[0] > 9, QID)
    model, scores = LIGHTGBM.module.exportable(ranker), ranker.predict(seconds)
    assert np.abs(onnx_scores(model, seconds.astype(np.float32)) - scores).max() > 0.1
    found = treelite.gtil.predict(treelite.frontend.from_lightgbm(model), seconds).ravel()
    np.testing.assert_array_equal(found, scores)


@twins
def test_what_a_sparse_matrix_does_not_store_is_missing_in_xgboost(twin):
    ranker, sparse = twin.fitted(), csr_matrix(TEST.X)
    rows = TEST.X if twin is LIGHTGBM else np.where(TEST.X == 0, np.nan, TEST.X)
    np.testing.assert_array_equal(ranker.predict(sparse), ranker.predict(rows))


def test_trec_eval_leaves_out_topics_without_results():
    qrels = {"a": {"d": 1}, "b": {"d": 1}}
    found = pytrec_eval.RelevanceEvaluator(qrels, {"map"}).evaluate({"a": {"d": 1.0}})
    assert set(found) == {"a"}
