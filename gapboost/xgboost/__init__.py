"""XGBoost: a ranker like `xgboost.XGBRanker`, and callbacks for `xgboost.train`.

===========  ===================================================
`ranker`     the ranker
`callbacks`  objective and metrics of `xgboost.train`
`training`   parts of a fit: matrices, metrics, errors
`inputs`     models as XGBoost takes and saves them
`private`    names of XGBoost that are not part of its interface
`progress`   progress bar as a callback
`export`     models for exporters
`device`     choice between the processor and the GPU
`cuda`       gradients and values of measures on the GPU
===========  ===================================================
"""

from gapboost._optional import imported

imported("xgboost", "xgboost", "by gapboost.xgboost")

from gapboost.xgboost.callbacks import eval_metric, objective  # noqa: E402
from gapboost.xgboost.export import exportable  # noqa: E402
from gapboost.xgboost.progress import progress  # noqa: E402
from gapboost.xgboost.ranker import XGBGAPRanker  # noqa: E402

__all__ = ["XGBGAPRanker", "eval_metric", "exportable", "objective", "progress"]
