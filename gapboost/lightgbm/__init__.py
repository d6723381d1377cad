"""LightGBM: a ranker beside `lightgbm.LGBMRanker`, and callbacks for `lightgbm.train`.

============  =======================================================
`library`     what LightGBM is to the code of both boosters
`vocabulary`  what LightGBM's parameters of ranking mean here
`ranker`      the ranker
`callbacks`   gradients and metrics as LightGBM calls them
`inputs`      rows, weights and models as LightGBM takes them
`model_text`  the text of a model, which says what it was trained for
`folds`       cross-validation over folds of whole queries
`progress`    a progress bar as a callback
`export`      models for exporters
`versions`    what other versions of LightGBM want otherwise
============  =======================================================
"""

from gapboost._optional import imported

imported("lightgbm", "lightgbm", "by gapboost.lightgbm")

from gapboost.lightgbm.callbacks import eval_metric, objective  # noqa: E402
from gapboost.lightgbm.export import exportable  # noqa: E402
from gapboost.lightgbm.folds import cv  # noqa: E402
from gapboost.lightgbm.progress import progress  # noqa: E402
from gapboost.lightgbm.ranker import LGBMGAPRanker  # noqa: E402

__all__ = ["LGBMGAPRanker", "cv", "eval_metric", "exportable", "objective", "progress"]
