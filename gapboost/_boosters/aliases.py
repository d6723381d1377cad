"""Aliases of the parameters that the constructor of a booster's ranker lists.

A booster receives the constructor's default beside the alias that the user sets. LightGBM then uses
one of them, by the length of their names, and XGBoost the last one.
"""

import inspect
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from gapboost._data.arguments import shown


def defaults_of(kind: type[Any]) -> dict[str, Any]:
    """Return the default of each parameter that the constructor of a class lists."""
    parameters = inspect.signature(kind.__init__).parameters.values()
    return {p.name: p.default for p in parameters if p.default is not p.empty}


def by_constructor_names(
    parameters: Mapping[str, Any], aliases: Mapping[str, str], defaults: Mapping[str, Any]
) -> dict[str, Any]:
    """Return `parameters` with each alias replaced by the name that the constructor lists.

    Parameters
    ----------
    parameters : mapping {name: value}
        None is a parameter that is not set.
    aliases : mapping {alias: name in the constructor}
    defaults : mapping {name in the constructor: default}
        An alias takes the place of a default.

    Raises
    ------
    ValueError
        If two names of one parameter have different values.
    """
    found = {name: value for name, value in parameters.items() if name not in aliases}
    source = {
        name: name
        for name, value in found.items()
        if name in defaults and not _same(value, defaults[name])
    }
    problems = []
    for alias, name in aliases.items():
        value = parameters.get(alias)
        if value is None:
            continue
        if name in source and not _same(found[name], value):
            problems.append(
                f"{alias} is {shown(value)}, but {source[name]}, another name of the same "
                f"parameter, is {shown(found[name])}; expected {name} alone"
            )
        found[name], source[name] = value, alias
    if problems:
        raise ValueError("\n".join(problems))
    return found


def _same(a: Any, b: Any) -> bool:
    if a is b:
        return True
    # Comparing arrays gives no single truth value.
    with suppress(TypeError, ValueError):
        return bool(a == b)
    return False
