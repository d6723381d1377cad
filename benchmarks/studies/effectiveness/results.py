"""The two files of results: one row a fit, and the test values of a finished task, one row a choice."""

from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path

import numpy as np

from benchmarks.studies.records import Key, Records, Row
from gapboost._kernels import Array

RESULTS = Path(__file__).parent / "results"
MEASURES = ("nDCG@10", "nDCG", "AP", "P@10", "GAP", "eGAP")
# What chooses a candidate and the number of its trees: one measure, or the mean of all.
CHOICES = ("nDCG@10", "mean")
KEY = ("study", "data", "fold", "competitor", "gradients")


@dataclass(frozen=True)
class Task:
    """One competitor, by name, on one fold; `gradients` tells versions of ours apart."""

    study: str
    data: str
    fold: int
    competitor: str
    gradients: str

    @property
    def key(self) -> Key:
        """As it is written."""
        return tuple(str(value) for value in astuple(self))


class Results:
    """`fits.csv` and `values.csv` of a directory; a task is finished when its values are there.

    A cell of `values.csv` holds one number a query, in ten-thousandths, in the order of the sorted ids of the fold's test
    queries: the mean over the seeds.
    """

    def __init__(self, directory: Path = RESULTS) -> None:
        self.fits, self.values = (Records(directory / name, KEY) for name in ("fits.csv", "values.csv"))


def rows_of(tested: Mapping[str, Sequence[Sequence[Array]]]) -> list[Row]:
    """What `values.csv` holds of each choice: `tested` has each seed's values of every measure."""
    rows = []
    for choice, seeds in tested.items():
        means = np.rint(1e4 * np.mean(seeds, axis=0)).astype(int)
        cells = (" ".join(map(str, values)) for values in means)
        rows.append({"choice": choice, "seeds": len(seeds), **dict(zip(MEASURES, cells, strict=True))})
    return rows
