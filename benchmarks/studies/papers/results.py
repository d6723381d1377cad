"""Saved results: one CSV file an item, a part of it at a time."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from benchmarks.studies import records
from benchmarks.studies.records import Records

RESULTS = Path(__file__).parent / "results"
Rows = list[dict[str, Any]]
# An item: the names of its parts, and what computes their rows.
Parts = Mapping[str, Callable[[], Rows]]


def load(name: str, directory: Path = RESULTS) -> pd.DataFrame:
    """The rows of an item, without the names of their parts."""
    return pd.read_csv(directory / f"{name}.csv").drop(columns="part")


def finish(name: str, parts: Parts, directory: Path = RESULTS) -> None:
    """Compute the parts of an item that are not saved yet, and save each."""
    records.finish(Records(directory / f"{name}.csv", ("part",)), {(part,): parts[part] for part in parts})
