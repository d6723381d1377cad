"""
From LGBMRanker and XGBRanker in five minutes
=============================================

Change the import, and keep the rest. This tutorial shows both calls and what differs. The page
:doc:`migration </migration>` lists every parameter with its translation.
"""

import lightgbm
import numpy as np
import xgboost

from gapboost.datasets import load_digits_ranking
from gapboost.lightgbm import LGBMGAPRanker
from gapboost.xgboost import XGBGAPRanker

train, vali, test = load_digits_ranking()
sizes = np.unique(train.qid, return_counts=True)[1]

# %%
# LightGBM
# --------
# Calls with ``group`` work unchanged. ``group`` has the sizes of queries whose rows follow each
# other.

theirs = lightgbm.LGBMRanker(n_estimators=60, verbose=-1).fit(train.X, train.y, group=sizes)
ours = LGBMGAPRanker(n_estimators=60, verbose=-1).fit(train.X, train.y, group=sizes)

# %%
# With ``qid``, one id for each row, rows may be in any order. You need not sort or count.
# LightGBM's own ranker has no such argument.

order = np.random.default_rng(0).permutation(len(train.y))
shuffled = LGBMGAPRanker(n_estimators=60, verbose=-1).fit(
    train.X[order], train.y[order], qid=train.qid[order]
)

# %%
# XGBoost
# -------

their_xgb = xgboost.XGBRanker(n_estimators=60).fit(train.X, train.y, qid=train.qid)
our_xgb = XGBGAPRanker(n_estimators=60).fit(train.X, train.y, qid=train.qid)

# %%
# One table
# ---------
# Compare all rankers on the same test queries. Number and size of the trees are the same. One
# default differs: ``LGBMGAPRanker`` draws thresholds at random. ``extra_trees=False`` turns this
# off.

import pandas as pd

import gapboost as gb

plain = LGBMGAPRanker(n_estimators=60, verbose=-1, extra_trees=False).fit(
    train.X, train.y, group=sizes
)
rankers = {
    "LGBMRanker": theirs,
    "LGBMGAPRanker": ours,
    "LGBMGAPRanker, extra_trees=False": plain,
    "LGBMGAPRanker, rows shuffled": shuffled,
    "XGBRanker": their_xgb,
    "XGBGAPRanker": our_xgb,
}
rows = {
    name: gb.evaluate(["ndcg@10", "ap", "gap"], test.y, ranker.predict(test.X), test.qid).labelled()
    for name, ranker in rankers.items()
}
pd.DataFrame(rows).T.round(3)

# %%
# Several folds
# -------------
# One split of one small task says little. So use five folds of whole queries, the same for all
# rankers. Each line is one fold.

from matplotlib import pyplot as plt
from sklearn.model_selection import GroupKFold

makers = {
    "LGBMRanker": lambda: lightgbm.LGBMRanker(n_estimators=60, verbose=-1),
    "LGBMGAPRanker": lambda: LGBMGAPRanker(n_estimators=60, verbose=-1),
    "XGBRanker": lambda: xgboost.XGBRanker(n_estimators=60),
    "XGBGAPRanker": lambda: XGBGAPRanker(n_estimators=60),
}
values = {name: [] for name in makers}
for fold, held_out in GroupKFold(5).split(train.X, train.y, train.qid):
    X, y, qid = train.X[fold], train.y[fold], train.qid[fold]
    for name, maker in makers.items():
        which = (
            {"group": np.unique(qid, return_counts=True)[1]}
            if name == "LGBMRanker"
            else {"qid": qid}
        )
        scores = maker().fit(X, y, **which).predict(train.X[held_out])
        (value,) = gb.evaluate("ndcg@10", train.y[held_out], scores, train.qid[held_out]).values()
        values[name].append(value)

_, ax = plt.subplots(figsize=(6, 3.2))
by_ranker = np.array(list(values.values()))
ax.plot(list(values), by_ranker, color="#6baed6", marker="o", markersize=4)
ax.plot(list(values), by_ranker.mean(axis=1), "D", color="#d95f02", label="mean of five folds")
ax.set(ylabel="nDCG@10")
ax.legend(loc="upper left", fontsize=8)
ax.margins(y=0.25)
plt.tight_layout()

# %%
# Differences on one small task are mostly chance. The benchmarks measure them on seven collections.
#
# What stays, what changes
# ------------------------
# * Every parameter of the booster's trees keeps its name and its meaning. ``help`` and completion
#   list them.
# * ``measure=`` is the measure to train for and to stop by, such as ``"gap"``, ``"ndcg@10"``,
#   ``"ap"`` or ``gb.GAP(g=(0.3, 0.7))``.
# * Most parameters of the boosters' ranking objectives work. ``eval_at=(5, 10)`` reports nDCG at
#   these ranks too. ``objective="rank:ndcg"`` trains for nDCG. The others raise one error that says
#   what to write instead.
# * ``to_vendor()`` returns a fitted ``LGBMRanker`` or ``XGBRanker`` with the same predictions, for
#   tools without gapboost:

vendor = ours.to_vendor()
type(vendor), bool((vendor.predict(test.X) == ours.predict(test.X)).all())

# %%
# The boosters' own ``train``
# ---------------------------

from gapboost.lightgbm import eval_metric, objective

data = lightgbm.Dataset(train.X, train.y, group=sizes)
valid = lightgbm.Dataset(
    vali.X, vali.y, group=np.unique(vali.qid, return_counts=True)[1], reference=data
)
booster = lightgbm.train(
    {"objective": objective("gap"), "num_threads": 2, "verbose": -1},
    data,
    num_boost_round=60,
    valid_sets=[valid],
    feval=eval_metric("gap"),
)
round(booster.best_score["valid_0"]["map-gap"], 3)
