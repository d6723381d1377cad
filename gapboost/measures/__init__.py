"""Measures of a ranking: frozen, hashable values; one file a family.

A new measure of the family is one file with a class like `gapboost.measures.rbp.RBP`, named here.
"""

from typing import Any

from gapboost.measures.average_precision import AP
from gapboost.measures.cascade import ERR, RR
from gapboost.measures.graded import GAP, GradedMeasure, eGAP, xGAP
from gapboost.measures.measure import Measure
from gapboost.measures.ndcg import DCG, nDCG
from gapboost.measures.pairwise import KendallTau, PairwiseAccuracy
from gapboost.measures.precision import Precision
from gapboost.measures.qmeasure import QMeasure
from gapboost.measures.rbp import RBP
from gapboost.measures.recall import Recall, RPrecision
from gapboost.measures.weighted import WeightedSum

__all__ = [
    "AP",
    "DCG",
    "ERR",
    "GAP",
    "RBP",
    "RR",
    "KendallTau",
    "Measure",
    "PairwiseAccuracy",
    "Precision",
    "QMeasure",
    "RPrecision",
    "Recall",
    "WeightedSum",
    "as_measure",
    "eGAP",
    "nDCG",
    "xGAP",
]

NAMED: dict[str, type[Measure]] = {
    "gap": GAP,
    "xgap": xGAP,
    "egap": eGAP,
    "ap": AP,
    "ndcg": nDCG,
    "precision": Precision,
    "dcg": DCG,
    "rbp": RBP,
    "recall": Recall,
    "rprecision": RPrecision,
    "qmeasure": QMeasure,
    "kendalltau": KendallTau,
    "pairwiseaccuracy": PairwiseAccuracy,
    "rr": RR,
    "err": ERR,
}


def as_measure(measure: str | Measure, g: Any = None, name: str = "measure") -> Measure:
    """A measure from its name, as parameters of rankers and callbacks give it, or from itself.

    Parameters
    ----------
    measure : str or Measure
        A name is one of `NAMED`.
    g : sequence of float, optional
        Threshold probabilities for a named graded measure.
    name : str
        What the caller calls `measure`.

    Raises
    ------
    ValueError
        Where the name is unknown, or `g` is given for a measure that has none or has its own.
    TypeError
        Where `measure` is neither a name nor a measure.
    """
    if isinstance(measure, Measure):
        if g is not None:
            raise ValueError(f"g is {g!r} but {name} is {measure!r}; expected g inside the measure, or measure by name")
        return measure
    if not isinstance(measure, str):
        raise TypeError(
            f"{name} is {measure!r}; expected one of {', '.join(NAMED)} or a measure such as GAP(g=(0.5, 0.5))"
        )
    if measure not in NAMED:
        raise ValueError(f"{name} is {measure!r}; expected one of {', '.join(NAMED)} or a measure such as nDCG(k=10)")
    kind = NAMED[measure]
    if issubclass(kind, GradedMeasure):
        return kind(g=g)
    if g is not None:
        raise ValueError(f"g is {g!r} but {name} is {measure!r}; expected g only with gap, xgap or egap")
    return kind()
