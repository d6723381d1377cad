"""XGBoost: a ranker beside `xgboost.XGBRanker`, and callbacks for `xgboost.train`."""

import sys

try:
    import xgboost as _  # noqa: F401
except AttributeError as error:
    if sys.flags.optimize < 2:
        raise
    raise ImportError(
        "python runs with -OO, which drops docstrings, and xgboost edits its own while it is imported; expected -O or neither"
    ) from error

from gapboost.xgboost.callbacks import eval_metric, objective
from gapboost.xgboost.export import exportable
from gapboost.xgboost.folds import cv
from gapboost.xgboost.ranker import XGBGAPRanker

__all__ = ["XGBGAPRanker", "cv", "eval_metric", "exportable", "objective"]
