"""
From a bad ranking to its cause
===============================

A ranker is good in training and bad in service. Find out why with a report and an explanation,
repair the cause, and measure the repair.
"""

import pandas as pd

import gapboost as gb
from gapboost import analysis, explain
from gapboost.datasets import load_digits_ranking
from gapboost.lightgbm import LGBMGAPRanker

train, _, test = load_digits_ranking()

# %%
# The data are images of handwritten digits. A query is an image, and its documents are other
# images. Grade 2 is the same digit, and grade 1 a digit that is easily taken for it. The features
# compare two images.
#
# One program computes the features for training. A second one computes them in the service, and has
# a fault. The function below plays both programs. Do not read its code yet: find the fault first.


def features(data, *, in_service):
    """Return the features of a data set as one of the two programs computes them."""
    table = pd.DataFrame(data.X, columns=data.feature_names)
    if in_service:
        compared = ["coarse_cosine", "vertical_edge_cosine", "horizontal_edge_cosine"]
        table[compared] = 1 - table[compared]
    return table


X, served = features(train, in_service=False), features(test, in_service=True)
ranker = LGBMGAPRanker(n_estimators=40, n_jobs=1, verbose=-1).fit(X, train.y, qid=train.qid)

# %%
# Make a report
# -------------
# Pass what the service ranks, with grades, and the rows that trained. The first table has the means
# of three measures, with 95 % intervals over queries.

training = {"X_train": X, "y_train": train.y, "qid_train": train.qid}
report = gb.report(ranker, served, test.y, test.qid, **training)
report.values[["value", "low", "high", "training", "difference"]].round(3)

# %%
# The service is much worse than training. Too many trees? The report makes twelve checks, and
# ``overfitted`` is one of them:

report.checks["status"]

# %%
# It passed: more than half of the gain over a random order is left in the service. Two checks found
# something. Read their messages. ``report.checks["link"]`` leads to the section of the
# :doc:`guide </guide/report>` that says what to do.

found = report.checks[report.checks["status"] == "found"]
for check, message in found["message"].items():
    print(f"{check}: {message}\n")

# %%
# ``weak-ranker`` says that something is wrong: one feature alone ranks better than the ranker with
# all of them. ``shifted-features`` says where to look: three features have other values than in
# training. A shift may be harmless, as when new queries have longer texts. So look at a ranking.
#
# Look at the worst query
# -----------------------
# The report has the worst queries, with the first documents of each and the best documents that
# come later.

worst = report.documents.loc["worst"]
query = worst.index[0][0]
worst.loc[query].round(2)

# %%
# The document on top has a lower grade than one that comes much later. Why is it above that one?
# ``explain.pair`` says which feature contributes how much to the difference of their scores. Labels
# have the values of both documents.

top, missed = worst.loc[query, "row"].iloc[0], worst.loc[query].query("grade == 2")["row"].iloc[0]
pair = explain.pair(ranker, served, int(top), int(missed))
ax = pair.plot(max_display=6)

# %%
# ``report.reasons`` has the same as a sentence for each of the worst queries:

print(report.reasons[0])

# %%
# Two of the three shifted features are among the first reasons. The values are strange. A cosine
# near 1 says that two images are alike. Here the image of the same digit has a cosine near 0.
#
# One pair may be an accident. ``explain.measure`` tells how much the measure loses without the
# contribution of each feature, over all queries. A feature with a negative loss does harm.

losses = explain.measure(ranker, served, test.y, test.qid, "ndcg@10").to_pandas().mean()
losses.sort_values().head(3).round(3)

# %%
# Name the cause
# --------------
# Compare the means of the suspects by grade. In training a higher grade has a higher cosine. In the
# service it has a lower one.

suspects = ["coarse_cosine", "vertical_edge_cosine", "horizontal_edge_cosine"]
means = {
    "training": X[suspects].groupby(train.y).mean(),
    "service": served[suspects].groupby(test.y).mean(),
}
pd.concat(means, axis=1).T.round(2)

# %%
# The numbers of the service are one minus those of training. So the service computes the cosine
# *distance*. ``scipy.spatial.distance.cosine`` does that, and is easily taken for the similarity.
#
# Repair it, and measure the repair
# ---------------------------------
# The model is sound and needs no training. Compute the features as in training, and make the report
# again: no check finds a fault.

repaired = features(test, in_service=False)
again = gb.report(ranker, repaired, test.y, test.qid, **training)
again

# %%
# How much did it bring? Compare both rankings of the same queries.

ndcg = gb.nDCG(k=10)
before, after = (
    gb.evaluate(ndcg, test.y, ranker.predict(table), test.qid, per_query=True)
    for table in (served, repaired)
)
gain = analysis.significance(after, before, random_state=0)
ax = gain.plot(title="nDCG@10: repaired − before")

# %%

gain

# %%
# On your data
# ------------
# 1. ``report.to_html("report.html")`` writes all of it to one page, also with slices of your own.
#    The command ``python -m gapboost.diagnosis model.txt test.csv --train train.csv`` does so for
#    files.
# 2. Read what the checks found before you look at single rankings. One cause often has several
#    findings.
# 3. Explain a pair of a worst query, and look at the values of the first features.
# 4. Confirm the suspicion on all queries, repair, and compare on the same queries.
#
# An explanation is an account of the model. It says how the scores were made, not why a document is
# relevant: see the :doc:`guide </guide/explain>`. If a repair trains a new ranker, use
# :doc:`compare_rankers </guide/compare>`, which counts other trainings too.
