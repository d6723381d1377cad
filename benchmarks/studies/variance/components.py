"""Variances of a difference between two objectives, from three splits."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy import stats

from benchmarks.studies.effectiveness.comparisons import Queries, compare, load
from benchmarks.studies.effectiveness.competitors import COMPETITORS
from benchmarks.studies.effectiveness.results import Results
from gapboost._kernels import Array
from gapboost.analysis.estimates import LEVEL, Estimate

TOP = "nDCG@10"
# Splits of the effectiveness study, and seeds of which a value there is the mean.
FOLDS, SEEDS = 3, 3

Pair = tuple[str, str]
# {pair: the differences of each fold's queries} of one collection and measure
Differences = Mapping[Pair, list[Array]]


def pairs() -> list[Pair]:
    """Return each two tuned objectives of one booster."""
    found: list[Pair] = []
    for library in ("LightGBM", "XGBoost"):
        of_one = [c.name for c in COMPETITORS if c.library == library]
        found += combinations([name for name in of_one if "regression" not in name], 2)
    return found


def differences(values: Mapping[str, Queries], data: str, measure: str) -> dict[Pair, list[Array]]:
    """Return the differences of each pair on one collection."""
    return {pair: compare(values, *pair).among([data]).models(measure) for pair in pairs()}


def jackknife(whole: Array | float, without: Array) -> tuple[Array, Array]:
    """Return the 95 % interval of an estimate from its values without one unit each (axis 0)."""
    n = len(without)
    error = np.sqrt((n - 1) / n * ((without - without.mean(axis=0)) ** 2).sum(axis=0))
    half = stats.t.ppf(1 - LEVEL / 2, n - 1) * error
    return whole - half, whole + half


@dataclass(frozen=True)
class Components:
    """Variances of a difference on one collection, of models that are means of three seeds.

    Attributes
    ----------
    n_queries : int
        Test queries of all folds.
    query : float
        S^2, of one query.
    model : float
        T^2, of the pair of models of one fold; 0 where the estimate is negative.
    interval : (float, float)
        Of T^2, 95 %.
    """

    n_queries: int
    query: float
    model: float
    interval: tuple[float, float]

    def over(self, n_models: int) -> Estimate:
        """Return the error of a difference over pairs of models that test each query once."""
        error = np.sqrt(self.model / n_models + self.query / self.n_queries)
        return Estimate(0.0, float(error), n_models - 1)


def between(of: Differences) -> float:
    """Return T^2, not cut off at 0: the variance of folds' means, less that of queries."""
    found = []
    for folds in of.values():
        means = np.array([d.mean() for d in folds])
        noise = np.mean([d.var(ddof=1) / len(d) for d in folds])
        found.append(means.var(ddof=1) - noise)
    return float(np.mean(found))


def within(of: Differences) -> float:
    """Return S^2: the variance within folds, weighted by their degrees of freedom."""
    every = [d for folds in of.values() for d in folds]
    freedom = np.array([len(d) - 1 for d in every])
    return float(np.array([d.var(ddof=1) for d in every]) @ freedom / freedom.sum())


def components(of: Differences) -> Components:
    """Pool over pairs; the interval of T^2 is a jackknife over competitors, which pairs share."""
    whole, names = between(of), sorted({name for pair in of for name in pair})
    without = [between({pair: d for pair, d in of.items() if name not in pair}) for name in names]
    low, high = (max(float(v), 0.0) for v in jackknife(whole, np.array(without)))
    n_queries = sum(len(d) for d in next(iter(of.values())))
    return Components(n_queries, within(of), max(whole, 0.0), (low, high))


def reversed_tests(of: Differences) -> tuple[int, int]:
    """Count the t-tests over one fold's queries with p < .05, and those that another contradicts.

    A fold contradicts a test if its difference has the other sign.
    """
    significant = contradicted = 0
    for folds in of.values():
        for one in folds:
            if stats.ttest_1samp(one, 0).pvalue < LEVEL:
                significant += 1
                contradicted += any(one.mean() * other.mean() < 0 for other in folds)
    return significant, contradicted


def tuned_values(results: Results) -> dict[str, Queries]:
    """Return the test values of models chosen by nDCG@10."""
    return load(results.values, "tuned", TOP)
