#!/usr/bin/env bash
# Versions: lightgbm 4.6.0, xgboost 3.2.0.
# Expectation: A custom metric that reports the name of a built-in one, such as ndcg@5 of another
# library, is a second column of cross-validation, or an error.
# Behavior: Both metrics become one. lightgbm.cv pools the values of all folds and of both metrics:
# its mean is in the middle of the two, and its deviation covers the distance between them.
# xgboost.cv returns two rows for each round, the one metric and the other in turn, so that the row
# number is no round any more.
# Output seen:
#   lightgbm.cv: built-in 1 to 1, custom -1, together 0, deviation 1
#   xgboost.cv: 3 rounds, 6 rows
# Who is hurt: Whoever checks a metric of his own beside the library's, and whoever reads the best
# number of rounds from the table.
set -euo pipefail
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3.11 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q 'lightgbm==4.6.0' 'xgboost==3.2.0' 'numpy==2.3.5' \
    'pandas==2.3.3' 'scikit-learn==1.7.2' 'scipy==1.16.3'
cd "$tmp"
"$tmp/venv/bin/python" -W ignore - <<'PY'
import lightgbm
import numpy as np
import xgboost
from sklearn.model_selection import GroupKFold

rng = np.random.default_rng(0)
X = rng.normal(size=(600, 3))
y = (X[:, 0] > 0).astype(int)  # one split ranks perfectly: the built-in metric is 1
qid = np.repeat(np.arange(60), 10)

settings = {"objective": "lambdarank", "eval_at": [5], "verbose": -1, "num_threads": 1}
data = lightgbm.Dataset(X, y, group=np.bincount(qid))
folds = list(GroupKFold(3).split(X, y, qid))
results = [
    lightgbm.cv(settings, data, 3, folds=folds, feval=feval)
    for feval in (None, lambda scores, data: ("ndcg@5", -1.0, True))
]
alone, both = (result["valid ndcg@5-mean"] for result in results)
print(f"lightgbm.cv: built-in {min(alone):.3g} to {max(alone):.3g}, custom -1, together "
      f"{both[-1]:.3g}, deviation {results[1]['valid ndcg@5-stdv'][-1]:.3g}")
assert len(alone) == len(both) == 3
assert np.allclose(both, (np.array(alone) - 1) / 2)

table = xgboost.cv(
    {"objective": "rank:ndcg", "eval_metric": "ndcg@5", "nthread": 1},
    xgboost.DMatrix(X, y, qid=qid),
    3,
    nfold=3,
    custom_metric=lambda scores, matrix: ("ndcg@5", -1.0),
)
print(f"xgboost.cv: 3 rounds, {len(table)} rows")
assert len(table) == 6
assert (table["test-ndcg@5-mean"][1::2] == -1).all()
assert (table["test-ndcg@5-mean"][::2] > 0).all()
PY
