"""Rankers on a Dask cluster: `DaskLGBMGAPRanker` and `DaskXGBGAPRanker`.

Read the files in this order: those of the client, of the workers, and of the processes that train.

==================  ============================================================
`ranker`            what the rankers of both boosters share
`lightgbm`          `DaskLGBMGAPRanker`
`xgboost`           `DaskXGBGAPRanker`
`collections`       the arguments, checked
`fit`               one fit, from checked collections to a trained model
`session`           the client's side of a fit, which waits only for living workers
`plan`              which worker trains on which queries, and for what
`layout`            that decision on plain arrays
`placement`         transfer of the rows to their workers
`shards`            survey and cut of a partition, and a worker's own rows
`columns`           check that all partitions have the same columns
`storage`           files for the training process
`training`          start and end of a training process
`training_process`  the training process
`booster_network`   the booster's own network between training processes
`exchange`          sums of metrics over workers, and news of failures
`query_features`    `query_relative_features` of Dask collections
==================  ============================================================

Each ranker needs only its own library.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gapboost.dask.lightgbm import DaskLGBMGAPRanker
    from gapboost.dask.query_features import query_relative_features
    from gapboost.dask.xgboost import DaskXGBGAPRanker

__all__ = ["DaskLGBMGAPRanker", "DaskXGBGAPRanker", "query_relative_features"]


def __getattr__(name: str) -> Any:
    # A user may lack one of the libraries, and a training process needs neither of these modules
    # nor distributed.
    if name == "DaskLGBMGAPRanker":
        from gapboost.dask.lightgbm import DaskLGBMGAPRanker

        return DaskLGBMGAPRanker
    if name == "DaskXGBGAPRanker":
        from gapboost.dask.xgboost import DaskXGBGAPRanker

        return DaskXGBGAPRanker
    if name == "query_relative_features":
        from gapboost.dask.query_features import query_relative_features

        return query_relative_features
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
