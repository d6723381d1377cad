#!/usr/bin/env bash
# Versions: lightgbm 4.6.0.
# Expectation: min_data_in_leaf=100 keeps every leaf of a ranker at 100 documents or so; the list of
# parameters says that leaves may occasionally have fewer, since it is an approximation.
# Behavior: The number of documents of a leaf is estimated from its share of the hessians, which in
# lambdarank differ between documents. In regression every leaf has 100. Of a ranker almost a
# quarter of the leaves has fewer, every tree has one, and the smallest has a third of the limit.
# Relevant documents are more common in the small leaves.
# Output seen:
#   regression: leaves below 100 0.00, smallest 100
#   lambdarank: leaves below 100 0.23, smallest 32, largest minimum of a tree 93
#   share of relevant documents in leaves below 100 0.42, in others 0.26
# Who is hurt: Whoever sets the limit so that a leaf's value is a mean over enough documents, or so
# that no leaf tells of a few people: it fails most where the relevant ones are.
set -euo pipefail
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3.11 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q 'lightgbm==4.6.0' 'numpy==2.3.5' 'scipy==1.16.3'
cd "$tmp"
"$tmp/venv/bin/python" -W ignore - <<'PY'
import lightgbm as lgb
import numpy as np

rng = np.random.default_rng(0)
X = rng.normal(size=(4000, 10))
signal = X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=4000)
grades = np.digitize(signal, [1, 2])
common = dict(min_data_in_leaf=100, num_threads=1, verbosity=-1, deterministic=True, force_row_wise=True)


def leaves(objective, labels):
    data = lgb.Dataset(X, labels, group=[200] * 20 if objective == "lambdarank" else None)
    booster = lgb.train(dict(common, objective=objective), data, 20)
    return [np.unique(tree, return_inverse=True, return_counts=True)[1:] for tree in booster.predict(X, pred_leaf=True).T]


plain = np.concatenate([counts for _, counts in leaves("regression", signal)])
print("regression: leaves below 100 %.2f, smallest %d" % ((plain < 100).mean(), plain.min()))
trees = leaves("lambdarank", grades)
sizes = np.concatenate([counts for _, counts in trees])
of_row = np.array([counts[leaf] for leaf, counts in trees])
worst = max(counts.min() for _, counts in trees)
print("lambdarank: leaves below 100 %.2f, smallest %d, largest minimum of a tree %d" % ((sizes < 100).mean(), sizes.min(), worst))
relevant = np.broadcast_to(grades > 0, of_row.shape)
small, others = relevant[of_row < 100].mean(), relevant[of_row >= 100].mean()
print("share of relevant documents in leaves below 100 %.2f, in others %.2f" % (small, others))
assert plain.min() >= 100
assert (sizes < 100).mean() > 0.1 and sizes.min() < 50 and worst < 100
assert small > 1.3 * others
PY
