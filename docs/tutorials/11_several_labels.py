"""
Several labels: relevance and revenue
=====================================

A shop wants products that fit the query, and products that bring revenue. Both are labels of the
same documents. Rankers train for a weighted sum of measures of them, and the weights say how much
of one label may be given up for the other.
"""

import numpy as np
import pandas as pd

import gapboost as gb
from gapboost.datasets import load_digits_ranking
from gapboost.lightgbm import LGBMGAPRanker
from gapboost.xgboost import XGBGAPRanker

train, vali, test = load_digits_ranking()

# %%
# The task has one label, relevance. We make a second one: four levels of revenue, which depend on
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
# :class:`~gapboost.OfLabel` is a measure of one column of ``y``: by name for a data frame, by
# number for an array. Such measures can be added, and :func:`~gapboost.evaluate` takes ``y`` with
# all its columns.

relevance = gb.OfLabel(gb.nDCG(k=10), "relevance")
revenue = gb.OfLabel(gb.nDCG(k=10), "revenue")
gb.evaluate([relevance, revenue, 0.7 * relevance + 0.3 * revenue], y_test, test.X[:, ink], test.qid)

# %%
# Train, and stop early by the sum
# --------------------------------
# Evaluation sets have the same columns. Early stopping uses the sum, unless ``stopping_metric``
# names one of the labels. ``eval_metric`` reports each of them.

ranker = XGBGAPRanker(
    measure=0.7 * relevance + 0.3 * revenue,
    n_estimators=200,
    early_stopping_rounds=10,
    eval_metric=[relevance, revenue],
)
ranker.fit(train.X, y_train, train.qid, eval_set=[(vali.X, y_vali)], eval_qid=[vali.qid], verbose=False)
{name: round(curve[ranker.best_iteration_ - 1], 3) for name, curve in ranker.evals_result_["validation_0"].items()}

# %%
# The trade-off
# -------------
# Train once for each weight. At both ends the sum has one part: the measure of one label alone.

WEIGHTS = (1.0, 0.9, 0.7, 0.5, 0.3, 0.1, 0.0)


def target(weight):
    """Return the sum in which relevance has this weight."""
    ends = {1.0: relevance, 0.0: revenue}
    return ends.get(weight) or weight * relevance + (1 - weight) * revenue


values = {}
for name, kind in {"LightGBM": LGBMGAPRanker, "XGBoost": XGBGAPRanker}.items():
    quiet = {"verbose": -1} if name == "LightGBM" else {}
    for weight in WEIGHTS:
        ranker = kind(measure=target(weight), n_estimators=40, **quiet).fit(train.X, y_train, train.qid)
        found = gb.evaluate([relevance, revenue], y_test, ranker.predict(test.X), test.qid)
        values[name, weight] = [*found.values()]

pd.DataFrame(values, index=["relevance", "revenue"]).round(3).T

# %%

from matplotlib import pyplot as plt

_, ax = plt.subplots(figsize=(6, 4.2), layout="constrained")
for (name, shift), style in zip({"LightGBM": (6, 4), "XGBoost": (-20, -12)}.items(), ("-o", "--s"), strict=True):
    x, y = np.transpose([values[name, weight] for weight in WEIGHTS])
    (line,) = ax.plot(x, y, style, label=name)
    for weight, *point in zip(WEIGHTS, x, y, strict=True):
        ax.annotate(f"{weight:g}", point, shift, textcoords="offset points", color=line.get_color())
ax.set(xlabel="nDCG@10 of relevance", ylabel="nDCG@10 of revenue", title="Weight of relevance beside each point")
ax.margins(0.08)
_ = ax.legend()

# %%
# Read the picture from the right. It shows what the first points of revenue cost in relevance, and
# what the last ones cost. Choose the weight by what a point of each label is worth to you, not by
# the middle of the scale.
#
# What a weight means
# -------------------
# The gradient is that of the sum: each measure's change by a swap, times its weight, and then one
# scale for the whole query. So a label whose measure changes little counts little, and equal
# weights are not equal shares. Measures from 0 to 1, such as nDCG with the same cut-off, are easy
# to compare. A label with few relevant documents changes its measure by more in each swap.
#
# Labels must be grades from 0 to 255. Divide prices by a number, or cut them into levels as above.
# nDCG counts ``2**grade - 1``, so that the fourth level is worth seven times the second.
# ``nDCG(gains="linear")`` counts the grade itself.
#
# ``GridSearchCV`` and ``cross_val_score`` of scikit-learn take several labels, with
# ``scoring=measure_scorer(...)`` as one target for all candidates. ``GSearchCV``,
# ``compare_rankers``, ``cv``, the native objectives, and the rankers on Dask and Spark take one
# label, and their errors say so.
