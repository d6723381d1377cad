"""XGBoost: a ranker beside `xgboost.XGBRanker`, and callbacks for `xgboost.train`.

============  ==============================================
`library`     what XGBoost is to the code of both boosters
`vocabulary`  what XGBoost's parameters of ranking mean here
`ranker`      the ranker
`callbacks`   gradients and metrics as XGBoost calls them
`inputs`      models and objectives as XGBoost takes them
`folds`       cross-validation over folds of whole queries
`progress`    a progress bar as a callback
`export`      models for exporters
`versions`    what other versions of XGBoost want otherwise
============  ==============================================
"""

from gapboost._optional import imported

imported("xgboost", "xgboost", "by gapboost.xgboost")

from gapboost.xgboost.callbacks import eval_metric, objective  # noqa: E402
from gapboost.xgboost.export import exportable  # noqa: E402
from gapboost.xgboost.folds import cv  # noqa: E402
from gapboost.xgboost.progress import progress  # noqa: E402
from gapboost.xgboost.ranker import XGBGAPRanker  # noqa: E402

__all__ = ["XGBGAPRanker", "cv", "eval_metric", "exportable", "objective", "progress"]
