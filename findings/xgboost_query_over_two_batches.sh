#!/usr/bin/env bash
# Versions: xgboost 3.2.0.
# Expectation: A DataIter gives the rows in batches, each with its qid. A query whose rows are the
# last of one batch and the first of the next is one query, since its qid is the same, or an error,
# as a qid out of order is.
# Behavior: Every batch begins a new query. A query over two batches becomes two, which get pairs
# and measures of their own, in QuantileDMatrix and in external memory. Neither a word in training
# nor in the documentation of DataIter.
# Output seen:
#   at once: 60 queries, ndcg@5 reported 0.748, of the queries 0.748
#   batches of 100 rows: 60 queries, ndcg@5 reported 0.748, of the queries 0.748
#   batches of 30 rows: 80 queries, ndcg@5 reported 0.807, of the queries 0.767
#   external memory, batches of 30 rows: 80 queries, ndcg@5 reported 0.807, of the queries 0.767
# Who is hurt: Whoever reads a file by a fixed number of rows since it is too large for memory: the
# ranker learns from cut lists, and reported measures are too high, since short lists are easy.
set -euo pipefail
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3.11 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q 'xgboost-cpu==3.2.0' 'numpy==2.3.5' 'scipy==1.16.3'
cd "$tmp"
"$tmp/venv/bin/python" -W ignore - <<'PY'
import numpy as np
import xgboost as xgb

rng = np.random.default_rng(0)
X = rng.normal(size=(1200, 3))
y = np.clip(np.round(X[:, 0] + 2 * rng.normal(size=1200)), 0, 3)
query = np.repeat(np.arange(60), 20)


class Batches(xgb.DataIter):
    def __init__(self, size, **cache):
        self.size, self.start = size, 0
        super().__init__(**cache)

    def next(self, give):
        rows = slice(self.start, self.start + self.size)
        if self.start >= len(X):
            return False
        give(data=X[rows].copy(), label=y[rows], qid=query[rows])
        self.start += self.size
        return True

    def reset(self):
        self.start = 0


def reported(model, data):
    return float(model.eval(data).split(":")[1])


whole = xgb.DMatrix(X, label=y, qid=query)
data = {
    "at once": whole,
    "batches of 100 rows": xgb.QuantileDMatrix(Batches(100)),
    "batches of 30 rows": xgb.QuantileDMatrix(Batches(30)),
    "external memory, batches of 30 rows": xgb.DMatrix(Batches(30, cache_prefix="cache")),
}
found = {}
for name, matrix in data.items():
    model = xgb.train(dict(objective="rank:ndcg", eval_metric="ndcg@5", nthread=1, seed=0), matrix, 5)
    found[name] = len(matrix.get_group()), reported(model, matrix), reported(model, whole)
    print("%s: %d queries, ndcg@5 reported %.3f, of the queries %.3f" % (name, *found[name]))
for name, (queries, told, true) in found.items():
    if " 30 " in name:
        assert queries == 80 and told > true + 0.01
    else:
        assert queries == 60 and abs(told - true) < 1e-6
PY
