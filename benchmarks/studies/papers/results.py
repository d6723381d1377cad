"""Saved results: one CSV file an item, a part of it at a time."""

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd

from benchmarks.studies import records
from benchmarks.studies.records import Records

RESULTS = Path(__file__).parent / "results"
Rows = list[dict[str, Any]]
# An item: the names of its parts, and what computes their rows.
Parts = Mapping[str, Callable[[], Rows]]


@cache
def _read(name: str) -> pd.DataFrame:
    return pd.read_csv(RESULTS / f"{name}.csv").drop(columns="part", errors="ignore")


def load(name: str, **wanted: Any) -> pd.DataFrame:
    """Return the rows of an item with these values, without the names of their parts."""
    rows = _read(name)
    for column, value in wanted.items():
        rows = rows[rows[column] == value]
    return rows


def finish(name: str, parts: Parts) -> None:
    """Compute the parts of an item that are not saved yet, and save each."""
    tasks = {(part,): rows for part, rows in parts.items()}
    records.finish(Records(RESULTS / f"{name}.csv", ("part",)), tasks)
