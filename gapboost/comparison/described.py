"""Rankers and versions of libraries, as reports name them."""

import re
import sys
from collections.abc import Iterable
from typing import Any

from sklearn.pipeline import Pipeline

LIBRARIES = ("gapboost", "numpy", "scipy", "sklearn")


def describe(ranker: Any) -> str:
    """Return the class and the parameters of a ranker, and the versions of its libraries.

    Parameters that are None are left out: XGBoost's rankers have forty. A pipeline is described by
    its steps.
    """
    return f"{_described(ranker)} of {versions(libraries(ranker))}"


def _described(ranker: Any) -> str:
    if isinstance(ranker, Pipeline):
        return f"Pipeline({', '.join(_described(step) for _, step in ranker.steps)})"
    if not hasattr(ranker, "get_params"):
        return str(ranker)
    params = sorted(ranker.get_params(deep=False).items())
    given = ", ".join(f"{name}={value!r}" for name, value in params if value is not None)
    return f"{type(ranker).__name__}({' '.join(re.sub(r' at 0x[0-9a-f]+', '', given).split())})"


def libraries(ranker: Any) -> list[str]:
    """Return the libraries that define a ranker, its parts and its functions, each once."""
    parts = [ranker, *(value for _, value in sorted(ranker.get_params(deep=True).items()))]
    origins = [kind for part in parts for kind in type(part).__mro__]
    origins += [part for part in parts if callable(part)]
    modules = (str(getattr(origin, "__module__", "")).split(".")[0] for origin in origins)
    return list(dict.fromkeys(modules))


def versions(names: Iterable[str] = LIBRARIES) -> str:
    """Return names and versions of the libraries that are imported and have a version."""
    found = {name: getattr(sys.modules.get(name), "__version__", None) for name in names}
    return ", ".join(f"{name} {version}" for name, version in found.items() if version)
