"""LightGBM: a ranker beside `lightgbm.LGBMRanker`, and callbacks for `lightgbm.train`."""

import sys

try:
    import lightgbm as _  # noqa: F401
except AttributeError as error:
    if sys.flags.optimize < 2:
        raise
    raise ImportError(
        "python runs with -OO, which drops docstrings, and lightgbm edits its own while it is imported; expected -O or neither"
    ) from error

from gapboost.lightgbm.callbacks import eval_metric, objective
from gapboost.lightgbm.export import exportable
from gapboost.lightgbm.folds import cv
from gapboost.lightgbm.ranker import LGBMGAPRanker

__all__ = ["LGBMGAPRanker", "cv", "eval_metric", "exportable", "objective"]
