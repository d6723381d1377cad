"""From saved values to differences of two competitors, paired by query and clustered by the models that were trained."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.studies.effectiveness.results import MEASURES
from benchmarks.studies.effectiveness.runs import version
from benchmarks.studies.inference import by_signs
from benchmarks.studies.records import Records
from gapboost._kernels import Array
from gapboost.analysis.estimates import LEVEL, Estimate, clustered, holm, independent

MEAN = "mean of six"
COLUMNS = (*MEASURES, MEAN)

Model = tuple[str, int]  # a collection and a fold
# {model: float64 of shape (Q, 7)}: a test query's measures and their mean, each the mean over the seeds
Queries = dict[Model, Array]
Values = Mapping[str, Queries]


def load(values: Records, study: str, choice: str) -> dict[str, Queries]:
    """Values of every competitor of a study; rows of other versions of our gradients do not count."""
    loaded: dict[str, Queries] = {}
    for row in values:
        if row["study"] == study and row["choice"] == choice and row["gradients"] == version(study, row["competitor"]):
            of_row = np.array([[float(v) for v in row[m].split()] for m in MEASURES]).T / 1e4
            model = (row["data"], int(row["fold"]))
            loaded.setdefault(row["competitor"], {})[model] = np.column_stack((of_row, of_row.mean(axis=1)))
    return loaded


@dataclass(frozen=True, eq=False)
class Comparison:
    """Two competitors on the queries that both were tested on.

    Attributes
    ----------
    first, second : str
    differences : dict {(collection, fold): float64 ndarray of shape (Q, 7)}
        First minus second, a column for each of `COLUMNS`; both models of a key are tested on its queries.
    """

    first: str
    second: str
    differences: dict[Model, Array]

    @property
    def n_queries(self) -> int:
        """Of all collections."""
        return sum(len(d) for d in self.differences.values())

    @property
    def collections(self) -> list[str]:
        """Their names."""
        return list(dict.fromkeys(data for data, _ in self.differences))

    def among(self, collections: Sequence[str]) -> "Comparison":
        """On some collections."""
        chosen = {model: d for model, d in self.differences.items() if model[0] in collections}
        return Comparison(self.first, self.second, chosen)

    def models(self, column: str = MEAN) -> list[Array]:
        """Differences in one column, those of each pair of models together."""
        return [d[:, COLUMNS.index(column)] for d in self.differences.values()]

    def over_models(self, column: str = MEAN) -> Estimate:
        """Mean over all queries; those that one pair of models ranked are a cluster."""
        return clustered(self.models(column))

    def by_signs(self, column: str = MEAN) -> float:
        """p-value by changes of the signs of the clusters."""
        return by_signs(self.models(column))

    def over_queries(self, column: str = MEAN) -> Estimate:
        """Mean over all queries as if each had models of its own: what three models of one collection leave to tell."""
        return independent(np.concatenate(self.models(column)))

    def over_collections(self, column: str = MEAN) -> Estimate:
        """Mean of the collections' means: what another collection may bring."""
        means = [np.concatenate(self.among([data]).models(column)).mean() for data in self.collections]
        return independent(np.array(means))

    def behind(self) -> list[tuple[str, str]]:
        """Collections and measures where the first is behind with p < .05, by Holm's correction over all of these cells."""
        cells = {(data, m): self.among([data]).over_queries(m) for data in self.collections for m in MEASURES}
        corrected = holm({cell: estimate.p for cell, estimate in cells.items()})
        return [cell for cell, estimate in cells.items() if estimate.mean < 0 and corrected[cell] < LEVEL]


def compare(values: Values, first: str, second: str) -> Comparison:
    """Over the folds that both have finished."""
    a, b = values.get(first, {}), values.get(second, {})
    return Comparison(first, second, {model: a[model] - b[model] for model in sorted(a) if model in b})


def compared(values: Values, pairs: Sequence[tuple[str, str]], least: int = 2) -> list[Comparison]:
    """Those of the pairs that have as many folds in common."""
    return [c for pair in pairs if len((c := compare(values, *pair)).differences) >= least]
