#!/usr/bin/env bash
# Versions: lightgbm 4.6.0, pyarrow 21.0.0, xgboost 3.2.0.
# Expectation: A label that is missing (NaN, None, an Arrow null) is refused, as by XGBoost, or its
# row is left out.
# Behavior: lgb.Dataset makes it grade 0, without a word, in arrays, pandas and Arrow alike: the
# unjudged are trained on and evaluated as not relevant. (LGBMRanker, which checks y, refuses NaN.)
# Output seen:
#   array the same model and NDCG@5 as with grade 0: True
#   pandas Int64 the same model and NDCG@5 as with grade 0: True
#   Arrow the same model and NDCG@5 as with grade 0: True
#   warnings about labels: []
#   refused by: ['XGBoost', 'LGBMRanker']
# Who is hurt: Whoever joins judgments to candidates and trains with lgb.train: what nobody judged
# is pushed down, and the reported NDCG counts it as judged.
set -euo pipefail
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3.11 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q 'lightgbm==4.6.0' 'xgboost==3.2.0' 'numpy==2.3.5' 'scipy==1.16.3' 'pandas==2.3.3' \
    'pyarrow==21.0.0' 'cffi==2.0.0' 'scikit-learn==1.7.2'
cd "$tmp"
"$tmp/venv/bin/python" -W ignore - <<'PY'
import lightgbm as lgb
import numpy as np
import pandas as pd
import pyarrow as pa
import xgboost as xgb

rng = np.random.default_rng(0)
X = rng.normal(size=(800, 4))
y = np.clip(np.round(X[:, 0] + X[:, 1] + rng.normal(size=800) + 1), 0, 4)
group = [20] * 40
unjudged = rng.random(800) < 0.3
missing = np.where(unjudged, np.nan, y)
labels = {"array": missing, "pandas Int64": pd.Series(missing).astype("Int64"),
          "Arrow": pa.array(missing, from_pandas=True)}

def train(label):
    """Predictions and the reported NDCG@5 of a model evaluated on its training data."""
    data, seen = lgb.Dataset(X, label, group=group), {}
    params = dict(objective="lambdarank", metric="ndcg", eval_at=[5], num_threads=1, verbosity=1, seed=1,
                  deterministic=True, force_row_wise=True, num_leaves=8)
    model = lgb.train(params, data, 20, valid_sets=[data], valid_names=["train"],
                      callbacks=[lgb.record_evaluation(seen)])
    return model.predict(X), seen["train"]["ndcg@5"][-1]

class Silent:
    said = []
    def info(self, text): pass
    def warning(self, text): self.said.append(text)
lgb.register_logger(Silent())
zeros, ndcg = train(np.where(unjudged, 0, y))
for name, label in labels.items():
    scores, value = train(label)
    equal = np.array_equal(scores, zeros) and value == ndcg
    print(name, "the same model and NDCG@5 as with grade 0:", equal)
    assert equal
about_labels = [text for text in Silent.said if "label" in text.lower() or "nan" in text.lower()]
print("warnings about labels:", about_labels)
refused = []
for name, fit in (("XGBoost", lambda: xgb.DMatrix(X, missing)),
                  ("LGBMRanker", lambda: lgb.LGBMRanker(verbosity=-1).fit(X, missing, group=group))):
    try:
        fit()
    except ValueError:
        refused.append(name)
print("refused by:", refused)
assert refused == ["XGBoost", "LGBMRanker"] and not about_labels
PY
