"""
Quick start
===========

Train a ranker for graded average precision (GAP), stop it early, and evaluate it.

The task comes with gapboost. The query is an image of a handwritten digit, and the documents are
other images. Grade 2 is the same digit, grade 1 a digit that looks like it, grade 0 any other.
"""

from gapboost.datasets import load_digits_ranking

train, vali, test = load_digits_ranking()
train

# %%
# ``X`` has one row for each document, ``y`` its grade, ``qid`` the id of its query. Rows may come
# in any order. An id may be anything hashable.

import lightgbm

from gapboost.lightgbm import LGBMGAPRanker

ranker = LGBMGAPRanker(n_estimators=300, learning_rate=0.1, verbose=-1)
ranker.fit(
    train.X,
    train.y,
    qid=train.qid,
    eval_set=[(vali.X, vali.y)],
    eval_qid=[vali.qid],
    callbacks=[lightgbm.early_stopping(30, verbose=False)],
)
print(
    f"{ranker.best_iteration_} trees; mean GAP of the test queries "
    f"{ranker.score(test.X, test.y, qid=test.qid):.3f}"
)

# %%
# Without ``g``, each grade gets the same share of users. Here half of the users accept grades 1
# and 2, and half accept grade 2 alone.

ranker.g_

# %%
# ``evaluate`` takes any measures, by name or as objects. For ties it returns the expected value.

import gapboost as gb

scores = ranker.predict(test.X)
gb.evaluate(["gap", "ndcg@10", "ap", "p@10"], test.y, scores, test.qid).by_label()

# %%
# ``evals_result_`` has GAP of the validation queries after each tree.

from matplotlib import pyplot as plt

(values,) = ranker.evals_result_["valid_0"].values()
_, ax = plt.subplots(figsize=(6, 3))
ax.plot(range(1, len(values) + 1), values)
ax.axvline(ranker.best_iteration_, linestyle="--", color="gray")
ax.annotate(
    "best",
    (ranker.best_iteration_, min(values)),
    textcoords="offset points",
    xytext=(5, 2),
    color="gray",
)
ax.set(xlabel="trees", ylabel="mean GAP", title="GAP of 60 validation queries during training")
plt.tight_layout()
