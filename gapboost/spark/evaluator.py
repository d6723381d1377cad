"""Evaluator of Spark's searches for any measure."""

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from pyspark import keyword_only
from pyspark.ml.evaluation import Evaluator
from pyspark.ml.param import Param, Params, TypeConverters
from pyspark.ml.param.shared import HasLabelCol, HasPredictionCol, HasWeightCol
from pyspark.ml.util import DefaultParamsReadable, DefaultParamsWritable
from pyspark.sql import DataFrame

from gapboost._boosters.one_label import check_one_label
from gapboost._data.grades import graded
from gapboost.evaluation import evaluate
from gapboost.measures import Measure, as_measure
from gapboost.measures.measure import grade_limit
from gapboost.spark.columns import LABEL, PREDICTION, QID, WEIGHT, Roles
from gapboost.spark.folds import refuse_random_folds
from gapboost.spark.params import as_text, as_value
from gapboost.spark.summaries import summaries


class RankingMeasureEvaluator(
    Evaluator,
    HasLabelCol,
    HasPredictionCol,
    HasWeightCol,
    DefaultParamsReadable,
    DefaultParamsWritable,
):
    """Mean of a measure over the queries of a data frame of predictions, as by `evaluate`.

    Parameters
    ----------
    measure : str or Measure, default="gap"
    g : sequence of float, optional
        Of a named graded measure; None is uniform over the grades that occur in the data frame.
    qid_col, label_col, prediction_col : str, default="qid", "label", "prediction"
    weight_col : str, optional
        Weights of queries, or of rows: a query then weighs their mean.

    Notes
    -----
    The data frame of each fold has its own grades: a search compares candidates by one g where it
    is said, not left open. Folds have to keep queries whole: see `gapboost.spark.query_folds`.
    `SparkXGBGAPRanker.evaluator` returns an evaluator with the columns of the ranker.
    """

    measure: "Param[Any]" = Param(
        Params._dummy(), "measure", "The measure: a name or text.", typeConverter=as_text
    )
    g: "Param[Any]" = Param(
        Params._dummy(), "g", "Threshold probabilities.", typeConverter=TypeConverters.toListFloat
    )
    qid_col: "Param[str]" = Param(
        Params._dummy(),
        "qid_col",
        "The column of query ids.",
        typeConverter=TypeConverters.toString,
    )

    @keyword_only
    def __init__(
        self,
        *,
        measure: str | Measure = "gap",
        g: Sequence[float] | None = None,
        qid_col: str = "qid",
        label_col: str = "label",
        prediction_col: str = "prediction",
        weight_col: str | None = None,
    ) -> None:
        super().__init__()
        self._setDefault(measure="gap", qid_col="qid", labelCol="label", predictionCol="prediction")
        names = {
            "label_col": "labelCol",
            "prediction_col": "predictionCol",
            "weight_col": "weightCol",
        }
        self._set(
            **{
                names.get(name, name): given
                for name, given in self._input_kwargs.items()
                if given is not None
            }
        )

    def isLargerBetter(self) -> bool:
        """All measures are better when higher."""
        return True

    def _evaluate(self, dataset: DataFrame) -> float:
        refuse_random_folds(dataset)
        measure = as_measure(as_value(self.getOrDefault(self.measure)), self._optional(self.g))
        check_one_label([measure], "measure", "label_col on Spark", "gapboost.evaluate")
        roles = Roles(
            self.getOrDefault(self.qid_col),
            self.getOrDefault(self.labelCol),
            self._optional(self.weightCol),
            prediction=self.getOrDefault(self.predictionCol),
        )
        columns = dataset.select(*roles.selected(dataset))
        found, _ = summaries(columns, roles)
        found.check_grades(f"label_col {roles.label!r}", grade_limit([measure]))
        measure = measure.resolved(graded(found.occurring))

        def sums(batches: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
            tables = [batch for batch in batches if len(batch)]
            if tables:
                yield _sums(measure, pd.concat(tables, ignore_index=True))

        rows = (
            columns.repartition(QID)
            .mapInPandas(sums, schema="value double, weight double")
            .collect()
        )
        return math.fsum(row["value"] for row in rows) / math.fsum(row["weight"] for row in rows)

    def _optional(self, param: Any) -> Any:
        return self.getOrDefault(param) if self.isDefined(param) else None


def _sums(measure: Measure, rows: pd.DataFrame) -> pd.DataFrame:
    """Sums of the values times weights and of the weights of some queries."""
    result = evaluate(measure, rows[LABEL], rows[PREDICTION], rows[QID], per_query=True, n_jobs=1)
    weights = np.ones(len(result.qid))
    if WEIGHT in rows:
        weights = rows.groupby(QID, sort=False)[WEIGHT].mean().to_numpy()
    return pd.DataFrame(
        {"value": [float(result[measure] @ weights)], "weight": [float(weights.sum())]}
    )
