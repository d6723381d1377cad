"""Names of XGBoost that are not part of its interface, checked with 3.1.3, 3.2.0 and 3.4.1."""

from typing import Any

import xgboost
from xgboost.core import _LIB
from xgboost.sklearn import get_model_categories, ltr_metric_decorator

from gapboost._kernels.parallel.openmp import openmp_team

# The threads that XGBoost computes on.
TEAM = openmp_team(_LIB)

__all__ = ["TEAM", "get_model_categories", "ltr_metric_decorator"]


def ranking_matrix(
    ranker: xgboost.XGBRanker, X: Any, qid: Any, train: xgboost.DMatrix | None, **others: Any
) -> xgboost.DMatrix:
    """Return the matrix that a ranker trains on, or of an evaluation set beside `train`."""
    return ranker._create_ltr_dmatrix(
        train,
        X,
        qid,
        missing=ranker.missing,
        enable_categorical=ranker.enable_categorical,
        **others,
    )


def register_on_spark(ranker: type, model: type) -> None:
    """Give a Spark ranker the parameters of XGBoost, and its model."""
    from xgboost.spark.estimator import _set_pyspark_xgb_cls_param_attrs  # needs Spark

    _set_pyspark_xgb_cls_param_attrs(ranker, model)
