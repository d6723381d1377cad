"""Saved results of the studies of `benchmarks`, and the numbers on their pages."""

import csv
import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
STUDIES = ROOT / "benchmarks" / "studies"


def value(text: str) -> float:
    """Return the value of a written number."""
    return float(re.sub(r"[<, ]", "", text).replace("−", "-"))


@cache
def rows_of(path: Path) -> list[dict[str, str]]:
    """Return the rows of a CSV file."""
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def matching_row(path: Path, wanted: str) -> dict[str, str]:
    """Return the one row of results with values such as `a=b; c=d`."""
    values = dict(part.strip().split("=", 1) for part in wanted.split(";"))
    found = [
        row for row in rows_of(path) if all(row[name] == text for name, text in values.items())
    ]
    assert len(found) == 1, f"{path.name} has {len(found)} rows with {wanted}; expected one"
    return found[0]
