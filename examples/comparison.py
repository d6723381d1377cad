"""Shared by the examples: each booster's own ranker beside gapboost's.

Both stop on the validation queries, and are compared on the test queries.
"""

import lightgbm
import numpy as np
import xgboost

from gapboost.comparison import compare_rankers
from gapboost.datasets import RankingSplit
from gapboost.lightgbm import LGBMGAPRanker
from gapboost.xgboost import XGBGAPRanker

ROUNDS, PATIENCE, RATE = 500, 50, 0.05


def rankers():
    """The boosters' own go by nDCG@10 of the validation queries when they stop, ours by GAP."""
    trees = {"n_estimators": ROUNDS, "learning_rate": RATE}
    of_lightgbm = {**trees, "early_stopping_round": PATIENCE, "verbose": -1}
    of_xgboost = {**trees, "early_stopping_rounds": PATIENCE}
    return {
        # With drawn thresholds, as LGBMGAPRanker has them by default: the difference is what is
        # trained for.
        "LightGBM lambdarank": lightgbm.LGBMRanker(extra_trees=True, eval_at=[10], **of_lightgbm),
        "LightGBM GAP": LGBMGAPRanker(**of_lightgbm),
        "XGBoost rank:ndcg": xgboost.XGBRanker(eval_metric="ndcg@10", **of_xgboost),
        "XGBoost GAP": XGBGAPRanker(**of_xgboost),
    }


def compare(split: RankingSplit) -> None:
    """Train all four, and print the comparison on the test queries."""
    X, y, qid = (
        np.concatenate([getattr(part, name) for part in split]) for name in ("X", "y", "qid")
    )
    fold = np.split(np.arange(len(y)), np.cumsum([len(split.train), len(split.vali)]))
    measures = ["ndcg@10", "map", "p@10", "gap"]
    found = compare_rankers(X, y, qid, rankers(), measures=measures, cv=[fold], seeds=1)
    print(f"train {split.train}\nvali  {split.vali}\ntest  {split.test}\n")
    print(f"{found.means().round(4).to_string()}\n")
    summary = found.summary("LightGBM lambdarank")
    print(
        summary.to_string(
            index=False, float_format="{:.4f}".format, formatters={"p": "{:.2g}".format}
        )
    )
    print(
        f"\nOn {split.test.n_queries} test queries. Only the number of trees was tuned, on the "
        "validation queries.\n"
        f"Learning rate {RATE}, extra_trees for LightGBM; all else is each library's default. "
        "There is one model of each."
    )
