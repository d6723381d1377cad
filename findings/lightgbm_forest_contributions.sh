#!/usr/bin/env bash
# Versions: lightgbm 4.6.0 and shap 0.51.0.
# Expectation: pred_contrib gives SHAP values with the expected value last, so a row adds up to
# its prediction; shap checks just that by default.
# Behavior: With boosting="rf" predict() averages the trees while pred_contrib sums them, and shap
# with it: everything is larger by the number of trees, and no check speaks up.
# Output seen:
#   gbdt sum of contributions / score: pred_contrib 1.0, shap 1.0
#   rf sum of contributions / score: pred_contrib 20.0, shap 20.0
# Who is hurt: Whoever explains a forest of rankers beside a boosted one, or sets thresholds on
# contributions: they are 20 times too large for 20 trees and grow with every tree added.
set -euo pipefail
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3.11 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q 'lightgbm==4.6.0' 'shap==0.51.0' 'numpy==2.3.5' 'scipy==1.16.3'
cd "$tmp"
"$tmp/venv/bin/python" -W ignore - <<'PY'
import lightgbm as lgb
import numpy as np
import shap

rng = np.random.default_rng(0)
X = rng.normal(size=(600, 4))
y = np.clip(np.round(X[:, 0] + X[:, 1] + 1), 0, 4)
for boosting in ("gbdt", "rf"):
    params = dict(objective="lambdarank", boosting=boosting, bagging_freq=1, bagging_fraction=0.5,
                  num_threads=1, verbosity=-1, deterministic=True, force_row_wise=True, seed=1)
    booster = lgb.train(params, lgb.Dataset(X, y, group=[20] * 30), 20)
    scores = booster.predict(X)
    explainer = shap.TreeExplainer(booster)
    summed = explainer.shap_values(X).sum(axis=1) + explainer.expected_value
    own = booster.predict(X, pred_contrib=True).sum(axis=1)
    far = np.abs(scores) > 0.1
    ratios = [round(float(np.median(v[far] / scores[far])), 6) for v in (own, summed)]
    print(boosting, "sum of contributions / score: pred_contrib %s, shap %s" % tuple(ratios))
    assert ratios == ([1.0, 1.0] if boosting == "gbdt" else [20.0, 20.0])
PY
