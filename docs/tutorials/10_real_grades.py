"""
Judges' means and models' scores as they are
============================================

Three judges agree on some documents and not on others; a language model gives each document a score
of its own. Both are grades: nobody has to round them.
"""

import numpy as np

import gapboost as gb
from gapboost.datasets import load_digits_ranking
from gapboost.lightgbm import LGBMGAPRanker

train, vali, test = load_digits_ranking()

# %%
# The grades of this task, 0 to 2, are the truth, which is not available for training. Three judges
# see it through noise:

rng = np.random.default_rng(0)
judges = np.clip(np.rint(train.y + rng.normal(scale=0.7, size=(3, len(train.y)))), 0, 2)
score = np.clip(train.y + rng.normal(scale=0.6, size=len(train.y)), 0, 2)
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
right.hist(score, bins=40, color="#d95f02")
_ = right.set(title="score of a model", xlabel="grade")

# %%
# A threshold between the grades
# ------------------------------
# A user of GAP accepts documents from some grade on. With ``g=(0.5, 0.5)`` the threshold is between
# 0 and 1 for half of the users, and between 1 and 2 for the others. It is spread evenly within each
# interval, so a document of grade 1.5 is accepted with probability .5 + .25. The measure is the
# same for all of these labels: on whole grades it is the GAP of the paper, to the last bit.
#
# Without ``levels`` grades would be read in the same way. A thousand different values without it
# give a warning, as they may be no grades at all.

measure = gb.GAP(g=(0.5, 0.5), levels=(1, 2))
values = {}
for name, y in labels.items():
    ranker = LGBMGAPRanker(measure=measure, n_estimators=30, verbose=-1).fit(train.X, y, qid=train.qid)
    values[name] = gb.evaluate(measure, test.y, ranker.predict(test.X), test.qid)[measure]
{name: round(value, 3) for name, value in values.items()}

# %%
# One small draw says little. The same comparison was made on 85 % of the documents of MQ2007, 1 692
# queries. It used five folds with three draws of labels and default rankers, and was tested on the
# true grades. The code is ``benchmarks/studies/labels`` of commit 3e45d17, and its results are
# still in that folder. The table has differences of means with 95 % intervals over the folds:
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
# A model's scores rank better unchanged than rounded to whole grades, on all three measures. The
# means of three judges are ahead of one judge. Their lead over rounded means may be chance on these
# folds, but rounding is not needed. ``LGBMRanker`` takes whole grades only. It is behind for
# another reason too: ``LGBMGAPRanker`` has other defaults for the thresholds of trees.
#
# Where the probabilities lie
# ---------------------------
# For another scale, such as scores from 0 to 1, ``levels`` says at which grades g is given. Halved
# grades with halved levels are the same measure:

halves = gb.GAP(g=(0.5, 0.5), levels=(0.5, 1.0))
whole = gb.evaluate(measure, score, train.X[:, 0], train.qid)[measure]
whole == gb.evaluate(halves, score / 2, train.X[:, 0], train.qid)[halves]

# %%
# If g is left open, it is one threshold, which may lie anywhere up to the highest grade:

ranker = LGBMGAPRanker(n_estimators=5, verbose=-1).fit(train.X, score / 2, qid=train.qid)
ranker.measure_
