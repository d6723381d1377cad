"""What a model was trained for, as words in the boosters' own model files."""

import ast
import re
from typing import Any

from gapboost.measures import NAMED as MEASURES
from gapboost.objectives import NAMED as OBJECTIVES
from gapboost.objectives import Objective

KINDS = {kind.__name__: kind for kind in (*MEASURES.values(), *OBJECTIVES.values())}


def words(objective: Objective) -> str:
    """The objective as it prints, on one line of characters that every model file can hold.

    `read` makes the objective of it again. Of objectives and measures that are not gapboost's, odd characters become ``?``.
    """
    return re.sub(r"[^\w\s()\[\]<>=,.+*'/-]", "?", " ".join(repr(objective).split()), flags=re.ASCII)


def read(text: str, requested: Objective) -> Objective:
    """The objective that `words` wrote.

    Parameters
    ----------
    text : str
    requested : Objective
        Taken where the words are of a kind that is not gapboost's, and this is of the same.

    Raises
    ------
    ValueError
        Where they are of another kind.
    """
    try:
        found = _value(ast.parse(text, mode="eval").body)
    except (SyntaxError, TypeError, ValueError):
        found = None
    if isinstance(found, Objective):
        return found
    kind = "(".join(words(requested).split("(")[:2])
    if not text.startswith(kind):
        raise ValueError(
            f"the model was trained for {text}, but measure and objective of the ranker say {requested!r}; expected the same "
            "kind: gapboost itself does not know it"
        )
    return requested


def _value(node: ast.expr) -> Any:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in KINDS:
        named = {str(keyword.arg): _value(keyword.value) for keyword in node.keywords}
        return KINDS[node.func.id](*map(_value, node.args), **named)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Mult):
        left, right = _value(node.left), _value(node.right)
        return left + right if isinstance(node.op, ast.Add) else left * right
    return ast.literal_eval(node)
