"""LightGBM: a ranker like `lightgbm.LGBMRanker`, and callbacks for `lightgbm.train`.

=================  =======================================================
`ranker`           the ranker
`dask`             the ranker on Dask
`callbacks`        the call of `lightgbm.train` in a fit; objective, metrics and progress for it
`evaluation_sets`  forms of evaluation sets, and their names
`features`         tables as LightGBM reads them, positions of columns
`migration`        parameters of LightGBM's own objectives, and what replaces them
`models`           models for exporters
`_compat`          names of LightGBM that are not part of its interface, default trees
=================  =======================================================
"""

from gapboost.optional import imported

imported("lightgbm", "lightgbm", "by gapboost.lightgbm")

from gapboost.lightgbm.callbacks import eval_metric, objective, progress  # noqa: E402
from gapboost.lightgbm.models import exportable  # noqa: E402
from gapboost.lightgbm.ranker import LGBMGAPRanker  # noqa: E402

__all__ = ["LGBMGAPRanker", "eval_metric", "exportable", "objective", "progress"]
