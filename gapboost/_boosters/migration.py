"""Parameters of the boosters without effect here: one error says what replaces them."""

from collections.abc import Callable, Collection, Mapping
from difflib import get_close_matches
from functools import cache
from inspect import signature
from typing import Any

from gapboost.validation import short_repr

# What replaces a parameter, or a function of its value that says it; None keeps the value.
Replacements = Mapping[str, str | Callable[[Any], str | None]]

ALL_PAIRS = "leave it out: the gradient is that of all pairs"
WEIGHTS = "sample_weight=... in fit"


def refuse_foreign(given: Mapping[str, object], replacements: Replacements) -> None:
    """Raise one ValueError for all parameters that would change nothing.

    Parameters
    ----------
    given : mapping
        Parameters of a ranker, or of a booster's `train`. None means not given.
    replacements : Replacements
    """
    lines = {}
    for name, found in replacements.items():
        value = given.get(name)
        new = found(value) if callable(found) and value is not None else found
        if value is not None and new is not None:
            lines[name] = f"  {name}={short_repr(value)} -> {new}"
    if lines:
        raise ValueError(
            f"{', '.join(lines)}: without effect here; write instead (see docs/migration.md)\n"
            + "\n".join(lines.values())
        )


def misspelt(
    ranker: Any, known: Collection[str], overruled: Collection[str] = (), booster: str = ""
) -> Replacements:
    """Return the nearest name of each parameter that a ranker does not know, for `refuse_foreign`.

    Parameters
    ----------
    ranker : LGBMGAPRanker or XGBGAPRanker
        Its classes list parameters.
    known : collection of str
        Other names.
    overruled : collection of str
        Names that would be ignored.
    booster : str
        Name of the booster that knows no other parameters: those without a near name are refused.
    """
    found: dict[str, str | Callable[[object], str]] = {}
    kind: type = type(ranker)
    names = _listed(kind).union(known)
    for name in [one for one in ranker.get_params(deep=False) if one not in names]:
        if near := get_close_matches(name, sorted(names.difference(overruled)), 1, 0.8):
            found[name] = renamed(near[0])
        elif booster:
            found[name] = f"leave it out: {booster} has no such parameter"
    return found


@cache
def _listed(kind: type) -> frozenset[str]:
    """Return the parameters that a class and those that it extends list."""
    return frozenset(name for base in kind.__mro__ for name in signature(base).parameters)


def renamed(name: str) -> Callable[[object], str]:
    """Return a replacement by another name."""
    return lambda value: f"{name}={value!r}"


def at_cutoffs(cutoffs: object) -> str:
    """Return the metrics that report nDCG at cutoffs."""
    several = cutoffs if isinstance(cutoffs, list | tuple) else [cutoffs]
    return f"eval_metric={[f'ndcg@{k}' for k in several]} in fit"
