"""Training on engines: Dask, Spark and Ray with two workers, beside the local ranker."""

import os
import shutil
import sys

import numpy as np
import pandas as pd
import pytest
import xgboost
from on_cluster import MEASURE, features, gap, ranking
from pages import claim

import gapboost as gb
from gapboost.xgboost import XGBGAPRanker, eval_metric, objective

pytestmark = pytest.mark.timeout(600)
TRAIN, VALI, TEST = ranking(150), ranking(40, 1), ranking(400, 2)
# Workers merge their bins, and order ties among their own rows.
CLOSE = 0.003


def locally(rounds):
    ranker = XGBGAPRanker(n_estimators=rounds, n_jobs=1)
    return ranker.fit(features(TRAIN), TRAIN.y, TRAIN.qid)


# --- Dask -----------------------------------------------------------------------------------------


def shuffled_apart():
    """Return the labels that two frames have after they were shuffled and computed apart."""
    dataframe = pytest.importorskip("dask.dataframe")
    rows = dataframe.from_pandas(TRAIN.reset_index(names="row"), npartitions=4)
    shuffled = rows.shuffle("qid")
    return shuffled[["row", "f0"]].compute().row, shuffled[["row", "y"]].compute().row


@claim("Dask", "differs", "without a client, `shuffle` puts labels on other rows if X and y are computed apart")
def test_shuffles_that_are_computed_apart():
    x, y = shuffled_apart()
    assert (x.to_numpy() != y.to_numpy()).mean() > 0.3
    distributed = pytest.importorskip("distributed")
    options = {"n_workers": 1, "threads_per_worker": 1, "processes": False}
    with distributed.LocalCluster(dashboard_address=None, **options) as cluster:
        with distributed.Client(cluster):
            x, y = shuffled_apart()
            np.testing.assert_array_equal(x, y)


@claim("Dask", "agrees", "two workers train nearly the local model, with exact metrics")
def test_dask_with_two_workers():
    distributed = pytest.importorskip("distributed")
    from dask import dataframe

    from gapboost.xgboost.dask import DaskXGBGAPRanker

    def on_dask(frame):
        return dataframe.from_pandas(frame, npartitions=2).shuffle("qid")

    names = [f"f{i}" for i in range(6)]
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster):
        train, vali = on_dask(TRAIN).persist(), on_dask(VALI).persist()
        ranker = DaskXGBGAPRanker(n_estimators=30)
        evaluation = {"eval_set": [(vali[names], vali.y)], "eval_qid": [vali.qid]}
        ranker.fit(train[names], train.y, qid=train.qid, **evaluation)
        model, reported = ranker.to_local(), ranker.evals_result_["validation_0"]["gap"]
    check(model, reported)


def check(model, reported):
    """Check GAP of unseen queries, and the last value that the training reported."""
    expected = gap(TEST, locally(len(reported)).predict(features(TEST)))
    assert gap(TEST, scores_of(model, TEST)) == pytest.approx(expected, abs=CLOSE)
    # XGBoost's sums of scores are in float32.
    assert reported[-1] == pytest.approx(gap(VALI, scores_of(model, VALI)), abs=2e-6)


def scores_of(model, frame):
    if isinstance(model, xgboost.Booster):
        return model.inplace_predict(features(frame))
    return model.predict(features(frame))


# --- Spark ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def spark():
    sql = pytest.importorskip("pyspark.sql")
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
    builder = sql.SparkSession.builder.master("local[2]")
    builder = builder.config("spark.driver.host", "127.0.0.1").config("spark.ui.enabled", "false")
    session = builder.config("spark.sql.shuffle.partitions", "2").getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


