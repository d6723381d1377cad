"""Where the chance in a difference comes from: test queries, training queries, tuning, seeds; of the saved resplits."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from scipy import stats

from benchmarks.studies.variance.resplits import LEVELS
from gapboost._kernels import Array
from gapboost.analysis.estimates import LEVEL

Saved = Mapping[str, str]


@dataclass(frozen=True)
class Sources:
    """Variances of a difference on one collection, by measure; before they are cut off at 0.

    Attributes
    ----------
    n_resplits, n_queries : int
        `n_queries` test one resplit.
    query : float
        S^2, of one query.
    parts : dict {level: float64 ndarray of shape (n_resplits,)}
        What each resplit adds to the estimate of a level's variance, which is their mean.
    proven, contradicted : int
        t-tests over the queries of one model with p < .05, and those that the other half's model contradicts.
    """

    n_resplits: int
    n_queries: int
    query: float
    parts: Mapping[str, Array]
    proven: int
    contradicted: int

    def level(self, name: str) -> float:
        """The variance of one level, 0 where the estimate is below."""
        return max(float(self.parts[name].mean()), 0.0)

    def _models(self, seeds: int) -> Array:
        training, tuning, seed = (self.parts[name] for name in LEVELS)
        return np.asarray(training + tuning + seed / seeds)

    def model(self, seeds: int) -> float:
        """T^2 of one model a split, the mean of several seeds; the sum is cut off at 0, not its parts."""
        return max(float(self._models(seeds).mean()), 0.0)

    def interval(self, seeds: int) -> tuple[float, float]:
        """Of T^2, 95 %: what more resplits of the same queries would change."""
        of_resplits = self._models(seeds)
        half = stats.t.ppf(1 - LEVEL / 2, self.n_resplits - 1) * stats.sem(of_resplits)
        low, high = (max(float(of_resplits.mean() + side * half), 0.0) for side in (-1, 1))
        return low, high

    def shares(self) -> dict[str, float]:
        """Of the variance of one difference of two models with one seed each, on the test queries of one resplit."""
        found = {"test queries": self.query / self.n_queries, **{name: self.level(name) for name in LEVELS}}
        total = sum(found.values())
        return {name: value / total for name, value in found.items()}


def sources(rows: Iterable[Saved]) -> Sources:
    """Of the rows of one collection and measure, one a resplit."""
    rows = list(rows)
    columns = {name: np.array([float(row[name]) for row in rows]) for name in ("query", *LEVELS)}
    seed = columns["seed"] / 2
    tuning = columns["tuning"] / 2 - seed / 2
    training = columns["training queries"] / 2 - tuning / 2 - seed / 4
    pairs = [(float(row["p"].split()[0]), *signs_of_halves(row)) for row in rows]
    proven = [first * second < 0 for p, first, second in pairs if p < LEVEL]
    return Sources(
        len(rows), int(rows[0]["queries"]), float(columns["query"].mean()),
        dict(zip(LEVELS, (training, tuning, seed), strict=True)), len(proven), sum(proven),
    )  # fmt: skip


def signs_of_halves(row: Saved) -> tuple[float, float]:
    """The mean differences of the first draw and seed of each half."""
    means = [float(v) for v in row["means"].split()]
    return means[0], means[len(means) // 2]


def by_collection(saved: Iterable[Saved], measure: str) -> dict[str, Sources]:
    """In the order in which collections were first saved."""
    rows = [row for row in saved if row["measure"] == measure]
    names = dict.fromkeys(row["collection"] for row in rows)
    return {data: sources(row for row in rows if row["collection"] == data) for data in names}
