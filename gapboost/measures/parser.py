"""Names of measures, as text and as people know them.

Names are ``gap``, ``ndcg@10``, ``gap(g=(0.5, 0.5))@10``, and whatever a measure prints::

    SUM = TERM { "+" TERM }
    TERM = [ NUMBER "*" ] MEASURE
    MEASURE = NAME [ "(" PARAMETER "=" VALUE { "," PARAMETER "=" VALUE } ")" ] [ "@" CUTOFF ]
            | "OfLabel(" MEASURE "," COLUMN ")"

NAME is a name or alias of a measure, or its class, in upper or lower case. PARAMETER is a field of
its dataclass. VALUE and COLUMN are written as in Python, but a word needs no quotes. CUTOFF is the
parameter ``k``.
"""

import ast
import re
from collections.abc import Sequence
from dataclasses import fields, replace
from difflib import get_close_matches
from numbers import Real
from typing import Any

from gapboost.measures.base import Measure, WeightedSum
from gapboost.measures.cascade import ERR, RR, Success
from gapboost.measures.classic import AP, INSQ, RBP, Precision, Recall, RPrecision
from gapboost.measures.gains import DCG, QMeasure, nDCG
from gapboost.measures.graded import GAP, eGAP, grAP, xGAP
from gapboost.measures.labels import OfLabel
from gapboost.measures.pairwise import KendallTau, PairwiseAccuracy, SpearmanRho
from gapboost.validation import ordered, short_repr

KINDS: tuple[type[Measure], ...] = (
    GAP, xGAP, eGAP, AP, nDCG, Precision, DCG, RBP, INSQ, Recall, Success, RPrecision, QMeasure,
    KendallTau, PairwiseAccuracy, SpearmanRho, RR, ERR, grAP,
)  # fmt: skip
MEASURES_BY_NAME = {kind.__name__.lower(): kind for kind in KINDS}

# Other names that people know them by.
MEASURE_ALIASES: dict[str, type[Measure]] = {
    "map": AP,
    **dict.fromkeys(("p", "prec"), Precision),
    "r": Recall,
    "rprec": RPrecision,
    "mrr": RR,
    "spearman": SpearmanRho,
    **dict.fromkeys(("hit_rate", "hitrate", "hr", "hit", "hits"), Success),
}

# Names of measures in other libraries, and the name that an error proposes.
ELSEWHERE = {
    **dict.fromkeys(("auc", "roc_auc"), "pairwiseaccuracy"),
    **dict.fromkeys(("aucpr", "average_precision"), "ap"),
    "reciprocal_rank": "rr",
}

# They need judgments beside the rows.
OF_JUDGMENTS = ("bpref", "infap")
INSTEAD_OF_NAMES = (
    "a measure of runs alone; expected ir_measures.Bpref or ir_measures.infAP, not their names, in "
    "analysis.system_values; or a call of analysis.bpref"
)

KNOWN = {**MEASURES_BY_NAME, **MEASURE_ALIASES}
EXPECTED = (
    f"expected one of {', '.join(MEASURES_BY_NAME)}, or another name of one of them "
    f"({', '.join(MEASURE_ALIASES)}), with parameters as in "
    '"ndcg@10" or "gap(g=(0.5, 0.5))@10"; '
    "or a measure such as nDCG(k=10), or OfLabel(nDCG(k=10), 0)"
)

# One measure or several, by name or by value.
Measures = str | Measure | Sequence[str | Measure]

WORDS = {"true": True, "false": False, "none": None}


