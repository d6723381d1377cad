"""
Evaluating and comparing systems
================================

Evaluate two rankers, and find out whether their difference is more than chance.
"""

import numpy as np

import gapboost as gb
from gapboost import analysis
from gapboost.datasets import load_digits_ranking
from gapboost.lightgbm import LGBMGAPRanker
from gapboost.xgboost import XGBGAPRanker

train, vali, test = load_digits_ranking()
deep = LGBMGAPRanker(n_estimators=80, verbose=-1).fit(train.X, train.y, qid=train.qid)
shallow = XGBGAPRanker(n_estimators=80, max_depth=2).fit(train.X, train.y, qid=train.qid)

# %%
# Pass any number of measures in one call.

measures = [gb.GAP(g=(0.5, 0.5)), gb.nDCG(k=10), gb.AP(), gb.Precision(k=10)]
gb.evaluate(measures, test.y, deep.predict(test.X), test.qid)

# %%
# ``per_query=True`` returns one value for each query.

a = gb.evaluate(measures, test.y, deep.predict(test.X), test.qid, per_query=True)
b = gb.evaluate(measures, test.y, shallow.predict(test.X), test.qid, per_query=True)
a.to_pandas().head()

# %%
# Is the difference more than chance?
# -----------------------------------
# ``significance`` pairs the values by query id. It runs a t test, Wilcoxon's test, the sign test
# and a randomization test.

gap = measures[0]
one, other = (
    gb.evaluate(gap, test.y, ranker.predict(test.X), test.qid, per_query=True)
    for ranker in (deep, shallow)
)
difference = analysis.significance(one, other, random_state=0)
difference.to_pandas().map("{:.3g}".format)

# %%

ax = difference.plot(title="GAP: LightGBM − XGBoost")

# %%
# Ties
# ----
# Documents with equal scores have no order. A measure returns its expected value over all their
# orders. So a constant score has the mean value of shuffled lists. With ``ties="row"`` the order of
# the file counts, and a sorted file looks perfect.

constant = np.zeros(len(test.y))
sorted_rows = np.lexsort((-test.y, test.qid))
expected = gb.evaluate("ndcg@10", test.y, constant, test.qid).labelled()
by_row = gb.evaluate(
    "ndcg@10", test.y[sorted_rows], constant, test.qid[sorted_rows], ties="row"
).labelled()
expected, by_row

# %%
# The precision-recall curve of one query
# ---------------------------------------
# The area below it is GAP [robertson2010]. This is a query with a low value: three quarters of the
# queries have a higher one.

values = a[gap]
middling = a.qid[np.argsort(values)[len(values) // 4]]
rows = test.qid == middling
curve = analysis.precision_recall(gap, test.y[rows], deep.predict(test.X[rows]))
ax = curve.plot()
ax.set_ylim(0, 1.05)
_ = ax.legend(loc="lower left")
