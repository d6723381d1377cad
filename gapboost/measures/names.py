"""Grammar of measure names: ``gap``, ``ndcg@10``, ``gap(g=0.5,0.5)@10``, and reprs.

::

    text = NUMBER "*" MEASURE { " + " NUMBER "*" MEASURE } | MEASURE
    MEASURE = NAME [ "(" PARAMETER "=" VALUE { "," PARAMETER "=" VALUE } ")" ] [ "@" CUTOFF ]

NAME is a name or alias of a measure, or its class, in upper or lower case. PARAMETER is a field of
its dataclass. VALUE is written as in Python. A list needs no brackets, or quotes as in ir_measures.
A word needs no quotes. CUTOFF is the parameter ``k``.
"""

import ast
import difflib
import re
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from gapboost.measures.measure import Measure
from gapboost.measures.weighted import WeightedSum

# What people ask for as for a measure, though it needs more than grades in the order of scores.
ELSEWHERE = {"bpref": "gapboost.analysis.bpref", "tau_ap": "gapboost.analysis.tau_ap"}

WORDS = {"true": True, "false": False, "none": None}

FORM = re.compile(
    r"\s*([a-z]\w*)\s*(?:\((.*)\)\s*)?(?:@(.*))?", re.ASCII | re.DOTALL | re.IGNORECASE
)
PARAMETER = re.compile(r"(?:^|,)\s*([a-z]\w*)\s*=", re.ASCII | re.IGNORECASE)


def parse(text: str, named: Mapping[str, type[Measure]], name: str = "measure") -> Measure:
    """Return the measure, or the weighted sum of measures, that a text names.

    Parameters
    ----------
    text : str
    named : mapping {name: class}
        Names and aliases, in lower case.
    name : str
        What the caller calls the text.

    Raises
    ------
    ValueError
        If the text is not of this form, or its name, a parameter or a value is unknown to the
        measure.
    """
    if "*" not in text:
        return _parse_measure(text, named, name)
    terms = [term.partition("*") for term in text.split(" + ")]
    try:
        return WeightedSum(
            parts=tuple(
                (_weight(weight), _parse_measure(one, named, name)) for weight, _, one in terms
            )
        )
    except ValueError as error:
        raise ValueError(
            f'{name} is {text!r}, of which {error}; expected a sum such as "0.7 * gap + 0.3 * '
            'ndcg@10"'
        ) from None


def _weight(text: str) -> float:
    if "_" in text:
        raise ValueError(f"the weight {text.strip()!r} is no number")
    return float(text)


def _parse_measure(text: str, named: Mapping[str, type[Measure]], name: str) -> Measure:
    match = FORM.fullmatch(text.strip())
    if match is None:
        raise ValueError(
            f'{name} is {text!r}; expected a form such as "gap", "ndcg@10" or "gap(g=0.5,0.5)@10"'
        )
    kind = _class_named(match[1], text, named, name)
    parameters = _parameters(kind, match[2] or "", match[3], f"{name} is {text!r}")
    try:
        return kind(**parameters)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} is {text!r}, whose {error}") from None


def _class_named(
    word: str, text: str, named: Mapping[str, type[Measure]], name: str
) -> type[Measure]:
    known = {**{kind.__name__.lower(): kind for kind in named.values()}, **named}
    if word.lower() in known:
        return known[word.lower()]
    if word.lower() in ELSEWHERE:
        raise ValueError(
            f"{name} is {text!r}, which {ELSEWHERE[word.lower()]} computes; expected one of "
            f"{', '.join(named)}"
        )
    near = "".join(
        f', perhaps "{match}"' for match in difflib.get_close_matches(word.lower(), known, 1, 0.5)
    )
    raise ValueError(
        f"{name} is {text!r}; expected one of {', '.join(named)}{near}, with parameters as in "
        '"ndcg@10" or "gap(g=0.5,0.5)", or a measure such as nDCG(k=10)'
    )


def _parameters(
    kind: type[Measure], inside: str, cutoff: str | None, subject: str
) -> dict[str, Any]:
    """Return values by parameter; `subject` is the beginning of an error message."""
    known = {field.name: field for field in fields(kind) if field.init}
    unnamed, *pieces = PARAMETER.split(inside)
    assignments = [*zip(pieces[::2], pieces[1::2], strict=True)]
    if unnamed.strip():
        raise ValueError(
            f"{subject}, with {unnamed.strip()!r} for no parameter; expected {_example(known)}"
        )
    if cutoff is not None:
        assignments.append(("k", cutoff))
    parameters: dict[str, Any] = {}
    for parameter, value in assignments:
        if parameter not in known:
            raise ValueError(
                f"{subject}, but {kind.__name__} has no parameter {parameter!r}; expected "
                f"{_example(known)}"
            )
        if parameter in parameters:
            raise ValueError(f"{subject}, with {parameter} twice; expected it once")
        parameters[parameter] = _parse_value(value.strip(), "tuple" in str(known[parameter].type))
    return parameters


def _example(known: Mapping[str, Any]) -> str:
    return ", ".join(f"{parameter}=..." for parameter in known)


def _parse_value(text: str, several: bool) -> Any:
    if text.lower() in WORDS:
        return WORDS[text.lower()]
    try:
        value = ast.literal_eval(text)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return text
    if isinstance(value, str):
        return _parse_value(value, several) if several and value != text else value
    if "_" in text:
        # Python's source code writes ten as 1_0; a name that a log or a file holds does not.
        return text
    return (value,) if several and isinstance(value, int | float) else value
