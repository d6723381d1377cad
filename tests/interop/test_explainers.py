"""Explainers: contributions that sum to the scores of the ranker, and where they do not."""

import numpy as np
import pytest
import xgboost
from pages import claim
from test_exporters import TWINS, are_wrong, fitted
from twins import LIGHTGBM, TEST, VALI, booster_of, twins

CASES = ("numbers", "early stopping", "NaN", "new NaN")


@claim("shap", "agrees", "sums to the scores, also after early stopping and with new NaN")
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("name", TWINS)
def test_contributions_of_shap_sum_to_the_scores(name, case):
    shap = pytest.importorskip("shap")
    ranker, rows, _ = fitted(name, case)
    explainer = shap.TreeExplainer(ranker)
    sums = explainer.shap_values(rows).sum(axis=1) + explainer.expected_value
    np.testing.assert_allclose(sums, ranker.predict(rows), atol=1e-5)  # sums in float32


@claim("shap", "differs", "`expected_value` of XGBoost is wrong before the first `shap_values`")
@twins
def test_shap_knows_xgboosts_expected_value_after_the_first_values(twin):
    shap = pytest.importorskip("shap")
    ranker = twin.fitted()
    explainer = shap.TreeExplainer(ranker)
    before = np.array(explainer.expected_value)
    sums = explainer.shap_values(TEST.X).sum(axis=1)
    np.testing.assert_allclose(sums + explainer.expected_value, ranker.predict(TEST.X), atol=1e-5)
    assert (before == pytest.approx(explainer.expected_value, abs=1e-6)) == (twin is LIGHTGBM)


@claim("shapiq", "agrees", "LightGBM's booster without NaN")
@claim("shapiq", "differs", "other sums with NaN, also where training had some")
@pytest.mark.parametrize("case", CASES)
def test_contributions_of_shapiq(case):
    shapiq = pytest.importorskip("shapiq")
    ranker, rows, _ = fitted("lightgbm", case)
    explainer = shapiq.TreeExplainer(ranker.booster_, max_order=1, index="SV")
    sums = np.array([explainer.explain(row).values.sum() for row in rows[:20]])
    assert are_wrong(sums, ranker.predict(rows[:20])) == ("NaN" in case)


@claim("shapiq", "differs", "refuses rankers, and XGBoost's booster")
@twins
def test_shapiq_refuses_rankers(twin):
    shapiq = pytest.importorskip("shapiq")
    ranker = twin.fitted()
    for model in (ranker, ranker.to_vendor(), *([] if twin is LIGHTGBM else [booster_of(ranker)])):
        with pytest.raises(TypeError, match="Unsupported model type"):
            shapiq.TreeExplainer(model)


@claim("XGBoost's `pred_contribs`", "agrees", "our rankers, also after early stopping")
@claim("XGBoost's `pred_contribs`", "differs", "all rounds of `XGBRanker` after early stopping")
@pytest.mark.parametrize("vendor", [False, True])
def test_contributions_of_xgboost_after_early_stopping(vendor):
    if vendor:
        ranker = xgboost.XGBRanker(
            n_estimators=60, learning_rate=0.5, early_stopping_rounds=4, n_jobs=1
        )
        rows, y, qid = VALI.X, VALI.y, VALI.qid
        ranker.fit(TEST.X, TEST.y, qid=TEST.qid, eval_set=[(rows, y)], eval_qid=[qid])
    else:
        ranker = fitted("xgboost", "early stopping")[0]
    matrix = xgboost.DMatrix(TEST.X)
    found = booster_of(ranker).predict(matrix, pred_contribs=True).sum(axis=1)
    assert (np.abs(found - ranker.predict(TEST.X)).max() > 0.01) == vendor
