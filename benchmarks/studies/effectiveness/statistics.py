"""From saved values to differences, paired over queries, tested, and corrected for their number."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import stats

from benchmarks.studies.effectiveness.results import MEASURES, read
from benchmarks.studies.effectiveness.runs import version
from gapboost._kernels import Array
from gapboost.analysis import significance
from gapboost.analysis.significance import Significance

MEAN = "mean"
COLUMNS = (*MEASURES, MEAN)
LEVEL = 0.05

# {(data, fold): float64 of shape (Q, 7)}: a query's measures and their mean, each the mean over the seeds
Queries = dict[tuple[str, int], Array]


def load(path: Path, study: str, choice: str) -> dict[str, Queries]:
    """Values of every competitor of a study; rows of other versions of our gradients do not count."""
    found: dict[str, Queries] = {}
    for row in read(path):
        if row["study"] == study and row["choice"] == choice and row["gradients"] == version(study, row["competitor"]):
            values = np.array([[float(v) for v in row[m].split()] for m in MEASURES]).T / 1e4
            key = (row["data"], int(row["fold"]))
            found.setdefault(row["competitor"], {})[key] = np.column_stack((values, values.mean(axis=1)))
    return found


@dataclass(frozen=True, eq=False)
class Comparison:
    """Two competitors on the queries that both were tested on.

    Attributes
    ----------
    first, second : str
    differences : dict {collection: float64 ndarray of shape (Q, 7)}
        First minus second, a column for each of `COLUMNS`.
    """

    first: str
    second: str
    differences: dict[str, Array]

    @property
    def n_queries(self) -> int:
        """Of all collections."""
        return sum(len(d) for d in self.differences.values())

    def of(self, column: str = MEAN, data: str | None = None, n_resamples: int = 1) -> Significance:
        """In one column, on one collection or all queries together.

        The randomisation test takes nearly all of the time: who reads its p-value asks for resamples.
        """
        rows = list(self.differences.values()) if data is None else [self.differences[data]]
        values = np.concatenate(rows)[:, COLUMNS.index(column)]
        return significance(values, np.zeros(len(values)), n_resamples=n_resamples, random_state=0)

    def mean_of_collections(self) -> tuple[float, tuple[float, float], float]:
        """Each collection weighing the same, in the mean of the measures: difference, 95 % interval and p-value."""
        columns = [d[:, -1] for d in self.differences.values()]
        difference = float(np.mean([c.mean() for c in columns]))
        error = float(np.sqrt(sum(c.var(ddof=1) / len(c) for c in columns)) / len(columns))
        half = float(stats.norm.ppf(0.975)) * error
        return difference, (difference - half, difference + half), float(2 * stats.norm.sf(abs(difference) / error))

    def worse(self) -> list[tuple[str, str]]:
        """Collections and measures where the first is proven behind: t-tests, by Holm's correction over all of these cells."""
        at = [COLUMNS.index(m) for m in MEASURES]
        behind, p = {}, {}
        for data, d in self.differences.items():
            found = stats.ttest_1samp(d[:, at], 0).pvalue
            for m, column, value in zip(MEASURES, at, found, strict=True):
                behind[data, m] = d[:, column].mean() < 0
                p[data, m] = 1.0 if np.isnan(value) else float(value)
        corrected = holm(p)
        return [cell for cell in p if behind[cell] and corrected[cell] < LEVEL]


def compare(found: Mapping[str, Queries], first: str, second: str, among: Sequence[str] | None = None) -> Comparison:
    """Over the folds that both have finished, `among` these collections."""
    a, b = found.get(first, {}), found.get(second, {})
    shared = [key for key in a if key in b and (among is None or key[0] in among)]
    names = sorted({data for data, _ in shared})
    parts = {data: [a[key] - b[key] for key in sorted(shared) if key[0] == data] for data in names}
    return Comparison(first, second, {data: np.concatenate(rows) for data, rows in parts.items()})


def means(queries: Queries) -> Array:
    """Mean over all queries of each of `COLUMNS`."""
    return np.asarray(np.concatenate(list(queries.values())).mean(axis=0))


def holm(p_values: Mapping[object, float]) -> dict[object, float]:
    """Holm's correction of p-values that are looked at together."""
    corrected, running = {}, 0.0
    for rank, (key, p) in enumerate(sorted(p_values.items(), key=lambda item: item[1])):
        running = max(running, min(1.0, p * (len(p_values) - rank)))
        corrected[key] = running
    return corrected
