"""Rows of the page: one for each item of a paper, listed in items.csv, and three verdicts about what the paper claims.

The rules, which stood before a value was computed by them. A claim is put as a quantity that is above 0 where it is right, with
the 95 % interval of its error: over topics where systems are compared, drawn with replacement; over folds, by Student's t, where
rankers are trained. It *holds* where all of the interval is above 0, is *contradicted* where all is below, and *cannot be told*
otherwise, and wherever there are fewer than ten topics. That two things are alike holds where the interval lies within a margin
that is named, is contradicted where it lies outside. What is no estimate but a sum or a bound holds or is contradicted. Claims of
several parts hold where all of them do; of many parts one counts against them only after Holm's correction.
"""

import csv
from collections.abc import Iterable, Sequence
from itertools import groupby
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from benchmarks.studies.tables import table
from gapboost.analysis.estimates import LEVEL, Estimate, holm

ITEMS = Path(__file__).parent / "items.csv"
# How a status begins; the rest of the cell tells what differs, or why it is not possible.
STATUSES = ("done", "in kind", "not possible here")
HOLDS, CONTRADICTED, OPEN = VERDICTS = ("holds", "contradicted", "cannot be told")
Interval = tuple[float, float]


class Claim(NamedTuple):
    """What a paper says, and what our numbers say of it."""

    text: str
    verdict: str


class Row(NamedTuple):
    """One numbered item.

    Attributes
    ----------
    item : str
        As the paper numbers it.
    shows : str
        What it shows.
    status : str
        One of `STATUSES`, and what differs.
    gives : str
        What gapboost gives, on which data.
    claims : tuple of Claim
    """

    item: str
    shows: str
    status: str
    gives: str
    claims: tuple[Claim, ...]


Said = tuple[str, list[Claim]]  # the last two of a row


def above(interval: Interval) -> str:
    """Of a claim that something is above 0."""
    low, high = interval
    return HOLDS if low > 0 else CONTRADICTED if high < 0 else OPEN


def alike(interval: Interval, margin: float) -> str:
    """Of a claim that something is 0, give or take the margin."""
    low, high = interval
    if -margin < low and high < margin:
        return HOLDS
    return CONTRADICTED if low > margin or high < -margin else OPEN


def exact(right: bool) -> str:
    """Of what is no estimate."""
    return HOLDS if right else CONTRADICTED


def every(verdicts: Iterable[str]) -> str:
    """Of a claim of few parts."""
    found = set(verdicts)
    return CONTRADICTED if CONTRADICTED in found else HOLDS if found == {HOLDS} else OPEN


def cells(estimates: Sequence[Estimate]) -> str:
    """Of a claim that each of many is above 0."""
    if all(above(one.interval()) == HOLDS for one in estimates):
        return HOLDS
    corrected = holm({i: one.p for i, one in enumerate(estimates)})
    behind = any(one.mean < 0 and corrected[i] < LEVEL for i, one in enumerate(estimates))
    return CONTRADICTED if behind else OPEN


def counted(estimates: Sequence[Estimate]) -> str:
    """How many of them are above 0, and how many are so beyond their errors."""
    ahead = sum(one.mean > 0 for one in estimates)
    sure = [above(one.interval()) for one in estimates]
    return (
        f"ahead in {ahead} of {len(estimates)}, beyond the error in {sure.count(HOLDS)}, behind beyond it in "
        f"{sure.count(CONTRADICTED)}"
    )


def shown(one: Estimate, digits: int = 4) -> str:
    """A difference with its interval."""
    return f"{one.mean:+.{digits}f} {span(one.interval(), digits)}".replace("-", "−")


def span(interval: Interval, digits: int = 3) -> str:
    """An interval in a sentence."""
    return f"({interval[0]:+.{digits}f} … {interval[1]:+.{digits}f})".replace("-", "−")


def listed() -> list[dict[str, str]]:
    """The lines of items.csv.

    `by` names the function of the paper's module that gives the last two cells, where they do not stand in the line.
    """
    with ITEMS.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def rows_of(paper: ModuleType) -> list[Row]:
    """The rows of one paper."""
    rows = []
    for one in listed():
        if one["paper"] == paper.__name__.rpartition(".")[2]:
            own = [Claim(one["claim"], one["verdict"])] if one["claim"] else []
            gives, claims = getattr(paper, one["by"])() if one["by"] else (one["gives"], own)
            rows.append(Row(one["item"], one["shows"], one["status"], gives, tuple(claims)))
    return rows


def as_table(rows: Iterable[Row]) -> str:
    """The rows of one paper."""
    head = ["item", "what it shows", "status", "what gapboost gives", "the paper's claim"]
    return table(head, [[*row[:4], verdicts(row.claims)] for row in rows])


def verdicts(claims: Sequence[Claim]) -> str:
    """A verdict, and the claims in a row that share it; a later claim may lean on the words of the one before."""
    groups = groupby(claims, key=lambda claim: claim.verdict)
    return ". ".join(f"**{verdict}**: {'; '.join(c.text for c in group)}" for verdict, group in groups) or "—"
