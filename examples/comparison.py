"""Shared by the examples: train each booster's own ranker and gapboost's on the same data, and print test measures."""

import lightgbm
import numpy as np
import xgboost

import gapboost as gb
from gapboost.datasets import RankingSplit
from gapboost.lightgbm import LGBMGAPRanker
from gapboost.lightgbm.versions import evaluation_sets
from gapboost.xgboost import XGBGAPRanker

ROUNDS, PATIENCE, RATE = 500, 50, 0.05


def group_sizes(qid):
    """Sizes of runs of equal ids: the boosters' own rankers take rows query by query."""
    starts = np.flatnonzero(np.append(True, qid[1:] != qid[:-1]))
    return np.diff(np.append(starts, len(qid)))


def lightgbm_lambdarank(train, vali):
    """LightGBM's built-in objective, stopped on nDCG@10 of the validation queries."""
    trees = {"extra_trees": True}  # as LGBMGAPRanker has them by default: the difference is what is trained for
    return lightgbm.LGBMRanker(n_estimators=ROUNDS, learning_rate=RATE, random_state=0, verbose=-1, **trees).fit(
        train.X,
        train.y,
        group=group_sizes(train.qid),
        **evaluation_sets([vali.X], [vali.y]),  # eval_X and eval_y, or eval_set before LightGBM 4.7
        eval_group=[group_sizes(vali.qid)],
        eval_at=[10],
        callbacks=[lightgbm.early_stopping(PATIENCE, verbose=False)],
    )


def lightgbm_gap(train, vali):
    """LightGBM trained for GAP, stopped on GAP of the validation queries."""
    return LGBMGAPRanker(n_estimators=ROUNDS, learning_rate=RATE, random_state=0, verbose=-1).fit(
        train.X,
        train.y,
        qid=train.qid,
        eval_set=[(vali.X, vali.y)],
        eval_qid=[vali.qid],
        callbacks=[lightgbm.early_stopping(PATIENCE, verbose=False)],
    )


def xgboost_ndcg(train, vali):
    """XGBoost's built-in objective, stopped on nDCG@10 of the validation queries."""
    return xgboost.XGBRanker(
        n_estimators=ROUNDS, learning_rate=RATE, random_state=0, early_stopping_rounds=PATIENCE, eval_metric="ndcg@10"
    ).fit(train.X, train.y, qid=train.qid, eval_set=[(vali.X, vali.y)], eval_qid=[vali.qid])


def xgboost_gap(train, vali):
    """XGBoost trained for GAP, stopped on GAP of the validation queries."""
    return XGBGAPRanker(n_estimators=ROUNDS, learning_rate=RATE, random_state=0, early_stopping_rounds=PATIENCE).fit(
        train.X, train.y, qid=train.qid, eval_set=[(vali.X, vali.y)], eval_qid=[vali.qid]
    )


COMPETITORS = {
    "LightGBM lambdarank": lightgbm_lambdarank,
    "LightGBM GAP": lightgbm_gap,
    "XGBoost rank:ndcg": xgboost_ndcg,
    "XGBoost GAP": xgboost_gap,
}


def compare(split: RankingSplit) -> None:
    """Train all four on the training queries and print their means over the test queries."""
    train, vali, test = split
    top = int(train.y.max())
    measures = {
        "nDCG@10": gb.nDCG(k=10),
        "AP": gb.AP(),
        "P@10": gb.Precision(k=10),
        "GAP": gb.GAP(g=(1 / top,) * top),
    }
    print(f"train {train}\nvali  {vali}\ntest  {test}\n")
    print(f"{'':22}" + "".join(f"{name:>10}" for name in measures) + f"{'trees':>8}")
    for name, fit in COMPETITORS.items():
        ranker = fit(train, vali)
        values = gb.evaluate(list(measures.values()), test.y, ranker.predict(test.X), test.qid)
        trees = ranker.best_iteration_ if isinstance(ranker, lightgbm.LGBMRanker) else ranker.best_iteration + 1
        print(f"{name:22}" + "".join(f"{values[m]:10.4f}" for m in measures.values()) + f"{trees:8}")
    print(
        f"\nMeans over {test.n_queries} test queries. Only the number of trees was tuned, on the validation queries: by\n"
        f"nDCG@10 for the built-in objectives, by GAP for ours. Learning rate {RATE}, extra_trees for LightGBM; all else is\n"
        "each library's default."
    )
