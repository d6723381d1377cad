"""`Finding`: the result of a check."""

import math
from dataclasses import dataclass

FOUND, PASSED, NOT_APPLICABLE, IGNORED = "found", "passed", "not applicable", "ignored"

# Page with a section for each check, on the repository's default branch.
GUIDE = "https://github.com/OWNER/gapboost/blob/main/docs/guide/report.md"


@dataclass(frozen=True)
class Finding:
    """Result of a check, before it has an id.

    Attributes
    ----------
    status : str
        ``"found"``, ``"passed"``, ``"not applicable"`` or ``"ignored"``.
    message : str
        What was found, or why the check does not apply.
    value : float
        The number that decides; NaN if there is none.
    threshold : float
        The number that it is compared with.
    """

    status: str
    message: str
    value: float = math.nan
    threshold: float = math.nan


def not_applicable(reason: str) -> Finding:
    """Return the finding of a check that cannot be made."""
    return Finding(NOT_APPLICABLE, reason)


def status(found: bool) -> str:
    """Return the word for a check that was made."""
    return FOUND if found else PASSED


def listed(names: list[str], most: int = 8) -> str:
    """Return names with commas between, the first ones of many."""
    shown = ", ".join(names[:most])
    return f"{shown}, and {len(names) - most} more" if len(names) > most else shown


def counted(number: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"
