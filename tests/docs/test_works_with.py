"""The recipes of docs/works_with.md run, and their exports predict the same in the other tool."""

import base64
import gzip
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import MagicMock

import lightgbm
import numpy as np
import numpy.testing as npt
import pandas as pd
import pytest
import xgboost
from blocks import run, sections
from sklearn.inspection import permutation_importance
from threadpoolctl import threadpool_limits

import gapboost as gb
import gapboost.lightgbm
import gapboost.xgboost
from gapboost.datasets import load_digits_ranking
from gapboost.lightgbm import LGBMGAPRanker
from gapboost.xgboost import XGBGAPRanker

pytestmark = pytest.mark.slow

PAGE = Path(__file__).parents[2] / "docs" / "works_with.md"
SECTIONS = {
    section.title: section.of("python") for section in sections(PAGE) if section.of("python")
}
FIRST = SECTIONS.pop("Works with")
SMALL = {
    "load_digits_ranking()": "load_digits_ranking((60, 40, 40), 20)",
    "n_trials=20": "n_trials=2",
    "num_samples=20": "num_samples=2",
    '"num_boost_round": 200': '"num_boost_round": 3',
    "tuner.run()": "tuner.tune_feature_fraction(2)",
    "tuner_cv.run()": "tuner_cv.tune_feature_fraction(2)",
}
TRAIN, VALI, TEST = load_digits_ranking((60, 40, 40), 20)


class Recipe(NamedTuple):
    tools: tuple[str, ...]
    names: dict[str, Callable[[], Any]]
    check: Callable[[dict[str, Any]], None]


RECIPES: dict[str, Recipe] = {}


def recipe(title, *tools, **names):
    """Register a section: its packages, makers of names that it leaves open, and a check."""

    def remember(check):
        RECIPES[title] = Recipe(tools, names, check)
        return check

    return remember


def follow(title):
    """Run the blocks of a section and check what they made, files in the current directory."""
    if title == "MLflow":
        register_evaluator()
    blocks, names = (
        [*FIRST, *SECTIONS[title]],
        {name: make() for name, make in RECIPES[title].names.items()},
    )
    code = "".join(block.code for block in blocks)
    # Of little data, and beside other tests, threads wait for each other.
    with threadpool_limits(1):
        RECIPES[title].check(
            run(blocks, names, {text: small for text, small in SMALL.items() if text in code})
        )


def register_evaluator():
    """Do what the entry point does, if gapboost was installed before it had one."""
    from mlflow.models.evaluation.evaluator_registry import _model_evaluation_registry as registry

    from gapboost.diagnosis.mlflow_evaluator import ReportEvaluator

    if not registry.is_registered("gapboost"):
        registry.register("gapboost", ReportEvaluator)


# In the tools themselves.
@pytest.mark.filterwarnings(
    "ignore::DeprecationWarning", "ignore::PendingDeprecationWarning", "ignore::FutureWarning"
)
@pytest.mark.parametrize("title", SECTIONS)
def test_recipe(title, tmp_path, monkeypatch):
    for tool in RECIPES[title].tools:
        if tool not in sys.modules and find_spec(tool) is None:
            pytest.skip(f"{tool} is not installed")
    if title == "treelite and tl2cgen" and shutil.which("gcc") is None:
        pytest.skip("gcc is not installed")
    monkeypatch.chdir(tmp_path)
    if title == "MLflow":
        follow_apart(title, tmp_path)
    else:
        follow(title)


