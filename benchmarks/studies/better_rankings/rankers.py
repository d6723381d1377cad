"""Rankers of the study, their comparisons in families, and the estimates of one collection."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import lightgbm
import numpy as np
import xgboost
from catboost import CatBoostRanker
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone

from benchmarks.studies.effectiveness.data import Collection
from gapboost.comparison import compare_rankers
from gapboost.comparison.verdicts import estimate_difference
from gapboost.lightgbm import LGBMGAPRanker
from gapboost.preprocessing import query_relative_features
from gapboost.xgboost import XGBGAPRanker

MEASURES = ("ndcg@10", "ndcg", "map", "p@10", "gap", "egap")
OUTCOMES = ("mean of six", "nDCG@10")
RAW, Z, RANKS, BOTH = "raw", "z-scores", "percentile ranks", "both"
KINDS: dict[str, list[str]] = {RAW: [], Z: ["zscore"], RANKS: ["rank"], BOTH: ["zscore", "rank"]}

LIGHTGBM = {"n_jobs": 1, "verbose": -1}
CATBOOST = {"loss_function": "YetiRank", "thread_count": 1, "verbose": False, "allow_writing_files": False}
OBJECTIVES: dict[str, Any] = {
    "LightGBM GAP": LGBMGAPRanker(**LIGHTGBM),
    "LightGBM lambdarank": lightgbm.LGBMRanker(**LIGHTGBM),
    "LightGBM rank_xendcg": lightgbm.LGBMRanker(objective="rank_xendcg", **LIGHTGBM),
    "XGBoost GAP": XGBGAPRanker(n_jobs=1),
    "XGBoost rank:ndcg": xgboost.XGBRanker(objective="rank:ndcg", n_jobs=1),
    "CatBoost YetiRank": CatBoostRanker(**CATBOOST),
}
FEW, MANY = "100 trees", "500 trees"
STEPS = {FEW: {"n_estimators": 100, "learning_rate": 0.1}, MANY: {"n_estimators": 500, "learning_rate": 0.02}}
FOREST, SEEDS = "forests", "five seeds"
SAMPLED_TREES = {"num_parallel_tree": 5, "subsample": 0.8, "colsample_bynode": 0.8}

Pair = tuple[str, str]


class MeanOfSeeds(BaseEstimator):  # type: ignore[misc]
    """A ranker whose scores are the means of several models with other seeds."""

    def __init__(self, ranker: Any, n_seeds: int = 5, random_state: int = 0) -> None:
        self.ranker = ranker
        self.n_seeds = n_seeds
        self.random_state = random_state

    def fit(self, X: Any, y: Any, group: Any) -> "MeanOfSeeds":
        """Fit one model for each seed."""
        seeds = [1000 * self.random_state + number for number in range(self.n_seeds)]
        self.models_ = [clone(self.ranker).set_params(random_state=seed).fit(X, y, group=group) for seed in seeds]
        return self

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Return the mean of the scores, shape (N,)."""
        return np.mean([model.predict(X) for model in self.models_], axis=0)


def name(*parts: str) -> str:
    """Return the name of a ranker: objective, number of trees, features."""
    return ", ".join(parts)


def rankers(features: str) -> dict[str, Any]:
    """Return the rankers that are trained on one kind of features, by name."""
    wanted = {
        name(objective, steps, features): clone(OBJECTIVES[objective]).set_params(**STEPS[steps])
        for objective in OBJECTIVES
        for steps in STEPS
    }
    if features in (RANKS, BOTH):
        return {key: wanted[key] for key in (name(one, FEW, features) for one in ("LightGBM GAP", "XGBoost GAP"))}
    gap = {booster: OBJECTIVES[f"{booster} GAP"] for booster in ("LightGBM", "XGBoost")}
    forest = clone(gap["XGBoost"]).set_params(**STEPS[FEW], **SAMPLED_TREES)
    seeds = MeanOfSeeds(clone(gap["LightGBM"]).set_params(**STEPS[FEW]))
    return {**wanted, name("XGBoost GAP", FOREST, features): forest, name("LightGBM GAP", SEEDS, features): seeds}


def families() -> dict[str, list[Pair]]:
    """Return the comparisons of the protocol: the first ranker minus the second."""
    both_ways = [(one, steps) for one in OBJECTIVES for steps in STEPS]
    return {
        "features": [(name(one, steps, Z), name(one, steps, RAW)) for one, steps in both_ways],
        "trees": [(name(one, MANY, kind), name(one, FEW, kind)) for one in OBJECTIVES for kind in (RAW, Z)],
        "kinds": [
            (name(one, FEW, kind), name(one, FEW, Z))
            for one in ("LightGBM GAP", "XGBoost GAP")
            for kind in (RANKS, BOTH)
        ],
        "forests": [
            (name("XGBoost GAP", FOREST, kind), name("XGBoost GAP", steps, kind))
            for steps in STEPS
            for kind in (RAW, Z)
        ],
        "seeds": [
            (name("LightGBM GAP", SEEDS, kind), name("LightGBM GAP", steps, kind))
            for steps in (MANY, FEW)
            for kind in (RAW, Z)
        ],
        "together": [(name(one, MANY, Z), name(one, FEW, RAW)) for one in OBJECTIVES],
        "CatBoost": [
            (name(one, MANY, Z), name("CatBoost YetiRank", MANY, Z)) for one in ("LightGBM GAP", "XGBoost GAP")
        ],
    }


def of_outcomes(measured: Mapping[str, Sequence[NDArray[np.float64]]]) -> dict[str, list[NDArray[np.float64]]]:
    """Return the mean of the six measures and nDCG@10 of each test query, split by split."""
    means = [np.mean(of_split, axis=0) for of_split in zip(*measured.values(), strict=True)]
    return dict(zip(OUTCOMES, (means, list(measured["ndcg@10"])), strict=True))


def estimates(source: Collection, cache: Path) -> list[dict[str, Any]]:
    """Train what the cache lacks; return a row for each comparison and outcome on one collection."""
    data, values, seconds, splits = source.data, {}, {}, None
    for features, kinds in KINDS.items():
        X = query_relative_features(data.X, data.qid, kinds=kinds) if kinds else data.X
        found = compare_rankers(
            X, data.y, data.qid, rankers(features), measures=MEASURES, checkpoint=cache / source.name / features
        )
        for one in found.rankers:
            values[one] = of_outcomes({measure: found.values.of(one, measure) for measure in MEASURES})
            seconds[one] = found.values.fit_seconds(one)
        tested = [split.test for split in found.training.splits]
        # Rankers on other features are compared query by query.
        assert splits is None or all(map(np.array_equal, splits, tested))
        splits = tested
    return [
        {
            "family": family, "first": first, "second": second, "outcome": outcome, "queries": found.values.n_queries,
            "difference": one.mean, "error": one.error, "freedom": one.freedom,
            "seconds of first": seconds[first], "seconds of second": seconds[second],
        }
        for family, pairs in families().items()
        for first, second in pairs
        for outcome in OUTCOMES
        for one in [estimate_difference(list(zip(values[first][outcome], values[second][outcome], strict=True)), splits)]
    ]  # fmt: skip
