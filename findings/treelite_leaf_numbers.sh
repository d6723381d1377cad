#!/usr/bin/env bash
# Versions: treelite 4.8.1, lightgbm 4.6.0, xgboost 3.2.0.
# Expectation: gtil.predict_leaf gives the leaves that the booster's own pred_leaf gives; for
# XGBoost it does, number by number.
# Behavior: For LightGBM treelite numbers the nodes of a tree, LightGBM its leaves from 0. The
# partition is the same, the numbers are not, and treelite's exceed num_leaves.
# Output seen:
#   lightgbm equal numbers 0.00 largest 23 46 same partition True
#   xgboost equal numbers 1.00 largest 54 54 same partition True
# Who is hurt: Whoever feeds leaf numbers to a second stage (one-hot leaves for a linear ranker)
# fitted on LightGBM's and served through treelite: most columns mean other leaves, none is
# missing.
set -euo pipefail
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3.11 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q 'lightgbm==4.6.0' 'treelite==4.8.1' 'xgboost==3.2.0' 'numpy==2.3.5' 'scipy==1.16.3'
cd "$tmp"
"$tmp/venv/bin/python" -W ignore - <<'PY'
import lightgbm as lgb
import numpy as np
import treelite
import xgboost as xgb

rng = np.random.default_rng(0)
X = rng.normal(size=(600, 4)).astype(np.float32)
y = np.clip(np.round(X[:, 0] + X[:, 1] + 1), 0, 4)
params = dict(objective="lambdarank", num_threads=1, verbosity=-1, num_leaves=31)
light = lgb.train(params, lgb.Dataset(X, y, group=[20] * 30), 3)
data = xgb.DMatrix(X, y, group=[20] * 30)
extreme = xgb.train({"objective": "rank:ndcg", "nthread": 1}, data, 3)
own = {"lightgbm": light.predict(X, pred_leaf=True), "xgboost": extreme.predict(data, pred_leaf=True)}
read = {"lightgbm": treelite.frontend.from_lightgbm(light), "xgboost": treelite.frontend.from_xgboost(extreme)}
for name in own:
    theirs = treelite.gtil.predict_leaf(read[name], X)
    pairs = [len({*zip(a, b)}) == len({*a}) == len({*b}) for a, b in zip(own[name].T, theirs.T)]
    print(name, "equal numbers %.2f" % np.mean(own[name] == theirs), "largest", int(own[name].max()),
          int(theirs.max()), "same partition", all(pairs))
    assert all(pairs)
    assert np.mean(own[name] == theirs) == 1 if name == "xgboost" else np.mean(own[name] == theirs) < 0.2
PY
