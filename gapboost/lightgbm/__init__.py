"""LightGBM: a ranker like `lightgbm.LGBMRanker`, and callbacks for `lightgbm.train`.

===============  ====================================================
`ranker`         the ranker
`callbacks`      objective and metrics of `lightgbm.train`
`training`       parts of a fit: arguments, metrics, callbacks
`private`        names of LightGBM that are not part of its interface
`model_text`     the text of a model with a name of LightGBM's
`progress`       progress bar as a callback
`export`         models for exporters
===============  ====================================================
"""

from gapboost._optional import imported

imported("lightgbm", "lightgbm", "by gapboost.lightgbm")

from gapboost.lightgbm.callbacks import eval_metric, objective  # noqa: E402
from gapboost.lightgbm.export import exportable  # noqa: E402
from gapboost.lightgbm.progress import progress  # noqa: E402
from gapboost.lightgbm.ranker import LGBMGAPRanker  # noqa: E402

__all__ = ["LGBMGAPRanker", "eval_metric", "exportable", "objective", "progress"]
