"""Training on engines: Dask, Spark and Ray with two workers, beside the local ranker."""

import importlib
import json
import os
import shutil
import sys

import numpy as np
import pandas as pd
import pytest
import xgboost
from on_cluster import MEASURE, features, gap, ranking
from pages import claim

from gapboost.preprocessing import query_relative_features
from gapboost.xgboost import XGBGAPRanker, eval_metric, objective

pytestmark = pytest.mark.timeout(600)
TRAIN, VALI, TEST = ranking(150), ranking(40, 1), ranking(400, 2)
NAMES = [f"f{i}" for i in range(6)]
ROUNDS = 30
NEARLY = "{}: GAP within .003 of the local model, exact metrics"


def locally(rounds):
    ranker = XGBGAPRanker(n_estimators=rounds, n_jobs=1)
    return ranker.fit(features(TRAIN), TRAIN.y, TRAIN.qid, base_margin=TRAIN.start)


def scores_of(model, frame):
    if isinstance(model, xgboost.Booster):
        return model.inplace_predict(features(frame))
    return model.predict(features(frame))


def check(model, reported):
    """Check GAP of unseen queries, and the value that the training reported last.

    All start at scores without ties: workers order ties among their own rows.
    """
    expected = gap(TEST, scores_of(locally(ROUNDS), TEST))
    assert gap(TEST, scores_of(model, TEST)) == pytest.approx(expected, abs=0.003)
    assert len(reported) == ROUNDS
    # XGBoost adds up scores in float32.
    assert reported[-1] == pytest.approx(gap(VALI, scores_of(model, VALI)), abs=2e-6)


# --- Dask -----------------------------------------------------------------------------------------


def shuffled_apart():
    """Return the labels that two frames have after they were shuffled and computed apart."""
    dataframe = pytest.importorskip("dask.dataframe")
    rows = dataframe.from_pandas(TRAIN.reset_index(names="row"), npartitions=8)
    shuffled = rows.shuffle("qid")
    return shuffled[["row", "f0"]].compute().row, shuffled[["row", "y"]].compute().row


@claim(
    "Dask",
    "differs",
    "without a client, X and y that are shuffled and computed apart do not match",
)
def test_shuffles_that_are_computed_apart():
    # Rows come in the order in which threads end: two computations may happen to agree.
    pairs = [shuffled_apart() for _ in range(5)]
    assert max((x.to_numpy() != y.to_numpy()).mean() for x, y in pairs) > 0.3
    distributed = pytest.importorskip("distributed")
    options = {"n_workers": 1, "threads_per_worker": 1, "processes": False}
    cluster = distributed.LocalCluster(dashboard_address=None, **options)
    with cluster, distributed.Client(cluster):
        np.testing.assert_array_equal(*shuffled_apart())


@claim("Dask", "agrees", NEARLY.format("two workers"))
def test_dask_with_two_workers():
    distributed = pytest.importorskip("distributed")
    from dask import dataframe

    from gapboost.xgboost.dask import DaskXGBGAPRanker

    def on_dask(frame):
        return dataframe.from_pandas(frame, npartitions=2).shuffle("qid")

    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster):
        train, vali = on_dask(TRAIN).persist(), on_dask(VALI).persist()
        given = {"qid": train.qid, "base_margin": train.start}
        given |= {"eval_set": [(vali[NAMES], vali.y)], "eval_qid": [vali.qid]}
        ranker = DaskXGBGAPRanker(n_estimators=ROUNDS).fit(train[NAMES], train.y, **given)
        model, reported = ranker.to_local(), ranker.evals_result_["validation_0"]["gap"]
    check(model, reported)


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


def on_spark(spark, ids):
    """Return rows in random order; initial scores of validation rows are 0."""
    vali = VALI.assign(valid=True, qid=VALI.qid + 1000, start=0.0)
    rows = pd.concat([TRAIN.assign(valid=False), vali]).sample(frac=1, random_state=0)
    rows = rows.assign(qid=[ids(i) for i in rows.qid]).astype({"y": float})
    columns = importlib.import_module("pyspark.sql.functions").array(*NAMES)
    return spark.createDataFrame(rows).withColumn("features", columns)


