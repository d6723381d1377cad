#!/usr/bin/env bash
# Versions: xgboost 3.2.0, with mlflow-skinny 3.17.2.
# Expectation: XGBRanker(missing=-1) reads -1 as a missing value, in training and in predictions. A
# model that was saved and loaded scores as before; the documentation of save_model leaves out
# "parameters that are not part of the model (like metrics, max_depth, etc)".
# Behavior: missing is left out as well, and a loaded ranker takes -1 for the smallest number. So
# does one from MLflow, whose model_class is kept, and its pyfunc. There is no warning. A pickle
# keeps it.
# Output seen:
#   save_model, load_model: missing nan, rows of other scores 0.76, other first document 0.37
#   MLflow: missing nan, rows of other scores 0.76, other first document 0.37
#   MLflow, pyfunc: rows of other scores 0.76, other first document 0.37
#   pickle: missing -1, rows of other scores 0.00, other first document 0.00
# Who is hurt: Whoever marks what is unknown (no price, no clicks yet) by a number: offline
# evaluation is right, and what is served puts other documents first.
set -euo pipefail
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3.11 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q 'xgboost-cpu==3.2.0' 'mlflow-skinny==3.17.2' 'numpy==2.3.5' \
    'pandas==2.3.3' 'scikit-learn==1.7.2' 'scipy==1.16.3'
cd "$tmp"
"$tmp/venv/bin/python" -W ignore - <<'PY'
import logging
import pickle

import mlflow
import numpy as np
import xgboost as xgb

logging.disable(logging.CRITICAL)
rng = np.random.default_rng(0)
X = rng.uniform(0, 5, (1000, 4))
unknown = rng.random(X.shape) < 0.3
worth = X[:, 0] + np.where(unknown[:, 1], 3, X[:, 1])  # unknown is not worthless
X[unknown] = -1
y = np.clip(np.round(worth / 2 + 0.3 * rng.normal(size=1000)), 0, 4).astype(int)
ranker = xgb.XGBRanker(n_estimators=20, missing=-1, n_jobs=1)
ranker.fit(X, y, qid=np.repeat(np.arange(100), 10))
scores = ranker.predict(X)
ranker.save_model("ranker.json")
loaded = xgb.XGBRanker()
loaded.load_model("ranker.json")
mlflow.xgboost.save_model(ranker, "saved")
models = {
    "save_model, load_model": loaded,
    "MLflow": mlflow.xgboost.load_model("saved"),
    "MLflow, pyfunc": mlflow.pyfunc.load_model("saved"),
    "pickle": pickle.loads(pickle.dumps(ranker)),
}
for name, model in models.items():
    new = model.predict(X)
    marker = f"missing {model.missing}, " if hasattr(model, "missing") else ""
    rows = (np.abs(new - scores) > 1e-3).mean()
    first = (new.reshape(-1, 10).argmax(axis=1) != scores.reshape(-1, 10).argmax(axis=1)).mean()
    print(f"{name}: {marker}rows of other scores {rows:.2f}, other first document {first:.2f}")
    assert (rows == first == 0) if name == "pickle" else (rows > 0.3 and first > 0.1)
PY
