"""The list of checks."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from gapboost._data.arguments import ordered, shown
from gapboost.diagnosis import data_checks, ranker_checks, training_checks
from gapboost.diagnosis.finding import FOUND, GUIDE, IGNORED, Finding
from gapboost.diagnosis.subject import Subject

CHECKS: tuple[Callable[[Subject], Finding], ...] = (
    ranker_checks.weak_ranker,
    training_checks.overfitted,
    training_checks.shared_queries,
    data_checks.label_leak,
    training_checks.shifted_grades,
    training_checks.shifted_features,
    data_checks.constant_features,
    data_checks.unjudged,
    data_checks.no_contrast,
    data_checks.duplicate_documents,
    ranker_checks.ties,
    ranker_checks.constant_scores,
)


def id_of(check: Callable[[Subject], Finding]) -> str:
    """Return the id of a check: its name with hyphens."""
    return check.__name__.replace("_", "-")


IDS = tuple(map(id_of, CHECKS))


@dataclass(frozen=True)
class CheckResult:
    """Finding of a check, with its id."""

    id: str
    finding: Finding

    @property
    def link(self) -> str:
        """Address of the section of the guide with advice."""
        return f"{GUIDE}#{self.id}"

    @property
    def found(self) -> bool:
        """True if the check found a fault."""
        return self.finding.status == FOUND


def run_checks(subject: Subject, ignore: Sequence[str]) -> list[CheckResult]:
    """Return the result of each check."""
    skipped = Finding(IGNORED, "Skipped by ignore.")
    return [
        CheckResult(id_of(check), skipped if id_of(check) in ignore else check(subject))
        for check in CHECKS
    ]


def checked_ids(ignore: Any) -> tuple[str, ...]:
    """Return the ids to skip.

    Raises
    ------
    TypeError, ValueError
        If `ignore` is not a list of ids of checks.
    """
    if not ordered(ignore) or not all(isinstance(one, str) for one in ignore):
        raise TypeError(f"ignore is {shown(ignore)}; expected a list of ids of checks")
    unknown = [one for one in ignore if one not in IDS]
    if unknown:
        raise ValueError(f"ignore holds {unknown[0]!r}; expected some of {', '.join(IDS)}")
    return tuple(ignore)
