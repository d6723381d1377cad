"""
Choosing g
==========

Choose the shares ``g`` of your users: by default, by a search, or from clicks.

``g_k`` is the share of users who accept grade k and higher, and nothing lower. If you have
clicks or a survey, estimate g. If you only know the measure that counts in the end, search.
"""

import numpy as np

import gapboost as gb
from gapboost.datasets import load_digits_ranking
from gapboost.lightgbm import LGBMGAPRanker
from gapboost.model_selection import GSearchCV, g_from_clicks, simplex_grid, uniform_g

train, vali, test = load_digits_ranking()

# %%
# Without any knowledge
# ---------------------
# The default is the same share for every grade. The study of our benchmarks found nothing that is
# better in general.

uniform_g(2)

# %%
# By search
# ---------
# Compare all candidates by one target, because values of GAP under different g cannot be compared.
# The results are those of scikit-learn's ``GridSearchCV``, in a fraction of its time: one training
# gives every number of trees.

ranker = LGBMGAPRanker(learning_rate=0.1, verbose=-1)
grid = {"g": simplex_grid(2, 5), "n_estimators": range(10, 61, 10)}
search = GSearchCV(ranker, grid, scoring="ndcg@10", cv=3, progress=False)
search.fit(train.X, train.y, qid=train.qid)
search.best_params_, round(search.best_score_, 4)

# %%
# Look at the picture before you take the best g. If the line is flat within its spread, the choice
# of g does not matter.

figure = gb.plotting.plot_g(search)

# %%
# From clicks
# -----------
# Clicks show which grades a user accepts. Some users click on grade 2 alone, others on grades 1 and
# 2. Intervals come from a bootstrap over users. The clicks here are simulated: a third of the users
# accept grade 1.

rng = np.random.default_rng(0)
users = np.repeat(np.arange(400), 10)
grades = rng.integers(0, 3, size=len(users))
threshold = np.where(rng.random(400) < 1 / 3, 1, 2)[users]
clicks = grades >= threshold
estimate = g_from_clicks(grades, clicks, sessions=users)
for k, (share, low, high) in enumerate(
    zip(estimate.g, estimate.low, estimate.high, strict=True), 1
):
    print(f"g_{k} = {share:.2f} ({low:.2f} ... {high:.2f})")
