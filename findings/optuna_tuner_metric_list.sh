#!/usr/bin/env bash
# Versions: optuna 5.0.0, optuna-integration 5.0.0, lightgbm 4.6.0.
# Expectation: LightGBM takes its metrics as a name or as a list of names, and the tuner of Optuna
# takes LightGBM's parameters as they are: ["ndcg"] means "ndcg".
# Behavior: In a list no metric is known as one to maximize, so the tuner looks for the lowest ndcg.
# The best trial is the worst one, and get_best_booster returns its model. Nothing warns, and the
# tuner with cross-validation goes the same way.
# Output seen:
#   metric "ndcg": MAXIMIZE, trials 0.655 to 0.780, best model 0.780
#   metric ["ndcg"]: MINIMIZE, trials 0.655 to 0.783, best model 0.655
#   metric ["map", "ndcg"]: MINIMIZE, trials 0.655 to 0.783, best model 0.655
#   tuner with cross-validation: ["ndcg"] MINIMIZE
# Who is hurt: Whoever tunes a ranker with ndcg and map side by side, or keeps the metrics of a
# configuration in a list: hours of search return the parameters that rank worst.
set -euo pipefail
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3.11 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q 'lightgbm==4.6.0' 'optuna==5.0.0' 'optuna-integration==5.0.0' \
    'numpy==2.3.5' 'scipy==1.16.3' 'scikit-learn==1.7.2' 'pandas==2.3.3'
cd "$tmp"
"$tmp/venv/bin/python" -W ignore - <<'PY'
import json

import lightgbm
import numpy as np
import optuna
from optuna_integration.lightgbm import LightGBMTuner, LightGBMTunerCV
from sklearn.model_selection import GroupKFold

optuna.logging.set_verbosity(optuna.logging.ERROR)
rng = np.random.default_rng(0)
X = rng.normal(size=(800, 5))
y = np.clip(np.round(X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=800) + 1), 0, 4)

def dataset(half, reference=None):
    return lightgbm.Dataset(X[half], y[half], group=[20] * 20, reference=reference)

def params(metric):
    return {"objective": "lambdarank", "metric": metric, "eval_at": [5], "num_threads": 1,
            "seed": 0, "deterministic": True, "force_row_wise": True, "verbosity": -1}

results = []
for metric in ("ndcg", ["ndcg"], ["map", "ndcg"]):
    train = dataset(slice(400))
    tuner = LightGBMTuner(params(metric), train, 20, [dataset(slice(400, 800), train)],
                          show_progress_bar=False, optuna_seed=0)
    tuner.run()
    values = [trial.value for trial in tuner.study.trials]
    best = tuner.get_best_booster().best_score["valid_0"]["ndcg@5"]
    direction = tuner.study.direction.name
    results.append((direction, np.isclose(best, min(values)), np.isclose(best, max(values))))
    assert max(values) > min(values) + 0.05
    print(f"metric {json.dumps(metric)}: {direction}, trials {min(values):.3f} to {max(values):.3f},",
          f"best model {best:.3f}")
folds = GroupKFold(2).split(X[:400], groups=np.repeat(np.arange(20), 20))
with_folds = LightGBMTunerCV(params(["ndcg"]), dataset(slice(400)), 20, folds=list(folds))
print('tuner with cross-validation: ["ndcg"]', with_folds.study.direction.name)
assert results[0] == ("MAXIMIZE", False, True)
assert results[1] == results[2] == ("MINIMIZE", True, False)
assert with_folds.study.direction.name == "MINIMIZE"
PY
