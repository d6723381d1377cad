#!/usr/bin/env bash
# Versions: lightgbm 4.7.0, pandas 3.0.1.
# Expectation: A model that is continued on a data frame reads each category as the old model did.
# Behavior: init_model's trees keep the codes of their own training, and the new model the
# categories of the new frame alone. Where these differ, as a batch without one of them makes it,
# the old trees read other categories in predictions, without a word.
# Output seen:
#   trained: error 0.00
#   continued on all categories: error 0.00
#   continued on a batch without the category "a": error 0.77
# Who is hurt: Whoever renews a model on the rows of the day with astype("category").
set -euo pipefail
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3.11 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q 'lightgbm==4.7.0' 'numpy==2.3.5' 'scipy==1.16.3' 'pandas==3.0.1' 'scikit-learn==1.8.0'
cd "$tmp"
"$tmp/venv/bin/python" -W ignore - <<'PY'
import lightgbm as lgb
import numpy as np
import pandas as pd

rng = np.random.default_rng(0)
letters = rng.choice(list("abcd"), 2000)
y = pd.Series(letters).map({"a": 0.0, "b": 1.0, "c": 2.0, "d": 3.0}).to_numpy()
frame = pd.DataFrame({"letter": pd.Series(letters).astype("category"), "x": rng.random(2000)})
options = dict(n_estimators=200, max_cat_to_onehot=9, min_child_samples=5, cat_smooth=0, verbose=-1)
def report(name, model):
    error = float(np.abs(model.predict(frame) - y).mean())
    print(f"{name}: error {error:.2f}")
    return error

model = lgb.LGBMRegressor(**options).fit(frame, y)
assert report("trained", model) < 0.1
again = lgb.LGBMRegressor(n_estimators=1, verbose=-1)
assert report("continued on all categories", again.fit(frame, y, init_model=model)) < 0.1
rows = letters != "a"
batch = frame[rows].assign(letter=pd.Series(letters[rows]).astype("category").array)
found = report('continued on a batch without the category "a"', again.fit(batch, y[rows], init_model=model))
assert found > 0.5
PY
