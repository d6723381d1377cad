#!/usr/bin/env bash
# Versions: scikit-learn-intelex 2026.2.0 (daal4py), lightgbm 4.6.0, xgboost 3.2.0.
# Expectation: daal4py.mb.convert_model refuses models that split by category, as it refuses dart,
# linear trees and ranking objectives.
# Behavior: It refuses splits by two categories or more, since it cannot read them as a number. A
# split by a single category, all that a feature of few categories has, becomes a threshold: another
# model, without a word.
# Output seen:
#   LightGBM, 2 categories, declared False: wrong rows of 800: 0
#   XGBoost, 2 categories, declared False: wrong rows of 800: 0
#   LightGBM, 2 categories, declared True: wrong rows of 800: 410
#   XGBoost, 2 categories, declared True: wrong rows of 800: 390
#   LightGBM, 3 categories, declared False: wrong rows of 800: 0
#   XGBoost, 3 categories, declared False: wrong rows of 800: 0
#   LightGBM, 3 categories, declared True: wrong rows of 800: 544
#   XGBoost, 3 categories, declared True: wrong rows of 800: 298
#   LightGBM, 6 categories, declared False: wrong rows of 800: 0
#   XGBoost, 6 categories, declared False: wrong rows of 800: 0
#   LightGBM, 6 categories, declared True: wrong rows of 800: refused (ValueError)
#   XGBoost, 6 categories, declared True: wrong rows of 800: refused (TypeError)
# Who is hurt: Whoever speeds up a model of grades or clicks with a device, a market or a yes-or-no
# feature declared as categorical.
set -euo pipefail
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3.11 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q 'scikit-learn-intelex==2026.2.0' 'lightgbm==4.6.0' 'xgboost-cpu==3.2.0' \
    'scikit-learn==1.7.2' 'numpy==2.3.5' 'scipy==1.16.3' 'pandas==2.3.3'
cd "$tmp"
"$tmp/venv/bin/python" -W ignore - <<'PY'
import daal4py
import lightgbm as lgb
import numpy as np
import pandas as pd
import xgboost as xgb

rng = np.random.default_rng(0)
numbers = rng.normal(size=(800, 3))
effect = np.array([0, 3, 0, 1, 4, 0])


def wrong_rows(model, X, scores):
    try:
        return int((np.abs(np.ravel(daal4py.mb.convert_model(model).predict(X)) - scores) > 1e-3).sum())
    except (TypeError, ValueError) as error:
        return f"refused ({type(error).__name__})"


params = dict(objective="regression", num_threads=1, verbosity=-1, deterministic=True,
              force_row_wise=True, seed=1)
found = {}
for count in (2, 3, 6):
    category = rng.integers(0, count, 800)
    X = np.c_[numbers, category]
    y = numbers[:, 0] + effect[category]
    frame = pd.DataFrame(numbers).assign(category=pd.Categorical(category))
    frame.columns = frame.columns.astype(str)
    for declared in (False, True):
        model = lgb.train(params, lgb.Dataset(X, y, categorical_feature=[3] if declared else "auto"), 30)
        found["LightGBM", count, declared] = wrong_rows(model, X, model.predict(X))
        model = xgb.XGBRegressor(n_estimators=30, n_jobs=1, enable_categorical=True)
        data = frame if declared else X
        found["XGBoost", count, declared] = wrong_rows(model.fit(data, y), X, model.predict(data))
for (library, count, declared), wrong in found.items():
    print(f"{library}, {count} categories, declared {declared}: wrong rows of 800:", wrong)
    assert declared or wrong == 0
assert all(found[library, count, True] > 200 for library in ("LightGBM", "XGBoost") for count in (2, 3))
assert all("refused" in found[library, 6, True] for library in ("LightGBM", "XGBoost"))
PY
