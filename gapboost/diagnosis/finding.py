"""Result of a check, and words of its message."""

import math
from typing import Any, NamedTuple

FOUND, PASSED, NOT_APPLICABLE, IGNORED = "found", "passed", "not applicable", "ignored"

# Page with a section for each check, on the repository's default branch.
GUIDE = "https://github.com/OWNER/gapboost/blob/main/docs/guide/report.md"


class Finding(NamedTuple):
    """Result of a check: its status, a message, and the number that decides with its threshold."""

    status: str
    message: str
    value: float = math.nan
    threshold: float = math.nan


def decided(found: Any, message: str, value: float, threshold: float) -> Finding:
    """Return the finding of a check that was made."""
    return Finding(FOUND if found else PASSED, message, float(value), threshold)


def not_applicable(reason: str) -> Finding:
    """Return the finding of a check that cannot be made."""
    return Finding(NOT_APPLICABLE, reason)


def listed(names: Any, most: int = 8) -> str:
    """Return names with commas between, the first ones of many."""
    names = [str(name) for name in names]
    shown = ", ".join(names[:most])
    return f"{shown}, and {len(names) - most} more" if len(names) > most else shown


def counted(number: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def signed(value: float) -> str:
    """Return a number with its sign, a true minus."""
    return f"{value:+.4f}".replace("-", "−")
