"""Train LightGBM and XGBoost rankers for graded average precision, and evaluate rankings by it.

Measures, `evaluate`, `report`, objectives and `plotting` live here; the rankers in
`gapboost.lightgbm` and `gapboost.xgboost`, so that ``import gapboost`` needs neither library.
`gapboost.LGBMGAPRanker` and `gapboost.XGBGAPRanker` are imported when they are first used.
"""

import sys
from importlib import import_module
from typing import Any

from gapboost import plotting
from gapboost.diagnosis import report
from gapboost.evaluation import evaluate
from gapboost.measures import (
    AP,
    DCG,
    ERR,
    GAP,
    INSQ,
    RBP,
    RR,
    KendallTau,
    Measure,
    OfLabel,
    PairwiseAccuracy,
    Precision,
    QMeasure,
    Recall,
    RPrecision,
    SpearmanRho,
    Success,
    WeightedSum,
    eGAP,
    grAP,
    nDCG,
    xGAP,
)
from gapboost.objectives import ApproxRank, LambdaRank, RankNet, SoftRank

__version__ = "0.1.0rc1"

__all__ = [
    "AP",
    "DCG",
    "ERR",
    "GAP",
    "INSQ",
    "RBP",
    "RR",
    "ApproxRank",
    "KendallTau",
    "LambdaRank",
    "Measure",
    "OfLabel",
    "PairwiseAccuracy",
    "Precision",
    "QMeasure",
    "RPrecision",
    "RankNet",
    "Recall",
    "SoftRank",
    "SpearmanRho",
    "Success",
    "WeightedSum",
    "eGAP",
    "evaluate",
    "grAP",
    "nDCG",
    "plotting",
    "report",
    "xGAP",
]


# A user may lack the library of one of them.
RANKERS = {"LGBMGAPRanker": "gapboost.lightgbm", "XGBGAPRanker": "gapboost.xgboost"}


def __getattr__(name: str) -> Any:
    if name not in RANKERS:
        # Tracebacks propose a near name: nDCG for NDCG.
        this = sys.modules[__name__]
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name, obj=this)
    return getattr(import_module(RANKERS[name]), name)


def __dir__() -> list[str]:
    return [*__all__, *RANKERS]
