"""Words and lengths of labels of measures."""

import hashlib
import re
from typing import Any

import numpy as np

NUMBER = int | float | np.integer | np.floating


def short_label(label: str) -> str:
    """Return a label of at most 200 characters: MLflow takes 250, files 255 with endings."""
    return (
        label
        if len(label) <= 200
        else f"{label[:150]}-{hashlib.sha256(label.encode()).hexdigest()[:16]}"
    )


def plain(value: Any) -> str:
    """Write a value for a label: numbers as they print, odd characters by their codes."""
    if isinstance(value, tuple) and all(isinstance(each, NUMBER) for each in value):
        return "_".join(map(plain, value))
    if isinstance(value, NUMBER):
        return str(value.item() if isinstance(value, np.generic) else value).replace("e+", "e")
    # A word begins with a letter or a code, and a number with neither.
    return re.sub(r"^[^a-zA-Z]|[^a-zA-Z0-9.]", lambda odd: f"-{ord(odd[0]):x}-", str(value))
