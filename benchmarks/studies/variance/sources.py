"""Sources of the variance of a difference, from the resplits: queries, training, tuning, seeds."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from scipy import stats

from benchmarks.studies.variance.components import jackknife
from benchmarks.studies.variance.resplits import DRAWS, HALVES, LEVELS, SEEDS
from gapboost._kernels import Array
from gapboost.analysis.estimates import LEVEL, Estimate

Saved = Mapping[str, str]
SOURCES = ("test queries", *LEVELS)


@dataclass(frozen=True, eq=False)
class Sources:
    """Variances of a difference on one collection, whose estimates are means over resplits.

    Attributes
    ----------
    n_queries : int
        Queries that test one resplit.
    query : float64 ndarray of shape (n_resplits,)
        S^2 of models with one seed, of one query.
    parts : dict {level: float64 ndarray of shape (n_resplits,)}
        Variance of the mean over all queries; not cut off at 0.
    single : dict {level: float64 ndarray of shape (n_resplits,)}
        Part of S^2 that a new draw of the level draws anew on the same queries.
    significant, contradicted : bool ndarray of shape (n_resplits,)
        True if the t-test over the queries of the first half's models has p < .05, and if besides
        the models of the second half have the other sign.
    """

    n_queries: int
    query: Array
    parts: Mapping[str, Array]
    single: Mapping[str, Array]
    significant: Array
    contradicted: Array

    def variances(self, seeds: int) -> Array:
        """Return S^2 and the three parts of T^2 of means of seeds, of shape (4, n_resplits)."""
        query = self.query - (1 - 1 / seeds) * self.single["seed"]
        training, tuning, seed = (self.parts[name] for name in LEVELS)
        return np.stack((query, training, tuning, seed / seeds))

    def model(self, seeds: int) -> float:
        """Return T^2 of one pair of models; the sum is cut off at 0, not its parts."""
        return max(float(self.variances(seeds)[1:].sum(axis=0).mean()), 0.0)

    def interval(self, seeds: int) -> tuple[float, float]:
        """Return the 95 % interval of T^2, over resplits of the same queries."""
        of_resplits = self.variances(seeds)[1:].sum(axis=0)
        without = (of_resplits.sum() - of_resplits) / (len(of_resplits) - 1)
        low, high = (max(float(v), 0.0) for v in jackknife(of_resplits.mean(), without))
        return low, high

    def redrawn(self) -> float:
        """Return the part of S^2, with one seed, that new models draw anew on the same queries."""
        of_levels = sum(float(variance.mean()) for variance in self.single.values())
        return min(of_levels / float(self.query.mean()), 1.0)

    def over(self, n_models: int, n_queries: int, seeds: int = 1, repeats: int = 1) -> Estimate:
        """Return the error of a difference over pairs of models.

        Parameters
        ----------
        n_models : int
        n_queries : int
        seeds : int, default=1
            Of which the values of a model are the mean.
        repeats : int, default=1
            Models that test each query.
        """
        query = float(self.variances(seeds)[0].mean())
        alone = (1 - self.redrawn()) * float(self.query.mean())
        variance = self.model(seeds) / n_models + (alone + (query - alone) / repeats) / n_queries
        return Estimate(0.0, float(np.sqrt(variance)), n_models - 1)

    def shares(self, n_queries: float, seeds: int) -> dict[str, tuple[float, float, float]]:
        """Return each source's share of the variance of one pair of models, and its 95 % interval.

        Shares are not cut off, so that they add up to 1. The interval is a jackknife over resplits.
        """
        found = self.variances(seeds)
        found[0] /= n_queries
        sums = found.sum(axis=1)
        without = sums[:, None] - found
        share = sums / sums.sum()
        low, high = jackknife(share, (without / without.sum(axis=0)).T)
        bounded = zip(share.tolist(), low.tolist(), high.tolist(), strict=True)
        return dict(zip(SOURCES, bounded, strict=True))

    def false_alarms(self, n_queries: int, seeds: int = 1) -> Array:
        """Return the predicted rate of false alarms of t-tests over one split's queries.

        The test takes S^2 / n for the variance of a difference that has T^2 + S^2 / n.

        Returns
        -------
        float64 ndarray of shape (1 + n_resplits,)
            The rate, and the rates without one resplit each.
        """
        query, *parts = self.variances(seeds)
        model = np.sum(parts, axis=0)
        query, model = (np.append(v.sum(), v.sum() - v) for v in (query, model))
        wider = np.sqrt(1 + n_queries * np.maximum(model, 0) / query)
        least = stats.t.ppf(1 - LEVEL / 2, n_queries - 1)
        return np.asarray(2 * stats.t.sf(least / wider, n_queries - 1))


def by_level(of_contrasts: Mapping[str, Array]) -> dict[str, Array]:
    """Return the variances of levels from the squares, or variances, of contrasts of two cells."""
    seed = of_contrasts["seed"] / 2
    tuning = of_contrasts["tuning"] / 2 - seed / 2
    training = of_contrasts["training queries"] / 2 - tuning / 2 - seed / 4
    return dict(zip(LEVELS, (training, tuning, seed), strict=True))


def sources(rows: Iterable[Saved]) -> Sources:
    """Return the sources of one collection and measure from its rows, one for each resplit."""
    rows = list(rows)
    n_queries = int(rows[0]["queries"])
    squares = {name: np.array([float(row[name]) for row in rows]) for name in LEVELS}
    means = np.array([[float(v) for v in row["means"].split()] for row in rows])
    means = means.reshape(-1, HALVES, DRAWS, SEEDS)
    # A saved square is that of the contrast's mean, less the variance of the contrast over n.
    of_means = contrasts_squared(means)
    single = by_level({name: n_queries * (of_means[name] - squares[name]) for name in LEVELS})
    first, second = means[:, 0, 0, 0], means[:, 1, 0, 0]
    significant = np.array([float(row["p"].split()[0]) for row in rows]) < LEVEL
    query = np.array([float(row["query"]) for row in rows])
    contradicted = significant & (first * second < 0)
    return Sources(n_queries, query, by_level(squares), single, significant, contradicted)


def contrasts_squared(means: Array) -> dict[str, Array]:
    """Return the mean square of each level's contrasts.

    `means` has the shape (n, halves, draws, seeds).
    """
    of_levels = means.mean(axis=(2, 3)), means.mean(axis=3), means
    return {
        name: (np.diff(of_level, axis=axis) ** 2).reshape(len(means), -1).mean(axis=1)
        for axis, (name, of_level) in enumerate(zip(LEVELS, of_levels, strict=True), start=1)
    }


def by_collection(saved: Iterable[Saved], measure: str) -> dict[str, Sources]:
    """Return the sources of each collection, in the order in which collections were first saved."""
    rows = [row for row in saved if row["measure"] == measure]
    names = dict.fromkeys(row["collection"] for row in rows)
    return {data: sources(row for row in rows if row["collection"] == data) for data in names}
