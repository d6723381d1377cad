"""Optuna, MLflow and skops with rankers of both boosters."""

import lightgbm
import numpy as np
import pandas as pd
import pytest
import xgboost
from pages import claim
from twins import LIGHTGBM, QID, SIZES, TEST, VALI, X, Y, booster_of, twins

import gapboost as gb
from gapboost.calibration import CalibratedRanker
from gapboost.model_selection import GSearchCV
from gapboost.preprocessing import QueryRelativeFeatures

# --- Optuna ---------------------------------------------------------------------------------------


@claim("Optuna", "agrees", "pruning callbacks of both boosters")
@twins
@pytest.mark.parametrize("measure", ["gap", "ndcg@5"])
def test_pruning_callbacks_of_optuna_see_each_round(twin, measure):
    optuna = pytest.importorskip("optuna")
    integration = pytest.importorskip("optuna_integration")
    name = measure if twin is LIGHTGBM else f"validation_0-{measure}"
    curves = []

    def objective(trial):
        if twin is LIGHTGBM:
            fit = {"callbacks": [integration.LightGBMPruningCallback(trial, name)]}
            parameters = {}
        else:
            parameters = {"callbacks": [integration.XGBoostPruningCallback(trial, name)]}
            fit = {}
        ranker = twin.fitted(evals=[VALI], fit=fit, measure=measure, **parameters)
        curves.append(twin.curve(ranker, metric=measure))
        return curves[-1][-1]

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(direction="maximize", pruner=optuna.pruners.NopPruner())
    study.optimize(objective, n_trials=1)
    found = study.trials[0].intermediate_values
    np.testing.assert_allclose([found[step] for step in sorted(found)], curves[0], atol=1e-6)
    study.pruner = optuna.pruners.ThresholdPruner(lower=1.0)  # prunes all
    study.optimize(objective, n_trials=1)
    assert study.trials[1].state == optuna.trial.TrialState.PRUNED
    assert len(curves) == 1


@claim("Optuna", "differs", "`LightGBMTuner` minimizes `gap` and `ndcg@5`")
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


# --- MLflow ---------------------------------------------------------------------------------------


@pytest.fixture
def mlflow(tmp_path):
    mlflow = pytest.importorskip("mlflow")
    before = mlflow.get_tracking_uri()
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path}/runs.db")
    mlflow.create_experiment("here", artifact_location=(tmp_path / "files").as_uri())
    mlflow.set_experiment("here")
    yield mlflow
    mlflow.set_tracking_uri(before)


TRUST = {"skops_trusted_types": ["lightgbm.sklearn.LGBMRanker"]}
FLAVORS = {
    "booster": (booster_of, {}),
    "to_vendor": (lambda ranker: ranker.to_vendor(), {"lightgbm": TRUST}),
    "ranker": (lambda ranker: ranker, {"sklearn": {"serialization_format": "cloudpickle"}}),
}


@claim("MLflow", "agrees", 'of rankers by `mlflow.sklearn` as `"cloudpickle"`')
@claim("MLflow", "agrees", "of `to_vendor()` with `skops_trusted_types`")
@claim("MLflow", "agrees", "`log_model` of boosters")
@twins
@pytest.mark.parametrize("logged", FLAVORS)
def test_models_that_mlflow_logs_predict_the_same(twin, logged, mlflow):
    model_of, options = FLAVORS[logged]
    name = "sklearn" if logged == "ranker" else twin.name
    given, fit = twin.stopping(3)
    ranker = twin.fitted(evals=[VALI], fit=fit, n_estimators=60, learning_rate=0.5, **given)
    flavor, options = getattr(mlflow, name), {"pip_requirements": [], **options.get(name, {})}
    with mlflow.start_run():
        uri = flavor.log_model(model_of(ranker), name="model", **options).model_uri
    loaded = flavor.load_model(uri)
    rows = TEST.X
    if isinstance(loaded, xgboost.Booster):
        rows = xgboost.DMatrix(TEST.X)
    np.testing.assert_array_equal(loaded.predict(rows), ranker.predict(TEST.X))
    as_function = mlflow.pyfunc.load_model(uri).predict(pd.DataFrame(TEST.X))
    np.testing.assert_allclose(as_function, ranker.predict(TEST.X), atol=1e-6)


