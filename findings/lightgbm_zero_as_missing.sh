#!/usr/bin/env bash
# Versions: lightgbm 4.6.0, treelite 4.8.1, onnxmltools 1.16.0, onnxruntime 1.32.0, shap 0.51.0.
# Expectation: A ranker of zero_as_missing=True is converted with its rule, which stands at every
# node of the model file, or is refused. shap, which checks that its values add up, explains it.
# Behavior: treelite and onnxmltools drop the rule without a word: zeros are compared with the
# thresholds, where LightGBM sends them to the missing side. All scores of both are those of another
# model. shap explains that other model once it gets background data, and its check passes.
# Output seen:
#   zero_as_missing=False: largest difference of treelite 0.00, onnxmltools 0.00, shap 0.00
#     other first document 0.00, 0.00, 0.00
#   zero_as_missing=True: largest difference of treelite 2.28, onnxmltools 2.28, shap 2.28
#     other first document 0.33, 0.33, 0.33
# Who is hurt: Whoever trains on sparse or LETOR data, where a zero means that a feature is not
# there, and serves the converted model or reads the explanations.
set -euo pipefail
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3.11 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q 'lightgbm==4.6.0' 'treelite==4.8.1' 'onnxmltools==1.16.0' \
    'onnx==1.23.2' 'onnxruntime==1.32.0' 'shap==0.51.0' 'numpy==2.3.5' 'scipy==1.16.3' \
    'pandas==2.3.3' 'scikit-learn==1.7.2'
cd "$tmp"
"$tmp/venv/bin/python" -W ignore - <<'PY'
import lightgbm
import numpy as np
import onnxruntime
import shap
import treelite
from onnxmltools import convert_lightgbm
from onnxmltools.convert.common.data_types import FloatTensorType

rng = np.random.default_rng(0)
X = rng.normal(size=(600, 4)).astype(np.float32)
X[rng.random(X.shape) < 0.3] = 0  # the document lacks the feature
y = np.clip(np.round(X[:, 0] + X[:, 1] * X[:, 2] + (X[:, 3] == 0) + 1), 0, 4)

for zero_as_missing in (False, True):
    params = {"objective": "lambdarank", "zero_as_missing": zero_as_missing, "num_threads": 1,
              "seed": 0, "deterministic": True, "force_row_wise": True, "verbosity": -1}
    booster = lightgbm.train(params, lightgbm.Dataset(X, y, group=[20] * 30, params=params), 20)
    scores = booster.predict(X)
    model = treelite.frontend.from_lightgbm(booster)
    by_treelite = treelite.gtil.predict(model, X, nthread=1).ravel()
    onnx = convert_lightgbm(booster, initial_types=[("x", FloatTensorType([None, 4]))], zipmap=False)
    session = onnxruntime.InferenceSession(onnx.SerializeToString())
    by_onnx = session.run(None, {"x": X})[0].ravel()
    explainer = shap.TreeExplainer(booster, X[:50])
    values = explainer.shap_values(X.astype(float), check_additivity=True)
    by_shap = values.sum(axis=1) + explainer.expected_value
    others = by_treelite, by_onnx, by_shap
    gaps = [float(np.abs(other - scores).max()) for other in others]
    first = scores.reshape(30, 20).argmax(axis=1)
    turned = [np.mean(other.reshape(30, 20).argmax(axis=1) != first) for other in others]
    print(f"zero_as_missing={zero_as_missing}: largest difference of treelite %.2f, onnxmltools %.2f,"
          " shap %.2f" % tuple(gaps))
    print("  other first document %.2f, %.2f, %.2f" % tuple(turned))
    assert "[zero_as_missing: %d]" % zero_as_missing in booster.model_to_string()
    assert min(gaps) > 1 and min(turned) > 0.05 if zero_as_missing else max(gaps) < 1e-5
    assert np.allclose(by_treelite, by_onnx, atol=1e-4) and np.allclose(by_treelite, by_shap, atol=1e-4)
PY
