"""What a difference between two objectives varies by: test queries, models, seeds, the draw of candidates."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations, permutations

import numpy as np
from scipy import stats

from benchmarks.studies.effectiveness.comparisons import MEAN, Queries, compare, load
from benchmarks.studies.effectiveness.competitors import COMPETITORS
from benchmarks.studies.effectiveness.results import Results
from gapboost._kernels import Array
from gapboost.analysis.estimates import LEVEL

TOP = "nDCG@10"
# Two-sided at .05, and told four times of five.
TOLD = float(stats.norm.ppf(1 - LEVEL / 2) + stats.norm.ppf(0.8))
HALVES = 200

Pair = tuple[str, str]
# {pair: the differences of each fold's queries} of one collection and measure
Differences = Mapping[Pair, list[Array]]


def pairs() -> list[Pair]:
    """Every two tuned objectives of one booster."""
    names = {
        library: [c.name for c in COMPETITORS if c.library == library and "regression" not in c.name]
        for library in ("LightGBM", "XGBoost")
    }
    return [pair for of_one in names.values() for pair in combinations(of_one, 2)]


def differences(values: Mapping[str, Queries], data: str, measure: str) -> dict[Pair, list[Array]]:
    """Of a collection."""
    return {pair: compare(values, *pair).among([data]).models(measure) for pair in pairs()}


@dataclass(frozen=True)
class Components:
    """Variances of a difference on one collection.

    Attributes
    ----------
    n_queries : int
        Test queries of all folds.
    query : float
        S^2, of one query.
    model : float
        T^2, of the models of one fold; 0 where the estimate is negative.
    interval : (float, float)
        Of T^2, 95 %.
    """

    n_queries: int
    query: float
    model: float
    interval: tuple[float, float]

    def provable(self, n_models: float, n_queries: float) -> float:
        """The smallest difference that so many models of each objective and test queries prove four times of five."""
        return float(TOLD * np.sqrt(self.model / n_models + self.query / n_queries))


def between(of: Differences) -> float:
    """T^2 before it is cut off at 0: the variance of the folds' means, less what queries make of it."""
    found = []
    for folds in of.values():
        means = np.array([d.mean() for d in folds])
        noise = np.mean([d.var(ddof=1) / len(d) for d in folds])
        found.append(means.var(ddof=1) - noise)
    return float(np.mean(found))


def components(of: Differences) -> Components:
    """Pooled over pairs; the interval of T^2 by the jackknife over competitors, which pairs share."""
    every = [d for folds in of.values() for d in folds]
    freedom = np.array([len(d) - 1 for d in every])
    query = float(np.array([d.var(ddof=1) for d in every]) @ freedom / freedom.sum())
    whole, names = between(of), sorted({name for pair in of for name in pair})
    without = [between({pair: d for pair, d in of.items() if name not in pair}) for name in names]
    n = len(names)
    apart = np.array(without) - np.mean(without)
    half = float(stats.t.ppf(1 - LEVEL / 2, n - 1) * np.sqrt((n - 1) / n * (apart**2).sum()))
    n_queries = sum(len(d) for d in next(iter(of.values())))
    return Components(n_queries, query, max(whole, 0.0), (max(whole - half, 0.0), max(whole + half, 0.0)))


def reversed_signs(of: Differences) -> tuple[int, int]:
    """Of t-tests over the queries of one fold with p < .05: how many, and how many another fold's difference contradicts."""
    proven = contradicted = 0
    for folds in of.values():
        for one, other in permutations(folds, 2):
            if stats.ttest_1samp(one, 0).pvalue < LEVEL:
                proven += 1
                contradicted += bool(one.mean() * other.mean() < 0)
    return proven, contradicted


def validated(results: Results, data: str, measure: str) -> dict[tuple[str, str], dict[tuple[str, str], float]]:
    """Validation values of the compared on a collection: {(competitor, fold): {(candidate, seed): value}}."""
    column, compared = f"vali {'mean' if measure == MEAN else measure}", {name for pair in pairs() for name in pair}
    found: dict[tuple[str, str], dict[tuple[str, str], float]] = {}
    for row in results.fits:
        if row["study"] == "tuned" and row["data"] == data and row["competitor"] in compared:
            of_model = found.setdefault((row["competitor"], row["fold"]), {})
            of_model[row["candidate"], row["seed"]] = float(row[column])
    return found


def seeds(results: Results, data: str, measure: str) -> float:
    """The variance between the seeds of a chosen candidate's validation value, mean over competitors and folds."""
    found = []
    for of_model in validated(results, data, measure).values():
        for chosen in {candidate for candidate, seed in of_model if seed != "1"}:
            found.append(np.var([value for (candidate, _), value in of_model.items() if candidate == chosen], ddof=1))
    return float(np.mean(found))


def candidates(results: Results, data: str, measure: str) -> float:
    """What the draw of eight candidates moves in the best validation value: a standard deviation."""
    rng, apart = np.random.default_rng(0), []
    for of_model in validated(results, data, measure).values():
        values = np.array([value for (_, seed), value in of_model.items() if seed == "1"])
        for _ in range(HALVES):
            order = rng.permutation(len(values))
            first, second = np.array_split(order, 2)
            apart.append(values[first].max() - values[second].max())
    return float(np.sqrt(np.mean(np.square(apart)) / 2))


def tuned_values(results: Results) -> dict[str, Queries]:
    """Test values of models chosen by nDCG@10."""
    return load(results.values, "tuned", TOP)
