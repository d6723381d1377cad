"""
In production
=============

Save a ranker, predict without gapboost, and explain a score. The guide :doc:`in production
</guide/production>` has more formats.
"""

import tempfile
from pathlib import Path

import lightgbm
import numpy as np

from gapboost.datasets import load_digits_ranking
from gapboost.lightgbm import LGBMGAPRanker

train, vali, test = load_digits_ranking()
ranker = LGBMGAPRanker(n_estimators=60, verbose=-1).fit(train.X, train.y, qid=train.qid)
scores = ranker.predict(test.X)

# %%
# The booster's own file
# ----------------------
# The file loads into LightGBM without gapboost. It also says what the ranker was trained for.

directory = Path(tempfile.mkdtemp())
ranker.booster_.save_model(directory / "model.txt")
loaded = lightgbm.Booster(model_file=directory / "model.txt")
print(loaded.params["objective"])
print("same scores:", np.array_equal(loaded.predict(test.X), scores))

# %%
# The whole estimator
# -------------------
# joblib and pickle save the whole estimator. To load it, gapboost must be installed.

import joblib

joblib.dump(ranker, directory / "ranker.joblib")
np.array_equal(joblib.load(directory / "ranker.joblib").predict(test.X), scores)

# %%
# Why this score
# --------------
# Contributions of the features sum to the score. So do those of ``shap.TreeExplainer(ranker)``.

from matplotlib import pyplot as plt

contributions = ranker.predict(test.X, pred_contrib=True)
print("largest difference of the sums:", np.abs(contributions.sum(axis=1) - scores).max().round(9))

mean = np.abs(contributions[:, :-1]).mean(axis=0)
top = np.argsort(mean)[-8:]
_, ax = plt.subplots(figsize=(6, 3))
ax.barh([f"feature {i}" for i in top], mean[top])
ax.set(
    xlabel="mean absolute contribution to the score",
    title="What moves the scores of the test documents",
)
plt.tight_layout()
