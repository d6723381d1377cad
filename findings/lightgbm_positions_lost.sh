#!/usr/bin/env bash
# Versions: lightgbm 4.6.0.
# Expectation: The positions of a Dataset, from which lambdarank takes out the bias of clicks, stay
# with its rows like labels, weights and groups: in the folds of lightgbm.cv, in Dataset.subset and
# in a file of save_binary, whose documentation leaves out init_score only.
# Behavior: All three forget them without a word. lightgbm.cv gives the same numbers with positions
# as without, and models from a subset of all rows or from the file are the biased model, digit for
# digit.
# Output seen:
#   scores and popularity: without positions 0.21, with positions 0.06,
#     subset of all rows 0.21, file of save_binary 0.21
#   lightgbm.cv, ndcg@5: without positions 0.860, with positions 0.860; folds by hand 0.819
# Who is hurt: Whoever trains on clicks: cross-validation tunes the biased ranker, and a Dataset
# that was saved once for faster starts trains it, although the positions were given.
set -euo pipefail
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3.11 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q 'lightgbm==4.6.0' 'numpy==2.3.5' 'scipy==1.16.3' 'scikit-learn==1.7.2'
cd "$tmp"
"$tmp/venv/bin/python" -W error - <<'PY'
import lightgbm
import numpy as np
from sklearn.model_selection import GroupKFold

rng = np.random.default_rng(0)
relevance, popularity, noise = rng.normal(size=(3, 300, 10))
# The old ranking goes by popularity and noise; who looks at a relevant document clicks it.
places = (-popularity - noise).argsort(axis=1).argsort(axis=1)
clicks = (rng.random((300, 10)) < (relevance > 0) / (1 + places) ** 2).astype(int)
X = np.stack([relevance, popularity], axis=2).reshape(3000, 2)
y, positions, qid = clicks.ravel(), places.ravel(), np.repeat(np.arange(300), 10)
params = {"objective": "lambdarank", "metric": "ndcg", "eval_at": [5], "num_leaves": 7,
          "num_threads": 1, "seed": 0, "deterministic": True, "force_row_wise": True,
          "verbosity": -1}

def dataset(with_positions, rows=slice(None), reference=None):
    return lightgbm.Dataset(X[rows], y[rows], group=np.bincount(qid[rows])[np.unique(qid[rows])],
                            position=positions[rows] if with_positions else None,
                            reference=reference, params=params, free_raw_data=False)

def scores(data):
    return lightgbm.train(params, data, 30).predict(X)

without, with_positions = scores(dataset(False)), scores(dataset(True))
subset = scores(dataset(True).construct().subset(np.arange(3000)))
dataset(True).construct().save_binary("train.bin")
saved = scores(lightgbm.Dataset("train.bin"))
bias = [np.corrcoef(s, X[:, 1])[0, 1] for s in (without, with_positions, subset, saved)]
print("scores and popularity: without positions %.2f, with positions %.2f," % tuple(bias[:2]))
print("  subset of all rows %.2f, file of save_binary %.2f" % tuple(bias[2:]))

folds = list(GroupKFold(3).split(X, y, qid))
tables = [lightgbm.cv(params, dataset(given), 30, folds=folds) for given in (False, True)]
by_hand = []
for train, test in folds:
    data, result = dataset(True, np.sort(train)), {}
    lightgbm.train(params, data, 30, [dataset(False, np.sort(test), data)],
                   callbacks=[lightgbm.record_evaluation(result)])
    by_hand.append(result["valid_0"]["ndcg@5"][-1])
last = [table["valid ndcg@5-mean"][-1] for table in tables]
print("lightgbm.cv, ndcg@5: without positions %.3f, with positions %.3f;" % tuple(last),
      f"folds by hand {np.mean(by_hand):.3f}")
assert np.array_equal(subset, without) and np.array_equal(saved, without)
assert bias[1] < bias[0] / 2
assert tables[0] == tables[1] and abs(np.mean(by_hand) - last[0]) > 0.01
PY
