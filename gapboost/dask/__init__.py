"""Rankers on a Dask cluster, on the boosters' own distributed training.

==========  =======================================================
`lightgbm`  `DaskLGBMGAPRanker`
`xgboost`   `DaskXGBGAPRanker`
`rows`      what a fit has to know of all rows before training
==========  =======================================================

Each ranker needs only its own library.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from gapboost._optional import imported

imported("distributed", "dask", "by gapboost.dask")

if TYPE_CHECKING:
    from gapboost.dask.lightgbm import DaskLGBMGAPRanker
    from gapboost.dask.xgboost import DaskXGBGAPRanker

__all__ = ["DaskLGBMGAPRanker", "DaskXGBGAPRanker"]


def __getattr__(name: str) -> Any:
    # A user may lack one of the libraries.
    module = {"DaskLGBMGAPRanker": "lightgbm", "DaskXGBGAPRanker": "xgboost"}.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"gapboost.dask.{module}"), name)
