"""Claims of the papers: rows of `claims.csv`, their intervals, and the verdicts that follow.

`claims.csv` has one row for each empirical claim. The columns that say how it is measured:

===========  ==================================================================================
`file`       files of `results`, without the suffix; several are put below each other
`units`      "topics", "folds" or "queries" of which the difference is a mean, or "saved"
`where`      rows of all comparisons: ``column=value; column=value``
`first`      rows on one side of the difference, or a number; ``|`` separates comparisons
`second`     rows on the other side
`column`     what is compared
`margin`     largest absolute value that the paper calls none; the interval is then of 90 %
===========  ==================================================================================

"saved" rows have a value and its interval already. Of several comparisons the least decides, and
their intervals hold at once. With a margin, the hull of their intervals decides.
"""

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd

from benchmarks.studies.papers.results import load
from gapboost.analysis import estimates
from gapboost.analysis.estimates import INCONCLUSIVE, LEVEL, Estimate

HERE = Path(__file__).parent
HOLDS, CONTRADICTED = "holds", "contradicted"
# The ends of an interval may be values of a grid.
ROUNDING = 1e-9
# Columns that name one unit.
UNITS = {"topics": ["topic", "list"], "folds": ["fold"], "queries": ["query"]}


@dataclass(frozen=True)
class Result:
    """A quantity with its interval; the intervals of a family of comparisons hold at once."""

    value: float
    low: float
    high: float
    family: int = 1

    def verdict(self, margin: float | None = None) -> str:
        """Return the word for a claim: that the quantity is above 0, or within the margin."""
        if margin is None:
            return HOLDS if self.low > 0 else CONTRADICTED if self.high < 0 else INCONCLUSIVE
        limit = margin + ROUNDING
        if -limit <= self.low and self.high <= limit:
            return HOLDS
        return CONTRADICTED if self.low > limit or self.high < -limit else INCONCLUSIVE


@dataclass(frozen=True)
class Claim:
    """An empirical claim: a row of `claims.csv`."""

    paper: str
    place: str
    data: str
    quantity: str
    stated: str
    margin: float | None
    digits: int
    about: str
    file: str
    units: str
    where: str
    first: str
    second: str
    column: str

    def result(self) -> Result:
        """Return the quantity and its interval."""
        found = self.saved() if self.units == "saved" else self.estimated()
        value, low, high = zip(*found, strict=True)
        if self.margin is None:
            return Result(min(value), min(low), min(high), len(found))
        return Result(max(value, key=abs), min(low), max(high), len(found))

    def saved(self) -> list[tuple[float, float, float]]:
        """Return values with their intervals; those of `second` with the other sign."""
        found = []
        for first, second in self.comparisons():
            rows = rows_of(self.file, self.where, first or second)[["value", "low", "high"]]
            if len(rows) != 1:
                raise ValueError(f"{self} has {len(rows)} rows of results; expected one")
            value, low, high = rows.iloc[0]
            found.append((value, low, high) if first else (-value, -high, -low))
        return found

    def estimated(self) -> list[tuple[float, float, float]]:
        """Return mean differences over the units with their intervals."""
        pairs, found = self.comparisons(), []
        confidence, family = (1 - LEVEL, len(pairs)) if self.margin is None else (1 - 2 * LEVEL, 1)
        for first, second in pairs:
            difference = self.side(first) - self.side(second)
            if difference.empty or difference.isna().any() or not difference.index.is_unique:
                raise ValueError(f"{self} has not one row on each side for all {self.units}")
            one = mean_of(difference, self.units)
            found.append((one.mean, *one.interval(confidence, family)))
        return found

    def comparisons(self) -> list[tuple[str, str]]:
        """Return the two sides of each comparison; a side that is given once is that of all."""
        sides = [text.split(" | ") for text in (self.first, self.second)]
        n = max(map(len, sides))
        first, second = (side * n if len(side) == 1 else side for side in sides)
        return list(zip(first, second, strict=True))

    def side(self, selector: str) -> Any:
        """Return the value of each unit on one side; of several settings the best on validation."""
        if "=" not in selector:
            return float(selector)
        rows = rows_of(self.file, self.where, selector).dropna(subset=UNITS[self.units])
        if "validation" in rows:
            rows = rows.loc[rows.groupby(UNITS[self.units])["validation"].idxmax()]
        return rows.set_index(UNITS[self.units])[self.column]


def mean_of(difference: pd.Series, units: str) -> Estimate:
    """Return the mean difference, by the rule of POLICY.md for its units."""
    if units == "topics":
        groups = difference.groupby(level="topic")
        return estimates.clustered([of_topic.to_numpy() for _, of_topic in groups])
    if units == "folds":
        # A fold tests on a fifth of the queries and trains on three fifths.
        return estimates.overlapping_folds(difference.to_numpy(), 1, 3)
    return estimates.independent(difference.to_numpy())


@cache
def results(files: str) -> pd.DataFrame:
    """Return files of results below each other, each value as text beside its number."""
    rows = [load(name).assign(file=name) for name in files.split()]
    table = pd.concat(rows, ignore_index=True)
    return pd.concat([table, table.astype(str)], axis=1, keys=["value", "text"])


def rows_of(files: str, *selectors: str) -> pd.DataFrame:
    """Return the rows of results that fit all selectors."""
    table = results(files)
    kept = pd.Series(True, index=table.index)
    for condition in "; ".join(filter(None, selectors)).split("; "):
        column, _, wanted = condition.partition("=")
        kept &= table["text", column] == wanted
    return table.loc[kept, "value"]


@cache
def claims() -> tuple[Claim, ...]:
    """Return the empirical claims."""
    rows = pd.read_csv(HERE / "claims.csv", dtype=str, keep_default_na=False).to_dict("records")
    for row in rows:
        row["digits"] = int(row["digits"])
        row["margin"] = float(row["margin"]) if row["margin"] else None
    return tuple(Claim(**row) for row in rows)
