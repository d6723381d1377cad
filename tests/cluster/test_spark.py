"""The ranker on Spark: what the local one does, however rows are cut, shuffled and named."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import entry_points
import numpy as np
import numpy.testing as npt
import pandas as pd
import pytest
import xgboost
from blocks import run, sections
from collections_on_disk import real
from pyspark import SparkConf, cloudpickle
from pyspark.ml import Pipeline, PipelineModel
from pyspark.ml.feature import VectorAssembler
from pyspark.ml.tuning import CrossValidator, ParamGridBuilder, TrainValidationSplit
from pyspark.sql import Window
from pyspark.sql import functions as F
from spark_session import FEATURES, ranking, session
from xgboost.spark import SparkXGBRankerModel

import gapboost as gb
import gapboost._data.grades
import gapboost.datasets
from gapboost.datasets import load_digits_ranking, load_letor
from gapboost.preprocessing import query_relative_features as local_features
from gapboost.spark import (
    RankingMeasureEvaluator,
    SparkXGBGAPRanker,
    SparkXGBGAPRankerModel,
    query_folds,
    query_relative_features,
)
from gapboost.xgboost import XGBGAPRanker

# Each test has a limit of its own: a hang is a failure. What Spark 3.5 warns of on today's Python
# is not ours.
pytestmark = [pytest.mark.spark, pytest.mark.timeout(300), pytest.mark.filterwarnings("default")]

FRAME = ranking()


@pytest.fixture(scope="module")
def spark():
    running = session()
    yield running
    running.stop()


@pytest.fixture(scope="module")
def data(spark):
    """Three partitions that cut the queries."""
    return spark.createDataFrame(FRAME).repartition(3, F.rand(0)).cache()


def ranker(**parameters):
    return SparkXGBGAPRanker(
        **{"qid_col": "qid", "features_col": FEATURES, "n_estimators": 8, **parameters}
    )


def local(rows, valid=None, label="label", **parameters):
    beside = {
        name: parameters.pop(name) for name in ("sample_weight", "position") if name in parameters
    }
    evals = {}
    if valid is not None:
        sets = [(rows[FEATURES], rows.label), (valid[FEATURES], valid.label)]
        evals = {"eval_set": sets, "eval_qid": [rows.qid, valid.qid]}
    found = XGBGAPRanker(**{"n_estimators": 8, "n_jobs": 1, **parameters})
    return found.fit(rows[FEATURES], rows[label], rows.qid, **evals, **beside)


def trees(model):
    return model.get_booster().get_dump(with_stats=True)


def scores(model, data):
    return model.transform(data).select("qid", "label", "prediction", "weight", "valid").toPandas()


# --- the same model, the same metrics -------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameters", "beside"),
    [
        ({}, {}),
        ({"measure": "ndcg@5", "objective": "approxrank"}, {}),
        ({"measure": gb.GAP(g=(0.7, 0.3)) + gb.AP()}, {"weight_col": "weight"}),
        ({"lambdarank_position_bias_regularization": 0.5}, {"position_col": "position"}),
        ({"objective": "softrank"}, {"weight_col": "own weight", "label_col": "real"}),
    ],
    ids=["default", "objective", "weights", "positions", "real grades, weights of documents"],
)
def test_one_worker_trains_the_trees_of_the_local_ranker(data, parameters, beside):
    rows = data.toPandas()
    model = ranker(**parameters, **beside).fit(data)
    columns = {"weight_col": "sample_weight", "position_col": "position"}
    given = {columns[name]: rows[column] for name, column in beside.items() if name in columns}
    alone = local(rows, label=beside.get("label_col", "label"), **parameters, **given)
    assert trees(model) == trees(alone)
    assert model.objective_ == alone.objective_
    assert model.position_bias_ == alone.position_bias_
    npt.assert_array_equal(scores(model, data).prediction, alone.predict(rows[FEATURES]))


@pytest.mark.parametrize(
    ("n_workers", "label", "weight"),
    [(1, "label", "weight"), (2, "real", "own weight"), (4, "label", "own weight")],
)
def test_metrics_are_those_of_the_collected_predictions(data, n_workers, label, weight):
    stopped = {"n_estimators": 40, "early_stopping_rounds": 3, "learning_rate": 0.1, "max_depth": 3}
    model = ranker(
        label_col=label,
        validation_indicator_col="valid",
        weight_col=weight,
        eval_metric=["ndcg@5"],
        num_workers=n_workers,
        **stopped,
    ).fit(data)
    course = model.training_summary.validation_objective_history["map-gap"]
    best = model.best_iteration_
    assert course[best - 1] == max(course)
    assert len(course) == min(best + 3, 40)
    predicted = model.transform(data).toPandas()
    for part, history in (
        (predicted[~predicted.valid], model.training_summary.train_objective_history),
        (predicted[predicted.valid], model.training_summary.validation_objective_history),
    ):
        of_part = part[label], part.prediction, part.qid
        values = gb.evaluate(
            [model.measure_, "ndcg@5"], *of_part, sample_weight=part[weight]
        ).values()
        assert list(values) == pytest.approx(
            [history["map-gap"][best - 1], history["ndcg@5"][best - 1]], abs=2e-6
        )
    if n_workers == 1:
        named = ranker(
            label_col=label,
            validation_indicator_col="valid",
            weight_col=weight,
            eval_metric=["ndcg@5"],
            stopping_metric=gb.nDCG(k=5),
            **stopped,
        ).fit(data)
        by_ndcg = named.training_summary.validation_objective_history["ndcg@5"]
        assert by_ndcg[named.best_iteration_ - 1] == max(by_ndcg)
        rows = data.toPandas()
        kept = rows[~rows.valid]
        assert trees(model) == trees(
            XGBGAPRanker(n_jobs=1, eval_metric=["ndcg@5"], **stopped).fit(
                kept[FEATURES],
                kept.label,
                kept.qid,
                kept.weight,
                eval_set=(rows[rows.valid][FEATURES], rows[rows.valid].label),
                eval_qid=rows[rows.valid].qid,
                sample_weight_eval_set=rows[rows.valid].weight,
            )
        )


def collection(path, n_queries):
    """A frame of a real collection: features, label, query ids as strings, one of five folds."""
    parts = [load_letor(path / f"{part}.txt.gz") for part in ("train", "vali", "test")]
    frame = pd.concat(
        [
            pd.DataFrame(part.X, columns=[f"x{i}" for i in range(part.X.shape[1])]).assign(
                label=part.y, qid=[f"query {q}" for q in part.qid]
            )
            for part in parts
        ],
        ignore_index=True,
    )
    number = pd.factorize(frame.qid)[0]
    return frame.assign(fold=number % 5)[number < n_queries]


@pytest.mark.parametrize("path", [real("ohsumed/Fold1")])
def test_a_real_collection_ranks_as_locally(spark, path):
    """Rows are shuffled and partitions cut every query.

    The difference from the local ranking is within three standard errors.
    """
    rows = collection(path, 200).sample(frac=1.0, random_state=0)
    rows["valid"] = rows.fold == 3
    table = spark.createDataFrame(rows).repartition(4, F.rand(0)).cache()
    placed = table.withColumn("partition", F.spark_partition_id()).groupBy("qid")
    held = placed.agg(F.countDistinct("partition").alias("n"), F.count("*").alias("size"))
    assert held.where("n = 1 and size > 6").count() == 0
    names = [name for name in rows.columns if name.startswith("x")]
    parameters = {"n_estimators": 30, "learning_rate": 0.1, "max_depth": 4}
    model = ranker(
        features_col=names,
        validation_indicator_col="valid",
        num_workers=2,
        g=(0.5, 0.5),
        **parameters,
    ).fit(table.where("fold < 4"))
    predicted = model.transform(table).toPandas()
    learnt = predicted[predicted.fold < 3]
    values = gb.evaluate(model.measure_, learnt.label, learnt.prediction, learnt.qid).values()
    assert list(values) == pytest.approx(
        model.training_summary.train_objective_history["map-gap"][-1:], abs=2e-6
    )
    alone = XGBGAPRanker(g=(0.5, 0.5), n_jobs=1, **parameters).fit(
        learnt[names], learnt.label, learnt.qid
    )
    test = predicted[predicted.fold == 4]
    here, there = (
        gb.evaluate(model.measure_, test.label, scores, test.qid, per_query=True)[model.measure_]
        for scores in (test.prediction, alone.predict(test[names]))
    )
    difference = here - there
    assert abs(difference.mean()) <= 3 * difference.std(ddof=1) / np.sqrt(len(difference))
    assert (
        there.mean()
        > gb.evaluate(model.measure_, test.label, np.zeros(len(test)), test.qid)[model.measure_]
        + 0.05
    )


def test_ids_and_partitions_change_nothing(spark):
    """Long ids that a float would merge; one worker has the rows of each id together."""
    number = FRAME.qid.str.split().str[1].astype(int)
    longs = (
        spark.createDataFrame(FRAME.assign(qid=2**53 + number)).repartition(3, F.rand(1)).cache()
    )
    model = ranker(num_workers=2).fit(longs)
    strings = longs.withColumn("qid", F.concat(F.lit("q"), F.col("qid").cast("string")))
    assert model.to_local().n_queries_in_ == 60
    rows = longs.toPandas()
    alone = local(rows)
    assert trees(ranker().fit(longs)) == trees(alone) == trees(ranker().fit(strings))


@pytest.mark.parametrize("divide", ["window", "repartition"])
def test_rows_that_are_divided_by_query_already(data, divide):
    """Rows are divided by query into as many partitions as workers.

    Spark would leave out the repartition of the fit, and merge these partitions.
    """
    n_workers = int(data.sparkSession.conf.get("spark.sql.shuffle.partitions"))
    if divide == "window":
        divided = data.withColumn("mean", F.avg("weight").over(Window.partitionBy("qid")))
    else:
        divided = data.repartition("qid")
    assert divided.rdd.getNumPartitions() < n_workers
    model = ranker(num_workers=n_workers, n_estimators=2).fit(divided)
    assert model.to_local().n_queries_in_ == 60


def test_features_as_vectors_arrays_and_sparse(data):
    vectors = VectorAssembler(inputCols=FEATURES, outputCol="features").transform(data)
    arrays = data.withColumn("features", F.array(*FEATURES))
    rows = data.toPandas()
    alone = XGBGAPRanker(n_estimators=8, n_jobs=1).fit(
        rows[FEATURES].to_numpy(), rows.label, rows.qid
    )
    for table in (vectors, arrays):
        assert trees(ranker(features_col="features").fit(table)) == trees(alone)
    sparse = ranker(features_col="features", enable_sparse_data_optim=True, missing=0.0)
    # A batch without validation rows is no error, as it is in XGBoost.
    indicated = vectors.withColumn("valid", F.col("qid") == "query 7")
    model = sparse.copy({sparse.validationIndicatorCol: "valid", sparse.num_workers: 2}).fit(
        indicated
    )
    assert len(model.training_summary.validation_objective_history["map-gap"]) == 8


# --- parameters, files, searches ------------------------------------------------------------------


def test_saves_and_loads(data, tmp_path):
    measure = gb.GAP(g=(0.6, 0.4)) + 0.5 * gb.nDCG(k=5)
    estimator = ranker(
        measure=measure, n_estimators=3, eval_metric=[gb.AP(), "ndcg@5"], position_col="position"
    )
    estimator.write().overwrite().save(str(tmp_path / "ranker"))
    again = SparkXGBGAPRanker.load(str(tmp_path / "ranker"))
    there, here = (
        {p.name: v for p, v in one.extractParamMap().items()} for one in (again, estimator)
    )
    assert repr(sorted(there.items())) == repr(sorted(here.items()))  # NaN is not equal to itself
    model = again.fit(data)
    assert model.measure_ == measure
    Pipeline(stages=[estimator]).fit(data).write().overwrite().save(str(tmp_path / "pipeline"))
    loaded = PipelineModel.load(str(tmp_path / "pipeline")).stages[0]
    assert isinstance(loaded, SparkXGBGAPRankerModel)
    assert loaded.measure_ == measure
    npt.assert_array_equal(scores(loaded, data).prediction, scores(model, data).prediction)
    model.to_local().save_model(tmp_path / "model.json")
    there = XGBGAPRanker()
    there.load_model(tmp_path / "model.json")
    assert there.measure_ == measure
    vendor = model.to_vendor()
    assert type(vendor) is SparkXGBRankerModel
    vendor.write().overwrite().save(str(tmp_path / "vendor"))
    vendor = SparkXGBRankerModel.load(str(tmp_path / "vendor"))
    npt.assert_array_equal(scores(vendor, data).prediction, scores(model, data).prediction)


def test_folds_have_whole_queries(data):
    folds = (
        query_folds(data, 2)
        .groupBy("qid")
        .agg(F.collect_set("fold").alias("folds"))
        .toPandas()
        .folds
    )
    assert sorted(set(map(tuple, folds))) == [(0,), (1,)]


def test_a_grid_holds_measures(data):
    estimator = ranker(n_estimators=2)
    grid = (
        ParamGridBuilder()
        .addGrid(estimator.measure, ["gap", gb.nDCG(k=5)])
        .addGrid(estimator.g, [None])
        .build()
    )
    assert [model.measure_ for model in estimator.fit(data, grid)] == [
        gb.GAP(g=(0.5, 0.5)),
        gb.nDCG(k=5),
    ]


@pytest.mark.parametrize("search", [CrossValidator, TrainValidationSplit])
def test_searches_that_divide_queries_are_errors(data, search):
    estimator, evaluator = ranker(n_estimators=2), RankingMeasureEvaluator()
    grid = ParamGridBuilder().addGrid(estimator.g, [None]).build()
    with pytest.raises(
        ValueError, match=rf"^{search.__name__} divides the rows at random.*query_folds"
    ):
        search(estimator=estimator, estimatorParamMaps=grid, evaluator=evaluator).fit(data)


def test_the_evaluator_refuses_a_part_that_divides_queries(data):
    part = data.withColumn("prediction", F.col("b")).withColumn(
        "CrossValidator_0123456789ab_rand", F.rand(0)
    )
    with pytest.raises(ValueError, match=r"^CrossValidator divides the rows at random"):
        RankingMeasureEvaluator().evaluate(part)


def test_evaluator_and_folds_have_the_columns_of_the_ranker(data):
    names = {
        "qid_col": "query",
        "label_col": "grade",
        "weight_col": "weight",
        "prediction_col": "score",
    }
    renamed = data.withColumnRenamed("qid", "query").withColumnRenamed("label", "grade")
    estimator = ranker(**names)
    predicted = renamed.withColumn("score", F.col("b"))
    assert estimator.evaluator("ndcg@5").evaluate(predicted) == RankingMeasureEvaluator(
        measure="ndcg@5", **names
    ).evaluate(predicted)
    folds = estimator.query_folds(renamed, 3, fold_col="part", random_state=1)
    assert (
        folds.collect()
        == query_folds(renamed, 3, qid_col="query", fold_col="part", random_state=1).collect()
    )


def test_metrics_by_the_names_of_xgboost(data):
    model = ranker(
        n_estimators=2, eval_metric=["ndcg@5-", "pre@3"], validation_indicator_col="valid"
    ).fit(data)
    assert {"ndcg@5", "precision@3"} < set(model.training_summary.validation_objective_history)


def test_warnings_at_the_driver_name_the_line_of_the_user(data, monkeypatch):
    monkeypatch.setattr(gapboost._data.grades, "MANY_GRADES", 4)
    of_grades, graded = (
        r"^label_col 'real' .* different values",
        {"label_col": "real", "g": (0.5, 0.5)},
    )
    with pytest.warns(UserWarning, match=of_grades) as of_fit:
        ranker(**graded, n_estimators=1, validation_indicator_col="valid").fit(data)
    with pytest.warns(UserWarning, match=of_grades) as of_evaluator:
        RankingMeasureEvaluator(**graded).evaluate(data.withColumn("prediction", F.col("b")))
    told = [
        warning
        for warning in (*of_fit, *of_evaluator)
        if "different values" in str(warning.message)
    ]
    assert [str(warning.message).partition(" different")[0] for warning in told] == [
        "label_col 'real' holds 5",
        "label_col 'real' of the validation rows holds 5",
        "label_col 'real' holds 5",
    ]
    assert {warning.filename for warning in told} == {__file__}


@pytest.mark.parametrize("measure", ["gap", gb.nDCG(k=3), "ap"])
def test_the_evaluator_is_evaluate(data, measure, tmp_path):
    predicted = data.withColumn("prediction", F.round("b"))  # ties
    evaluator = RankingMeasureEvaluator(measure=measure, weight_col="weight")
    evaluator.save(str(tmp_path / "evaluator"))
    rows = predicted.toPandas()
    (expected,) = gb.evaluate(
        measure, rows.label, rows.prediction, rows.qid, sample_weight=rows.weight
    ).values()
    assert RankingMeasureEvaluator.load(str(tmp_path / "evaluator")).evaluate(
        predicted
    ) == pytest.approx(expected)
    assert evaluator.isLargerBetter()


def blocks_of_guide(title):
    page = Path(__file__).parents[2] / "docs" / "guide" / "spark.md"
    (section,) = (section for section in sections(page) if section.title == title)
    return section.of("python")


def test_the_page_of_the_guide(spark):
    table = VectorAssembler(inputCols=FEATURES, outputCol="features").transform(
        spark.createDataFrame(FRAME).withColumnRenamed("valid", "is_validation")
    )
    few = {"n_estimators=500": "n_estimators=5", "num_workers=8": "num_workers=2"}
    names = run(
        blocks_of_guide("Train on Spark"), {"frame": table, "new": table, "test": table}, few
    )
    assert names["model"].g_ == (0.5, 0.5)


def test_the_tutorial_of_the_guide(spark, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(
        gapboost.datasets, "load_digits_ranking", lambda: load_digits_ranking((36, 20, 20), 16)
    )
    fewer = {"n_estimators=40": "n_estimators=5", "[[0.3, 0.7], [0.7, 0.3]]": "[[0.3, 0.7]]"}
    names = run(blocks_of_guide("Try it on one machine"), None, fewer)
    assert (tmp_path / "model.json").exists()
    assert names["best"].measure_ == gb.GAP(g=(0.3, 0.7))


# --- query-relative features ----------------------------------------------------------------------


@pytest.fixture(scope="module")
def mixed(spark):
    """Columns of several types, missing values, and partitions that cut the queries."""
    rng = np.random.default_rng(3)
    frame = FRAME.assign(
        row=range(len(FRAME)), count=rng.integers(0, 9, len(FRAME)), **{"in.line": FRAME.b * 0.37}
    )
    frame.loc[::6, "a"] = np.nan
    rows = spark.createDataFrame(frame).repartition(3, F.rand(0))
    rows = rows.withColumn("count", F.when(F.col("row") % 7 > 0, F.col("count")))
    return VectorAssembler(inputCols=["b", "d"], outputCol="vector").transform(rows).cache()


@pytest.mark.parametrize("partitions", [None, 2])
@pytest.mark.parametrize(
    ("columns", "kinds", "kind"),
    [
        (["a", "d"], ["zscore"], "float"),
        (["count", "a", "in.line"], ["rank", "zscore"], "double"),
    ],
    ids=["floats", "several types"],
)
def test_query_relative_features_are_those_of_one_table(mixed, partitions, columns, kinds, kind):
    rows = mixed if partitions is None else mixed.coalesce(partitions)
    found = query_relative_features(rows, columns, kinds=kinds)
    added = [f"{name}_{kind}_in_query" for kind in kinds for name in columns]
    assert found.columns == [*mixed.columns, *added]
    assert [found.schema[name].dataType.simpleString() for name in added] == [kind] * len(added)
    table = rows.toPandas().astype({"count": float})
    expected = (
        local_features(table[columns], table.qid, kinds=kinds).set_index(table.row).sort_index()
    )
    given = found.toPandas().set_index("row").sort_index()
    pd.testing.assert_frame_equal(given[added], expected[added], check_exact=True)
    assert given[added].isna().to_numpy().any()
    kept = mixed.toPandas().set_index("row").sort_index()
    pd.testing.assert_frame_equal(given[kept.columns], kept)


def test_a_ranker_takes_query_relative_features(mixed):
    rows = query_relative_features(mixed, ["b", "d"])
    names = ["b", "d", "b_zscore_in_query", "d_zscore_in_query"]
    model = ranker(features_col=names).fit(rows)
    predicted = model.transform(rows).toPandas()
    npt.assert_array_equal(predicted.prediction, model.to_local().predict(predicted[names]))


def test_query_relative_features_refuse_unusable_arguments(mixed):
    with pytest.raises(
        ValueError, match=r"^features_col is 'a'; expected a list of names of columns"
    ):
        query_relative_features(mixed, "a")
    with pytest.raises(ValueError, match=r"^features_col is 'z'; expected the name of one column"):
        query_relative_features(mixed, ["z"])
    with pytest.raises(
        ValueError, match=r"^features_col 'vector' is of type vector; expected integers"
    ):
        query_relative_features(mixed, ["vector"])
    with pytest.raises(ValueError, match=r"^qid_col is 'query'; expected the name of one column"):
        query_relative_features(mixed, ["a"], qid_col="query")
    with pytest.raises(ValueError, match=r"^kinds is \('mean',\); expected a list with"):
        query_relative_features(mixed, ["a"], kinds=("mean",))
    with pytest.raises(
        ValueError, match=r"^the data frame has a column 'a_zscore_in_query' already"
    ):
        query_relative_features(query_relative_features(mixed, ["a"]), ["a"])


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        (
            "qid",
            None,
            "qid_col 'qid' holds missing values .null, NaN.; expected a query id in every row",
        ),
        ("in.line", float("inf"), "X holds an infinite value in the column 'in.line'"),
    ],
)
def test_query_relative_features_refuse_unusable_values(mixed, column, value, message):
    kind = mixed.schema[column].dataType
    bad = mixed.withColumn(
        column, F.when(F.col("row") != 5, F.col(f"`{column}`")).otherwise(F.lit(value).cast(kind))
    )
    with pytest.raises(Exception, match=message):
        query_relative_features(bad, ["in.line"]).collect()


# --- what goes wrong ------------------------------------------------------------------------------


def first(column, value):
    """FRAME with another value in the first row."""
    changed = FRAME.astype({column: object})
    changed.loc[0, column] = value
    return changed


def arrays(value):
    """FRAME with its features as arrays, with another value in the first row."""
    return FRAME.assign(array=[value, *FRAME[FEATURES].to_numpy().tolist()[1:]])


STOPPED_EARLY = {"early_stopping_rounds": 2, "validation_indicator_col": "valid"}


@pytest.mark.parametrize(
    ("change", "parameters", "message"),
    [
        (lambda: first("qid", None), {}, "qid"),
        (lambda: FRAME.assign(label=FRAME.label - 1), {}, "negative grade"),
        (lambda: FRAME.assign(label=FRAME.label.where(FRAME.index > 0)), {}, "missing"),
        (lambda: FRAME.drop(columns="qid"), {}, "qid_col is 'qid'"),
        (lambda: FRAME.drop(columns="d"), {}, "features_col is 'd'"),
        (lambda: FRAME, {"features_col": ["a", "b", "a"]}, "features_col names 'a' 2 times"),
        (lambda: FRAME.assign(d="1"), {}, "features_col 'd' is of type string"),
        (lambda: arrays(None), {"features_col": "array"}, "features_col holds nulls"),
        (
            lambda: arrays([1.0]),
            {"features_col": "array"},
            "features_col holds rows of several lengths",
        ),
        (lambda: FRAME.assign(label=1), {}, "nothing to learn"),
        (lambda: FRAME.assign(weight=0.0), {"weight_col": "weight"}, "weight"),
        (
            lambda: FRAME.assign(valid=FRAME.index % 2 == 0),
            {"validation_indicator_col": "valid"},
            "whole queries",
        ),
        (
            lambda: FRAME.assign(valid=False),
            {"validation_indicator_col": "valid"},
            "false in every row",
        ),
        (
            lambda: FRAME.assign(valid=True),
            {"validation_indicator_col": "valid"},
            "no training rows",
        ),
        (lambda: FRAME.assign(valid=1), {"validation_indicator_col": "valid"}, "booleans"),
        (lambda: FRAME, {"g": (0.5, 0.3, 0.2, 0.1)}, "g"),
        (lambda: FRAME, {"g": (1.0,)}, "grade 2"),
        (lambda: FRAME, {"num_workers": 5}, "num_workers is 5"),
        (lambda: FRAME, {"measure": "nothing"}, "nothing"),
        (lambda: FRAME, {"obj": "anything"}, "obj is set"),
        (lambda: FRAME, {"device": "cuda"}, "device is 'cuda'"),
        (lambda: FRAME, {"min_child_weight": 1e9}, "min_child_weight"),
        (
            lambda: FRAME,
            {"stopping_metric": "ndcg", **STOPPED_EARLY},
            "'ndcg', which is not reported",
        ),
        (lambda: FRAME, {"stopping_metric": "gap"}, "early stopping is off"),
        (
            lambda: FRAME,
            {"measure": gb.OfLabel(gb.AP(), "label")},
            "several labels, but label_col on Spark takes one",
        ),
        (
            lambda: FRAME,
            {"eval_metric": ["ap", len]},
            "eval_metric holds .*len.*; expected names and measures",
        ),
    ],
)
def test_bad_input_is_an_error(spark, change, parameters, message):
    with pytest.raises((ValueError, TypeError), match=message) as raised:
        ranker(**parameters).fit(spark.createDataFrame(change()))
    assert "barrier" not in str(raised.value)  # errors of workers come without Spark's report


def test_columns_that_a_model_misses_are_named(data):
    model = ranker(n_estimators=1).fit(data)
    with pytest.raises(ValueError, match="features_col is 'a'"):
        model.transform(data.drop("a"))
    with pytest.raises(ValueError, match="features_col is 'own features'"):
        model.copy({model.features_cols: [], model.featuresCol: "own features"}).transform(data)


@pytest.mark.parametrize(
    ("prediction", "message"),
    [
        (lambda: F.lit("high"), "prediction_col 'prediction' is of type string"),
        (lambda: F.when(F.col("a") > 20, 1.0), "prediction_col 'prediction' holds .* missing"),
        (lambda: F.lit(float("inf")), "prediction_col 'prediction' holds infinite"),
    ],
    ids=["strings", "nulls", "infinite"],
)
def test_the_evaluator_refuses_what_is_no_prediction(data, prediction, message):
    with pytest.raises(ValueError, match=message):
        RankingMeasureEvaluator().evaluate(data.withColumn("prediction", prediction()))


def test_the_evaluator_takes_one_label(data):
    with pytest.raises(
        ValueError,
        match=r"^measure is OfLabel\(.*label_col on Spark takes one .* gapboost.evaluate",
    ):
        RankingMeasureEvaluator(measure=gb.OfLabel(gb.AP(), "label")).evaluate(data)


def test_a_fraction_of_a_worker_is_an_error():
    with pytest.raises(TypeError, match="num_workers"):
        ranker(num_workers=1.5)
    with pytest.raises(ValueError, match="workers"):
        ranker(num_workers=0)._validate_params()


def test_dynamic_allocation_is_an_error(spark, data, monkeypatch):
    """Spark would wait for workers that it never starts together."""
    conf = SparkConf(loadDefaults=False).set("spark.dynamicAllocation.enabled", "true")
    monkeypatch.setattr(spark.sparkContext, "getConf", lambda: conf)
    with pytest.raises(ValueError, match="dynamicAllocation"):
        ranker().fit(data)


def test_one_query_and_workers_without_rows(spark):
    """One worker holds the query; the other one has no rows to train or validate on."""
    rows = pd.concat([FRAME[FRAME.qid == "query 3"], FRAME[FRAME.qid == "query 5"]])
    table = spark.createDataFrame(rows.assign(valid=rows.qid == "query 5", start=rows.b / 10))
    beside = {
        "validation_indicator_col": "valid",
        "base_margin_col": "start",
        "position_col": "position",
    }
    parameters = {"min_child_weight": 0.0, "n_estimators": 3, "g": (0.5, 0.5)}
    one, two = (
        scores(ranker(num_workers=n, **beside, **parameters).fit(table), table) for n in (1, 2)
    )
    npt.assert_allclose(two.prediction, one.prediction, atol=1e-5)


class Dies(xgboost.callback.TrainingCallback):
    """One worker writes a file in the third round, and raises an error or is killed."""

    def __init__(self, how, rank, left):
        super().__init__()
        self.how, self.rank, self.left = how, rank, left

    def after_iteration(self, model, epoch, evals_log):
        if epoch == 2 and xgboost.collective.get_rank() == self.rank:
            self.left.touch()
            if self.how == "raises":
                raise ArithmeticError("the third round")
            os.kill(os.getpid(), signal.SIGKILL)
        return False


@pytest.fixture
def by_value():
    """Workers cannot import this file: they are sent its classes."""
    module = sys.modules[__name__]
    cloudpickle.register_pickle_by_value(module)
    yield
    cloudpickle.unregister_pickle_by_value(module)


# The tracker is in the process of the first worker. Spark does not retry a barrier stage that
# returns the result, and tells the error of any of its workers: the others lose their connection.
@pytest.mark.parametrize(("how", "rank"), [("raises", 1), ("dies", 0), ("dies", 1)])
def test_a_worker_that_fails_ends_the_fit(by_value, data, tmp_path, how, rank):
    left = tmp_path / "left"
    with pytest.raises(RuntimeError, match="a worker failed"):
        ranker(num_workers=2, callbacks=[Dies(how, rank, left)]).fit(data)
    assert left.exists()
    # The next fit works.
    assert ranker(num_workers=2, n_estimators=2).fit(data).measure_ == gb.GAP(g=(0.5, 0.5))


@pytest.mark.timeout(900)  # it starts another driver and two executors
def test_a_lost_executor_ends_the_fit():
    """Run in another process, because the test needs another session."""
    program = Path(__file__).parents[1] / "support" / "lost_executor.py"
    ran = subprocess.run([sys.executable, program], check=True, stdout=subprocess.PIPE, text=True)
    assert "ExecutorLostFailure" in ran.stdout


def frame_of(rows, valid=None):
    """Rows of tests/support/entry_points.py as a data frame of Spark's columns."""
    parts = [(rows, False)] + (
        [] if valid is None else [(valid._replace(qid=valid.qid + 10**6), True)]
    )
    frames = [
        pd.DataFrame(part.X, columns=[f"x{i}" for i in range(part.X.shape[1])]).assign(
            label=part.y.astype(float), qid=part.qid, weight=part.weight, valid=chosen
        )
        for part, chosen in parts
    ]
    return pd.concat(frames)


