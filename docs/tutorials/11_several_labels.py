"""
Several labels: relevance and revenue
=====================================

Train for several labels at once, and choose how much of one to trade for another.

A shop wants products that fit the query, and products that bring revenue. Both are labels of the
same documents. Train for a weighted sum of one measure for each label.
"""

import numpy as np
import pandas as pd

import gapboost as gb
from gapboost.datasets import load_digits_ranking
from gapboost.lightgbm import LGBMGAPRanker
from gapboost.xgboost import XGBGAPRanker

train, vali, test = load_digits_ranking()

# %%
# The task has one label, relevance. We make the second one: four levels of revenue, which depend on
# the ink of a picture and on chance. The two labels are nearly uncorrelated.

ink = train.feature_names.index("document_centre_ink")
rng = np.random.default_rng(0)


def labels(part):
    """Return both labels of each document."""
    revenue = part.X[:, ink] + rng.normal(scale=1.0, size=len(part.y))
    return pd.DataFrame({"relevance": part.y, "revenue": np.digitize(revenue, [7.5, 9.0, 10.5])})


y_train, y_vali, y_test = map(labels, (train, vali, test))
y_train.corr().round(2)

# %%
# Measures say which label they read
# ----------------------------------
# :class:`~gapboost.OfLabel` is a measure of one column of ``y``. Pass the name of the column for a
# data frame, and its number for an array. Add such measures like all others.
# :func:`~gapboost.evaluate` takes ``y`` with all its columns.

relevance = gb.OfLabel(gb.nDCG(k=10), "relevance")
revenue = gb.OfLabel(gb.nDCG(k=10), "revenue")
gb.evaluate([relevance, revenue, 0.7 * relevance + 0.3 * revenue], y_test, test.X[:, ink], test.qid)

# %%
# Train, and stop early by the sum
# --------------------------------
# Evaluation sets have the same columns. The sum stops the training, unless ``stopping_metric``
# names the measure of one label. ``eval_metric`` reports each of them.

ranker = XGBGAPRanker(
    measure=0.7 * relevance + 0.3 * revenue,
    n_estimators=200,
    early_stopping_rounds=10,
    eval_metric=[relevance, revenue],
)
ranker.fit(
    train.X, y_train, train.qid, eval_set=[(vali.X, y_vali)], eval_qid=[vali.qid], verbose=False
)
{
    name: round(curve[ranker.best_iteration_ - 1], 3)
    for name, curve in ranker.evals_result_["validation_0"].items()
}

# %%
# The trade-off
# -------------
# Train once for each weight. With weight 1 or 0, the measure is that of one label alone.

WEIGHTS = (1.0, 0.9, 0.7, 0.5, 0.3, 0.1, 0.0)


def target(weight):
    """Return the sum in which relevance has this weight."""
    ends = {1.0: relevance, 0.0: revenue}
    return ends.get(weight) or weight * relevance + (1 - weight) * revenue


values = {}
for name, kind in {"LightGBM": LGBMGAPRanker, "XGBoost": XGBGAPRanker}.items():
    quiet = {"verbose": -1} if name == "LightGBM" else {}
    for weight in WEIGHTS:
        ranker = kind(measure=target(weight), n_estimators=40, **quiet).fit(
            train.X, y_train, train.qid
        )
        found = gb.evaluate([relevance, revenue], y_test, ranker.predict(test.X), test.qid)
        values[name, weight] = [*found.values()]

pd.DataFrame(values, index=["relevance", "revenue"]).round(3).T

# %%

from matplotlib import pyplot as plt

_, ax = plt.subplots(figsize=(6, 4.2), layout="constrained")
for (name, shift), style in zip(
    {"LightGBM": (6, 4), "XGBoost": (-20, -12)}.items(), ("-o", "--s"), strict=True
):
    x, y = np.transpose([values[name, weight] for weight in WEIGHTS])
    (line,) = ax.plot(x, y, style, label=name)
    for weight, *point in zip(WEIGHTS, x, y, strict=True):
        ax.annotate(f"{weight:g}", point, shift, textcoords="offset points", color=line.get_color())
ax.set(
    xlabel="nDCG@10 of relevance",
    ylabel="nDCG@10 of revenue",
    title="Weight of relevance beside each point",
)
ax.margins(0.08)
_ = ax.legend()

# %%
# Read the picture from the right. It shows how much relevance the first points of revenue cost, and
# how much the last ones cost. Choose the weight by the value of a point of each label for you, not
# by the middle of the scale.
#
# What a weight means
# -------------------
# The gradient of a pair sums the changes of the measures by a swap, times their weights. Then one
# scale applies to the whole query. So equal weights do not give labels equal influence. A label
# whose measure changes little has little influence. In a label with few relevant documents, each
# swap changes the measure by more. Measures from 0 to 1 with the same cutoff are easy to compare.
#
# Limits
# ------
#
# * Labels must be grades from 0 to 255. Divide prices by a number, or cut them into levels as
#   above. nDCG counts ``2**grade - 1``, so that grade 3 counts seven times grade 1.
#   ``nDCG(gains="linear")`` counts the grade itself.
# * ``GridSearchCV`` and ``cross_val_score`` of scikit-learn take several labels. Pass
#   ``scoring=measure_scorer(...)``, one target for all candidates.
# * ``GSearchCV``, ``compare_rankers``, ``cv``, the native objectives, and the rankers on Dask and
#   Spark take one label. They raise an error for several.
