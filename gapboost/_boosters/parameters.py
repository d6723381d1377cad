"""Checked parameters of a training: gapboost's own, and a booster's by its table.

Parameters of the same meaning are accepted. Parameters of another meaning or of none are one error
before training, which says what to write instead. Unknown names are part of it.
"""

import difflib
import inspect
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

from gapboost._boosters.measure_arguments import as_metrics
from gapboost._boosters.parameter_table import AppliedRule, Parameters, ParameterTable
from gapboost._boosters.request import TrainingRequest
from gapboost._data.arguments import shown
from gapboost.measures import GAP, Measure, as_measure
from gapboost.objectives import OBJECTIVES_BY_NAME, Objective, as_objective


class OwnParameters(NamedTuple):
    """Values of the parameters that gapboost adds to a ranker.

    Attributes
    ----------
    measure, g, objective
        As in the rankers.
    metrics : str, Measure, list of them, or None
        Metrics to report.
    where : str
        Where `metrics` are given, if not among the parameters: " in fit".
    takes_objective : str
        The parameter that takes an objective as a value.
    """

    measure: Any
    g: Any
    objective: Any
    metrics: Any = None
    where: str = ""
    takes_objective: str = "objective"

    @property
    def request(self) -> TrainingRequest:
        """Training request of these parameters; unusable ones are left out, and raise elsewhere."""
        request = TrainingRequest()
        with suppress(TypeError, ValueError):
            request = replace(
                request, metrics=tuple([] if self.metrics is None else as_metrics(self.metrics))
            )
        with suppress(TypeError, ValueError):
            if isinstance(self.objective, Objective):
                return replace(request, objective=self.objective, chosen=True)
            measure = as_measure(self.measure, self.g)
            request = replace(request, objective=self.by_name(measure), chosen=measure != GAP())
        return request

    def by_name(self, measure: Measure) -> Objective:
        """Return the objective for `measure` that `objective` names, or the default one."""
        known = isinstance(self.objective, str) and self.objective in OBJECTIVES_BY_NAME
        return as_objective(self.objective if known else "lambdarank", measure)

    def suggestion(
        self, before: TrainingRequest, after: TrainingRequest, wanted: TrainingRequest
    ) -> str:
        """Return code for the parameters that give `wanted`, if `after` changed them."""
        parts = []
        if after.objective != before.objective:
            parts.append(self._code(wanted.objective))
        if after.metrics != before.metrics and wanted.metrics:
            metrics = ", ".join(dict.fromkeys(map(_written, wanted.metrics)))
            parts.append(f"eval_metric=[{metrics}]{self.where}")
        if after.n_jobs != before.n_jobs:
            parts.append(f"n_jobs={wanted.n_jobs!r}")
        return " and ".join(parts)

    def _code(self, objective: Objective) -> str:
        measure = objective.measure
        if not isinstance(self.objective, Objective) and objective == self.by_name(measure):
            apart = self.g is not None and hasattr(measure, "g")
            return f"measure={_written(replace(measure, **{'g': None}) if apart else measure)}"
        text = repr(objective).replace(repr(measure), _written(measure), 1)
        text = f"gapboost.{text}" if type(objective) in OBJECTIVES_BY_NAME.values() else text
        default = isinstance(self.measure, str) and self.measure == "gap"
        replaced = ([] if default else ["measure"]) + ([] if self.g is None else ["g"])
        replaced = [name for name in replaced if name != self.takes_objective]
        return f"{self.takes_objective}={text}" + (
            f" instead of {' and '.join(replaced)}" if replaced else ""
        )


def check_parameters(
    table: ParameterTable,
    given: Parameters,
    own: OwnParameters,
    *,
    listed: frozenset[str] = frozenset(),
    of_fit: frozenset[str] = frozenset(),
    begins: str = "{} is {}",
    takes: bool = True,
) -> TrainingRequest:
    """Return the training request; refuse all parameters that would be ignored, in one error.

    Parameters
    ----------
    table : ParameterTable
    given : mapping {name: value}
        None is a parameter that is not set.
    own : OwnParameters
    listed : frozenset of str
        Names that signatures of rankers list.
    of_fit : frozenset of str
        Names of arguments of `fit`.
    begins : str
        Format of a parameter and its value, at the beginning of a message.
    takes : bool
        If False, parameters with an equivalent here are refused too.

    Raises
    ------
    ValueError
        If any parameter is refused; one line for each.
    """
    given = {name: value for name, value in given.items() if value is not None}
    steps = table.steps(given, own.request, takes)
    request = next((step.after for step in reversed(steps.values())), own.request)
    refused = {name: step for name, step in steps.items() if not step.taken}
    # Accepted parameters stay as they are: the message does not repeat them.
    wanted = table.translated({name: given[name] for name in refused}, own.request)
    expected = {name: _refusal(name, step, own, wanted) for name, step in refused.items()}
    for name in given.keys() - table.names - listed:
        if name in of_fit:
            expected[name] = "; expected it in fit"
        elif given.get(table.passed_on_by) is not False and name not in table.known():
            expected[name] = _unknown(name, listed, table)
    if expected:
        lines = (
            begins.format(name, shown(value)) + expected[name]
            for name, value in given.items()
            if name in expected
        )
        raise ValueError("\n".join(lines))
    return request


def _refusal(name: str, step: AppliedRule, own: OwnParameters, wanted: TrainingRequest) -> str:
    """Return the end of the message about a refused parameter: what to write instead."""
    text = own.suggestion(step.before, step.after, wanted)
    if text.startswith(f"{name}="):
        return f"; expected {text}"
    return f"; remove it, and write {text}" if text else f"; remove it: {step.rule.why}"


def _unknown(name: str, listed: frozenset[str], table: ParameterTable) -> str:
    near = difflib.get_close_matches(name.lower(), sorted(listed | table.known()), 1)
    passed_on = f" ({table.passed_on_by}=False passes it on)" if table.passed_on_by else ""
    instead = f"expected {near[0]}" if near else "remove it"
    return f", which neither gapboost nor {table.library} knows; {instead}{passed_on}"


def _written(measure: Measure) -> str:
    """Return a measure as code: its name if it has one, which needs no import."""
    short = measure.short_name + (f"@{measure.k}" if measure.k else "")
    for name in (short, repr(measure)):
        with suppress(TypeError, ValueError):
            if as_measure(name) == measure:
                return f'"{name}"'
    return repr(measure)


@lru_cache(maxsize=32)
def arguments_of(kind: type[Any], method: str) -> frozenset[str]:
    """Return the names of the arguments of a method, in all base classes of `kind` too."""
    return frozenset(
        name
        for base in kind.__mro__
        if method in vars(base)
        for name, p in inspect.signature(vars(base)[method]).parameters.items()
        if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY) and name != "self"
    )
