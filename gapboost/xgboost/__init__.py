"""XGBoost: a ranker like `xgboost.XGBRanker`, and callbacks for `xgboost.train`.

=================  ====================================================
`library`          XGBoost as a value for the shared code
`parameter_table`  meaning of XGBoost's ranking parameters
`ranker`           the ranker
`training`         training, from rows in grouped order to a booster
`callbacks`        gradients and metrics as XGBoost calls them
`inputs`           models and objectives as XGBoost takes them
`contributions`    contributions of the features to scores
`model_file`       what model files say besides the trees
`progress`         progress bar as a callback
`export`           models for exporters
`trees`            trees of a model, with exact thresholds
`versions`         differences between versions of XGBoost
=================  ====================================================
"""

from gapboost._optional import imported

imported("xgboost", "xgboost", "by gapboost.xgboost")

from gapboost.xgboost.callbacks import eval_metric, objective  # noqa: E402
from gapboost.xgboost.export import exportable  # noqa: E402
from gapboost.xgboost.progress import progress  # noqa: E402
from gapboost.xgboost.ranker import XGBGAPRanker  # noqa: E402

__all__ = ["XGBGAPRanker", "eval_metric", "exportable", "objective", "progress"]
