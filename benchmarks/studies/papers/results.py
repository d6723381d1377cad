"""Saved results: one CSV file an item, in parts that are computed once.

An item is a mapping from the names of its parts to functions that compute their rows. A part's rows are written together, so
that an interrupted run goes on with the next part; a part whose rows are there is not computed again. To compute an item anew,
delete its file.
"""

import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

RESULTS = Path(__file__).parent / "results"
Rows = list[dict[str, Any]]
Parts = Mapping[str, Callable[[], Rows]]


def load(name: str, directory: Path = RESULTS) -> pd.DataFrame:
    """The rows of an item, without the names of their parts."""
    return pd.read_csv(directory / f"{name}.csv").drop(columns="part")


def saved(name: str) -> bool:
    """Whether an item is there."""
    return (RESULTS / f"{name}.csv").exists()


def finish(name: str, parts: Parts, directory: Path = RESULTS) -> None:
    """Compute the parts of an item that are not saved yet, and save each."""
    path = directory / f"{name}.csv"
    table = pd.read_csv(path) if path.exists() else pd.DataFrame({"part": []})
    saved = set(table["part"].astype(str))
    for part, compute in parts.items():
        if part in saved:
            continue
        begin = time.process_time()
        found = pd.DataFrame(compute())
        found.insert(0, "part", part)
        table = found if table.empty else pd.concat([table, found])
        directory.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_suffix(".unfinished")
        table.to_csv(unfinished, index=False, float_format="%.6g")
        os.replace(unfinished, path)
        print(f"{name}: {part}, {time.process_time() - begin:.1f} s of processor time", flush=True)
