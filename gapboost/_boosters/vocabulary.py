"""What parameters of the boosters mean here: one table a library, which every way into a training reads.

Most parameters steer trees and are passed on. Those of the boosters' own ranking objectives and metrics would do nothing, and an
`Entry` says what each of them asks for. What has the same meaning here is taken. What has another meaning or none comes in one
error, before training, with what to write in its place; so do names that nobody knows.
"""

import difflib
import inspect
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, NamedTuple, Self

from gapboost._boosters.callbacks import as_metrics
from gapboost._data.arguments import shown
from gapboost.measures import AP, GAP, Measure, as_measure, nDCG
from gapboost.objectives import NAMED, LambdaRank, Objective, as_objective

Parameters = Mapping[str, Any]

DEFAULT = LambdaRank(GAP())


@dataclass(frozen=True)
class Asked:
    """What a training is asked for.

    Attributes
    ----------
    objective : Objective
    chosen : bool
        Whether somebody chose its measure. The boosters' parameters are about nDCG where nobody did.
    metrics : tuple of Measure
        Reported beside its measure.
    n_jobs : int or None
    """

    objective: Objective = DEFAULT
    chosen: bool = False
    metrics: tuple[Measure, ...] = ()
    n_jobs: int | None = None

    def measured_by(self, name: str) -> Self:
        """The same for the measure of this name; the chosen one may have parameters of its own.

        Raises
        ------
        ValueError
            Where another one was chosen.
        """
        measure = as_measure(name)
        if not self.chosen:
            return replace(self, objective=replace(self.objective, measure=measure), chosen=True)
        if type(self.objective.measure) is not type(measure):
            raise ValueError(f"{self.objective.measure!r} was chosen")
        return self

    def with_measure(self, **fields: Any) -> Self:
        """The same with other fields of the measure.

        Raises
        ------
        TypeError, ValueError
            Where it has no such field, or one that was chosen otherwise, or there is no such value.
        """
        measure = self.objective.measure if self.chosen else nDCG()
        others = [name for name, value in fields.items() if getattr(measure, name, None) not in (None, value)]
        if others:
            raise ValueError(f"{others[0]} was chosen")
        return replace(self, objective=replace(self.objective, measure=replace(measure, **fields)), chosen=True)

    def with_lambdarank(self, **fields: Any) -> Self:
        """The same with other fields of LambdaRank; raises as `with_measure`, and for other objectives."""
        if not isinstance(self.objective, LambdaRank):
            raise TypeError(f"{self.objective!r} is no LambdaRank")
        for name, value in fields.items():
            if getattr(self.objective, name) not in (getattr(LambdaRank, name), value):
                raise ValueError(f"{name} was chosen")
        return replace(self, objective=replace(self.objective, **fields))

    def cut_off(self, ranks: Sequence[int]) -> Self:
        """The same with nDCG and AP reported at each of these ranks, nDCG where nothing else is reported.

        Raises
        ------
        ValueError
            Where there is no rank, or neither of the two is reported without a cut-off.
        """
        cut: list[Measure] = []
        for measure in self.metrics or (nDCG(),):
            whole = measure.k is None and isinstance(measure, nDCG | AP)
            cut += [replace(measure, k=k) for k in ranks] if whole else [measure]
        if tuple(cut) == self.metrics or not ranks:
            raise ValueError(f"{self.metrics} are not cut off")
        return replace(self, metrics=tuple(cut))


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
    """

    library: str
    entries: tuple[Entry, ...]
    known: Callable[[], frozenset[str]]
    passed_on_by: str = ""
    objectives: Mapping[str, str] = field(default_factory=dict)

    @property
    def names(self) -> frozenset[str]:
        """The names of all entries."""
        return frozenset(name for entry in self.entries for name in entry.names)

    def passed_on(self, parameters: Parameters) -> dict[str, Any]:
        """The parameters without those that are translated."""
        translated = {name for entry in self.entries if entry.means is not None for name in entry.names}
        return {name: value for name, value in parameters.items() if name not in translated}

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


class Own(NamedTuple):
    """The parameters of gapboost's own.

    Attributes
    ----------
    measure, g, objective
        As in the rankers.
    metrics : str, Measure, list of them, or None
        What to report.
    where : str
        Where that is told, if not among the parameters: " in fit".
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
    def asked(self) -> Asked:
        """What they ask for. Those that are unusable have errors of their own, and count as left out here."""
        asked = Asked()
        with suppress(TypeError, ValueError):
            asked = replace(asked, metrics=tuple([] if self.metrics is None else as_metrics(self.metrics)))
        with suppress(TypeError, ValueError):
            if isinstance(self.objective, Objective):
                return replace(asked, objective=self.objective, chosen=True)
            measure = as_measure(self.measure, self.g)
            asked = replace(asked, objective=self.by_name(measure), chosen=measure != GAP())
        return asked

    def by_name(self, measure: Measure) -> Objective:
        """The objective for `measure` by the name that `objective` is, or by the default."""
        known = isinstance(self.objective, str) and self.objective in NAMED
        return as_objective(self.objective if known else "lambdarank", measure)

    def instead(self, before: Asked, after: Asked, wanted: Asked) -> str:
        """The parameters that ask for what is `wanted`, those in which a change has a part."""
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
        text = f"gapboost.{text}" if type(objective) in NAMED.values() else text
        default = isinstance(self.measure, str) and self.measure == "gap"
        replaced = ([] if default else ["measure"]) + ([] if self.g is None else ["g"])
        replaced = [name for name in replaced if name != self.takes_objective]
        return f"{self.takes_objective}={text}" + (f" in place of {' and '.join(replaced)}" if replaced else "")


