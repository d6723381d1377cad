"""Objective of a model, as text for the boosters' own model files."""

import json
from dataclasses import fields
from typing import Any

from gapboost.measures import as_measure
from gapboost.objectives import OBJECTIVES_BY_NAME, Objective


def objective_text(objective: Objective) -> str:
    """Return the objective as one line of JSON."""
    options = {field.name: getattr(objective, field.name) for field in fields(objective)[1:]}
    # Classes of a user's own can have the names of gapboost's.
    kind, measure = (
        text if type(value).__module__.startswith("gapboost.") else f"own {text}"
        for value, text in (
            (objective, type(objective).__name__),
            (objective.measure, repr(objective.measure)),
        )
    )
    return json.dumps({"objective": kind, "measure": measure, "options": options}, default=repr)


def read_objective(text: str, requested: Objective) -> Objective:
    """Return the objective that `objective_text` wrote.

    Parameters
    ----------
    text : str
    requested : Objective
        Taken if its text is the same, or would be with the g of the file: measures and objectives
        of a user's own cannot be made from a text.

    Raises
    ------
    ValueError
        If it is another one.
    """
    found = json.loads(text)
    kinds = {kind.__name__: kind for kind in OBJECTIVES_BY_NAME.values()}
    try:
        kind: Any = kinds[found["objective"]]
        objective: Objective = kind(as_measure(found["measure"]), **found["options"])
    except (KeyError, TypeError, ValueError):
        objective = requested
    if objective_text(objective) != text:
        raise ValueError(
            f"the model was trained by {found['objective']} for {found['measure']}, but the ranker "
            f"has {requested!r}; expected the measure and objective of the model: the file holds "
            "only their text, as they are not gapboost's own"
        )
    return objective
