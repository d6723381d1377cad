#!/usr/bin/env bash
# Versions: onnxmltools 1.16.0, onnxruntime 1.32.0, lightgbm 4.6.0.
# Expectation: A ranker fitted with linear_tree=True is refused by the converter if it cannot
# express linear leaves; treelite refuses it by name and LightGBM's own pred_contrib says "not
# implemented for linear trees".
# Behavior: onnxmltools converts it without a word and writes the constant of each leaf. Scores
# and the order within queries differ; without linear_tree they agree to float32.
# Output seen:
#   linear_tree=False: largest difference 0.000000, top three places changed 0.00
#   linear_tree=True: largest difference 1.614939, top three places changed 0.36
# Who is hurt: Whoever serves the converted model: the ranking tested in Python is not the one
# served.
set -euo pipefail
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3.11 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q 'lightgbm==4.6.0' 'onnxmltools==1.16.0' 'onnx==1.23.2' 'onnxruntime==1.32.0' 'numpy==2.3.5' 'scipy==1.16.3'
cd "$tmp"
"$tmp/venv/bin/python" -W ignore - <<'PY'
import lightgbm as lgb
import numpy as np
import onnxruntime
from onnxmltools import convert_lightgbm
from onnxmltools.convert.common.data_types import FloatTensorType

rng = np.random.default_rng(0)
X = rng.normal(size=(600, 4)).astype(np.float32)
y = np.clip(np.round(X[:, 0] + X[:, 1] * X[:, 2] + 1), 0, 4)
for linear in (False, True):
    params = dict(objective="lambdarank", linear_tree=linear, num_threads=1, verbosity=-1,
                  deterministic=True, force_row_wise=True, seed=1)
    booster = lgb.train(params, lgb.Dataset(X, y, group=[20] * 30, params=params), 20)
    scores = booster.predict(X)
    model = convert_lightgbm(booster, initial_types=[("x", FloatTensorType([None, 4]))], zipmap=False)
    session = onnxruntime.InferenceSession(model.SerializeToString())
    served = session.run(None, {"x": X})[0].ravel()
    gap = float(np.abs(served - scores).max())
    first = [v.reshape(30, 20).argsort(axis=1)[:, -3:] for v in (served, scores)]
    turned = np.mean(first[0] != first[1])
    print("linear_tree=%s: largest difference %.6f, top three places changed %.2f" % (linear, gap, turned))
    assert gap > 0.1 and turned > 0.1 if linear else gap < 1e-5
PY