def check_parameters(
    vocabulary: Vocabulary,
    given: Parameters,
    own: Own,
    *,
    listed: frozenset[str] = frozenset(),
    of_fit: frozenset[str] = frozenset(),
    begins: str = "{} is {}",
    takes: bool = True,
) -> Asked:
    """What parameters ask for; those that would be ignored are refused, all at once.

    Parameters
    ----------
    vocabulary : Vocabulary
    given : mapping {name: value}
        None is a parameter that is not set.
    own : Own
    listed : frozenset of str
        Names that signatures of rankers list.
    of_fit : frozenset of str
        Those of arguments of `fit`.
    begins : str
        How a message names a parameter and its value.
    takes : bool
        Whether those that have an equal here are taken; else they are refused too.

    Raises
    ------
    ValueError
        With one line for each of them.
    """
    given = {name: value for name, value in given.items() if value is not None}
    steps = vocabulary.steps(given, own.asked, takes)
    asked = next((step.after for step in reversed(steps.values())), own.asked)
    refused = {name: step for name, step in steps.items() if not step.taken}
    # Those that are taken stay: what is to be written does not say them again.
    wanted = vocabulary.translated({name: given[name] for name in refused}, own.asked)
    expected = {name: _refusal(name, step, own, wanted) for name, step in refused.items()}
    for name in given.keys() - vocabulary.names - listed:
        if name in of_fit:
            expected[name] = "; expected it in fit"
        elif given.get(vocabulary.passed_on_by) is not False and name not in vocabulary.known():
            expected[name] = _unknown(name, listed, vocabulary)
    if expected:
        lines = (
            begins.format(name, shown(value)) + expected[name] for name, value in given.items() if name in expected
        )
        raise ValueError("\n".join(lines))
    return asked


def _refusal(name: str, step: Step, own: Own, wanted: Asked) -> str:
    """What the message says of a parameter that is not taken: what to write for all of them together."""
    text = own.instead(step.before, step.after, wanted)
    unset = f"it unset, and {text}" if text else f"it unset: {step.entry.why}"
    return f"; expected {text if text.startswith(f'{name}=') else unset}"


def _unknown(name: str, listed: frozenset[str], vocabulary: Vocabulary) -> str:
    near = difflib.get_close_matches(name.lower(), sorted(listed | vocabulary.known()), 1)
    passed_on = f" ({vocabulary.passed_on_by}=False passes it on)" if vocabulary.passed_on_by else ""
    return f", which neither gapboost nor {vocabulary.library} knows; expected {near[0] if near else 'it unset'}{passed_on}"


def _written(measure: Measure) -> str:
    """A measure as code: as a name where there is one, which wants no import."""
    short = measure.short_name + (f"@{measure.k}" if measure.k else "")
    for name in (short, repr(measure)):
        with suppress(TypeError, ValueError):
            if as_measure(name) == measure:
                return f'"{name}"'
    return repr(measure)


@lru_cache(maxsize=32)
def arguments_of(kind: type[Any], method: str) -> frozenset[str]:
    """Names of the arguments of a method, in all the classes that `kind` comes from."""
    return frozenset(
        name
        for base in kind.__mro__
        if method in vars(base)
        for name, p in inspect.signature(vars(base)[method]).parameters.items()
        if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY) and name != "self"
    )
