"""Names of measures: ``gap``, ``ndcg@10``, ``gap(g=0.5,0.5)@10``, and whatever a measure prints.

::

    SUM = TERM { "+" TERM }
    TERM = [ NUMBER "*" ] MEASURE
    MEASURE = NAME [ "(" PARAMETER "=" VALUE { "," PARAMETER "=" VALUE } ")" ] [ "@" CUTOFF ]
            | "OfLabel(" MEASURE "," COLUMN ")"

NAME is a name or alias of a measure, or its class, in upper or lower case. PARAMETER is a field of
its dataclass. VALUE and COLUMN are written as in Python, but a word needs no quotes. A tuple needs
no brackets, and may be in quotes, as ir_measures writes it. CUTOFF is the parameter ``k``.
"""

import ast
import re
from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

from gapboost._data.arguments import ordered
from gapboost.measures.binary import AP, INSQ, RBP, Precision, Recall
from gapboost.measures.by_query import QMeasure, RPrecision
from gapboost.measures.cascade import ERR, RR, Success
from gapboost.measures.gains import DCG, nDCG
from gapboost.measures.graded import GAP, eGAP, grAP, xGAP
from gapboost.measures.measure import Measure
from gapboost.measures.of_label import OfLabel
from gapboost.measures.pairwise import KendallTau, PairwiseAccuracy, SpearmanRho
from gapboost.measures.weighted import WeightedSum

KINDS: tuple[type[Measure], ...] = (
    GAP, xGAP, eGAP, AP, nDCG, Precision, DCG, RBP, INSQ, Recall, Success, RPrecision, QMeasure,
    KendallTau, PairwiseAccuracy, SpearmanRho, RR, ERR, grAP,
)  # fmt: skip
MEASURES_BY_NAME = {kind.__name__.lower(): kind for kind in KINDS}

# Other names that people know them by.
MEASURE_ALIASES: dict[str, type[Measure]] = {
    "map": AP,
    "p": Precision,
    "mrr": RR,
    "spearman": SpearmanRho,
    "hit_rate": Success,
}

# One measure or several, by name or by value.
Measures = str | Measure | Sequence[str | Measure]

WORDS = {"true": True, "false": False, "none": None}
STRING = r"""'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*\""""
FORM = re.compile(r"\s*([a-z]\w*)\s*(?:\((.*)\)\s*)?(?:@(.*))?", re.ASCII | re.DOTALL | re.I)
PARAMETER = re.compile(r"\s*([a-z]\w*)\s*=(.*)", re.ASCII | re.DOTALL | re.I)


def as_measure(measure: str | Measure, g: Any = None, name: str = "measure") -> Measure:
    """Return the measure of a name; a measure is returned unchanged.

    Parameters
    ----------
    measure : str or Measure
        A name is one of `MEASURES_BY_NAME` or `MEASURE_ALIASES` with any parameters,
        ``"ndcg"``, ``"p@10"``, ``"gap(g=0.5,0.5)@10"``; a sum of such names,
        ``"0.7 * gap + 0.3 * ndcg@10"``; or what a measure prints as.
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
    value = parsed(measure, name) if isinstance(measure, str) else measure
    if g is None:
        return value
    if isinstance(measure, Measure) or getattr(value, "g", ()) is not None:
        raise ValueError(
            f"g is {g!r} but {name} is {measure!r}; expected g only with the name of a graded "
            'measure without g, such as "gap@10"'
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


def parsed(text: str, name: str) -> Measure:
    """Return the measure, or the weighted sum of measures, that a text names.

    Raises
    ------
    ValueError
        If the text is not of this form, or its name, a parameter or a value is unknown to the
        measure.
    """
    try:
        terms = [split(term, r"\*") for term in split(text, r"(?<![\d.][eE])\+")]
        if len(terms) == 1 and len(terms[0]) == 1:
            return one_measure(text)
        return WeightedSum(tuple(weight_and_measure(*term) for term in terms))
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} is {text!r}; {error}") from None


def weight_and_measure(*term: str) -> tuple[float, Measure]:
    """Return the weight of a term, 1 if there is none, and its measure."""
    *weights, text = term
    try:
        (weight,) = [float(weight) for weight in weights or ["1"]]
    except ValueError:
        raise ValueError('expected a sum such as "0.7 * gap + 0.3 * ndcg@10"') from None
    return weight, one_measure(text)


def one_measure(text: str) -> Measure:
    """Return the measure of a text that is no sum."""
    known = {**MEASURES_BY_NAME, **MEASURE_ALIASES}
    match = FORM.fullmatch(text)
    name = match[1].lower() if match else ""
    inside = split(match[2] or "", ",") if match else []
    if match and name == "oflabel" and len(inside) == 2 and match[3] is None:
        return OfLabel(one_measure(inside[0]), one_value(inside[1]))
    if match is None or name not in known:
        raise ValueError(
            f'expected one of {", ".join(known)}, with parameters as in "ndcg@10" or '
            '"gap(g=0.5,0.5)"; or a measure such as nDCG(k=10), or OfLabel(nDCG(k=10), 0)'
        )
    types = {f.name: str(f.type) for f in fields(known[name])}
    texts: list[tuple[str, str]] = []
    for piece in [*inside, *([] if match[3] is None else [f"k={match[3]}"])]:
        parameter = PARAMETER.match(piece)
        if parameter:
            texts.append((parameter[1], parameter[2]))
        elif texts:  # of a tuple without brackets
            texts[-1] = (texts[-1][0], f"{texts[-1][1]},{piece}")
        elif piece.strip():
            texts.append((piece, ""))
    values = {key: one_value(value, "tuple" in types.get(key, "")) for key, value in texts}
    if len(values) < len(texts) or not values.keys() <= types.keys():
        raise ValueError(f"expected {'=..., '.join(types)}=..., each at most once")
    return known[name](**values)


def one_value(text: str, several: bool = False) -> Any:
    """Return the value of a parameter; a word is a string, `several` make one number a tuple."""
    text = text.strip()
    if text.lower() in WORDS:
        return WORDS[text.lower()]
    try:
        value = ast.literal_eval(text)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return text
    if several and isinstance(value, str) and value != text:
        return one_value(value, several)  # quoted, as ir_measures writes it
    return (value,) if several and isinstance(value, int | float) else value


def split(text: str, separator: str) -> list[str]:
    """Split a text at a separator, a regular expression, outside of brackets and strings."""
    pieces, depth, begin = [], 0, 0
    for match in re.finditer(rf"{STRING}|([(\[])|([)\]])|({separator})", text, re.DOTALL):
        depth += bool(match[1]) - bool(match[2])
        if match[3] and depth == 0:
            pieces.append(text[begin : match.start()])
            begin = match.end()
    return [*pieces, text[begin:]]
