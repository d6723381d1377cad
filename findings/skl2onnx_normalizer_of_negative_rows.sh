#!/usr/bin/env bash
# Versions: skl2onnx 1.20.0, onnxruntime 1.23.2, scikit-learn 1.7.2.
# Expectation: Converted, Normalizer(norm="max") divides each row by its largest absolute value, as
# scikit-learn does; "l1" and "l2" are converted rightly.
# Behavior: It divides by the largest value with its sign. Rows whose largest absolute value is
# negative are blown up, and a row without a positive value changes all its signs.
# Output seen:
#   l1 wrong rows 0 of 1000, of them with a negative largest absolute value 0
#   l2 wrong rows 0 of 1000, of them with a negative largest absolute value 0
#   max wrong rows 491 of 1000, of them with a negative largest absolute value 491
#   max of [[1.0, 4.0], [1.0, -4.0], [-1.0, -4.0]] scikit-learn [[0.25, 1.0], [0.25, -1.0],
#     [-0.25, -1.0]] converted [[0.25, 1.0], [1.0, -4.0], [1.0, 4.0]]
# Who is hurt: Whoever serves a pipeline that scales the features of a document, or its scores for
# several queries, by their largest: rows of positive numbers pass every test, centered ones fail.
set -euo pipefail
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3.11 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q 'skl2onnx==1.20.0' 'onnx==1.19.1' 'onnxruntime==1.23.2' 'scikit-learn==1.7.2' \
    'numpy==2.3.5' 'scipy==1.16.3'
cd "$tmp"
"$tmp/venv/bin/python" -W ignore - <<'PY'
import numpy as np
import onnxruntime
from skl2onnx import to_onnx
from sklearn.preprocessing import Normalizer


def converted(model, X):
    session = onnxruntime.InferenceSession(to_onnx(model, X[:1]).SerializeToString())
    return session.run(None, {"X": X})[0]


X = np.array([[1, 4], [1, -4], [-1, -4]], np.float32)
many = np.random.default_rng(0).normal(size=(1000, 5)).astype(np.float32)
for norm in ("l1", "l2", "max"):
    scaler = Normalizer(norm).fit(many)
    wrong = (np.abs(converted(scaler, many) - scaler.transform(many)) > 1e-3).any(axis=1)
    print(norm, "wrong rows", wrong.sum(), "of 1000, of them with a negative largest absolute value",
          wrong[-many.min(axis=1) > many.max(axis=1)].sum())
    assert 400 < wrong.sum() == wrong[-many.min(axis=1) > many.max(axis=1)].sum() or not wrong.any()
    assert wrong.any() == (norm == "max")
right, served = scaler.fit(X).transform(X).tolist(), converted(scaler, X).tolist()
print("max of", X.tolist(), "scikit-learn", right, "converted", served)
assert right == [[0.25, 1], [0.25, -1], [-0.25, -1]] and served == [[0.25, 1], [1, -4], [1, 4]]
PY
