"""The rankers on a Dask cluster: `DaskLGBMGAPRanker` and `DaskXGBGAPRanker`, twins of the local ones.

Read the files in this order: those of the client, of the workers, and of the processes that train.

=============  ============================================================
`ranker`       what the rankers of both boosters share
`lightgbm`     `DaskLGBMGAPRanker`
`xgboost`      `DaskXGBGAPRanker`
`collections`  the arguments, checked
`fit`          one fit, from checked collections to a trained model
`session`      waits for the workers of a fit only as long as they live
`plan`         which worker trains on which queries, and for what
`layout`       decides it: plain arrays in, plain arrays out
`place`        has the rows brought to their workers
`pieces`       surveys and cuts rows, and assembles a worker's own
`columns`      checks that all partitions have the same columns
`storage`      puts them into files for its process
`training`     starts a process that trains, and ends it
`child`        is that process
`rings`        has the processes join the booster's own network
`exchange`     adds up their metrics, and tells them when one of them fails
=============  ============================================================

Each ranker needs only its own library.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gapboost.dask.lightgbm import DaskLGBMGAPRanker
    from gapboost.dask.xgboost import DaskXGBGAPRanker

__all__ = ["DaskLGBMGAPRanker", "DaskXGBGAPRanker"]


def __getattr__(name: str) -> Any:
    # A user may lack one of the libraries, and a training process needs neither of these modules nor distributed.
    if name == "DaskLGBMGAPRanker":
        from gapboost.dask.lightgbm import DaskLGBMGAPRanker

        return DaskLGBMGAPRanker
    if name == "DaskXGBGAPRanker":
        from gapboost.dask.xgboost import DaskXGBGAPRanker

        return DaskXGBGAPRanker
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
