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
def load(name: str) -> pd.DataFrame:
    """Return the rows of an item, without the names of their parts."""
    return pd.read_csv(RESULTS / f"{name}.csv").drop(columns="part", errors="ignore")


def finish(name: str, parts: Parts) -> None:
    """Compute the parts of an item that are not saved yet, and save each."""
    records.finish(
        Records(RESULTS / f"{name}.csv", ("part",)), {(part,): parts[part] for part in parts}
    )
