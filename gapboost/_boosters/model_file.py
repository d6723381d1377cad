"""Objective of a model, as text in the boosters' own model files."""

import ast
import re
from typing import Any

import numpy as np

from gapboost.measures import MEASURES_BY_NAME, Measure, OfLabel
from gapboost.measures.of_label import grades_of_labels
from gapboost.objectives import OBJECTIVES_BY_NAME, Objective

CLASSES: dict[str, Any] = {
    "OfLabel": OfLabel,
    **{kind.__name__: kind for kind in (*MEASURES_BY_NAME.values(), *OBJECTIVES_BY_NAME.values())},
}

# What not every model file can hold; a question mark stands for such a character, and so is one
# itself.
ODD = re.compile(r"[^\w ()\[\]<>=,.+*'/-]", re.ASCII)
WRITTEN_ODD = re.compile(r"\?([0-9a-f]+)\?")

G = re.compile(r"\bg=(\([\d.e, -]+\))")


def words(objective: Objective) -> str:
    """Return the objective as text, in one line of characters that every model file can hold.

    `read_objective` makes the objective of it again. Odd characters, of objectives and measures
    that are not gapboost's, become their numbers between question marks.
    """
    text = repr(objective)
    if value(text) not in (None, objective):
        text = f"own {text}"  # of a class that has the name of one of gapboost's
    return ODD.sub(lambda found: f"?{ord(found[0]):x}?", text)


def read_objective(text: str, requested: Objective) -> Objective:
    """Return the objective that `words` wrote.

    Parameters
    ----------
    text : str
    requested : Objective
        Taken where the words are of a kind that is not gapboost's, and are its own; g that it
        leaves to the data is the text's.

    Raises
    ------
    ValueError
        If they are others.
    """
    # A column of labels can have any name.
    parsed = value(WRITTEN_ODD.sub(lambda found: chr(int(found[1], 16)), text))
    if isinstance(parsed, Objective):
        return parsed
    grades = {
        grade for g in G.findall(text) for grade, p in enumerate(ast.literal_eval(g), 1) if p > 0
    }
    occurring = grades_of_labels(requested.measure, np.array(sorted(grades)))
    resolved = requested.resolved(occurring) if grades else requested
    for candidate in (requested, resolved):
        if words(candidate) == text:
            return candidate
    raise ValueError(
        f"the model was trained for {text}, but the ranker has {requested!r}; expected the measure "
        "and objective of the model: the file holds only their text, as they are not gapboost's "
        "own"
    )


def value(text: str) -> Objective | Measure | None:
    """Parse a text that consists of gapboost's objectives and measures; None for any other."""
    try:
        found = _value(ast.parse(text, mode="eval").body)
    except (SyntaxError, TypeError, ValueError):
        return None
    return found if isinstance(found, Objective | Measure) else None


def _value(node: ast.expr) -> Any:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in CLASSES:
        named = {str(keyword.arg): _value(keyword.value) for keyword in node.keywords}
        return CLASSES[node.func.id](*map(_value, node.args), **named)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Mult):
        left, right = _value(node.left), _value(node.right)
        return left + right if isinstance(node.op, ast.Add) else left * right
    return ast.literal_eval(node)
