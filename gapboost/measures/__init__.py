"""Measures of a ranking: frozen, hashable values, one file a family; and their names.

A new measure of the form is a class like `gapboost.measures.classic.Precision`, which `KINDS` in
`gapboost.measures.parser` names.

============  ===================================================================
`base`        base classes: name, discount, values; the quadratic form; weighted sums
`discounts`   discounts of ranks, as values
`graded`      GAP, xGAP, eGAP, grAP
`classic`     AP, Precision, Recall, RPrecision, RBP, INSQ
`gains`       gains of grades, DCG, nDCG, QMeasure
`pairwise`    KendallTau, PairwiseAccuracy, SpearmanRho
`cascade`     RR, ERR, Success, which have another form
`labels`      measures of one of several labels; grades that measures know
`parser`      names of measures as text
============  ===================================================================
"""

from gapboost.data import RecallBase
from gapboost.measures.base import Measure, QuadraticForm, WeightedSum
from gapboost.measures.cascade import ERR, RR, Success
from gapboost.measures.classic import AP, INSQ, RBP, Precision, Recall, RPrecision
from gapboost.measures.gains import DCG, QMeasure, nDCG
from gapboost.measures.graded import GAP, eGAP, grAP, xGAP
from gapboost.measures.labels import OfLabel
from gapboost.measures.pairwise import KendallTau, PairwiseAccuracy, SpearmanRho
from gapboost.measures.parser import (
    MEASURE_ALIASES,
    MEASURES_BY_NAME,
    Measures,
    as_measure,
    as_measures,
)

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
