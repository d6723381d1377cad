"""Rankers of the study, and their comparisons in families."""

from typing import Any

import numpy as np
from catboost import CatBoostRanker
from lightgbm import LGBMRanker
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import make_pipeline
from xgboost import XGBRanker

from gapboost.lightgbm import LGBMGAPRanker
from gapboost.preprocessing import QueryRelativeFeatures
from gapboost.xgboost import XGBGAPRanker

LIGHTGBM_GAP, XGBOOST_GAP, YETIRANK = "LightGBM GAP", "XGBoost GAP", "CatBoost YetiRank"
OBJECTIVES: dict[str, Any] = {
    LIGHTGBM_GAP: LGBMGAPRanker(verbose=-1),
    "LightGBM lambdarank": LGBMRanker(verbose=-1),
    "LightGBM rank_xendcg": LGBMRanker(objective="rank_xendcg", verbose=-1),
    XGBOOST_GAP: XGBGAPRanker(),
    "XGBoost rank:ndcg": XGBRanker(objective="rank:ndcg"),
    YETIRANK: CatBoostRanker(loss_function="YetiRank", verbose=False, allow_writing_files=False),
}
FEW, MANY, FOREST, SEEDS, TUNED = "100 trees", "500 trees", "forests", "five seeds", "tuned"
STEPS = (FEW, MANY)
HUNDRED = {"n_estimators": 100, "learning_rate": 0.1}
SETTINGS: dict[str, dict[str, Any]] = {
    FEW: HUNDRED,
    MANY: {"n_estimators": 500, "learning_rate": 0.02},
    FOREST: {**HUNDRED, "num_parallel_tree": 5, "subsample": 0.8, "colsample_bynode": 0.8},
    SEEDS: {**HUNDRED, "n_jobs": 1},
    TUNED: {},
}
RAW, Z, RANKS, BOTH = "raw", "z-scores", "percentile ranks", "both"
KINDS = {RAW: [], Z: ["zscore"], RANKS: ["rank"], BOTH: ["zscore", "rank"]}


class MeanOfSeeds(BaseEstimator):  # type: ignore[misc]
    """A ranker whose scores are the means of five models with other seeds."""

    def __init__(self, ranker: Any, random_state: int = 0) -> None:
        self.ranker = ranker
        self.random_state = random_state

    def fit(self, X: Any, y: Any, group: Any) -> "MeanOfSeeds":
        """Fit one model for each seed."""
        seeds = range(5 * self.random_state, 5 * self.random_state + 5)
        self.models_ = [clone(self.ranker).set_params(random_state=seed).fit(X, y, group=group) for seed in seeds]
        return self

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Return the mean of the scores, shape (N,)."""
        return np.mean([model.predict(X) for model in self.models_], axis=0)


def name(*parts: str) -> str:
    """Return the name of a ranker: objective, number of trees, features."""
    return ", ".join(parts)


def _ranker(objective: str, steps: str, features: str) -> Any:
    ranker = clone(OBJECTIVES[objective]).set_params(**SETTINGS[steps])
    ranker = MeanOfSeeds(ranker) if steps == SEEDS else ranker
    return make_pipeline(QueryRelativeFeatures(KINDS[features]), ranker) if KINDS[features] else ranker


RANKERS = {
    name(*choice): _ranker(*choice)
    for choice in [
        *((one, steps, kind) for one in OBJECTIVES for steps in STEPS for kind in (RAW, Z)),
        *((one, FEW, kind) for one in (LIGHTGBM_GAP, XGBOOST_GAP) for kind in (RANKS, BOTH)),
        *((XGBOOST_GAP, FOREST, kind) for kind in (RAW, Z)),
        *((LIGHTGBM_GAP, SEEDS, kind) for kind in (RAW, Z)),
    ]
}


def _against(one: str, first: str, others: tuple[str, ...]) -> list[tuple[str, str]]:
    """Return pairs of an objective with each kind of features: `first` against each of `others`."""
    return [(name(one, first, kind), name(one, other, kind)) for other in others for kind in (RAW, Z)]


FAMILIES = {
    "features": [(name(one, steps, Z), name(one, steps, RAW)) for one in OBJECTIVES for steps in STEPS],
    "trees": [pair for one in OBJECTIVES for pair in _against(one, MANY, (FEW,))],
    "kinds": [
        (name(one, FEW, kind), name(one, FEW, Z)) for one in (LIGHTGBM_GAP, XGBOOST_GAP) for kind in (RANKS, BOTH)
    ],
    "forests": _against(XGBOOST_GAP, FOREST, (FEW, MANY)),
    "seeds": _against(LIGHTGBM_GAP, SEEDS, (MANY, FEW)),
    "together": [(name(one, MANY, Z), name(one, FEW, RAW)) for one in OBJECTIVES],
    "CatBoost": [(name(one, MANY, Z), name(YETIRANK, MANY, Z)) for one in (LIGHTGBM_GAP, XGBOOST_GAP)],
}

# The second stage: every objective with its best of the same candidates.
TUNED_RANKERS = {name(one, TUNED, kind): _ranker(one, TUNED, kind) for one in OBJECTIVES for kind in (RAW, Z)}
TUNED_FAMILIES = {
    "tuned features": [(name(one, TUNED, Z), name(one, TUNED, RAW)) for one in OBJECTIVES],
    "tuned objectives": [
        (name(first, TUNED, Z), name(second, TUNED, Z))
        for first, second in [
            (LIGHTGBM_GAP, "LightGBM lambdarank"),
            (LIGHTGBM_GAP, "LightGBM rank_xendcg"),
            (XGBOOST_GAP, "XGBoost rank:ndcg"),
            (LIGHTGBM_GAP, YETIRANK),
            (XGBOOST_GAP, YETIRANK),
        ]
    ],
}

# Choices beside raw features and 100 trees; forests are tested with one objective.
CHOICES = {
    "z-scores within the query": (FEW, Z),
    "500 trees, smaller steps": (MANY, RAW),
    "both": (MANY, Z),
    "forests of five sampled trees": (FOREST, RAW),
}
DRAWN = tuple(CHOICES)[:3]
IN_README = (LIGHTGBM_GAP, XGBOOST_GAP, YETIRANK)
