#!/usr/bin/env bash
# Versions: skl2onnx 1.20.0, onnxruntime 1.23.2, scikit-learn 1.7.2.
# Expectation: What scikit-learn makes of a missing value its converted transformer makes too:
# NaN stays NaN in PowerTransformer, is encoded_missing_value in OrdinalEncoder, and is a category
# with an encoding of its own in TargetEncoder. Or the conversion is refused.
# Behavior: The converted PowerTransformer (Yeo-Johnson, the default) turns NaN into what it makes
# of 0; both encoders treat NaN as a category never seen, although it was seen in training. All
# other values agree, and Box-Cox, StandardScaler and QuantileTransformer keep NaN. No warning.
# Output seen:
#   PowerTransformer()          NaN becomes nan, converted -4.53
#   PowerTransformer('box-cox') NaN becomes nan, converted nan
#   StandardScaler()            NaN becomes nan, converted nan
#   QuantileTransformer()       NaN becomes nan, converted nan
#   OrdinalEncoder              NaN becomes 9.00, converted -1.00
#   TargetEncoder               NaN becomes 2.99, converted 2.02
#   StandardScaler   before trees: scores without a price 2.99, converted 2.99; with a price 1.56, 1.56
#   PowerTransformer before trees: scores without a price 2.99, converted 2.00; with a price 1.56, 1.56
# Who is hurt: Whoever serves such a pipeline before a ranker that learned what a missing price or
# brand means: documents with gaps get the scores of quite other documents.
set -euo pipefail
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3.11 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q 'skl2onnx==1.20.0' 'onnx==1.19.1' 'onnxruntime==1.23.2' 'scikit-learn==1.7.2' 'numpy==2.3.5' 'scipy==1.16.3'
cd "$tmp"
"$tmp/venv/bin/python" -W ignore - <<'PY'
import numpy as np
import onnxruntime
from skl2onnx import to_onnx
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.preprocessing import (OrdinalEncoder, PowerTransformer, QuantileTransformer,
                                   StandardScaler, TargetEncoder)

rng = np.random.default_rng(0)

def converted(model, X):
    session = onnxruntime.InferenceSession(to_onnx(model, X[:1]).SerializeToString())
    return session.run(None, {"X": X})[0].ravel()

# A price, missing for a third of the documents, which are the most relevant ones.
price = rng.lognormal(1, 0.5, size=(600, 1)).astype(np.float32)
gaps = rng.random(600) < 1 / 3
price[gaps] = np.nan
utility = np.where(gaps, 3.0, 2.0 - (price.ravel() > 3)) + rng.normal(0, 0.05, 600)
brand = rng.integers(0, 4, size=(600, 1)).astype(np.float32)
brand[gaps] = np.nan
unknown = {"handle_unknown": "use_encoded_value", "unknown_value": -1}
cases = {
    "PowerTransformer()": (PowerTransformer(), price),
    "PowerTransformer('box-cox')": (PowerTransformer("box-cox"), price),
    "StandardScaler()": (StandardScaler(), price),
    "QuantileTransformer()": (QuantileTransformer(n_quantiles=50), price),
    "OrdinalEncoder": (OrdinalEncoder(encoded_missing_value=9, **unknown), brand),
    "TargetEncoder": (TargetEncoder(random_state=0), brand),
}
wrong = set()
for name, (model, X) in cases.items():
    model.fit(X, utility)
    expected, served = model.transform(X).ravel(), converted(model, X)
    assert np.allclose(expected[~gaps], served[~gaps], atol=1e-4)
    same = np.allclose(expected[gaps], served[gaps], atol=1e-4, equal_nan=True)
    print("%-27s NaN becomes %.2f, converted %.2f" % (name, expected[gaps][0], served[gaps][0]))
    if name == "PowerTransformer()":
        assert np.isclose(served[gaps][0], model.transform([[0.0]])[0, 0], atol=1e-4)
    if not same:
        wrong.add(name)
assert wrong == {"PowerTransformer()", "OrdinalEncoder", "TargetEncoder"}

for first in (StandardScaler(), PowerTransformer()):
    trees = HistGradientBoostingRegressor(max_iter=50).fit(first.fit_transform(price), utility)
    expected = trees.predict(first.transform(price))
    served = trees.predict(converted(first, price).reshape(-1, 1))
    name = type(first).__name__
    print("%-16s before trees: scores without a price %.2f, converted %.2f; with a price %.2f, %.2f" % (
        name, expected[gaps].mean(), served[gaps].mean(), expected[~gaps].mean(), served[~gaps].mean()))
    assert abs(expected[gaps].mean() - 3) < 0.1
    assert abs(expected[~gaps].mean() - served[~gaps].mean()) < 0.01
    assert (abs(served[gaps].mean() - 3) < 0.1) == (name == "StandardScaler")
PY
