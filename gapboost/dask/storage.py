"""Files between a worker and its training process.

Arrays of rows are memory-mapped; all other objects are pickled.
"""

import pickle
from pathlib import Path
from typing import Any

import cloudpickle
import joblib

from gapboost._boosters.rows import RankingRows


def dump_rows(rows: RankingRows, path: str) -> None:
    """Write rows to a file."""
    joblib.dump(rows, path)


def load_rows(path: str) -> RankingRows:
    """Return the rows in a file; writing to their mapped arrays does not change the file."""
    rows: RankingRows = joblib.load(path, mmap_mode="c")
    return rows


def dump(value: Any, path: Path) -> None:
    """Write an object to a file, which appears when it is complete."""
    unfinished = path.with_suffix(".part")
    # Objectives and callbacks may be defined where no other process can import them.
    unfinished.write_bytes(cloudpickle.dumps(value))
    unfinished.replace(path)


def load(path: Path) -> Any:
    """The object in a file."""
    return pickle.loads(path.read_bytes())
