"""Both rankers on Dask, of `gapboost.lightgbm.dask` and `gapboost.xgboost.dask`."""

from importlib import import_module
from typing import Any

BOOSTERS = {"DaskLGBMGAPRanker": "lightgbm", "DaskXGBGAPRanker": "xgboost"}


def __getattr__(name: str) -> Any:
    # A user may lack the library of one of them.
    if name not in BOOSTERS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"gapboost.{BOOSTERS[name]}.dask"), name)
