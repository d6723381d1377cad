#!/usr/bin/env bash
# Versions: scikit-learn 1.7.2; skl2onnx 1.20.0 with onnxruntime 1.23.2, ydf 0.16.1, treelite 4.8.1.
# Expectation: scikit-learn's forests take missing values. A converter keeps where each split sends
# them, as treelite does, or refuses the forest.
# Behavior: skl2onnx and ydf.from_sklearn leave that out. Rows without missing values have the right
# scores, the others those of other leaves, also for forests trained on complete data. There is no
# warning.
# Output seen:
#   skl2onnx: RandomForestRegressor 352 of 371, ExtraTreesRegressor 349 of 371, complete rows 0
#   ydf: RandomForestRegressor 348 of 371, ExtraTreesRegressor 346 of 371, complete rows 0
#   treelite: RandomForestRegressor 0 of 371, ExtraTreesRegressor 0 of 371, complete rows 0
# Who is hurt: Whoever serves a forest that ranks by expected grade: a test on complete rows passes,
# and documents without a click or a price get the scores of others.
set -euo pipefail
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3.11 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q 'scikit-learn==1.7.2' 'skl2onnx==1.20.0' 'onnx==1.19.1' \
    'onnxruntime==1.23.2' 'ydf==0.16.1' 'treelite==4.8.1' 'numpy==2.3.5' 'scipy==1.16.3'
cd "$tmp"
"$tmp/venv/bin/python" -W ignore - <<'PY'
import numpy as np
import onnxruntime
import treelite
import ydf
from skl2onnx import to_onnx
from sklearn.ensemble import ExtraTreesRegressor, RandomForestRegressor

rng = np.random.default_rng(0)
X = rng.normal(size=(600, 4)).astype(np.float32)
y = np.clip(np.round(X[:, 0] + X[:, 1] * X[:, 2] + 1), 0, 4)
X[rng.random(X.shape) < 0.2] = np.nan
missing = np.isnan(X).any(axis=1)


def onnx(forest):
    session = onnxruntime.InferenceSession(to_onnx(forest, X[:1]).SerializeToString())
    return session.run(None, {"X": X})[0]


tools = {
    "skl2onnx": onnx,
    "ydf": lambda forest: ydf.from_sklearn(forest).predict({"features": X}),
    "treelite": lambda forest: treelite.gtil.predict(treelite.sklearn.import_model(forest), X),
}
forests = [kind(n_estimators=20, random_state=0).fit(X, y)
           for kind in (RandomForestRegressor, ExtraTreesRegressor)]
complete = [kind(n_estimators=20, random_state=0).fit(np.nan_to_num(X), y)
            for kind in (RandomForestRegressor, ExtraTreesRegressor)]
for name, scores in tools.items():
    wrong = [np.abs(np.ravel(scores(f)) - f.predict(X)) > 1e-3 for f in forests + complete]
    print(f"{name}:", ", ".join(f"{type(forest).__name__} {w[missing].sum()} of {missing.sum()}"
                                for forest, w in zip(forests, wrong)) +
          ", complete rows", sum(w[~missing].sum() for w in wrong))
    assert not any(w[~missing].any() for w in wrong)
    assert all(w[missing].mean() > 0.5 if name != "treelite" else not w.any() for w in wrong)
PY
