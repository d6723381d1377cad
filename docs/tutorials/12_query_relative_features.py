"""
From raw features to query-relative ones
========================================

Add z-scores within each query, search for the best kind, compare the rankers, and serve the
features.
"""

import numpy as np
import sklearn
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.pipeline import Pipeline

import gapboost as gb
from gapboost.comparison import compare_rankers
from gapboost.datasets import load_digits_ranking
from gapboost.lightgbm import LGBMGAPRanker
from gapboost.model_selection import GSearchCV, measure_scorer, simplex_grid
from gapboost.preprocessing import QueryRelativeFeatures

train, _, test = load_digits_ranking((120, 5, 60), 30)

# %%
# Raw features of a search engine have another scale in each query: a BM25 score grows with the
# number of words. The digits have one scale for all queries. So multiply each query by a random
# scale.


def with_scales(data, seed):
    """Multiply all features of a query by one random number."""
    scale = np.random.default_rng(seed).lognormal(sigma=1.5, size=data.qid.max() + 1)
    return data.X * scale[data.qid][:, None]


X, X_test = with_scales(train, 1), with_scales(test, 2)

# %%
# A z-score says how far a value is from the mean of its query, in standard deviations. It has the
# same scale in each query. The raw columns stay, and the new ones follow.

features = QueryRelativeFeatures().fit(X, qid=train.qid)
added = features.transform(X, qid=train.qid)
X.shape, added.shape, features.get_feature_names_out()[-1]

# %%
# A pipeline in a search
# ----------------------
# A pipeline computes the features and trains. With metadata routing, scikit-learn passes ``qid`` to
# both steps.

ranker = LGBMGAPRanker(g=(0.5, 0.5), n_estimators=25, n_jobs=1, verbose=-1)
model = Pipeline([("features", features), ("ranker", ranker)])
kinds = {"features": ["passthrough", QueryRelativeFeatures(), QueryRelativeFeatures(["rank"])]}
with sklearn.config_context(enable_metadata_routing=True):
    search = GridSearchCV(model, kinds, scoring=measure_scorer("ndcg@10"), cv=GroupKFold(3))
    search.fit(X, train.y, qid=train.qid, groups=train.qid)
search.cv_results_["mean_test_score"].round(3)

# %%
# ``GSearchCV`` needs no routing. It can search g and the kind together.

grid = {"features__kinds": [["zscore"], ["rank"]], "ranker__g": simplex_grid(2, 2)}
found = GSearchCV(model, grid, scoring="ndcg@10", cv=3).fit(X, train.y, qid=train.qid)
found.best_params_, round(found.score(X_test, test.y, qid=test.qid), 3)

# %%
# Is it better?
# -------------
# A search chooses. ``compare_rankers`` says what the data show: its intervals hold together, and
# count queries and models.

rankers = {"raw": ranker, "with z-scores": model}
compared = compare_rankers(
    X, train.y, train.qid, rankers, measures=["gap", "ndcg@10"], cv=3, repeats=2
)
compared.summary("raw")[["measure", "difference", "low", "high", "verdict"]].round(3)

# %%
# These data are made for z-scores. On :doc:`seven real collections </benchmarks/BETTER_RANKINGS>`,
# gains are smaller, and some are inconclusive.
#
# Serve the same lists
# --------------------
# A query-relative value depends on the other documents of the list. Serve lists that are selected
# as in training. Here the model was trained on whole lists of 30 documents. It ranks the 10
# documents with the highest value of one feature, and each document as a list of its own. The raw
# model ranks the same documents.

raw = ranker.fit(X, train.y, qid=train.qid)
better = LGBMGAPRanker(**ranker.get_params()).fit(added, train.y, qid=train.qid)
ten = np.lexsort((-X_test[:, 0], test.qid)).reshape(-1, 30)[:, :10].ravel()
everything = np.arange(len(test.y))


def served(rows, lists):
    """Return nDCG@10 of both models on these rows, with features of these lists."""
    X, y, qid = X_test[rows], test.y[rows], test.qid[rows]
    new = QueryRelativeFeatures().fit_transform(X, qid=lists)
    both = {"raw": raw.predict(X), "with z-scores": better.predict(new)}
    return {
        name: round(gb.evaluate("ndcg@10", y, scores, qid)[gb.nDCG(k=10)], 3)
        for name, scores in both.items()
    }


{
    "whole lists": served(everything, test.qid),
    "10 of 30": served(ten, test.qid[ten]),
    "one by one": served(everything, everything),
}

# %%
# Rows one by one have no z-scores: all are 0. ``transform`` warns if the lists are much shorter
# than in ``fit``.
#
# Compute them in a service
# -------------------------
# The transformer learns no numbers. A service needs numpy, the booster, and the columns in the
# order of ``get_feature_names_out()``.


def with_zscores(X):
    """Return the columns of one list followed by their z-scores.

    The result is a float64 array of shape (n_documents, 2 * n_features).
    """
    deviation = np.nanstd(X, axis=0)
    constant = np.nanmin(X, axis=0) == np.nanmax(X, axis=0)
    z = (X - np.nanmean(X, axis=0)) / np.where(constant, 1, deviation)
    return np.hstack([X, np.where(constant & ~np.isnan(X), 0, z)])


one = X_test[test.qid == test.qid[0]]
bool(np.allclose(with_zscores(one), features.transform(one, qid=np.zeros(len(one), dtype=int))))