def spark_ranker(**given):
    from gapboost.xgboost.spark import SparkXGBGAPRanker

    columns = {"features_col": "features", "label_col": "y", "qid_col": "qid"}
    columns |= {"base_margin_col": "start", "validation_indicator_col": "valid", **given}
    return SparkXGBGAPRanker(measure=MEASURE, n_estimators=ROUNDS, num_workers=2, **columns)


@claim("Spark", "agrees", NEARLY.format("two tasks"))
@pytest.mark.parametrize("ids", [int, "q{:04}".format], ids=["numbers", "text"])
def test_spark_with_two_tasks(spark, ids):
    model = spark_ranker().fit(on_spark(spark, ids))
    check(model.to_local(), model.training_summary.validation_objective_history["gap"])


@claim("Spark", "differs", "a list as `features_col` fails beside validation rows")
def test_a_list_of_columns_fails_on_batches_without_validation_rows(spark):
    """In XGBoost: a batch without such rows has no column of arrays."""
    with pytest.raises(Exception, match="KeyError: 'values'"):
        spark_ranker(features_col=NAMES).fit(on_spark(spark, int))


def test_features_within_queries_by_map_in_pandas(spark):
    """Whole queries are in one partition, which arrives in several batches."""
    spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "50")

    def added(parts):
        parts = list(parts)
        table = query_relative_features(pd.concat(parts))
        yield table.assign(batches=len(parts))[["f0_zscore_in_query", "row", "batches"]]

    columns = TRAIN[["f0", "qid"]].reset_index(names="row")
    frame = spark.createDataFrame(columns.sample(frac=1, random_state=0)).repartition("qid")
    found = frame.mapInPandas(added, "f0_zscore_in_query double, row long, batches long").toPandas()
    expected = query_relative_features(columns).set_index("row").f0_zscore_in_query
    assert found.batches.max() > 1
    values = found.set_index("row").f0_zscore_in_query.sort_index()
    # Rows come in another order, so that sums are rounded differently.
    np.testing.assert_allclose(values, expected, rtol=0, atol=1e-12)


# --- Ray ------------------------------------------------------------------------------------------

PARAMETERS = {
    "base_score": 0.0,
    "disable_default_eval_metric": 1,
    "reg_lambda": 5.0,
    "max_depth": 5,
    "nthread": 1,
}


def matrix(frame, **given):
    data = xgboost.DMatrix(features(frame), frame.y, nthread=1, **given)
    data.set_group(frame.groupby("qid", sort=False).size())
    return data


def train_on_ray(folder):
    """Train on every second query, in one of two workers."""
    rank, history = ray_context().get_world_rank(), {}
    train, vali = (frame[frame.qid % 2 == rank] for frame in (TRAIN, VALI))
    booster = xgboost.train(
        PARAMETERS,
        matrix(train, base_margin=train.start),
        ROUNDS,
        evals=[(matrix(vali), "vali")],
        obj=objective("gap"),
        custom_metric=eval_metric("gap"),
        evals_result=history,
        verbose_eval=False,
    )
    booster.save_model(folder / f"{rank}.json")
    (folder / f"{rank}.txt").write_text(json.dumps(history["vali"]["map-gap"]))


def ray_context():
    return importlib.import_module("ray.train").get_context()


@claim("Ray Train, `XGBoostTrainer`", "agrees", NEARLY.format("two workers"))
def test_ray_with_two_workers(tmp_path, monkeypatch):
    ray = pytest.importorskip("ray")
    train = importlib.import_module("ray.train")
    trainers = importlib.import_module("ray.train.xgboost")
    monkeypatch.setenv("RAY_TRAIN_V2_ENABLED", "1")
    paths = {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    resources = {"num_cpus": 2, "object_store_memory": 2**27, "include_dashboard": False}
    ray.init(runtime_env={"env_vars": paths}, **resources)
    try:
        trainers.XGBoostTrainer(
            train_on_ray,
            train_loop_config=tmp_path,
            scaling_config=train.ScalingConfig(num_workers=2),
            run_config=train.RunConfig(storage_path=str(tmp_path / "runs")),
        ).fit()
    finally:
        ray.shutdown()
    models = [xgboost.Booster(model_file=tmp_path / f"{rank}.json") for rank in (0, 1)]
    reported = [json.loads((tmp_path / f"{rank}.txt").read_text()) for rank in (0, 1)]
    np.testing.assert_array_equal(*(scores_of(model, TEST) for model in models))
    assert reported[0] == reported[1]
    check(models[0], reported[0])
