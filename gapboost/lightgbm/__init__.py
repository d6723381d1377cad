"""LightGBM: a ranker like `lightgbm.LGBMRanker`, and callbacks for `lightgbm.train`.

=================  ====================================================
`library`          LightGBM as a value for the shared code
`parameter_table`  meaning of LightGBM's ranking parameters
`ranker`           the ranker
`training`         training, from rows in grouped order to a booster
`callbacks`        gradients and metrics as LightGBM calls them
`inputs`           rows, weights and models as LightGBM takes them
`contributions`    contributions of the features to scores
`model_text`       the objective in the text of a model
`progress`         progress bar as a callback
`export`           models for exporters
`trees`            trees of a model, with exact thresholds
`versions`         differences between versions of LightGBM
=================  ====================================================
"""

from gapboost._optional import imported

imported("lightgbm", "lightgbm", "by gapboost.lightgbm")

from gapboost.lightgbm.callbacks import eval_metric, objective  # noqa: E402
from gapboost.lightgbm.export import exportable  # noqa: E402
from gapboost.lightgbm.progress import progress  # noqa: E402
from gapboost.lightgbm.ranker import LGBMGAPRanker  # noqa: E402

__all__ = ["LGBMGAPRanker", "eval_metric", "exportable", "objective", "progress"]
