"""
Which ranker on my data?
========================

Rankers of any library on the same folds of whole queries, and an honest answer: ahead, behind or inconclusive.
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
# Ten folds, one model of each ranker on each. ``None`` in place of ``rankers`` is the standard field of what is installed;
# ``checkpoint="folder"`` keeps what is finished, so that an interrupted call goes on.

found = compare_rankers(data.X, data.y, data.qid, rankers, measures=["gap", "ndcg@10"], cv=10, repeats=1)
found.means().round(4)

# %%
# Beside one of them. Intervals count whole folds, whose queries were ranked by the same models; p counts all rows of the table.

found.summary("LightGBM lambdarank").round(4)

# %%
# The picture of the report. Triangles show rankers that are ahead or behind, with the interval of
# each row alone. A circle is inconclusive.

figure = found.plot("LightGBM lambdarank")

# %%
# For an inconclusive row, ``queries needed`` is the number of test queries with which four of five
# comparisons would find a true difference as large as the one seen.
# ``found.report("comparison.html")`` writes all of it to one page, and ``found.best_`` is the ranker
# with the highest mean, trained on everything. ``python -m gapboost.comparison FILE`` does the same
# for a file.

found
