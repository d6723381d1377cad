"""The rankers on a Dask cluster: `DaskLGBMGAPRanker` and `DaskXGBGAPRanker`, twins of the local ones.

A fit goes through four rooms, each a file: `collections.py` checks the Dask collections, `layout.py` decides which worker gets
which queries, `pieces.py` brings them there, and `training.py` trains on every worker in a process of its own (`child.py`),
whose metrics and failures meet in `exchange.py`.

Each ranker needs only its own library.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gapboost.dask.lightgbm import DaskLGBMGAPRanker
    from gapboost.dask.xgboost import DaskXGBGAPRanker

__all__ = ["DaskLGBMGAPRanker", "DaskXGBGAPRanker"]


def __getattr__(name: str) -> Any:
    # One library may be missing; and a training process needs neither of these modules, nor distributed.
    if name == "DaskLGBMGAPRanker":
        from gapboost.dask.lightgbm import DaskLGBMGAPRanker

        return DaskLGBMGAPRanker
    if name == "DaskXGBGAPRanker":
        from gapboost.dask.xgboost import DaskXGBGAPRanker

        return DaskXGBGAPRanker
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
