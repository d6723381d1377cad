"""LightGBM: a ranker beside `lightgbm.LGBMRanker`, and callbacks for `lightgbm.train`."""

try:
    import lightgbm as _  # noqa: F401 - its own words would not name the extra
except ImportError as error:
    raise ImportError(
        "gapboost.lightgbm needs lightgbm; expected it installed: pip install 'gapboost[lightgbm]'"
    ) from error

from gapboost.lightgbm.callbacks import eval_metric, objective
from gapboost.lightgbm.export import exportable
from gapboost.lightgbm.folds import cv
from gapboost.lightgbm.ranker import LGBMGAPRanker

__all__ = ["LGBMGAPRanker", "cv", "eval_metric", "exportable", "objective"]
