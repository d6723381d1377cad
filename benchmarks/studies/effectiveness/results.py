"""The two files of results: one row a fit, and one row a finished task with the test values of its queries.

Both are only ever appended to, a task's row of values last, so an interrupted study goes on where it stopped.
"""

import csv
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gapboost._kernels import Array

RESULTS = Path(__file__).parent / "results"
MEASURES = ("nDCG@10", "nDCG", "AP", "P@10", "GAP", "eGAP")
# What chooses a candidate and the number of its trees: one measure, or the mean of all.
CHOICES = ("nDCG@10", "mean")
KEY = ("study", "data", "fold", "competitor", "gradients")
FITS = (
    *KEY, "candidate", "seed", "setting", "chosen by", "trees by nDCG@10", *(f"vali {m}" for m in MEASURES),
    "trees by mean", "vali mean", "seconds",
)  # fmt: skip
VALUES = (*KEY, "choice", "seeds", *MEASURES)


@dataclass(frozen=True)
class Task:
    """One competitor, by name, on one fold; `gradients` tells versions of ours apart."""

    study: str
    data: str
    fold: int
    competitor: str
    gradients: str

    @property
    def key(self) -> tuple[str, ...]:
        """As it is written."""
        return tuple(str(value) for value in astuple(self))


class Results:
    """`fits.csv` and `values.csv` of a directory.

    A cell of `values.csv` holds one number a query, in ten-thousandths, in the order of the sorted ids of the fold's test
    queries: the mean over the seeds.
    """

    def __init__(self, directory: Path = RESULTS) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self.fits, self.values = directory / "fits.csv", directory / "values.csv"
        for path, head in ((self.fits, FITS), (self.values, VALUES)):
            start(path, head)

    def done(self) -> set[tuple[str, ...]]:
        """Keys of the finished tasks, of this process and of others: those whose last row is there."""
        return {tuple(row[name] for name in KEY) for row in read(self.values) if row["choice"] != CHOICES[0]}

    def add(self, task: Task, fits: Sequence[dict[str, Any]], tested: dict[str, Sequence[Sequence[Array]]]) -> None:
        """Save a finished task: `tested` holds, for each choice, each seed's values of every measure."""
        append(self.fits, [[*task.key, *(fit[name] for name in FITS[len(KEY) :])] for fit in fits])
        rows = []
        for choice, seeds in tested.items():
            means = np.rint(1e4 * np.mean(seeds, axis=0)).astype(int)
            rows.append([*task.key, choice, len(seeds), *(" ".join(map(str, values)) for values in means)])
        append(self.values, rows)


def start(path: Path, head: Sequence[str]) -> None:
    """A file with its head line, without the piece of a row that an interrupt may have left at the end."""
    whole = path.read_bytes() if path.exists() else b""
    if not whole:
        append(path, [head])
    elif not whole.endswith(b"\n"):
        path.write_bytes(whole[: whole.rfind(b"\n") + 1])


def append(path: Path, rows: Iterable[Sequence[Any]]) -> None:
    """Write rows at the end in one piece, so that those of several processes do not mix."""
    text = "".join(line(row) for row in rows)
    with path.open("ab", buffering=0) as stream:
        stream.write(text.encode())


def line(row: Sequence[Any]) -> str:
    """One row of a CSV file."""
    return ",".join(f'"{value}"' if "," in str(value) else str(value) for value in row) + "\n"


def read(path: Path) -> Iterator[dict[str, str]]:
    """Whole rows of a file; one cut off by an interrupt is left out."""
    csv.field_size_limit(1 << 20)
    with path.open(newline="") as stream:
        yield from (row for row in csv.DictReader(stream) if None not in row and None not in row.values())