@claim("MLflow", "agrees", "autologging of our rankers, after early stopping too")
@twins
def test_mlflows_autologging_logs_the_model_that_predicts(twin, mlflow):
    flavor, fit = getattr(mlflow, twin.name), twin.vendor.fit
    flavor.autolog(silent=True)
    try:
        parameters, of_fit = twin.stopping(3)
        with mlflow.start_run():
            ours = twin.fitted(
                evals=[VALI], fit=of_fit, n_estimators=60, learning_rate=0.5, **parameters
            )
    finally:
        flavor.autolog(disable=True)
    (logged,) = mlflow.search_logged_models(output_format="list")
    rows = TEST.X if twin is LIGHTGBM else xgboost.DMatrix(TEST.X)
    np.testing.assert_array_equal(
        flavor.load_model(logged.model_uri).predict(rows), ours.predict(TEST.X)
    )
    assert twin.vendor.fit is fit


@claim("MLflow", "differs", "autologging logs no `lightgbm.LGBMRanker` that loads")
def test_mlflows_autologging_fails_for_lightgbms_own_ranker(mlflow):
    mlflow.lightgbm.autolog(silent=True)
    try:
        with mlflow.start_run():
            lightgbm.LGBMRanker(n_estimators=2, verbose=-1).fit(X, Y, group=SIZES)
    finally:
        mlflow.lightgbm.autolog(disable=True)
    (model,) = mlflow.search_logged_models(output_format="list")
    assert str(model.status) == "FAILED"


@claim("MLflow", "differs", "refuses names with `@`: `by_label()` has others")
def test_mlflow_takes_the_names_by_label(mlflow):
    values = gb.evaluate(["ndcg@10", "map"], TEST.y, np.arange(len(TEST.y)), TEST.qid)
    with mlflow.start_run() as run:
        with pytest.raises(mlflow.exceptions.MlflowException):
            mlflow.log_metrics(dict(values))
        mlflow.log_metrics(values.by_label())
    found = mlflow.get_run(run.info.run_id).data.metrics
    assert found == pytest.approx(values.by_label())


# --- skops ----------------------------------------------------------------------------------------


def searched(twin):
    search = GSearchCV(twin.ranker(), {"g": [(0.5, 0.5)]}, scoring="ndcg@5", cv=2)
    return search.fit(X, Y, qid=QID)


SAVED = {
    "ranker": lambda twin: twin.fitted(),
    "search": searched,
    "calibrated": lambda twin: CalibratedRanker(twin.fitted()).fit(VALI.X, VALI.y, qid=VALI.qid),
}


@claim("skops", "agrees", "rankers, `GSearchCV`, `CalibratedRanker`, `QueryRelativeFeatures`")
@twins
@pytest.mark.parametrize("kind", SAVED)
def test_skops_saves_estimators(twin, kind):
    skops = pytest.importorskip("skops.io")
    fitted = SAVED[kind](twin)
    content = skops.dumps(fitted)
    loaded = skops.loads(content, trusted=skops.get_untrusted_types(data=content))
    np.testing.assert_array_equal(loaded.predict(TEST.X), fitted.predict(TEST.X))
    assert type(loaded) is type(fitted)


def test_skops_saves_query_relative_features():
    skops = pytest.importorskip("skops.io")
    fitted = QueryRelativeFeatures().fit(X, qid=QID)
    content = skops.dumps(fitted)
    loaded = skops.loads(content, trusted=skops.get_untrusted_types(data=content))
    rows = {"X": TEST.X, "qid": TEST.qid}
    np.testing.assert_array_equal(loaded.transform(**rows), fitted.transform(**rows))


@claim("skops", "differs", "loads no class of ours before you trust it")
def test_skops_asks_for_trust():
    skops = pytest.importorskip("skops.io")
    content = skops.dumps(LIGHTGBM.fitted())
    with pytest.raises(skops.exceptions.UntrustedTypesFoundException, match="LGBMGAPRanker"):
        skops.loads(content)
