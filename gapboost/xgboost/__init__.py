"""XGBoost: a ranker beside `xgboost.XGBRanker`, and callbacks for `xgboost.train`."""

try:
    import xgboost as _  # noqa: F401 - its own words would not name the extra
except ImportError as error:
    raise ImportError(
        "gapboost.xgboost needs xgboost; expected it installed: pip install 'gapboost[xgboost]'"
    ) from error

from gapboost.xgboost.callbacks import eval_metric, objective
from gapboost.xgboost.export import exportable
from gapboost.xgboost.folds import cv
from gapboost.xgboost.ranker import XGBGAPRanker

__all__ = ["XGBGAPRanker", "cv", "eval_metric", "exportable", "objective"]