def as_measure(measure: str | Measure, g: Any = None, name: str = "measure") -> Measure:
    """Return the measure of a name; a measure is returned unchanged.

    Parameters
    ----------
    measure : str or Measure
        A name is one of `MEASURES_BY_NAME` or `MEASURE_ALIASES` with any parameters,
        ``"ndcg"``, ``"p@10"``, ``"gap(g=(0.5, 0.5))@10"``; a sum of such names,
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
    >>> as_measure("ndcg@10"), as_measure("map"), as_measure("gap(g=(0.5, 0.5))@10")
    (nDCG(k=10), AP(rel=1), GAP(g=(0.5, 0.5), k=10))
    """
    if not isinstance(measure, str | Measure):
        raise _no_measure(measure, name)
    value = _parsed(measure, name) if isinstance(measure, str) else measure
    of_kind = vars(type(value))
    if "__init__" in of_kind and "__dataclass_params__" not in of_kind:
        raise TypeError(
            f"{name} is of the class {type(value).__name__}, which has no fields; expected a class "
            "under @dataclass(frozen=True), whose parameters are fields"
        )
    for field in fields(value):
        if callable(getattr(Measure, field.name, None)):
            raise TypeError(
                f"{name} is of the class {type(value).__name__}, whose field {field.name!r} has "
                "the name of a method of all measures; expected another name"
            )
    if g is None:
        return value
    if isinstance(measure, Measure) or getattr(value, "g", ()) is not None:
        raise ValueError(f"g is {g!r}, but {name} is {measure!r}; expected a name such as 'gap'")
    return replace(value, **{"g": g})


def as_measures(measures: Measures, name: str = "measures") -> list[Measure]:
    """Return one measure or several, by name or by value, as a list.

    Raises
    ------
    TypeError, ValueError
        As `as_measure`; where they are in no order.
    """
    is_one = not ordered(measures)
    several: Any = [measures] if is_one else measures
    if not is_one and isinstance(next(iter(several), None), Real):
        raise TypeError(f"{name} is {short_repr(several)}; expected measures, before the data")
    found, errors = [], []
    for measure in several:
        try:
            found.append(as_measure(measure, None, name))
        except ValueError as error:
            errors.append(str(error))
    if errors:
        raise ValueError("\n".join(errors))
    return found


def measures_by_name(measures: Measures) -> dict[str, Measure]:
    """Return measures by the names that the caller gave, else their own.

    Raises
    ------
    TypeError, ValueError
        As `as_measures`; if there are none, or one twice.
    """
    values = as_measures(measures)
    if not values or len(set(values)) < len(values):
        raise ValueError(f"measures is {measures!r}; expected one or more measures, each once")
    given: Any = measures if ordered(measures) else [measures]
    return {n if isinstance(n, str) else v.name: v for n, v in zip(given, values, strict=True)}


def _no_measure(value: object, name: str) -> TypeError:
    if type(value).__module__.startswith("ir_measures."):
        return TypeError(
            f"{name} holds {value} of ir_measures; expected measures of gapboost, or "
            "analysis.system_values, which takes both"
        )
    if getattr(value, "__name__", "") in OF_JUDGMENTS:
        return TypeError(f"{name} is {value!r}, {INSTEAD_OF_NAMES}")
    is_function = callable(value) and not isinstance(value, type)
    hint = "; measures of your own extend gapboost.measures.QuadraticForm" if is_function else ""
    return TypeError(f"{name} is {short_repr(value)}; {EXPECTED}{hint}")


class NotAMeasure(ValueError):
    """A text that is no measure; `near` is the nearest one, or nothing."""

    def __init__(self, found: str, near: str) -> None:
        instead = f"did you mean {near!r}? expected the name of a measure" if near else EXPECTED
        super().__init__(f"{found}; {instead}")
        self.near = near


class _Unknown(ValueError):
    """A name that no measure has, and its node."""

    def __init__(self, node: ast.Name) -> None:
        super().__init__(EXPECTED)
        self.node = node


def _parsed(text: str, name: str) -> Measure:
    if text.endswith("-"):
        raise ValueError(
            f"{name} is {text!r}; expected {text[:-1]!r}, which counts queries without relevant "
            "documents 0, as XGBoost does by the minus"
        )
    try:
        return _sum(ast.parse(text.strip(), mode="eval").body)
    except _Unknown as error:
        if error.node.id.lower() in OF_JUDGMENTS:
            raise ValueError(f"{name} is {text!r}, {INSTEAD_OF_NAMES}") from None
        near = _proposed(text.strip()) or _near(error.node.id)
        raise NotAMeasure(f"{name} is {text!r}", near) from None
    except SyntaxError:
        # "hr@1O" has a cutoff that is no number.
        near = _near(text.strip()) or re.sub(r"\s*@.*", "@10", text.strip(), flags=re.DOTALL)
        raise NotAMeasure(f"{name} is {text!r}", _proposed(near)) from None
    except NotAMeasure as error:
        raise NotAMeasure(f"{name} is {text!r}", error.near) from None
    except (MemoryError, RecursionError, TypeError) as error:
        raise ValueError(f"{name} is {text!r} ({error}); {EXPECTED}") from None
    except ValueError as error:
        raise ValueError(f"{name} is {text!r}; {error}") from None


