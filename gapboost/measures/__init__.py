"""Measures of a ranking: frozen, hashable values; one file a family.

A new measure of the family is one file with a class like `gapboost.measures.rbp.RBP`, named here.

===================  ========================================================
`measure`            the base class: name, discount, arithmetic
`metaclass`          makes a class with tables a quadratic form
`form`               the quadratic form: arrays for compiled code, values, changes
`cascade`            RR, ERR, which have another form
`weighted`           weighted sums
`of_label`           measures of one of several labels
`discount_of_query`  those whose discount is another for each query
`arrays`             what a measure returns, checked, and parts that several share
`swaps`              what it gains when two documents change places
`labels`             its words in files, columns and logs
`graded`             GAP, xGAP, eGAP
`average_precision`  AP
`grap`               grAP, another graded average precision
`ndcg`               DCG, nDCG
`precision`          Precision
`recall`             Recall, RPrecision
`rbp`                RBP, INSQ
`qmeasure`           QMeasure
`pairwise`           KendallTau, PairwiseAccuracy, SpearmanRho
`gains`              gains of grades
`discounts`          discounts of ranks, as values
`grids`              threshold probabilities to try
`names`              the grammar of names such as ``"ndcg@10"``
===================  ========================================================
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from gapboost._data.arguments import ordered
from gapboost._data.recall_base import RecallBase
from gapboost.measures.average_precision import AP
from gapboost.measures.cascade import ERR, RR
from gapboost.measures.form import QuadraticForm
from gapboost.measures.graded import GAP, eGAP, xGAP
from gapboost.measures.grap import grAP
from gapboost.measures.measure import Measure
from gapboost.measures.names import parse
from gapboost.measures.ndcg import DCG, nDCG
from gapboost.measures.of_label import OfLabel
from gapboost.measures.pairwise import KendallTau, PairwiseAccuracy, SpearmanRho
from gapboost.measures.precision import Precision
from gapboost.measures.qmeasure import QMeasure
from gapboost.measures.rbp import INSQ, RBP
from gapboost.measures.recall import Recall, RPrecision
from gapboost.measures.weighted import WeightedSum

__all__ = [
    "AP",
    "DCG",
    "ERR",
    "GAP",
    "INSQ",
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
    "WeightedSum",
    "as_measure",
    "as_measures",
    "eGAP",
    "grAP",
    "nDCG",
    "xGAP",
]

MEASURES_BY_NAME: dict[str, type[Measure]] = {
    "gap": GAP,
    "xgap": xGAP,
    "egap": eGAP,
    "ap": AP,
    "ndcg": nDCG,
    "precision": Precision,
    "dcg": DCG,
    "rbp": RBP,
    "insq": INSQ,
    "recall": Recall,
    "rprecision": RPrecision,
    "qmeasure": QMeasure,
    "kendalltau": KendallTau,
    "pairwiseaccuracy": PairwiseAccuracy,
    "spearmanrho": SpearmanRho,
    "rr": RR,
    "err": ERR,
    "grap": grAP,
}

# One measure or several, by name or by value.
Measures = str | Measure | Sequence[str | Measure]

# Other names that people know them by.
MEASURE_ALIASES: dict[str, type[Measure]] = {
    "map": AP,
    "p": Precision,
    "mrr": RR,
    "spearman": SpearmanRho,
}


def as_measure(measure: str | Measure, g: Any = None, name: str = "measure") -> Measure:
    """Return the measure of a name; a measure is returned unchanged.

    Parameters
    ----------
    measure : str or Measure
        A name is one of `MEASURES_BY_NAME` or `MEASURE_ALIASES` with any parameters,
        ``"ndcg"``, ``"p@10"``, ``"gap(g=0.5,0.5)@10"``, or what a measure prints as.
    g : sequence of float, optional
        Threshold probabilities for a named graded measure.
    name : str
        What the caller calls `measure`.

    Raises
    ------
    ValueError
        If the name or one of its parameters is unknown, or `g` is given for a measure that has
        none or has its own.
    TypeError
        If `measure` is neither a name nor a measure.

    Examples
    --------
    >>> as_measure("ndcg@10"), as_measure("map"), as_measure("gap(g=0.5,0.5)@10")
    (nDCG(k=10), AP(rel=1), GAP(g=(0.5, 0.5), k=10))
    """
    if not isinstance(measure, str | Measure):
        raise TypeError(
            f"{name} is {measure!r}; expected a measure such as GAP(g=(0.5, 0.5)), or a name such "
            'as "ndcg@10"'
        )
    value = (
        parse(measure, {**MEASURES_BY_NAME, **MEASURE_ALIASES}, name)
        if isinstance(measure, str)
        else measure
    )
    if g is None:
        return value
    if isinstance(measure, Measure) or getattr(value, "g", None) is not None:
        raise ValueError(
            f"g is {g!r} but {name} is {measure!r}; expected g inside the measure, or measure by "
            "name"
        )
    if not hasattr(value, "g"):
        *others, last = [known for known, kind in MEASURES_BY_NAME.items() if hasattr(kind, "g")]
        raise ValueError(
            f"g is {g!r} but {name} is {measure!r}; expected g only with {', '.join(others)} or "
            f"{last}"
        )
    with_g: Measure = replace(value, **{"g": g})
    return with_g


def as_measures(measures: Measures, name: str = "measures") -> list[Measure]:
    """Return one measure or several, by name or by value, as a list.

    Raises
    ------
    TypeError, ValueError
        As `as_measure`; where they are in no order.
    """
    if isinstance(measures, str | Measure):
        return [as_measure(measures, None, name)]
    if not ordered(measures):
        raise TypeError(
            f"{name} is {measures!r}; expected a measure such as GAP(g=(0.5, 0.5)), a name such as "
            '"ndcg@10", or several'
        )
    return [as_measure(measure, None, name) for measure in measures]
