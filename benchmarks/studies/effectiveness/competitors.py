"""What is compared: the boosters' own ranking objectives and ours, tuned, and estimators as they come."""

from collections.abc import Callable
from typing import Any

import lightgbm
import numpy as np
import xgboost

from benchmarks.studies.boosters import Competitor, Part
from gapboost.lightgbm import LGBMGAPRanker
from gapboost.xgboost import XGBGAPRanker

ALL_PAIRS = {"objective": "lambdarank", "lambdarank_truncation_level": 100_000}
COMPETITORS = [
    Competitor("LightGBM GAP", "LightGBM", measure="gap"),
    Competitor("LightGBM lambdarank", "LightGBM", {"objective": "lambdarank"}),
    Competitor("LightGBM rank_xendcg", "LightGBM", {"objective": "rank_xendcg"}),
    Competitor("LightGBM lambdarank of all pairs", "LightGBM", ALL_PAIRS),
    Competitor("LightGBM regression", "LightGBM", {"objective": "regression"}),
    Competitor("LightGBM nDCG", "LightGBM", measure="ndcg"),
    Competitor("LightGBM AP", "LightGBM", measure="ap"),
    Competitor("XGBoost rank:ndcg", "XGBoost", {"objective": "rank:ndcg"}),
    Competitor("XGBoost rank:pairwise", "XGBoost", {"objective": "rank:pairwise"}),
    Competitor("XGBoost rank:map", "XGBoost", {"objective": "rank:map"}),
    Competitor("XGBoost GAP", "XGBoost", measure="gap"),
    Competitor("XGBoost nDCG", "XGBoost", measure="ndcg"),
    Competitor("CatBoost QueryRMSE", "CatBoost", {"loss_function": "QueryRMSE"}),
    Competitor("CatBoost YetiRank", "CatBoost", {"loss_function": "YetiRank"}),
    Competitor("CatBoost YetiRank for MAP", "CatBoost", {"loss_function": "YetiRank:mode=MAP"}),
]


def catboost_ranker(**parameters: Any) -> Any:
    """CatBoost's, imported when it is wanted."""
    from catboost import CatBoostRanker

    return CatBoostRanker(**parameters)


UNTUNED: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "LGBMGAPRanker()": (LGBMGAPRanker, {}),
    "LGBMRanker()": (lightgbm.LGBMRanker, {}),
    "LGBMRanker(objective='rank_xendcg')": (lightgbm.LGBMRanker, {"objective": "rank_xendcg"}),
    "LGBMGAPRanker(extra_trees=False)": (LGBMGAPRanker, {"extra_trees": False}),
    "LGBMRanker(extra_trees=True)": (lightgbm.LGBMRanker, {"extra_trees": True}),
    "XGBGAPRanker()": (XGBGAPRanker, {}),
    "XGBRanker()": (xgboost.XGBRanker, {}),
    "XGBRanker(objective='rank:map')": (xgboost.XGBRanker, {"objective": "rank:map"}),
    "XGBRanker(objective='rank:pairwise')": (xgboost.XGBRanker, {"objective": "rank:pairwise"}),
    "CatBoostRanker()": (catboost_ranker, {}),
    # Controls: XGBoost's hessians are about four times ours, and our own machinery for another measure.
    "XGBRanker(min_child_weight=4, reg_lambda=4)": (xgboost.XGBRanker, {"min_child_weight": 4, "reg_lambda": 4}),
    "LGBMGAPRanker(measure='ndcg')": (LGBMGAPRanker, {"measure": "ndcg"}),
    "XGBGAPRanker(measure='ndcg')": (XGBGAPRanker, {"measure": "ndcg"}),
}


def fit_untuned(name: str, part: Part, seed: int) -> Any:
    """The estimator with nothing else set but the seed and what does not change the model; `rank:map` takes no grades."""
    kind, given = UNTUNED[name]
    y = (part.y > 0).astype(np.int32) if given.get("objective") == "rank:map" else part.y
    qid = np.repeat(np.arange(len(part.sizes)), part.sizes)
    if kind is catboost_ranker:
        quiet = {"verbose": False, "allow_writing_files": False, "thread_count": 1}
        return kind(**quiet, random_seed=seed).fit(part.X, y, group_id=qid)
    quiet = {"verbose": -1} if name.startswith("LGBM") else {}
    rows = {"group": part.sizes} if kind is lightgbm.LGBMRanker else {"qid": qid}
    return kind(**given, **quiet, random_state=seed, n_jobs=1).fit(part.X, y, **rows)