def follow_apart(title, folder):
    """Run in another process: MLflow leaves patches of the boosters, files and processes behind."""
    env = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(
            [str(PAGE.parents[1]), str(Path(__file__).parents[1] / "support")]
        ),
        "MLFLOW_TRACKING_URI": f"sqlite:///{folder}/mlflow.db",
        # MLflow would start a process that imports the model to list the libraries it needs.
        "MLFLOW_REQUIREMENTS_INFERENCE_TIMEOUT": "0",
        "MLFLOW_DISABLE_TELEMETRY": "true",
    }
    done = subprocess.run(
        [sys.executable, __file__, title], cwd=folder, env=env, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


# --- training -------------------------------------------------------------------------------------


@recipe("Optuna", "optuna", "optuna_integration")
def check_optuna(found):
    import optuna
    from optuna_integration import LightGBMPruningCallback, XGBoostPruningCallback

    for study in (found["study"], found["study_of_g"]):
        assert len(study.trials) == 2
        for trial in study.trials:
            assert trial.intermediate_values
            assert trial.state in (optuna.trial.TrialState.COMPLETE, optuna.trial.TrialState.PRUNED)
    best = found["ranker"].fit(TRAIN.X, TRAIN.y, TRAIN.qid)
    assert best.score(VALI.X, VALI.y, VALI.qid) == pytest.approx(
        found["study"].best_value, abs=1e-12
    )

    # Every value is below 2: the callbacks see the first and prune.
    for name in ("objective", "objective_of_g"):
        study = optuna.create_study(
            direction="maximize", pruner=optuna.pruners.ThresholdPruner(lower=2)
        )
        study.optimize(found[name], n_trials=1)
        assert study.trials[0].state is optuna.trial.TrialState.PRUNED
        assert list(study.trials[0].intermediate_values) == [0]

    trial = optuna.create_study(direction="maximize").ask()
    fit = {"eval_set": [(VALI.X, VALI.y)], "eval_qid": [VALI.qid]}
    with pytest.raises(
        ValueError, match=r'"valid_0" and the metric name "gap" is not found.*map-gap'
    ):
        LGBMGAPRanker(n_estimators=2, verbose=-1).fit(
            TRAIN.X, TRAIN.y, TRAIN.qid, callbacks=[LightGBMPruningCallback(trial, "gap")], **fit
        )
    with pytest.raises(KeyError, match="map-gap"):
        XGBGAPRanker(n_estimators=2, callbacks=[XGBoostPruningCallback(trial, "map-gap")]).fit(
            TRAIN.X, TRAIN.y, TRAIN.qid, **fit
        )


@recipe("LightGBMTuner", "optuna", "optuna_integration")
def check_tuner(found):
    import optuna
    from optuna_integration.lightgbm import LightGBMTuner

    for tuner in (found["tuner"], found["tuner_cv"]):
        assert tuner.study.direction is optuna.study.StudyDirection.MINIMIZE
        first, second = (trial.value for trial in tuner.study.trials)
        assert tuner.best_score == min(first, second) < max(first, second)
    booster, measure = found["tuner"].get_best_booster(), gb.GAP(g=(0.5, 0.5))
    value = gb.evaluate(measure, VALI.y, booster.predict(VALI.X), VALI.qid)[measure]
    assert found["tuner"].best_score == pytest.approx(1 - value, abs=1e-12)
    ranker = found["ranker"].fit(TRAIN.X, TRAIN.y, TRAIN.qid)
    assert ranker.n_estimators_ == booster.best_iteration
    assert ranker.score(VALI.X, VALI.y, VALI.qid) > 0.6

    params = {**found["params"], "metric": "ndcg", "eval_at": [10]}
    by_ndcg = LightGBMTuner(
        params, found["dataset"](TRAIN), valid_sets=[found["dataset"](VALI)], num_boost_round=3
    )
    by_ndcg.tune_feature_fraction(1)
    assert by_ndcg.study.direction is optuna.study.StudyDirection.MAXIMIZE
    assert by_ndcg.best_score == by_ndcg.get_best_booster().best_score["valid_0"]["ndcg@10"]

    # The trap: GAP itself, which its metric says is better when higher, is minimized.
    params, data = {**found["params"], "metric": "map-gap"}, found["dataset"](TRAIN)
    trap = LightGBMTuner(
        params, data, valid_sets=[data], feval=found["gap"], callbacks=[lightgbm.early_stopping(2)]
    )
    assert trap.study.direction is optuna.study.StudyDirection.MINIMIZE
    with pytest.raises((ValueError, lightgbm.basic.LightGBMError)):
        lightgbm.cv(
            found["params"],
            found["dataset"](TRAIN),
            num_boost_round=2,
            feval=found["gap_loss"],
            stratified=False,
        )


@recipe("FLAML and AutoGluon", "flaml")
def check_flaml(found):
    values = [result["ndcg@10"] for result in found["found"].results.values()]
    assert len(values) == 2
    measure = gb.nDCG(k=10)
    scores = found["ranker"].predict(VALI.X)
    assert max(values) == gb.evaluate(measure, VALI.y, scores, VALI.qid)[measure]


@recipe("MLflow", "mlflow", "sqlalchemy")
def check_mlflow(found):
    import mlflow

    check_autologging(found)
    for library in (mlflow.lightgbm, mlflow.xgboost):
        library.autolog(disable=True)
    data = mlflow.get_run(found["run"].info.run_id).data
    assert data.params["measure"] == "gap"
    assert data.params["g"] == "(0.4, 0.6)"
    assert data.params["trained_for"] == "LambdaRank(GAP(g=(0.4, 0.6)))"
    assert set(data.metrics) == {"vali_gap", "gap_g_0.4_0.6", "ndcg_at_10"}

    ranker = LGBMGAPRanker(g=(0.4, 0.6), n_estimators=20).fit(TRAIN.X, TRAIN.y, TRAIN.qid)
    assert data.metrics["gap_g_0.4_0.6"] == pytest.approx(ranker.score(TEST.X, TEST.y, TEST.qid))
    loaded = mlflow.sklearn.load_model(found["whole"].model_uri)
    assert loaded.measure_ == gb.GAP(g=(0.4, 0.6))
    native = mlflow.pyfunc.load_model(found["booster"].model_uri)
    for model in (loaded, native):
        npt.assert_array_equal(model.predict(TEST.X), ranker.predict(TEST.X))
    with (
        mlflow.start_run(),
        pytest.raises(mlflow.exceptions.MlflowException, match="Invalid value"),
    ):
        mlflow.log_metric(str(ranker.measure_), 0.5)
    check_diagnosis(found)
    check_evaluation(found)


def check_diagnosis(found):
    """The evaluator finds the ranker inside the model, and logs what its report holds."""
    import mlflow

    ranker = mlflow.sklearn.load_model(found["whole"].model_uri)
    test, train = (pd.DataFrame(data.X, columns=data.feature_names) for data in (TEST, TRAIN))
    report = gb.report(
        ranker, test, TEST.y, TEST.qid, X_train=train, y_train=TRAIN.y, qid_train=TRAIN.qid,
        measures=["gap", "ndcg@10"], ignore=["ties"],
    )  # fmt: skip
    means = report.values["value"]
    expected = {"gap_g_0.5_0.5": means["gap"], "ndcg_at_10": means["ndcg@10"], "checks_found": 0}
    diagnosis, run = found["diagnosis"], found["diagnosed"].info.run_id
    assert diagnosis.metrics == pytest.approx(expected)
    assert mlflow.get_run(run).data.metrics == diagnosis.metrics
    pd.testing.assert_frame_equal(
        diagnosis.artifacts["checks"].content, report.checks.reset_index()
    )
    page = diagnosis.artifacts["report"].content
    assert report.reasons[0]
    assert report.reasons[0] in page
    stored = Path(mlflow.artifacts.download_artifacts(run_id=run, artifact_path="report.html"))
    assert stored.read_text(encoding="utf-8") == page
    leak = found["frame"].assign(clicks=TEST.y)
    with mlflow.start_run():
        faulty = mlflow.models.evaluate(
            lambda X: X["clicks"], leak.rename(columns={"qid": "query"}), targets="grade",
            model_type="ranker", evaluators="gapboost", evaluator_config={"qid": "query"},
        )  # fmt: skip
    checks = faulty.artifacts["checks"].content.set_index("check")["status"]
    assert checks.index[checks == "found"][0] == "label-leak"
    with pytest.raises(mlflow.exceptions.MlflowException, match="checks_found"):
        mlflow.validate_evaluation_results(found["no_fault"], faulty)


def check_evaluation(found):
    """A metric of one's own gets the query ids, for a function and for a model."""
    import mlflow

    target, frame = gb.nDCG(k=10), found["frame"]
    expected = gb.evaluate(target, TEST.y, found["ranker"].predict(TEST.X), TEST.qid)[target]
    assert found["found"].metrics == {"ndcg_at_10": pytest.approx(expected)}
    assert mlflow.get_run(found["evaluated"].info.run_id).data.metrics == found["found"].metrics
    with mlflow.start_run():
        of_model = mlflow.models.evaluate(
            found["whole"].model_uri, frame, targets="grade", extra_metrics=[found["metric"]]
        )
    ranker = LGBMGAPRanker(g=(0.4, 0.6), n_estimators=20).fit(TRAIN.X, TRAIN.y, TRAIN.qid)
    values = gb.evaluate(target, TEST.y, ranker.predict(TEST.X), TEST.qid)
    assert of_model.metrics["ndcg_at_10"] == pytest.approx(values[target])
    too_much = {"ndcg_at_10": mlflow.models.MetricThreshold(threshold=0.99, greater_is_better=True)}
    with pytest.raises(mlflow.exceptions.MlflowException, match="ndcg_at_10"):
        mlflow.validate_evaluation_results(too_much, of_model)


@recipe("skore", "skore")
def check_skore(found):
    report, table = found["report"], found["summary"].frame().set_index("code")
    checks = gb.report(
        report.estimator_,
        TEST.X,
        TEST.y,
        TEST.qid,
        X_train=TRAIN.X,
        y_train=TRAIN.y,
        qid_train=TRAIN.qid,
    )
    assert not (checks.checks["status"] == "found").any()
    assert table.loc[checks.checks.index, "section"].tolist() == [
        status.replace(" ", "_") for status in checks.checks["status"]
    ]
    assert report.ml_task == "multiclass-classification"
    shared = found["EstimatorReport"](
        report.estimator, X_train=found["X"], y_train=TRAIN.y, X_test=found["X"], y_test=TRAIN.y
    )
    shared.checks.add([found["RankerCheck"](name, None) for name in checks.checks.index])
    sections = shared.checks.summarize(fast_mode=True).frame().set_index("code")["section"]
    assert sections["shared-queries"] == "issue"


def check_autologging(found):
    """Check what the page says about autologging."""
    import mlflow

    data = mlflow.get_run(found["autologged"].info.run_id).data
    assert "_ObjectiveFunctionWrapper object at" in data.params["objective"]
    assert not {"measure", "g"} & set(data.params)
    assert data.params["trained_for"] == "LambdaRank(GAP(g=(0.5, 0.5)))"
    assert (
        data.metrics["valid_0-map-gap"] == found["ranker"].evals_result_["valid_0"]["map-gap"][-1]
    )

    mlflow.xgboost.autolog()
    with mlflow.start_run() as started:
        ranker = XGBGAPRanker(n_estimators=5).fit(TRAIN.X, TRAIN.y, TRAIN.qid)
    recorded = mlflow.get_run(started.info.run_id)
    assert recorded.data.params["objective"] == "rank:ndcg"
    assert not {"measure", "g"} & set(recorded.data.params)
    (stored,) = recorded.outputs.model_outputs
    model = mlflow.pyfunc.load_model(f"models:/{stored.model_id}")
    npt.assert_array_equal(model.predict(TEST.X), ranker.predict(TEST.X))


@recipe("scikit-learn pipelines")
def check_pipelines(found):
    frame, scaled = found["frame"], found["scaled"]
    assert scaled.transform(frame).columns.tolist() == [*TRAIN.feature_names, "qid"]
    ranker = found["pipeline"][-1]
    assert (ranker.n_features_in_, ranker.n_queries_in_) == (TRAIN.n_features, TRAIN.n_queries)
    with pytest.raises(
        ValueError,
        match="X has a column 'remainder__qid', which is 'qid' renamed by a ColumnTransformer",
    ):
        ranker.fit(scaled.set_params(verbose_feature_names_out=True).fit_transform(frame), TRAIN.y)
    with pytest.raises(ValueError, match="qid is missing"):
        ranker.fit(scaled.set_output(transform="default").fit_transform(frame), TRAIN.y)


# --- looking into models --------------------------------------------------------------------------


@recipe("Permutation importance")
def check_permutation_importance(found):
    """And the trap: the model knows no qid, yet shuffling the column changes what is scored."""
    right = found["importance"].importances
    assert right.shape == (TEST.n_features, 3)
    assert right.max() > 0.05
    train, test = (
        pd.DataFrame(data.X, columns=data.feature_names).assign(qid=data.qid)
        for data in (TRAIN, TEST)
    )
    ranker = XGBGAPRanker(n_estimators=20).fit(train, TRAIN.y)
    trap = permutation_importance(ranker, test, TEST.y, n_repeats=3, random_state=0).importances
    npt.assert_allclose(trap[:-1], right, rtol=0, atol=1e-12)
    assert (np.abs(trap[-1]) > 1e-3).all()


@recipe("SHAP", "shap")
def check_shap(found):
    ranker, explainer, values = (found[name] for name in ("ranker", "explainer", "values"))
    assert values.shape == TRAIN.X.shape
    expected = ranker.predict(found["features"])
    npt.assert_allclose(values.sum(axis=1) + explainer.expected_value, expected, rtol=0, atol=1e-9)
    with pytest.raises(lightgbm.basic.LightGBMError, match=r"number of features in data \(24\)"):
        explainer.shap_values(found["frame"])


# --- exports --------------------------------------------------------------------------------------


def test_the_trees_after_the_best_one_are_dropped():
    """After early stopping, as the page says."""
    ranker = XGBGAPRanker(n_estimators=200, learning_rate=0.5, early_stopping_rounds=3)
    ranker.fit(TRAIN.X, TRAIN.y, TRAIN.qid, eval_set=[(VALI.X, VALI.y)], eval_qid=[VALI.qid])
    assert 0 < ranker.best_iteration_ < 190
    for booster in (
        gapboost.xgboost.exportable(ranker),
        ranker.to_vendor().get_booster(),
        ranker.get_booster(),
    ):
        assert len(booster.get_dump()) == ranker.best_iteration_


def leaf(tree, goes_left):
    """The leaf that a row reaches in a dump of LightGBM, XGBoost or Solr's trees."""
    while True:
        children = tree.get("children") or [
            tree.get("left_child", tree.get("left")),
            tree.get("right_child", tree.get("right")),
        ]
        if children[0] is None:
            return tree
        tree = children[0 if goes_left(tree) else 1]


@recipe("PyTerrier", "pyterrier")
def check_pyterrier(found):
    ranked = found["ranked"].set_index("docno").loc[[f"d{row}" for row in range(len(TEST.y))]]
    npt.assert_array_equal(ranked["score"], found["ranker"].predict(TEST.X))
    trained, untrained = (
        gb.evaluate("ap", TEST.y, s, TEST.qid)[gb.AP()] for s in (ranked["score"], 0 * TEST.y)
    )
    assert trained > untrained + 0.1


@recipe("Elasticsearch", "eland", es=lambda: MagicMock(_eland_es_version=(9, 2, 0)))
def check_elasticsearch(found):
    from eland.ml.transformers import get_model_transformer

    (sent,) = found["es"].ml.put_trained_model.call_args_list
    assert sent.kwargs["model_id"] == "gap"
    assert (
        len(sent.kwargs["inference_config"]["learning_to_rank"]["feature_extractors"])
        == TRAIN.n_features
    )
    definition = json.loads(gzip.decompress(base64.b64decode(sent.kwargs["compressed_definition"])))
    ensemble = definition["trained_model"]["ensemble"]
    assert ensemble["target_type"] == "regression"
    assert ensemble["aggregate_output"] == {"weighted_sum": {}}
    for data in (TRAIN, TEST):
        X = data.X[:200].astype(np.float32)
        npt.assert_allclose(
            elasticsearch_scores(ensemble, X.astype(np.float64)),
            found["ranker"].predict(X),
            rtol=0,
            atol=1e-5,
        )

    # Why thresholds are moved: as they are printed, documents of the training data go the other
    # way.
    X = TRAIN.X[:200].astype(np.float32)
    plain = xgboost.XGBRanker()
    plain.load_model(gapboost.xgboost.exportable(found["ranker"]).save_raw())
    plain.set_params(objective="rank:ndcg", base_score=0.0)
    printed = (
        get_model_transformer(plain, feature_names=TRAIN.feature_names)
        .transform()
        .to_dict()["ensemble"]
    )
    assert (
        np.abs(
            elasticsearch_scores(printed, X.astype(np.float64)) - found["ranker"].predict(X)
        ).max()
        > 0.01
    )

    with pytest.raises(NotImplementedError, match="LGBMRanker"):
        get_model_transformer(
            LGBMGAPRanker(n_estimators=1).fit(X, TRAIN.y[:200], TRAIN.qid[:200]).to_vendor()
        )


def elasticsearch_scores(ensemble, X):
    """Doubles, compared with thresholds as they were written."""

    def score(row):
        total = 0.0
        for model in ensemble["trained_models"]:
            nodes = {node["node_index"]: node for node in model["tree"]["tree_structure"]}
            node = nodes[0]
            while "leaf_value" not in node:
                assert node["decision_type"] == "lt"
                left = row[node["split_feature"]] < node["threshold"]
                node = nodes[node["left_child"] if left else node["right_child"]]
            total += np.sum(node["leaf_value"])
        return total

    return np.array([score(row) for row in X])


@recipe("treelite and tl2cgen", "treelite", "tl2cgen")
def check_treelite(found):
    npt.assert_array_equal(found["scores"], found["ranker"].predict(TEST.X))
    npt.assert_allclose(found["xgb_scores"], found["xgb_ranker"].predict(TEST.X), rtol=0, atol=1e-6)


def test_every_section_has_a_check():
    assert list(SECTIONS) == list(RECIPES)


if __name__ == "__main__":
    follow(sys.argv[1])
