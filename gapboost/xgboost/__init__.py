"""XGBoost: a ranker like `xgboost.XGBRanker`, and callbacks for `xgboost.train`.

==============  ====================================================================
`ranker`        the ranker
`dask`          the ranker on Dask
`spark`         the ranker on Spark
`callbacks`     objective and metrics for `xgboost.train`, on either device
`progress_bar`  bar over the rounds
`migration`     parameters of XGBoost's own objectives, and what replaces them
`models`        rounds and objective of models and their files, models for exporters
`_compat`       names of XGBoost that are not part of its interface
`cuda`          gradients and values of measures on the GPU
==============  ====================================================================
"""

from gapboost.optional import imported

imported("xgboost", "xgboost", "by gapboost.xgboost")

from gapboost.xgboost.callbacks import eval_metric, objective  # noqa: E402
from gapboost.xgboost.models import exportable  # noqa: E402
from gapboost.xgboost.progress_bar import progress  # noqa: E402
from gapboost.xgboost.ranker import XGBGAPRanker  # noqa: E402

__all__ = ["XGBGAPRanker", "eval_metric", "exportable", "objective", "progress"]
