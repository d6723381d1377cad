"""What is compared: the boosters' own ranking objectives and ours, tuned, and estimators as they come."""

from collections.abc import Callable
from typing import Any

import lightgbm
import xgboost

from benchmarks.studies.boosters import Competitor
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


def catboost_ranker() -> Any:
    """CatBoost's, imported when it is wanted."""
    from catboost import CatBoostRanker

    return CatBoostRanker(verbose=False, allow_writing_files=False)


def silent(**given: Any) -> dict[str, Any]:
    """Parameters of LightGBM's estimators: what keeps them silent changes no model."""
    return {**given, "verbose": -1}


# Nothing else is set; `compare_rankers` sets the seed and one thread.
UNTUNED: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "LGBMGAPRanker()": (LGBMGAPRanker, silent()),
    "LGBMRanker()": (lightgbm.LGBMRanker, silent()),
    "LGBMRanker(objective='rank_xendcg')": (lightgbm.LGBMRanker, silent(objective="rank_xendcg")),
    "LGBMGAPRanker(extra_trees=False)": (LGBMGAPRanker, silent(extra_trees=False)),
    "LGBMRanker(extra_trees=True)": (lightgbm.LGBMRanker, silent(extra_trees=True)),
    "XGBGAPRanker()": (XGBGAPRanker, {}),
    "XGBRanker()": (xgboost.XGBRanker, {}),
    "XGBRanker(objective='rank:map')": (xgboost.XGBRanker, {"objective": "rank:map"}),
    "XGBRanker(objective='rank:pairwise')": (xgboost.XGBRanker, {"objective": "rank:pairwise"}),
    "CatBoostRanker()": (catboost_ranker, {}),
    # Controls: XGBoost's hessians are about four times ours, and our own machinery for another measure.
    "XGBRanker(min_child_weight=4, reg_lambda=4)": (xgboost.XGBRanker, {"min_child_weight": 4, "reg_lambda": 4}),
    "LGBMGAPRanker(measure='ndcg')": (LGBMGAPRanker, silent(measure="ndcg")),
    "XGBGAPRanker(measure='ndcg')": (XGBGAPRanker, {"measure": "ndcg"}),
}
