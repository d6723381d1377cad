"""Both rankers on Dask: `gapboost.lightgbm.dask` and `gapboost.xgboost.dask`."""

from importlib import import_module
from typing import Any

__all__ = ["DaskLGBMGAPRanker", "DaskXGBGAPRanker"]


def __getattr__(name: str) -> Any:
    # A user may lack the library of one of them.
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    booster = "lightgbm" if name == "DaskLGBMGAPRanker" else "xgboost"
    return getattr(import_module(f"gapboost.{booster}.dask"), name)
