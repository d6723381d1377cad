#!/usr/bin/env bash
# Versions: catboost 1.2.10.
# Expectation: save_model(format="python") writes a function with the scores of the model, as
# format="json" and format="onnx" do, also for a ranker fitted with nan_mode="Max".
# Behavior: The exported code compares NaN with a threshold, which is false: a missing value goes
# where the smallest values go. With nan_mode="Max" the model sends it to the largest; the two
# agree only on rows without missing values. Nothing in the file or in the call says so.
# Output seen:
#   Min rows that differ: 0 of 404 with missing values, 0 without
#   Max rows that differ: 404 of 404 with missing values, 0 without
# Who is hurt: Whoever serves the exported code: the order within queries turns wherever a feature
# is missing.
set -euo pipefail
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3.11 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q 'catboost==1.2.10' 'numpy==2.3.5' 'pandas==2.3.3' 'scipy==1.16.3'
cd "$tmp"
"$tmp/venv/bin/python" -W ignore - <<'PY'
import numpy as np
from catboost import CatBoost, CatBoostRanker

rng = np.random.default_rng(0)
X = rng.normal(size=(600, 3))
y = np.clip(np.round(X[:, 0] + X[:, 1] + 1), 0, 4)
X[rng.random(X.shape) < 0.3] = np.nan
qid, complete = np.repeat(np.arange(30), 20), ~np.isnan(X).any(axis=1)
for mode in ("Min", "Max"):
    model = CatBoostRanker(iterations=20, loss_function="YetiRank", nan_mode=mode, random_seed=0,
                           thread_count=1, allow_writing_files=False, verbose=0)
    model.fit(X, y, group_id=qid)
    scores = model.predict(X)
    model.save_model("ranker.py", format="python")
    model.save_model("ranker.json", format="json")
    space = {}
    exec(open("ranker.py").read(), space)
    exported = np.array([space["apply_catboost_model"](list(row)) for row in X])
    wrong = np.abs(exported - scores) > 1e-9
    print(mode, "rows that differ:", int(wrong[~complete].sum()), "of", int((~complete).sum()),
          "with missing values,", int(wrong[complete].sum()), "without")
    assert not wrong[complete].any()
    assert wrong.sum() == 0 if mode == "Min" else wrong[~complete].mean() > 0.5
    assert np.allclose(CatBoost().load_model("ranker.json", format="json").predict(X), scores)
PY
