"""Claims of the papers, as data: a quantity with its interval, or a formula with a difference.

The verdict of an empirical claim follows from its interval (`benchmarks/POLICY.md`). Margins were
fixed before their values were computed.
"""

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.studies.tables import signed, table
from gapboost.analysis.estimates import INCONCLUSIVE, LEVEL, Estimate

ITEMS = Path(__file__).parent / "items.csv"
HOLDS, CONTRADICTED, EXACT = "holds", "contradicted", "exact"
ROUNDING = 1e-9


class Result(NamedTuple):
    """A quantity with its interval; the intervals of a family of comparisons hold at once."""

    value: float
    low: float
    high: float
    family: int = 1


class Claim(NamedTuple):
    """An empirical claim of a paper.

    Attributes
    ----------
    place : str
        Where the paper makes it.
    data, quantity : str
        Data here, and the quantity that is above 0, or within the margin, if the claim is right.
    stated : str
        Value of the paper.
    result : Result
    margin : float, optional
        Largest absolute value of a quantity that the paper calls none. The interval is of 90 %.
    digits : int
    """

    place: str
    data: str
    quantity: str
    stated: str
    result: Result
    margin: float | None = None
    digits: int = 4

    @property
    def verdict(self) -> str:
        """Word for the claim, by the interval alone."""
        low, high = self.result.low, self.result.high
        if self.margin is None:
            return HOLDS if low > 0 else CONTRADICTED if high < 0 else INCONCLUSIVE
        # The ends may be values of a grid.
        margin = self.margin + ROUNDING
        if -margin <= low and high <= margin:
            return HOLDS
        return CONTRADICTED if low > margin or high < -margin else INCONCLUSIVE

    def cells(self) -> list[str]:
        """Return the cells of the claim's row."""
        value, low, high = (signed(number, self.digits) for number in self.result[:3])
        verdict = self.verdict if self.margin is None else f"{self.verdict}, ± {self.margin:g}"
        interval = f"({low} … {high})"
        return [*self[:4], value, interval, str(self.result.family), verdict]


class Fact(NamedTuple):
    """A mathematical claim: a theorem, an identity, a limit or a worked example.

    Attributes
    ----------
    place, claim : str
    ours : str
        Values here, or the test that tries the claim.
    difference : float
        Largest difference from the claim; 0 if there is none beyond rounding.
    """

    place: str
    claim: str
    ours: str
    difference: float = 0.0

    @property
    def verdict(self) -> str:
        """Word for the claim, or its largest difference."""
        return f"differs by {self.difference:.1g}" if self.difference else EXACT

    def cells(self) -> list[str]:
        """Return the cells of the claim's row."""
        return [*self[:3], self.verdict]


def simultaneous(estimates: Iterable[Estimate]) -> list[Result]:
    """Return the results of comparisons that are read together."""
    found = list(estimates)
    m = len(found)
    return [Result(one.mean, *one.interval(1 - LEVEL, m), m) for one in found]


def least(results: Iterable[Result]) -> Result:
    """Return the interval of the least of several quantities: above 0, all of them are."""
    value, low, high, (family, *_) = zip(*results, strict=True)
    return Result(min(value), min(low), min(high), family)


def within(estimates: Iterable[Estimate]) -> Result:
    """Return the 90 % interval of the quantity, or the hull of several, that a margin is compared with."""
    found = list(estimates)
    low, high = zip(*(one.interval(1 - 2 * LEVEL) for one in found), strict=True)
    return Result(max((one.mean for one in found), key=abs), min(low), max(high), len(found))


def difference(found: Sequence[float], stated: Sequence[float], digits: int | None = None) -> float:
    """Return the largest difference, or 0 where it is one of rounding, to the digits of the paper."""
    largest = float(np.abs(np.subtract(found, stated)).max())
    return 0.0 if largest <= (ROUNDING if digits is None else 0.5 * 10**-digits) else largest


def tested(place: str, claim: str, file: str, name: str) -> Fact:
    """Return a claim that a test of this project tries."""
    return Fact(place, claim, f"[{name}](../tests/{file})")


def items(paper: str) -> list[dict[str, Any]]:
    """Return the items of a paper without a claim that is judged here."""
    with ITEMS.open(encoding="utf-8", newline="") as lines:
        return [row for row in csv.DictReader(lines) if row["paper"] == paper]


def tables(claims: Iterable[Claim], facts: Iterable[Fact], paper: str) -> str:
    """Return the tables of one paper."""
    heads = (
        ["place", "data", "quantity", "paper", "ours", "interval", "family", "verdict"],
        ["place", "mathematical claim", "here", "verdict"],
        ["place", "content", "here"],
    )
    bodies = (
        [one.cells() for one in claims],
        [one.cells() for one in facts],
        [[row["item"], row["shows"], row["here"]] for row in items(paper)],
    )
    titles = ("Empirical claims", "Mathematical claims", "Items without a verdict")
    parts = zip(titles, heads, bodies, strict=True)
    return "\n\n".join(f"### {title}\n\n{table(head, body)}" for title, head, body in parts if body)
