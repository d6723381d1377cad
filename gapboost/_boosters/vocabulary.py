"""What parameters of the boosters mean here: one table a library, which every way into a training reads.

Most parameters steer trees and are passed on. Those of the boosters' own ranking objectives and metrics would do nothing, and an
`Entry` says what each of them asks for.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from gapboost._boosters.aliases import by_constructor_names
from gapboost._boosters.asked import Asked

Parameters = Mapping[str, Any]


def _nothing(asked: Asked, value: Any, given: Parameters) -> Asked:
    return asked


@dataclass(frozen=True)
class Entry:
    """A parameter of a booster that is not passed on.

    Attributes
    ----------
    names : tuple of str
        The parameter and its aliases.
    means : callable or None
        What has the same meaning here: ``means(asked, value, given)``, where `given` are all parameters, is what is then asked
        for. It raises TypeError or ValueError for values without an equal; None where no value has one.
    instead : callable
        In the same form, what the error proposes for values without an equal. It changes nothing, or raises, where there is
        nothing to write in their place.
    why : str
        What the error says then, after "expected it unset: ".
    passed_on : callable
        Whether a value is passed on all the same.
    """

    names: tuple[str, ...]
    means: Callable[[Asked, Any, Parameters], Asked] | None = None
    instead: Callable[[Asked, Any, Parameters], Asked] = _nothing
    why: str = ""
    passed_on: Callable[[Any], bool] = lambda value: False


@dataclass(frozen=True, eq=False)
class Step:
    """One parameter that is not passed on, and what it changes in what is asked for."""

    entry: Entry
    before: Asked
    after: Asked
    taken: bool


@dataclass(frozen=True)
class Vocabulary:
    """The parameters of one library.

    Attributes
    ----------
    library : str
    entries : tuple of Entry
        Each changes what those before it ask for.
    known : callable
        The names of all parameters that the installed version knows, aliases included.
    passed_on_by : str
        The parameter that passes unknown names on where it is False; empty where there is none.
    objectives : mapping {name: name of a measure}
        The library's objectives that have an equal here, LambdaRank for this measure.
    aliases : callable
        Returns ``{alias: name}`` for each parameter that the ranker's constructor lists by that name.
    defaults : callable
        Returns the constructor's default of each of these names.
    """

    library: str
    entries: tuple[Entry, ...]
    known: Callable[[], frozenset[str]]
    passed_on_by: str = ""
    objectives: Mapping[str, str] = field(default_factory=dict)
    aliases: Callable[[], Mapping[str, str]] = dict
    defaults: Callable[[], Mapping[str, Any]] = dict

    @property
    def names(self) -> frozenset[str]:
        """The names of all entries."""
        return frozenset(name for entry in self.entries for name in entry.names)

    def passed_on(self, parameters: Parameters) -> dict[str, Any]:
        """The parameters without those that are translated."""
        translated = {name for entry in self.entries if entry.means is not None for name in entry.names}
        return {name: value for name, value in parameters.items() if name not in translated}

    def by_constructor_names(self, parameters: Parameters) -> dict[str, Any]:
        """Return the parameters under the names that the ranker's constructor lists; see `aliases.by_constructor_names`."""
        return by_constructor_names(parameters, self.aliases(), self.defaults())

    def name_in_use(self, name: str, parameters: Parameters) -> str:
        """Return the alias by which `parameters` set what the constructor calls `name`, or `name` itself."""
        set_aliases = (
            alias for alias, of in self.aliases().items() if of == name and parameters.get(alias) is not None
        )
        return next(set_aliases, name)

    def steps(self, given: Parameters, asked: Asked, takes: bool = True) -> dict[str, Step]:
        """What each parameter asks for beside those before it; without `takes` none is taken."""
        steps: dict[str, Step] = {}
        for entry in self.entries:
            for name in entry.names:
                value = given.get(name)
                if value is not None and name not in steps and not entry.passed_on(value):
                    steps[name] = _step(entry, asked, value, given, takes)
                    asked = steps[name].after
        return steps

    def translated(self, given: Parameters, asked: Asked) -> Asked:
        """What is asked for with all these parameters."""
        return next((step.after for step in reversed(self.steps(given, asked).values())), asked)

    def beside(self, *entries: Entry) -> "Vocabulary":
        """The same with more entries, which count before the others for a name that both have."""
        return replace(self, entries=(*entries, *self.entries))


def _step(entry: Entry, before: Asked, value: Any, given: Parameters, takes: bool) -> Step:
    if entry.means is not None:
        with suppress(TypeError, ValueError, KeyError):
            return Step(entry, before, entry.means(before, value, given), takes)
    with suppress(TypeError, ValueError, KeyError):
        return Step(entry, before, entry.instead(before, value, given), False)
    return Step(entry, before, before, False)
