"""Objectives: frozen values that train for a measure.

============  =====================================================
`base`        what an objective is, and a pass of it over one data set
`lambdarank`  LambdaRank, and RankNet, in which all pairs count the same
`smooth`      what SoftRank and ApproxRank share
`softrank`    SoftRank
`approxrank`  ApproxRank, and how far it may be from its measure
============  =====================================================
"""

from gapboost.measures import Measure
from gapboost.objectives.approxrank import ApproximationBound, ApproxRank, approximation_bound
from gapboost.objectives.base import Objective, Pass
from gapboost.objectives.lambdarank import LambdaRank, RankNet
from gapboost.objectives.softrank import SoftRank
from gapboost.validation import one_of

__all__ = [
    "ApproxRank",
    "ApproximationBound",
    "LambdaRank",
    "Objective",
    "Pass",
    "RankNet",
    "SoftRank",
    "approximation_bound",
    "as_objective",
]

OBJECTIVES_BY_NAME: dict[str, type[Objective]] = {
    "lambdarank": LambdaRank,
    "ranknet": RankNet,
    "softrank": SoftRank,
    "approxrank": ApproxRank,
}


def as_objective(name: str, measure: Measure, random_state: int = 0) -> Objective:
    """Return the objective of this name for `measure`, as parameters of rankers give it.

    Raises
    ------
    ValueError
        If the name is unknown.
    """
    kind = OBJECTIVES_BY_NAME[one_of(name, "objective", tuple(OBJECTIVES_BY_NAME))]
    # The smooth objectives have no ties to break.
    options = {"random_state": random_state} if issubclass(kind, LambdaRank) else {}
    return kind(measure, **options)
