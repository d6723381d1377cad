"""Rankers of the study, and the pairs that are compared."""

from typing import Any

from catboost import CatBoostRanker
from lightgbm import LGBMRanker, LGBMRegressor
from xgboost import XGBRanker

from gapboost.lightgbm import LGBMGAPRanker
from gapboost.xgboost import XGBGAPRanker

QUIET: dict[str, Any] = {"verbose": -1}
SILENT: dict[str, Any] = {"verbose": False, "allow_writing_files": False}

# By the name of the set, as `--rankers` takes it.
RANKERS: dict[str, dict[str, Any]] = {
    "defaults": {
        "LGBMGAPRanker()": LGBMGAPRanker(**QUIET),
        "LGBMRanker()": LGBMRanker(**QUIET),
        "LGBMRanker(objective='rank_xendcg')": LGBMRanker(objective="rank_xendcg", **QUIET),
        "LGBMGAPRanker(extra_trees=False)": LGBMGAPRanker(extra_trees=False, **QUIET),
        "LGBMRanker(extra_trees=True)": LGBMRanker(extra_trees=True, **QUIET),
        "LGBMGAPRanker(measure='ndcg')": LGBMGAPRanker(measure="ndcg", **QUIET),
        "XGBGAPRanker()": XGBGAPRanker(),
        "XGBRanker()": XGBRanker(),
        "XGBRanker(objective='rank:map')": XGBRanker(objective="rank:map"),
        "XGBRanker(objective='rank:pairwise')": XGBRanker(objective="rank:pairwise"),
        "XGBRanker(min_child_weight=4, reg_lambda=4)": XGBRanker(min_child_weight=4, reg_lambda=4),
        "XGBGAPRanker(measure='ndcg')": XGBGAPRanker(measure="ndcg"),
        "CatBoostRanker()": CatBoostRanker(**SILENT),
    },
    "tuned": {
        "LightGBM GAP": LGBMGAPRanker(**QUIET),
        "LightGBM lambdarank": LGBMRanker(**QUIET),
        "LightGBM lambdarank of all pairs": LGBMRanker(
            lambdarank_truncation_level=100_000, **QUIET
        ),
        "LightGBM rank_xendcg": LGBMRanker(objective="rank_xendcg", **QUIET),
        "LightGBM regression": LGBMRegressor(**QUIET),
        "LightGBM nDCG": LGBMGAPRanker(measure="ndcg", **QUIET),
        "LightGBM AP": LGBMGAPRanker(measure="ap", **QUIET),
        "XGBoost GAP": XGBGAPRanker(),
        "XGBoost nDCG": XGBGAPRanker(measure="ndcg"),
        "XGBoost rank:ndcg": XGBRanker(objective="rank:ndcg"),
        "XGBoost rank:pairwise": XGBRanker(objective="rank:pairwise"),
        "XGBoost rank:map": XGBRanker(objective="rank:map"),
        "CatBoost QueryRMSE": CatBoostRanker(loss_function="QueryRMSE", **SILENT),
        "CatBoost YetiRank": CatBoostRanker(loss_function="YetiRank", **SILENT),
        "CatBoost YetiRank for MAP": CatBoostRanker(loss_function="YetiRank:mode=MAP", **SILENT),
    },
}


def _beside(first: str, *others: str) -> list[tuple[str, str]]:
    return [(first, other) for other in others]


# {set: {family: pairs}}; the comparisons of a family by one measure are read together.
FAMILIES: dict[str, dict[str, list[tuple[str, str]]]] = {
    "defaults": {
        "defaults": [
            *_beside("LGBMGAPRanker()", "LGBMRanker()", "LGBMRanker(extra_trees=True)"),
            ("LGBMGAPRanker()", "LGBMRanker(objective='rank_xendcg')"),
            ("LGBMGAPRanker(extra_trees=False)", "LGBMRanker()"),
            *_beside("XGBGAPRanker()", "XGBRanker()", "XGBRanker(objective='rank:pairwise')"),
            ("XGBGAPRanker()", "XGBRanker(objective='rank:map')"),
            ("LGBMGAPRanker()", "CatBoostRanker()"),
            ("XGBGAPRanker()", "CatBoostRanker()"),
        ],
        "controls": [
            ("LGBMGAPRanker()", "LGBMGAPRanker(measure='ndcg')"),
            *_beside(
                "XGBGAPRanker()",
                "XGBGAPRanker(measure='ndcg')",
                "XGBRanker(min_child_weight=4, reg_lambda=4)",
            ),
        ],
        "own parameters": [
            ("LGBMRanker(extra_trees=True)", "LGBMRanker()"),
            ("XGBRanker(min_child_weight=4, reg_lambda=4)", "XGBRanker()"),
        ],
    },
    "tuned": {
        "tuned objectives": [
            *_beside(
                "LightGBM GAP",
                "LightGBM lambdarank",
                "LightGBM lambdarank of all pairs",
                "LightGBM rank_xendcg",
            ),
            *_beside(
                "XGBoost GAP", "XGBoost rank:ndcg", "XGBoost rank:pairwise", "XGBoost rank:map"
            ),
        ],
        "tuned other losses": [
            *_beside("LightGBM GAP", "LightGBM nDCG", "LightGBM AP", "LightGBM regression"),
            ("XGBoost GAP", "XGBoost nDCG"),
            *[
                (f"{library} GAP", f"CatBoost {loss}")
                for loss in ("QueryRMSE", "YetiRank", "YetiRank for MAP")
                for library in ("LightGBM", "XGBoost")
            ],
        ],
    },
}
