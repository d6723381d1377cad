"""The parameters that gapboost's rankers add to those of the boosters, declared once.

Signatures, `get_params`, docstrings, Dask, Spark, `to_vendor` and tests read this list. Only type
checkers cannot: `LGBMGAPRanker` and `XGBGAPRanker` repeat it for them, and a test compares.
"""

from collections.abc import Sequence
from inspect import Parameter
from typing import Any, NamedTuple

from gapboost.measures import Measure
from gapboost.objectives import Objective


class OwnParameter(NamedTuple):
    """A parameter that gapboost adds to every ranker.

    Attributes
    ----------
    name : str
    annotation : type
    default : object
    text : str
        Entry of the docstring, from the type on.
    """

    name: str
    annotation: Any
    default: Any
    text: str

    @property
    def in_signature(self) -> Parameter:
        """The parameter as `inspect.signature` shows it."""
        return Parameter(
            self.name, Parameter.KEYWORD_ONLY, default=self.default, annotation=self.annotation
        )


OWN_PARAMETERS = (
    OwnParameter(
        "measure",
        str | Measure,
        "gap",
        """\
str or Measure, default="gap"
    Measure to train for, to report on evaluation sets and to score by: a name such as ``"ap"`` or
    ``"ndcg@10"``, or a value.""",
    ),
    OwnParameter(
        "g",
        Sequence[float] | None,
        None,
        """\
sequence of float, optional
    Threshold probabilities of a named graded measure, one for each positive grade. None is uniform
    over the grades that occur in the training labels.""",
    ),
    OwnParameter(
        "objective",
        str | Objective,
        "lambdarank",
        """\
{"lambdarank", "ranknet", "softrank", "approxrank"} or Objective, default="lambdarank"
    Objective by which to train for the measure. A value brings its own measure; leave `measure` and
    `g` at their defaults then.""",
    ),
    OwnParameter(
        "stopping_metric",
        str | Measure | None,
        None,
        """\
str or Measure, optional
    Name or measure of the reported metric that decides early stopping. None is the measure that is
    trained for. `eval_metric` reports others. Measures are maximized; a callable has its own
    direction.""",
    ),
)

OWN_NAMES = tuple(parameter.name for parameter in OWN_PARAMETERS)


def taken_from(arguments: dict[str, Any]) -> dict[str, Any]:
    """Remove the own parameters from keyword arguments; return them, with defaults."""
    return {own.name: arguments.pop(own.name, own.default) for own in OWN_PARAMETERS}


def docstring_entries() -> str:
    """Return the entries of all own parameters for a docstring."""
    return "\n".join(f"{own.name} : {own.text}" for own in OWN_PARAMETERS)
