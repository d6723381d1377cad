"""LightGBM: a ranker beside `lightgbm.LGBMRanker`, and callbacks for `lightgbm.train`."""

from gapboost.lightgbm.callbacks import eval_metric, objective
from gapboost.lightgbm.export import exportable
from gapboost.lightgbm.folds import cv
from gapboost.lightgbm.ranker import LGBMGAPRanker

__all__ = ["LGBMGAPRanker", "cv", "eval_metric", "exportable", "objective"]