def scores_on_spark(spark, rows, parameters):
    stops = "early_stopping_rounds" in parameters
    frame = frame_of(rows, entry_points.rows(seed=8) if stops else None)
    columns = {
        "qid_col": "qid",
        "features_col": [f"x{i}" for i in range(5)],
        "weight_col": "weight",
    }
    if stops:
        columns["validation_indicator_col"] = "valid"
    given = SparkXGBGAPRanker(**{"n_estimators": 3, "max_depth": 3, **columns, **parameters})
    return given.fit(spark.createDataFrame(frame)).to_local().predict(rows.X)


@pytest.fixture(scope="module")
def unchanged(spark):
    return scores_on_spark(spark, entry_points.GOOD, {"num_workers": 2})


@pytest.mark.parametrize("name", entry_points.CHANGES)
def test_an_own_parameter_takes_effect(spark, unchanged, name):
    change = entry_points.CHANGES[name]
    fixed = {**change.beside, "num_workers": 2}
    before = scores_on_spark(spark, entry_points.GOOD, fixed) if change.beside else unchanged
    after = scores_on_spark(spark, entry_points.GOOD, {**fixed, name: change.value})
    assert np.abs(after - before).max() > 1e-6


@pytest.mark.parametrize("name", entry_points.CHANGES)
def test_an_unusable_own_parameter_is_refused(spark, name):
    with pytest.raises((ValueError, TypeError), match=f"^{name} is "):
        scores_on_spark(spark, entry_points.GOOD, {name: entry_points.CHANGES[name].unusable})


@pytest.mark.parametrize("case", entry_points.BAD_DATA)
def test_bad_data_are_refused_in_the_same_words(spark, case):
    bad = entry_points.BAD_DATA[case]
    column = {"y": "label_col 'label'", "weight": "weight_col 'weight'"}[bad.argument]
    with pytest.raises(ValueError, match=f"^{column} .*({bad.says})"):
        scores_on_spark(spark, bad.rows, bad.parameters)


def test_labels_that_are_no_grades_are_warned_of(spark):
    with pytest.warns(UserWarning, match=f"^label_col 'label' holds .*{entry_points.MANY}"):
        scores_on_spark(spark, entry_points.many_values(), entry_points.BETWEEN_GRADES)