def _sum(node: ast.expr) -> Measure:
    match node:
        case ast.BinOp(left, ast.Add(), right):
            return _sum(left) + _sum(right)
        case ast.BinOp(ast.BinOp(weight, ast.Mult(), measure), ast.MatMult(), k):
            # Python reads "2 * ndcg@10" as "(2 * ndcg)@10".
            return WeightedSum(((_value(weight), _measure(measure, k=_value(k))),))
        case ast.BinOp(weight, ast.Mult(), measure):
            return WeightedSum(((_value(weight), _measure(measure)),))
        case ast.BinOp(ast.Name(name), ast.MatMult(), ast.Call(k, [], parameters)):
            # "ap@5(rel=2)"
            of_name = ast.unparse(ast.Call(ast.Name(name), [], parameters))
            raise NotAMeasure("the cutoff comes last", _proposed(f"{of_name}@{ast.unparse(k)}"))
        case ast.BinOp(measure, ast.MatMult(), k):
            return _measure(measure, k=_value(k))
    return _measure(node)


def _measure(node: ast.expr, **cutoff: Any) -> Measure:
    match node:
        case ast.Call(ast.Name(name), [measure, column], []) if name.lower() == "oflabel":
            return OfLabel(_sum(measure), _value(column), **cutoff)
        case ast.Call(ast.Name(name), arguments, keywords) if name.lower() in KNOWN:
            kind = KNOWN[name.lower()]
            names = [*(str(keyword.arg) for keyword in keywords), *cutoff]
            known = {parameter.name: parameter.default for parameter in fields(kind)}
            if arguments or len(set(names)) < len(names) or not known.keys() >= set(names):
                such = ", ".join(f"{field}={default!r}" for field, default in known.items())
                raise ValueError(f"expected parameters by name, each once, such as {name}({such})")
            parameters = {str(keyword.arg): _value(keyword.value) for keyword in keywords}
            return kind(**parameters, **cutoff)
        case ast.Name(name) if name.lower() in KNOWN:
            return KNOWN[name.lower()](**cutoff)
        case ast.Call(ast.Name() as unknown) | (ast.Name() as unknown):
            raise _Unknown(unknown)
        case ast.Tuple():
            raise ValueError('expected a list of names, such as ["recall@5", "recall@10"]')
    raise ValueError(EXPECTED)


def _proposed(text: str) -> str:
    """Return a text with the nearest known names, if it is that of a measure; else nothing."""
    try:
        _sum(ast.parse(text, mode="eval").body)
    except _Unknown as error:
        start, end = error.node.col_offset, error.node.end_col_offset
        encoded, near = text.encode(), _near(error.node.id)  # columns count bytes
        if not near or error.node.lineno > 1:
            return ""
        return _proposed((encoded[:start] + near.encode() + encoded[end:]).decode())
    except (SyntaxError, TypeError, ValueError):
        return ""
    return text


def _near(name: str) -> str:
    """Return the nearest known name, also of ``ndcg10``; nothing if there is none."""
    if trec_eval := re.fullmatch(r"ndcg_cut[._](\d+)", name.lower()):
        return f"ndcg(gains=linear)@{trec_eval[1]}"
    if ranx := re.fullmatch(r"rbp\.(\d+)", name.lower()):
        return f"rbp(p=0.{ranx[1]})"
    match = re.fullmatch(r"(.*?)(?:(?:_at|_cut)?_?(\d+))?", name.lower(), re.DOTALL)
    word, cutoff = match.groups() if match else (name, None)
    names = {known: known for known in KNOWN} | ELSEWHERE
    near = [known for known in KNOWN if sorted(known) == sorted(word)]
    near = near or get_close_matches(word, names, 1, 0.7)
    return names[near[0]] + (f"@{cutoff}" if cutoff else "") if near else ""


def _value(node: ast.expr) -> Any:
    """Return the value of a parameter; a word is a string."""
    if isinstance(node, ast.Name):
        return WORDS.get(node.id.lower(), node.id)
    try:
        return ast.literal_eval(node)
    except ValueError:
        raise ValueError(EXPECTED) from None
