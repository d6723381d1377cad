"""Rankers and versions of libraries, as pages name them."""

import re
import sys
from collections.abc import Iterable
from typing import Any

from sklearn.pipeline import Pipeline

from gapboost.preprocessing.pipeline import last_step, transformers

LIBRARIES = ("gapboost", "numpy", "scipy", "sklearn")


def describe(ranker: Any) -> str:
    """Return the class and the parameters of a ranker, and the versions of its libraries.

    Parameters that are None are left out: XGBoost's rankers have forty. A long parameter is
    shortened, so that two rankers may have the same description. A pipeline is described by its
    steps.
    """
    return f"{_described(ranker)} of {versions(_libraries(ranker))}"


def _described(ranker: Any) -> str:
    if isinstance(ranker, Pipeline):
        steps = [step for _, step in transformers(ranker)]
        given = ", ".join(map(_described, [*steps, last_step(ranker)]))
    else:
        params = sorted(ranker.get_params(deep=False).items())
        given = ", ".join(f"{name}={value!r}" for name, value in params if value is not None)
        given = " ".join(re.sub(r" at 0x[0-9a-f]+", "", given).split())
    return f"{type(ranker).__name__}({given})"


def _libraries(ranker: Any) -> list[str]:
    """Return the libraries that define a ranker, its parts and its functions, each once."""
    parts = [ranker, *(value for _, value in sorted(ranker.get_params(deep=True).items()))]
    origins = [kind for part in parts for kind in type(part).__mro__] + [
        part for part in parts if callable(part)
    ]
    return list(
        dict.fromkeys(str(getattr(origin, "__module__", "")).split(".")[0] for origin in origins)
    )


def versions(libraries: Iterable[str] = LIBRARIES) -> str:
    """Return names and versions of the libraries that are imported and have a version."""
    found = {name: getattr(sys.modules.get(name), "__version__", None) for name in libraries}
    return ", ".join(f"{name} {version}" for name, version in found.items() if version)
