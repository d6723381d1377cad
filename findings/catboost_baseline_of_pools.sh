#!/usr/bin/env bash
# Versions: catboost 1.2.10.
# Expectation: A baseline (the scores of an earlier stage) is where training starts from. The model
# gives the same scores for the same rows, whether they come in a Pool or in an array.
# Behavior: predict and score add the baseline that a Pool carries, and nothing where there is none:
# an array, a frame, or a Pool without it. The model does not know that it was trained with one, and
# no call warns.
# Output seen:
#   score: Pool with baseline 0.931, Pool without 0.614, array 0.614
#   predict: with minus without is the baseline: True
# Who is hurt: Whoever trains a ranker on top of BM25 or a first model, evaluates it on pools, and
# serves arrays: the order served is that of the correction alone, which was never evaluated.
set -euo pipefail
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3.11 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q 'catboost==1.2.10' 'numpy==2.3.5' 'pandas==2.3.3' 'scipy==1.16.3'
cd "$tmp"
"$tmp/venv/bin/python" -W error - <<'PY'
import numpy as np
from catboost import CatBoostRanker, Pool

rng = np.random.default_rng(0)
X = rng.normal(size=(600, 4))
y = np.clip(np.round(X[:, 0] + X[:, 1] * X[:, 2] + 1), 0, 4)
qid, first_stage = np.repeat(np.arange(30), 20), 2 * X[:, 0]
pool = Pool(X, y, group_id=qid, baseline=first_stage)
bare = Pool(X, y, group_id=qid)
model = CatBoostRanker(iterations=20, loss_function="QueryRMSE", random_seed=0, thread_count=1,
                       allow_writing_files=False, verbose=0)
model.fit(pool)
ndcg = model.score(pool), model.score(bare), model.score(X, y, group_id=qid)
print("score: Pool with baseline %.3f, Pool without %.3f, array %.3f" % ndcg)
added = np.allclose(model.predict(pool) - model.predict(X), first_stage)
print("predict: with minus without is the baseline:", added)
assert ndcg[0] > 0.9 and ndcg[1] == ndcg[2] < 0.7
assert added and np.array_equal(model.predict(bare), model.predict(X))
PY
