"""
From LGBMRanker and XGBRanker in five minutes
=============================================

Change the import, keep the rest. What follows shows both calls beside each other and what differs;
every parameter with its translation is on the page of :doc:`migration </migration>`.
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
# The call with ``group`` works as it is: sizes of queries whose rows follow each other.

theirs = lightgbm.LGBMRanker(n_estimators=60, verbose=-1).fit(train.X, train.y, group=sizes)
ours = LGBMGAPRanker(n_estimators=60, verbose=-1).fit(train.X, train.y, group=sizes)

# %%
# With ``qid``, one id for each row, rows may be in any order: there is nothing to sort or to count.
# LightGBM's own ranker does not take ``qid``.

order = np.random.default_rng(0).permutation(len(train.y))
shuffled = LGBMGAPRanker(n_estimators=60, verbose=-1).fit(train.X[order], train.y[order], qid=train.qid[order])

# %%
# XGBoost
# -------

their_xgb = xgboost.XGBRanker(n_estimators=60).fit(train.X, train.y, qid=train.qid)
our_xgb = XGBGAPRanker(n_estimators=60).fit(train.X, train.y, qid=train.qid)

# %%
# One table
# ---------
# All rankers have the same number of trees and see the same test queries. One default differs:
# ``LGBMGAPRanker`` draws thresholds of trees at random. ``extra_trees=False`` turns that off.

import pandas as pd

import gapboost as gb

plain = LGBMGAPRanker(n_estimators=60, verbose=-1, extra_trees=False).fit(train.X, train.y, group=sizes)
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
# One split of a small task says little. Each line is one of five folds, which hold whole queries
# and are the same for all rankers.

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
        which = {"group": np.unique(qid, return_counts=True)[1]} if name == "LGBMRanker" else {"qid": qid}
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
# Differences on one small task are mostly chance; the benchmarks measure them on seven collections.
#
# What stays, what changes
# ------------------------
# * Every parameter of the booster keeps its name and its meaning; ``help`` and completion list
#   them. Parameters of the booster's own ranking objectives and metrics would do nothing here. One
#   error lists all of them, and says what to write instead.
# * ``measure`` selects what to train for and when to stop: ``"gap"``, ``"xgap"``, ``"egap"``,
#   ``"ap"``, ``"ndcg@10"``, ``"p@10"`` or a value such as ``gb.GAP(g=(0.3, 0.7))``.
# * Parameters of the boosters that mean the same here are accepted. ``eval_at=(5, 10)`` reports
#   nDCG at these ranks, and ``objective="rank:ndcg"`` trains for nDCG. Others are errors that say
#   what to write.
# * Colleagues and tools without gapboost get a fitted ``LGBMRanker`` or ``XGBRanker`` with the same
#   predictions:

vendor = ours.to_vendor()
type(vendor), bool((vendor.predict(test.X) == ours.predict(test.X)).all())

# %%
# The boosters' own ``train``
# ---------------------------

from gapboost.lightgbm import eval_metric, objective

data = lightgbm.Dataset(train.X, train.y, group=sizes)
valid = lightgbm.Dataset(vali.X, vali.y, group=np.unique(vali.qid, return_counts=True)[1], reference=data)
booster = lightgbm.train(
    {"objective": objective("gap"), "num_threads": 2, "verbose": -1},
    data,
    num_boost_round=60,
    valid_sets=[valid],
    feval=eval_metric("gap"),
)
round(booster.best_score["valid_0"]["map-gap"], 3)