@claim("Spark", "agrees", "two tasks train nearly the local model, with exact metrics")
@pytest.mark.parametrize("ids", [int, "q{:03}".format], ids=["numbers", "text"])
def test_spark_with_two_tasks(spark, ids):
    from gapboost.xgboost.spark import SparkXGBGAPRanker

    rows = pd.concat([TRAIN.assign(valid=False), VALI.assign(valid=True, qid=VALI.qid + 1000)])
    rows = rows.sample(frac=1, random_state=0).astype({"y": float})
    rows["qid"] = [ids(i) for i in rows.qid]
    ranker = SparkXGBGAPRanker(
        measure=MEASURE,
        features_col=[f"f{i}" for i in range(6)],
        label_col="y",
        qid_col="qid",
        validation_indicator_col="valid",
        n_estimators=30,
        num_workers=2,
    )
    model = ranker.fit(spark.createDataFrame(rows))
    check(model.to_local(), model.training_summary.validation_objective_history["gap"])


@claim("Spark", "differs", "XGBoost's own ranker refuses query ids that are text")
def test_xgboosts_own_ranker_on_spark_refuses_text_as_query_ids(spark):
    from xgboost.spark import SparkXGBRanker

    rows = spark.createDataFrame(TRAIN.assign(qid=TRAIN.qid.map("q{:03}".format)).astype({"y": float}))
    ranker = SparkXGBRanker(
        features_col=[f"f{i}" for i in range(6)], label_col="y", qid_col="qid", num_workers=2
    )
    with pytest.raises(Exception, match="qid|query|string|str"):
        ranker.fit(rows)


# --- Ray ------------------------------------------------------------------------------------------

PARAMETERS = {
    "base_score": 0.0,
    "disable_default_eval_metric": 1,
    "reg_lambda": 5.0,
    "tree_method": "hist",
    "nthread": 1,
}
ROUNDS = 30


def matrix(frame):
    data = xgboost.DMatrix(features(frame), frame.y, nthread=1)
    data.set_group(frame.groupby("qid", sort=False).size())
    return data


def work(config):
    """Train on every second query, in one of two workers of Ray."""
    import ray.train

    def mine(frame):
        return matrix(frame[frame.qid % 2 == ray.train.get_context().get_world_rank()])

    history = {}
    booster = xgboost.train(
        PARAMETERS,
        mine(TRAIN),
        ROUNDS,
        evals=[(mine(VALI), "vali")],
        obj=objective("gap"),
        custom_metric=eval_metric("gap"),
        evals_result=history,
        verbose_eval=False,
    )
    found = {"reported": history["vali"]["map-gap"], "model": bytes(booster.save_raw("json"))}
    (config["folder"] / f"{ray.train.get_context().get_world_rank()}.json").write_bytes(found["model"])
    ray.train.report({"reported": found["reported"]})


@claim("Ray Train", "agrees", "`XGBoostTrainer` with two workers trains nearly the local model, with exact metrics")
def test_ray_with_two_workers(tmp_path, monkeypatch):
    ray = pytest.importorskip("ray")
    from ray.train import RunConfig, ScalingConfig
    from ray.train.xgboost import XGBoostTrainer

    monkeypatch.setenv("RAY_TRAIN_V2_ENABLED", "1")
    paths = os.pathsep.join(path for path in sys.path if path)
    ray.init(
        num_cpus=2,
        include_dashboard=False,
        object_store_memory=2**27,
        runtime_env={"env_vars": {"PYTHONPATH": paths, "OMP_NUM_THREADS": "1"}},
    )
    try:
        trainer = XGBoostTrainer(
            work,
            train_loop_config={"folder": tmp_path},
            scaling_config=ScalingConfig(num_workers=2, resources_per_worker={"CPU": 1}),
            run_config=RunConfig(storage_path=str(tmp_path / "runs")),
        )
        reported = trainer.fit().metrics["reported"]
    finally:
        ray.shutdown()
    models = [xgboost.Booster(model_file=tmp_path / f"{rank}.json") for rank in (0, 1)]
    np.testing.assert_array_equal(*(scores_of(model, TEST) for model in models))
    check(models[0], reported)
    assert gb.evaluate("gap", VALI.y, scores_of(models[0], VALI), VALI.qid)["gap"] == pytest.approx(
        reported[-1], abs=2e-6
    )
