"""The rankers on a Dask cluster: `DaskLGBMGAPRanker` and `DaskXGBGAPRanker`, twins of the local ones.

Read the files in this order. On the client, `collections.py` checks the arguments, and `fit.py` runs one fit within a
`session.py`: `plan.py` decides which worker gets which queries (`layout.py`), and `place.py` has the rows brought there. On the
workers, `pieces.py` cuts rows and puts them into files (`storage.py`), and `training.py` starts a process that trains
(`child.py`). The processes join the booster's own network (`rings.py`); `exchange.py` adds up their metrics and tells them when
one of them fails.

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
