"""From saved values to differences: per query and averaged over seeds, tested over queries, corrected for their number."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.effectiveness.runs import MEASURES, read, version
from gapboost._data.queries import Array
from gapboost.analysis import significance
from gapboost.analysis.significance import Significance

MEAN = "mean of all"
COLUMNS = (*MEASURES, MEAN)
TESTS = ("t", "wilcoxon", "sign", "randomization")


@dataclass(frozen=True, eq=False)
class Values:
    """Test values of one data set.

    Attributes
    ----------
    data : str
    seeds : list of int
        Those that every competitor has finished.
    of : dict {competitor: float64 ndarray of shape (Q, 7)}
        A query's values, mean over the seeds; the last column is the mean of the six measures.
    """

    data: str
    seeds: list[int]
    of: dict[str, Array]

    @property
    def names(self) -> list[str]:
        """Competitors."""
        return list(self.of)

    @property
    def n_queries(self) -> int:
        """Queries tested."""
        return len(next(iter(self.of.values()), []))

    def means(self, name: str) -> Array:
        """Mean of each of `COLUMNS`."""
        return np.asarray(self.of[name].mean(axis=0))

    def compare(self, first: str, second: str, column: str) -> Significance:
        """First minus second in one of `COLUMNS`."""
        at = COLUMNS.index(column)
        return significance(self.of[first][:, at], self.of[second][:, at], random_state=0)


def load(path: Path, data: str, names: Sequence[str]) -> Values:
    """The values of `names` on one data set; rows of other versions of our gradients do not count."""
    found: dict[str, dict[int, dict[str, list[float]]]] = {name: defaultdict(dict) for name in names}
    versions = {name: version(name) for name in names}
    for row in read(path):
        if row["data"] == data and versions.get(row["competitor"]) == row["gradients"]:
            values = [float(row[m]) for m in MEASURES]
            found[row["competitor"]][int(row["seed"])][row["qid"]] = [*values, float(np.mean(values))]
    most = max((len(queries) for seeds in found.values() for queries in seeds.values()), default=0)
    started = sorted({seed for seeds in found.values() for seed in seeds})
    seeds = [s for s in started if all(len(found[n][s]) == most for n in names)]
    if not seeds:
        return Values(data, [], {})
    queries = sorted(found[names[0]][seeds[0]])
    return Values(data, seeds, {n: np.mean([[found[n][s][q] for q in queries] for s in seeds], axis=0) for n in names})


def pooled(found: Sequence[Values]) -> Values:
    """All queries of several data sets as one."""
    seeds = min((values.seeds for values in found), key=len)
    names = found[0].names
    return Values("all", seeds, {n: np.concatenate([values.of[n] for values in found]) for n in names})


def holm(p_values: Mapping[object, float]) -> dict[object, float]:
    """Holm's correction of p-values that are looked at together."""
    corrected, running = {}, 0.0
    for rank, (key, p) in enumerate(sorted(p_values.items(), key=lambda item: item[1])):
        running = max(running, min(1.0, p * (len(p_values) - rank)))
        corrected[key] = running
    return corrected


def corrected(results: Mapping[object, Significance]) -> dict[object, dict[str, float]]:
    """p-values of each test, by Holm's correction over all `results`."""
    by_test = {test: holm({key: getattr(r, test) for key, r in results.items()}) for test in TESTS}
    return {key: {test: by_test[test][key] for test in TESTS} for key in results}
