"""Frozen values with checked parameters: measures and objectives."""

import re
from collections.abc import Callable
from dataclasses import MISSING, dataclass, field, fields
from typing import Any, get_args


def parameter(
    default: object, check: Callable[[Any, str], Any], always_shown: bool = False, **options: Any
) -> Any:
    """Return a field of a measure, set to ``check(value, name)``; ``repr`` may always show it.

    None is not checked if the type of the field includes it. `options` are those of
    `dataclasses.field`.
    """
    metadata = {"check": check, "always_shown": always_shown}
    return field(default=default, metadata=metadata, **options)


@dataclass(frozen=True, repr=False)
class Value:
    """Frozen dataclass whose parameters are checked, and which prints as it is written."""

    def __post_init__(self) -> None:
        for f in fields(self):
            value = getattr(self, f.name)
            may_be_none = type(None) in get_args(f.type)
            if "check" in f.metadata and not (value is None and may_be_none):
                object.__setattr__(self, f.name, f.metadata["check"](value, f.name))

    def _set(self, **values: object) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        printed = []
        # Inherited fields come first in a dataclass; people write the cutoff last.
        for f in sorted(fields(self), key=lambda f: f.name == "k"):
            value = getattr(self, f.name)
            if f.default is MISSING:
                printed.append(repr(value))
            elif f.init and (value != f.default or f.metadata.get("always_shown")):
                printed.append(f"{f.name}={value!r}")
        return f"{type(self).__name__}({', '.join(printed)})"


def label_of_value(value: object) -> str:
    """Write a value for a label, with ``_`` in place of other characters."""
    return re.sub(r"[^a-zA-Z0-9.-]+", "_", str(value)).strip("_")
