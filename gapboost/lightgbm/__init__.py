"""LightGBM: a ranker beside `lightgbm.LGBMRanker`, and callbacks for `lightgbm.train`."""

from gapboost.optional import imported

imported("lightgbm", "lightgbm", "by gapboost.lightgbm")

from gapboost.lightgbm.callbacks import eval_metric, objective  # noqa: E402
from gapboost.lightgbm.export import exportable  # noqa: E402
from gapboost.lightgbm.folds import cv  # noqa: E402
from gapboost.lightgbm.ranker import LGBMGAPRanker  # noqa: E402

__all__ = ["LGBMGAPRanker", "cv", "eval_metric", "exportable", "objective"]
