"""Pages of the reference: tables of the members of a class that gapboost wrote."""

import functools
import importlib
import inspect
import re
from dataclasses import dataclass
from typing import Any

from numpydoc.docscrape import NumpyDocString
from numpydoc.docscrape_sphinx import SphinxDocString

PROPERTIES = (property, functools.cached_property)


@dataclass(frozen=True)
class Members:
    """List the members of a class for templates; an object, as Sphinx cannot cache a function."""

    def __call__(self, fullname: str) -> dict[str, list[str]]:
        """Return methods and properties that gapboost wrote, and the class does not list.

        The docstring of the class lists its attributes.
        """
        module, _, of = fullname.rpartition(".")
        kind = getattr(importlib.import_module(module), of)
        told = {
            attribute.name for attribute in NumpyDocString(inspect.getdoc(kind) or "")["Attributes"]
        }
        kinds: dict[str, str] = {}
        for base in kind.__mro__:
            if not base.__module__.startswith("gapboost."):
                continue
            for name, value in vars(base).items():
                # Scikit-learn adds the requests of metadata.
                if name in told or re.match("_|set_.*_request$", name):
                    continue
                if not inspect.getdoc(getattr(kind, name)):
                    continue
                if isinstance(value, PROPERTIES):
                    kinds.setdefault(name, "property")
                elif inspect.isroutine(value):
                    kinds.setdefault(name, "method")
        return {
            kind: sorted(name for name in kinds if kinds[name] == kind)
            for kind in ("method", "property")
        }


def as_written(
    self: SphinxDocString, name: str, text: list[str], fake_autosummary: bool
) -> tuple[str, list[str]]:
    """Attribute as described by its class; numpydoc would take LightGBM's text of a property."""
    return f"**{self._escape_args_and_kwargs(name.strip())}**", text


SphinxDocString._process_param = as_written  # type: ignore[method-assign]


def linked(app: Any, what: str, name: str, kind: Any, options: Any, lines: list[str]) -> None:
    """Pages of the repository that a docstring names are pages of the site."""
    lines[:] = [
        re.sub(r"\bbenchmarks/([A-Z]+)\.md", r":doc:`benchmarks/\1.md </benchmarks/\1>`", line)
        for line in lines
    ]
