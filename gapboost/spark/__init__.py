"""Ranker on Spark: `SparkXGBGAPRanker`, the distributed form of `XGBGAPRanker`.

Read the files in this order.

================  ==================================================================
`ranker`          the ranker and its model: parameters, one fit, what is saved
`params`          measures and objectives among Spark's parameters
`columns`         the columns of a data frame, checked
`summaries`       summaries of the whole data frame, by aggregation
`training`        training of the local ranker on the queries of one worker
`stage`           the barrier stage: its tasks, and the errors of its workers
`folds`           folds of whole queries for Spark's cross-validation
`evaluator`       any measure as the evaluator of Spark's searches
`query_features`  `query_relative_features` of a data frame
================  ==================================================================
"""

from gapboost._optional import imported

for library in ("pyspark", "xgboost"):
    imported(library, "spark,xgboost", "by gapboost.spark")

from gapboost.spark.evaluator import RankingMeasureEvaluator  # noqa: E402
from gapboost.spark.folds import query_folds  # noqa: E402
from gapboost.spark.query_features import query_relative_features  # noqa: E402
from gapboost.spark.ranker import SparkXGBGAPRanker, SparkXGBGAPRankerModel  # noqa: E402

__all__ = [
    "RankingMeasureEvaluator",
    "SparkXGBGAPRanker",
    "SparkXGBGAPRankerModel",
    "query_folds",
    "query_relative_features",
]
