#!/usr/bin/env bash
# Versions: flaml 2.8.0, lightgbm 4.6.0, xgboost 3.2.0.
# Expectation: With task="rank", groups takes "group labels (with matching length to y_train)", so
# each row says which query it belongs to; rows of a query need not be neighbors, or are an error.
# Behavior: The labels are only counted, in the order in which they first appear, and the counts
# cut the rows as they stand. Rows logged in turn become lists of other queries, in training and in
# the measure reported alike. There is no word of it.
# Output seen:
#   lgbm, by query: reported ndcg@5 0.851, of the queries 0.851
#   lgbm, in turn: reported ndcg@5 0.974, of the queries 0.842
#   xgboost, by query: reported ndcg@5 0.850, of the queries 0.850
#   xgboost, in turn: reported ndcg@5 0.971, of the queries 0.753
# Who is hurt: Whoever trains on a log sorted by time or shuffled: lists that mix queries are easy
# wherever a feature tells the queries apart, so that the wrong number is the better one.
set -euo pipefail
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3.11 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q 'flaml==2.8.0' 'lightgbm==4.6.0' 'xgboost-cpu==3.2.0' 'numpy==2.3.5' \
    'pandas==2.3.3' 'scikit-learn==1.7.2' 'scipy==1.16.3'
cd "$tmp"
"$tmp/venv/bin/python" -W ignore - <<'PY'
import logging

import numpy as np
from flaml import AutoML
from sklearn.metrics import ndcg_score

logging.disable(logging.CRITICAL)
rng = np.random.default_rng(0)
query = np.repeat(np.arange(100), 10)
level = rng.normal(size=100)[query]  # one value for each query: it cannot order its documents
X = np.c_[rng.normal(size=(1000, 3)), level]
y = np.clip(np.round(0.7 * X[:, 0] + 0.7 * rng.normal(size=1000) + 2 * level + 2), 0, 4).astype(int)


def of_the_queries(model, rows):
    scores = model.predict(X[rows])
    lists = [query[rows] == each for each in np.unique(query[rows])]
    return np.mean([ndcg_score([y[rows][rows_of]], [scores[rows_of]], k=5) for rows_of in lists])


orders = {"by query": np.arange(1000), "in turn": np.arange(1000).reshape(100, 10).T.ravel()}
found = {}
for estimator in ("lgbm", "xgboost"):
    for name, order in orders.items():
        train, valid = order[query[order] < 80], order[query[order] >= 80]
        model = AutoML()
        model.fit(X[train], y[train], groups=query[train], X_val=X[valid], y_val=y[valid],
                  groups_val=query[valid], task="rank", metric="ndcg@5", estimator_list=[estimator],
                  max_iter=5, time_budget=60, n_jobs=1, verbose=0, seed=1)
        told, true = found[estimator, name] = 1 - model.best_loss, of_the_queries(model, valid)
        print(f"{estimator}, {name}: reported ndcg@5 {told:.3f}, of the queries {true:.3f}")
for (_, name), (reported, true) in found.items():
    assert abs(reported - true) < 1e-6 if name == "by query" else reported > true + 0.1
assert found["xgboost", "in turn"][1] < found["xgboost", "by query"][1] - 0.05
PY
