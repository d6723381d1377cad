"""
Judges' means and models' scores as they are
============================================

Train on fractional grades: the mean of several judges, or the scores of a model. Whole grades are
not needed.
"""

import numpy as np

import gapboost as gb
from gapboost.datasets import load_digits_ranking
from gapboost.lightgbm import LGBMGAPRanker

train, vali, test = load_digits_ranking()

# %%
# The grades of this task, 0 to 2, are the truth here, and no ranker gets them. We simulate three
# judges and a model, which see the truth with noise. A query may have up to 64 different grades;
# more are an error. So we round the model's scores to tenths:

rng = np.random.default_rng(0)
judges = np.clip(np.rint(train.y + rng.normal(scale=0.7, size=(3, len(train.y)))), 0, 2)
score = np.round(np.clip(train.y + rng.normal(scale=0.6, size=len(train.y)), 0, 2), 1)
mean = judges.mean(axis=0)
labels = {
    "mean of three": mean,
    "rounded mean": np.rint(mean),
    "one judge": judges[0],
    "score of a model": score,
    "rounded score": np.rint(score),
}
{name: len(np.unique(y)) for name, y in labels.items()}

# %%

from matplotlib import pyplot as plt

_, (left, right) = plt.subplots(1, 2, figsize=(7, 2.6), layout="constrained")
left.hist(mean, bins=np.arange(13) / 6 - 1 / 12, color="#6baed6")
left.set(title="mean of three judges", xlabel="grade", ylabel="documents")
right.hist(score, bins=21, color="#d95f02")
_ = right.set(title="score of a model", xlabel="grade")

# %%
# A threshold between the grades
# ------------------------------
# A user of GAP has a threshold, and accepts documents of this grade or higher. Pass
# ``g=(0.5, 0.5)``: the threshold lies between 0 and 1 for half of the users, and between 1 and 2
# for the others. It is spread evenly within each range. So a document of grade 1.5 is accepted with
# probability .5 + .25.
#
# On whole grades this is the GAP of the paper. So one measure holds for all of these labels.
# ``levels`` names the grades of ``g``. Here they are the default.

measure = gb.GAP(g=(0.5, 0.5), levels=(1, 2))
values = {}
for name, y in labels.items():
    ranker = LGBMGAPRanker(measure=measure, n_estimators=30, verbose=-1).fit(
        train.X, y, qid=train.qid
    )
    values[name] = gb.evaluate(measure, test.y, ranker.predict(test.X), test.qid)[measure]
{name: round(value, 3) for name, value in values.items()}

# %%
# One small draw says little. The table repeats it on MQ2007, with 85 % of the documents and 1 692
# queries, in five folds and three draws of labels. The rankers have their defaults, and are tested
# on the true grades. The code and the results are in ``benchmarks/studies/labels`` of commit
# 3e45d17. The table has differences of means, with 95 % intervals over the folds:
#
# .. list-table::
#    :header-rows: 1
#
#    * -
#      - GAP
#      - ``nDCG@10``
#      - AP
#    * - Mean of three − the rounded mean
#      - +.0024 (-.0011 … +.0059)
#      - +.0029 (-.0009 … +.0067)
#      - +.0024 (-.0014 … +.0063)
#    * - Mean of three − one judge
#      - +.0063 (+.0019 … +.0107)
#      - +.0076 (+.0015 … +.0136)
#      - +.0063 (+.0017 … +.0109)
#    * - The rounded mean − LGBMRanker on it
#      - +.0125 (+.0060 … +.0189)
#      - +.0126 (+.0040 … +.0211)
#      - +.0123 (+.0066 … +.0180)
#    * - Score of a model − the rounded score
#      - +.0040 (+.0009 … +.0072)
#      - +.0047 (+.0024 … +.0071)
#      - +.0039 (+.0011 … +.0067)
#
# * A model's scores rank better than rounded ones, on all three measures.
# * The mean of three judges is ahead of one judge. Its difference from the rounded mean is
#   inconclusive.
# * ``LGBMRanker`` takes whole grades only. It is behind, but not by its labels alone: at that
#   commit, ``LGBMGAPRanker`` drew the thresholds of its trees at random by default.
#
# Another scale
# -------------
# For scores on another scale, such as 0 to 1, pass ``levels``. Halved grades with halved levels are
# the same measure:

halves = gb.GAP(g=(0.5, 0.5), levels=(0.5, 1.0))
whole = gb.evaluate(measure, score, train.X[:, 0], train.qid)[measure]
whole == gb.evaluate(halves, score / 2, train.X[:, 0], train.qid)[halves]

# %%
# Without ``g``, the threshold is spread evenly up to the highest grade:

ranker = LGBMGAPRanker(n_estimators=5, verbose=-1).fit(train.X, score / 2, qid=train.qid)
ranker.measure_
