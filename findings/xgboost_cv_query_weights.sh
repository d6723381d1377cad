#!/usr/bin/env bash
# Versions: xgboost 3.2.0.
# Expectation: A ranking DMatrix has one weight for each query. xgboost.cv trains and measures its
# folds with the weights of their queries, as xgboost.train and Booster.eval do with all of them.
# Behavior: The folds have no weights. The table of xgboost.cv is the same, digit for digit, with
# weights and without; no call warns. Folds made by hand from the same data use the weights.
# Output seen:
#   train and eval, without weights 0.892, with weights 0.991
#   xgboost.cv, without weights 0.595, with weights 0.595
#   folds by hand, without weights 0.532, with weights 0.966
#   slice: 300 rows, 0 weights
# Who is hurt: Whoever weights queries by traffic or by trust in their judgments and takes the
# parameters or the number of rounds from xgboost.cv: it answers for other queries than those the
# final model is trained for.
set -euo pipefail
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3.11 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q 'xgboost==3.2.0' 'numpy==2.3.5' 'scipy==1.16.3' 'pandas==2.3.3'
cd "$tmp"
"$tmp/venv/bin/python" -W error - <<'PY'
import numpy as np
import xgboost

rng = np.random.default_rng(0)
X = rng.normal(size=(600, 4))
rare = np.arange(60) % 2 == 0  # queries that want the opposite, and that hardly anyone asks
weights = np.where(rare, 1, 100)
y = np.clip(np.round(np.where(np.repeat(rare, 10), -X[:, 0], X[:, 0]) + 1), 0, 4)
params = {"objective": "rank:ndcg", "eval_metric": "ndcg@5", "nthread": 1, "seed": 0}

def matrix(queries, weighted):
    rows = np.repeat(queries * 10, 10) + np.tile(np.arange(10), len(queries))
    return xgboost.DMatrix(X[rows], y[rows], qid=np.repeat(queries, 10),
                           weight=weights[queries] if weighted else None)

def value(booster, data):
    return float(booster.eval(data).split(":")[1])

queries, results = np.arange(60), {}
for weighted in (False, True):
    data = matrix(queries, weighted)
    whole = value(xgboost.train(params, data, 5), data)
    table = xgboost.cv(params, data, 5, nfold=3, seed=0)
    by_hand = []
    for held_out in np.array_split(np.random.default_rng(0).permutation(60), 3):
        rest = np.setdiff1d(queries, held_out)
        booster = xgboost.train(params, matrix(rest, weighted), 5)
        by_hand.append(value(booster, matrix(np.sort(held_out), weighted)))
    results[weighted] = whole, table, np.mean(by_hand)
(whole, table, by_hand), (whole_weighted, table_weighted, by_hand_weighted) = results.values()
last, last_weighted = (t["test-ndcg@5-mean"].iloc[-1] for t in (table, table_weighted))
print(f"train and eval, without weights {whole:.3f}, with weights {whole_weighted:.3f}")
print(f"xgboost.cv, without weights {last:.3f}, with weights {last_weighted:.3f}")
print(f"folds by hand, without weights {by_hand:.3f}, with weights {by_hand_weighted:.3f}")
part = matrix(queries, True).slice(np.arange(300), allow_groups=True)
print(f"slice: {part.num_row()} rows, {part.get_weight().size} weights")
assert table.equals(table_weighted) and last < 0.8
assert whole_weighted > whole + 0.05 and by_hand_weighted > by_hand + 0.2
assert part.get_weight().size == 0
PY
