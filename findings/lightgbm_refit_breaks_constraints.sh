#!/usr/bin/env bash
# Versions: lightgbm 4.6.0.
# Expectation: A ranker trained with monotone_constraints still obeys them after Booster.refit.
# Behavior: refit gives the leaves new values without the constraints, which are still written in
# the model's parameters. A document can fall when the constrained feature rises.
# Output seen:
#   trained documents that fall somewhere: 0.00 largest fall: 0.000
#   refit, decay_rate 0.9: documents that fall somewhere: 0.15 largest fall: 0.018
#   refit, decay_rate 0.5: documents that fall somewhere: 0.99 largest fall: 0.133
#   refit, decay_rate 0.0: documents that fall somewhere: 1.00 largest fall: 0.265
# Who is hurt: Whoever renews a ranker on the data of the month and has promised that a better
# rating, or a lower price, never costs places.
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
def month(slope):
    X = rng.normal(size=(1000, 4))
    return X, np.clip(np.round(slope * X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=1000) + 1), 0, 4)
X, y = month(1.0)
new_X, new_y = month(0.2)
group = [20] * 50
params = dict(objective="lambdarank", monotone_constraints=[1, 0, 0, 0], num_leaves=8, num_threads=1,
              verbosity=-1, deterministic=True, force_row_wise=True, seed=1)
model = lgb.train(params, lgb.Dataset(X, y, group=group), 50)

grid = np.repeat(rng.normal(size=(200, 4)), 40, axis=0)
grid[:, 0] = np.tile(np.linspace(-2, 2, 40), 200)
def report(name, booster):
    steps = np.diff(booster.predict(grid).reshape(200, 40), axis=1)
    falls = float((steps < -1e-9).any(axis=1).mean())
    print(name, "documents that fall somewhere: %.2f" % falls, "largest fall: %.3f" % max(0.0, -steps.min()))
    return falls

assert report("trained", model) == 0
shares = [report(f"refit, decay_rate {rate}:", model.refit(new_X, new_y, group=group, decay_rate=rate))
          for rate in (0.9, 0.5, 0.0)]
assert "[monotone_constraints: 1,0,0,0]" in model.refit(new_X, new_y, group=group).model_to_string()
assert min(shares) > 0.05
PY
