"""Measures of a ranking: frozen, hashable values; one file a family.

A new measure of the form is a class like `gapboost.measures.binary.Precision`, named in `names`.

============  ================================================================
`measure`     the base class: name, discount, arithmetic, swaps of documents
`form`        the quadratic form: arrays for compiled code, values, changes
`weighted`    weighted sums
`of_label`    measures of one of several labels
`discounts`   discounts of ranks, as values
`graded`      GAP, xGAP, eGAP, grAP
`binary`      AP, Precision, Recall, RBP, INSQ
`gains`       gains of grades, DCG, nDCG
`pairwise`    KendallTau, PairwiseAccuracy, SpearmanRho
`cascade`     RR, ERR, Success, which have another form
`by_query`    RPrecision, QMeasure, whose discount depends on the query
`grids`       threshold probabilities to try
`names`       names such as ``"ndcg@10"``
============  ================================================================
"""

from gapboost._data.recall_base import RecallBase
from gapboost.measures.binary import AP, INSQ, RBP, Precision, Recall
from gapboost.measures.by_query import QMeasure, RPrecision
from gapboost.measures.cascade import ERR, RR, Success
from gapboost.measures.form import QuadraticForm
from gapboost.measures.gains import DCG, nDCG
from gapboost.measures.graded import GAP, eGAP, grAP, xGAP
from gapboost.measures.measure import Measure
from gapboost.measures.names import (
    MEASURE_ALIASES,
    MEASURES_BY_NAME,
    Measures,
    as_measure,
    as_measures,
)
from gapboost.measures.of_label import OfLabel
from gapboost.measures.pairwise import KendallTau, PairwiseAccuracy, SpearmanRho
from gapboost.measures.weighted import WeightedSum

__all__ = [
    "AP",
    "DCG",
    "ERR",
    "GAP",
    "INSQ",
    "MEASURES_BY_NAME",
    "MEASURE_ALIASES",
    "RBP",
    "RR",
    "KendallTau",
    "Measure",
    "Measures",
    "OfLabel",
    "PairwiseAccuracy",
    "Precision",
    "QMeasure",
    "QuadraticForm",
    "RPrecision",
    "Recall",
    "RecallBase",
    "SpearmanRho",
    "Success",
    "WeightedSum",
    "as_measure",
    "as_measures",
    "eGAP",
    "grAP",
    "nDCG",
    "xGAP",
]
