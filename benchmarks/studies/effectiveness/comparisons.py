"""Differences of two competitors in the saved values, paired by query and clustered by models."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.studies.effectiveness.results import MEASURES
from benchmarks.studies.effectiveness.runs import version
from benchmarks.studies.inference import by_signs
from benchmarks.studies.records import Records
from gapboost._kernels import Array
from gapboost.analysis.estimates import Estimate, clustered, independent

MEAN = "mean of six"
COLUMNS = (*MEASURES, MEAN)

Model = tuple[str, int]  # a collection and a fold
# {model: float64 of shape (Q, 7)}: a test query's measures and their mean, each the mean over the seeds
Queries = dict[Model, Array]
Values = Mapping[str, Queries]


def load(values: Records, study: str, choice: str) -> dict[str, Queries]:
    """Return the values of each competitor, by the present version of our gradients."""
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
        """Number of queries of all collections."""
        return sum(len(d) for d in self.differences.values())

    @property
    def collections(self) -> list[str]:
        """Names of the collections."""
        return list(dict.fromkeys(data for data, _ in self.differences))

    def among(self, collections: Sequence[str]) -> "Comparison":
        """Restrict the comparison to some collections."""
        chosen = {model: d for model, d in self.differences.items() if model[0] in collections}
        return Comparison(self.first, self.second, chosen)

    def models(self, column: str = MEAN) -> list[Array]:
        """Return the differences in one column, one array for each pair of models."""
        return [d[:, COLUMNS.index(column)] for d in self.differences.values()]

    def over_models(self, column: str = MEAN) -> Estimate:
        """Mean over all queries; those that one pair of models ranked are a cluster."""
        return clustered(self.models(column))

    def by_signs(self, column: str = MEAN) -> float:
        """Return the p-value by changes of the signs of the clusters."""
        return by_signs(self.models(column))

    def over_queries(self, column: str = MEAN) -> Estimate:
        """Mean over all queries, without clusters: it holds for these models alone."""
        return independent(np.concatenate(self.models(column)))

    def over_collections(self, column: str = MEAN) -> Estimate:
        """Mean of the collections' means, with each collection as one observation."""
        means = [np.concatenate(self.among([data]).models(column)).mean() for data in self.collections]
        return independent(np.array(means))


def compare(values: Values, first: str, second: str) -> Comparison:
    """Compare two competitors on the folds that both have finished."""
    a, b = values.get(first, {}), values.get(second, {})
    return Comparison(first, second, {model: a[model] - b[model] for model in sorted(a) if model in b})


def compared(values: Values, pairs: Sequence[tuple[str, str]], least: int = 2) -> list[Comparison]:
    """Return the comparisons of pairs with at least `least` folds in common."""
    return [c for pair in pairs if len((c := compare(values, *pair)).differences) >= least]
