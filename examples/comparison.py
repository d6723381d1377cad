"""Shared by the examples: each booster's own ranker beside gapboost's.

All choose their number of trees in the same way, by nDCG@10 of the validation queries, and are
compared on the test queries.
"""

import lightgbm
import numpy as np
import xgboost

from gapboost.comparison import compare_rankers
from gapboost.datasets import RankingSplit
from gapboost.lightgbm import LGBMGAPRanker
from gapboost.xgboost import XGBGAPRanker

ROUNDS, RATE = 300, 0.05


def rankers():
    """Return rankers that differ in what they train for."""
    trees = {"n_estimators": ROUNDS, "learning_rate": RATE}
    return {
        "LightGBM lambdarank": lightgbm.LGBMRanker(verbose=-1, **trees),
        "LightGBM GAP": LGBMGAPRanker(verbose=-1, **trees),
        "XGBoost rank:ndcg": xgboost.XGBRanker(**trees),
        "XGBoost GAP": XGBGAPRanker(**trees),
    }


def compare(split: RankingSplit) -> None:
    """Train all four, and print the comparison on the test queries."""
    X, y, qid = (
        np.concatenate([getattr(part, name) for part in split]) for name in ("X", "y", "qid")
    )
    fold = np.split(np.arange(len(y)), np.cumsum([len(split.train), len(split.vali)]))
    print(f"train {split.train}\nvali  {split.vali}\ntest  {split.test}\n")
    # Each ranker is tried with two trees first, so that no kernel is compiled while it is timed.
    found = compare_rankers(
        X, y, qid, rankers(), measures=["ndcg@10", "map", "p@10", "gap"], cv=[fold], repeats=1,
        choose_trees=True, choose_by="ndcg@10",
    )  # fmt: skip
    print(f"{found.means().round(4).to_string()}\n")
    summary = found.summary("LightGBM lambdarank")
    print(
        summary.to_string(
            index=False, float_format="{:.4f}".format, formatters={"p": "{:.2g}".format}
        )
    )
    print(
        f"\nOn {split.test.n_queries} test queries. Only the number of trees, up to {ROUNDS}, was "
        "tuned: all by nDCG@10 of the validation queries.\n"
        f"Learning rate {RATE}; all else is each ranker's default. "
        "There is one model of each."
    )
