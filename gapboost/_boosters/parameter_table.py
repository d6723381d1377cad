"""Meaning of the boosters' parameters here: one table for each library, read by every entry point.

Most parameters steer trees and are passed on. Those of the boosters' own ranking objectives and
metrics would have no effect. A `ParameterRule` translates such a parameter, or suggests a
replacement.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from gapboost._boosters.aliases import by_constructor_names
from gapboost._boosters.request import TrainingRequest

Parameters = Mapping[str, Any]


def _nothing(request: TrainingRequest, value: Any, given: Parameters) -> TrainingRequest:
    return request


@dataclass(frozen=True)
class ParameterRule:
    """A parameter of a booster that is not passed on.

    Attributes
    ----------
    names : tuple of str
        The parameter and its aliases.
    applied : callable or None
        ``applied(request, value, given)`` returns the request with the same meaning; `given` holds
        all parameters. It raises TypeError or ValueError for values without an equivalent here.
        None if no value has one.
    suggestion : callable
        Like `applied`, for values without an equivalent: the error message suggests the result.
        It returns the request unchanged, or raises, if there is nothing to suggest.
    why : str
        Reason in the error message without a suggestion, after "remove it: ".
    passed_on : callable
        ``passed_on(value)`` is True for values that the booster receives all the same.
    """

    names: tuple[str, ...]
    applied: Callable[[TrainingRequest, Any, Parameters], TrainingRequest] | None = None
    suggestion: Callable[[TrainingRequest, Any, Parameters], TrainingRequest] = _nothing
    why: str = ""
    passed_on: Callable[[Any], bool] = lambda value: False


@dataclass(frozen=True, eq=False)
class AppliedRule:
    """A parameter that is not passed on, with the request before and after its rule."""

    rule: ParameterRule
    before: TrainingRequest
    after: TrainingRequest
    taken: bool


@dataclass(frozen=True)
class ParameterTable:
    """The parameters of one library.

    Attributes
    ----------
    library : str
    rules : tuple of ParameterRule
        Applied in this order, each to the request that the rules before it return.
    known : callable
        The names of all parameters that the installed version knows, aliases included.
    passed_on_by : str
        The parameter that passes unknown names on where it is False; empty where there is none.
    objectives : mapping {name: name of a measure}
        The library's objectives that have an equal here, and the measure of each.
    aliases : callable
        Returns ``{alias: name}`` for each parameter that the ranker's constructor lists by that
        name.
    defaults : callable
        Returns the constructor's default of each of these names.
    """

    library: str
    rules: tuple[ParameterRule, ...]
    known: Callable[[], frozenset[str]]
    passed_on_by: str = ""
    objectives: Mapping[str, str] = field(default_factory=dict)
    aliases: Callable[[], Mapping[str, str]] = dict
    defaults: Callable[[], Mapping[str, Any]] = dict

    @property
    def names(self) -> frozenset[str]:
        """The names of all rules."""
        return frozenset(name for rule in self.rules for name in rule.names)

    def passed_on(self, parameters: Parameters) -> dict[str, Any]:
        """Return the parameters without the translated ones."""
        translated = {
            name for rule in self.rules if rule.applied is not None for name in rule.names
        }
        return {name: value for name, value in parameters.items() if name not in translated}

    def by_constructor_names(self, parameters: Parameters) -> dict[str, Any]:
        """Return the parameters under the names of the ranker's constructor.

        See `aliases.by_constructor_names`.
        """
        return by_constructor_names(parameters, self.aliases(), self.defaults())

    def name_in_use(self, name: str, parameters: Parameters) -> str:
        """Return the alias by which `parameters` set the constructor's `name`, or `name` itself."""
        set_aliases = (
            alias
            for alias, of in self.aliases().items()
            if of == name and parameters.get(alias) is not None
        )
        return next(set_aliases, name)

    def steps(
        self, given: Parameters, request: TrainingRequest, takes: bool = True
    ) -> dict[str, AppliedRule]:
        """Return the applied rule of each parameter; with ``takes=False`` none counts as taken."""
        steps: dict[str, AppliedRule] = {}
        for rule in self.rules:
            for name in rule.names:
                value = given.get(name)
                if value is not None and name not in steps and not rule.passed_on(value):
                    steps[name] = _step(rule, request, value, given, takes)
                    request = steps[name].after
        return steps

    def translated(self, given: Parameters, request: TrainingRequest) -> TrainingRequest:
        """Return the request after the rules of all these parameters."""
        return next((step.after for step in reversed(self.steps(given, request).values())), request)

    def with_rules(self, *rules: ParameterRule) -> "ParameterTable":
        """Return a table with more rules, which take precedence over rules for the same name."""
        return replace(self, rules=(*rules, *self.rules))


def _step(
    rule: ParameterRule, before: TrainingRequest, value: Any, given: Parameters, takes: bool
) -> AppliedRule:
    if rule.applied is not None:
        with suppress(TypeError, ValueError, KeyError):
            return AppliedRule(rule, before, rule.applied(before, value, given), takes)
    with suppress(TypeError, ValueError, KeyError):
        return AppliedRule(rule, before, rule.suggestion(before, value, given), False)
    return AppliedRule(rule, before, before, False)
