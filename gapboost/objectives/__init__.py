"""Ways to train for a measure: frozen values over a measure; one file an objective."""

from gapboost.measures import Measure
from gapboost.objectives.lambdarank import LambdaRank
from gapboost.objectives.objective import Objective, Pass

__all__ = ["LambdaRank", "Objective", "Pass", "as_objective"]

NAMED: dict[str, type[Objective]] = {"lambdarank": LambdaRank}


def as_objective(name: str, measure: Measure, random_state: int = 0) -> Objective:
    """An objective for `measure` from its name, as parameters of rankers give it.

    Raises
    ------
    ValueError
        Where the name is unknown.
    """
    if name not in NAMED:
        raise ValueError(f"objective is {name!r}; expected one of {', '.join(NAMED)} or an objective value")
    return NAMED[name](measure, random_state=random_state)  # type: ignore[call-arg]
