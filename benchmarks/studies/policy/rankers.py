"""Real rankers against themselves with other seeds, and on random halves of the queries."""

from typing import Any

import lightgbm
import numpy as np
import xgboost
from sklearn.base import BaseEstimator, clone

from benchmarks.studies.effectiveness.data import Collection, rows
from gapboost.comparison import compare_rankers
from gapboost.datasets import RankingData
from gapboost.lightgbm import LGBMGAPRanker

MEASURES = ("ndcg@10", "map", "gap")
# Comparisons of one ranker with itself, from models of so many seeds: six pairs of four.
SEEDS = 4
SAMPLED = {"subsample": 0.8, "colsample_bytree": 0.8}
OF_TREES = {"n_jobs": 1, "verbose": -1}

# Rankers whose models differ by their seed.
RANDOM: dict[str, Any] = {
    "LightGBM GAP": LGBMGAPRanker(**OF_TREES),
    "LightGBM lambdarank, sampled": lightgbm.LGBMRanker(subsample_freq=1, **SAMPLED, **OF_TREES),
    "XGBoost rank:ndcg, sampled": xgboost.XGBRanker(objective="rank:ndcg", n_jobs=1, **SAMPLED),
}

# Rankers that are compared on halves, with the baseline first.
COMPARED: dict[str, Any] = {
    "LightGBM lambdarank": lightgbm.LGBMRanker(**OF_TREES),
    "LightGBM rank_xendcg": lightgbm.LGBMRanker(objective="rank_xendcg", **OF_TREES),
    "LightGBM regression": lightgbm.LGBMRegressor(**OF_TREES),
    "LightGBM GAP": LGBMGAPRanker(**OF_TREES),
}


class OtherSeed(BaseEstimator):
    """A ranker whose seeds differ from those of the same ranker with another `number`."""

    def __init__(self, ranker: Any, number: int, random_state: int = 0) -> None:
        self.ranker = ranker
        self.number = number
        self.random_state = random_state

    def fit(self, X: Any, y: Any, group: Any) -> "OtherSeed":
        """Fit the ranker with a seed of its own."""
        ranker = clone(self.ranker).set_params(random_state=1000 * self.number + self.random_state)
        self.model_ = ranker.fit(X, y, group=group)
        return self

    def predict(self, X: Any) -> Any:
        """Return scores."""
        return self.model_.predict(X)


def subset(source: Collection, n: int, draw: int) -> list[Any]:
    """Return X, y and qid of `n` random queries, and of the others, of a collection."""
    data = source.data
    queries = np.random.default_rng([draw, *source.name.encode()]).permutation(np.unique(data.qid))
    return [rows(data, queries[:n]), rows(data, queries[n:])]


def verdicts(data: RankingData, rankers: dict[str, Any], baseline: str | None = None) -> list[Any]:
    """Return the verdicts of a comparison, of all pairs or with a baseline."""
    options: dict[str, Any] = {"measures": MEASURES, "n_jobs": 1, "progress": False}
    return compare_rankers(data.X, data.y, data.qid, rankers, **options).verdicts(baseline)


def beside_itself(source: Collection, n: int, name: str, draw: int) -> list[dict[str, Any]]:
    """Return a row for each pair of seeds and measure; each is a comparison of its own."""
    data = subset(source, n, draw)[0]
    rankers = {f"seed {number}": OtherSeed(RANDOM[name], number) for number in range(SEEDS)}
    return [
        {
            "measure": v.measure, "pair": f"{v.ranker} - {v.beside}", "difference": v.difference,
            "error": v.estimate.error, "freedom": v.estimate.freedom,
            "verdict": v.estimate.verdict(), "of the family of six": v.verdict,
        }
        for v in verdicts(data, rankers)
    ]  # fmt: skip


def on_halves(source: Collection, draw: int) -> list[dict[str, Any]]:
    """Return a row for each half, ranker and measure."""
    n = len(np.unique(source.data.qid)) // 2
    return [
        {
            "half": half, "ranker": v.ranker, "measure": v.measure, "queries": v.n_queries,
            "difference": v.difference, "low": v.interval[0], "high": v.interval[1],
            "verdict": v.verdict,
        }
        for half, data in enumerate(subset(source, n, 1000 + draw))
        for v in verdicts(data, COMPARED, next(iter(COMPARED)))
    ]  # fmt: skip
