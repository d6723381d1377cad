"""
Which ranker on my data?
========================

Compare rankers of any library on the same folds of whole queries. Each is ahead, behind or
inconclusive.
"""

import lightgbm
import xgboost
from sklearn.linear_model import Ridge

from gapboost.comparison import compare_rankers
from gapboost.datasets import load_digits_ranking
from gapboost.lightgbm import LGBMGAPRanker
from gapboost.xgboost import XGBGAPRanker

data = load_digits_ranking((190, 5, 5), 20).train
trees = {"n_estimators": 30, "n_jobs": 1}
rankers = {
    "LightGBM lambdarank": lightgbm.LGBMRanker(verbose=-1, **trees),
    "LightGBM GAP": LGBMGAPRanker(verbose=-1, **trees),
    "XGBoost rank:ndcg": xgboost.XGBRanker(**trees),
    "XGBoost GAP": XGBGAPRanker(**trees),
    "a line": Ridge(),
}

# %%
# Three repeats of five folds, each repeat with its own folds and seed, train 15 models of each
# ranker. Pass ``None`` instead of ``rankers`` to compare the standard rankers of the installed
# libraries. ``checkpoint="folder"`` keeps finished trainings, so that an interrupted call
# continues.

found = compare_rankers(
    data.X, data.y, data.qid, rankers, measures=["gap", "ndcg@10"], cv=5, repeats=3
)
found.means().round(4)

# %%
# Compare the others with one of them. Intervals count queries and models, and those of one measure
# hold together.

found.summary("LightGBM lambdarank").round(4)

# %%
# This is the picture of the report. A triangle is a ranker that is ahead or behind: its interval
# does not contain 0. A circle is inconclusive.

figure = found.plot("LightGBM lambdarank")

# %%
# For an inconclusive row, ``queries needed`` is the number of test queries with which four of five
# comparisons would find a true difference as large as the one seen.
# ``found.report("comparison.html")`` writes all of it to one page, and ``found.best_`` is the
# ranker with the highest mean, trained on everything. ``python -m gapboost.comparison FILE`` does
# the same for a file.

found
