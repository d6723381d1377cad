#!/usr/bin/env bash
# Versions: lightgbm 4.6.0.
# Expectation: eval_at=[10, 1] reports ndcg@10 first; early stopping with first_metric_only=True
# then goes by ndcg@10.
# Behavior: The positions are sorted: ndcg@1 comes first, and first_metric_only follows it. The
# list [10, 1] stops where [1] stops, not where [10] does.
# Output seen:
#   eval_at [10] 19 ['ndcg@10']
#   eval_at [1] 4 ['ndcg@1']
#   eval_at [10, 1] 4 ['ndcg@1', 'ndcg@10']
# Who is hurt: Whoever puts the metric that matters first in the list: the number of trees is
# chosen by ndcg@1, the noisiest of them.
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

rng = np.random.default_rng(3)
def data(n):
    X = rng.normal(size=(n * 20, 6))
    y = np.clip(np.round(X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=n * 20)), 0, 4)
    return dict(data=X, label=y, group=[20] * n)
train, valid = data(60), data(30)

def stop(eval_at):
    params = dict(objective="lambdarank", metric="ndcg", eval_at=eval_at, num_threads=1, verbosity=-1,
                  deterministic=True, force_row_wise=True, seed=1)
    base, seen = lgb.Dataset(**train), {}
    booster = lgb.train(params, base, 200, valid_sets=[base.create_valid(**valid)],
                        callbacks=[lgb.record_evaluation(seen),
                                   lgb.early_stopping(10, first_metric_only=True, verbose=False)])
    return booster.best_iteration, list(seen["valid_0"])

ten, one, both = stop([10]), stop([1]), stop([10, 1])
print("eval_at [10]", *ten)
print("eval_at [1]", *one)
print("eval_at [10, 1]", *both)
assert both[1] == ["ndcg@1", "ndcg@10"]
assert both[0] == one[0] != ten[0]
PY
