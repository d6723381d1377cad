"""XGBoost: a ranker beside `xgboost.XGBRanker`, and callbacks for `xgboost.train`."""

from gapboost.xgboost.callbacks import eval_metric, objective
from gapboost.xgboost.export import exportable
from gapboost.xgboost.folds import cv
from gapboost.xgboost.ranker import XGBGAPRanker

__all__ = ["XGBGAPRanker", "cv", "eval_metric", "exportable", "objective"]
