#!/usr/bin/env bash
# Versions: xgboost 3.2.0.
# Expectation: Training that goes on from a model (xgb_model=) with another booster keeps the trees,
# or is refused.
# Behavior: From gbtree to dart, and from dart to gbtree, the old trees are gone without a word:
# five more rounds give a model of five rounds, equal to one trained anew. XGBRanker.fit does so
# too. A booster left out of the parameters is that of the old model, whose trees stay.
# Output seen:
#   gbtree then gbtree: 25 rounds, trained anew: False
#   gbtree then dart: 5 rounds, trained anew: True
#   dart then gbtree: 5 rounds, trained anew: True
#   dart then not named: 25 rounds, trained anew: False
#   XGBRanker, gbtree then dart: 5 rounds, trained anew: True
# Who is hurt: Whoever fine-tunes a shipped ranker with dropout, or with plain trees after it: the
# new model has learned from the new data alone.
set -euo pipefail
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3.11 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q 'xgboost==3.2.0' 'numpy==2.3.5' 'scipy==1.16.3' 'scikit-learn==1.7.2'
cd "$tmp"
"$tmp/venv/bin/python" - <<'PY'
import numpy as np
import xgboost as xgb

rng = np.random.default_rng(0)
X = rng.normal(size=(800, 4))
y = np.clip(np.round(X[:, 0] + X[:, 1] + rng.normal(size=800) + 1), 0, 4)
qid = np.repeat(np.arange(40), 20)
data = xgb.DMatrix(X, y, qid=qid)

def train(booster, rounds, start=None):
    params = {"objective": "rank:ndcg", "nthread": 1, "max_depth": 3, "seed": 1}
    if booster != "not named":
        params["booster"] = booster
    return xgb.train(params, data, rounds, xgb_model=start)

def report(name, model, anew):
    equal = np.array_equal(model.predict(data), anew.predict(data))
    print(name + ":", model.num_boosted_rounds(), "rounds, trained anew:", equal)
    return model.num_boosted_rounds(), equal

pairs = ("gbtree", "gbtree"), ("gbtree", "dart"), ("dart", "gbtree"), ("dart", "not named")
seen = [report(f"{a} then {b}", train(b, 5, train(a, 20)), train(b, 5)) for a, b in pairs]
settings = {"max_depth": 3, "n_jobs": 1, "random_state": 1}
old = xgb.XGBRanker(n_estimators=20, **settings).fit(X, y, qid=qid)
new = xgb.XGBRanker(n_estimators=5, booster="dart", **settings)
anew = xgb.XGBRanker(n_estimators=5, booster="dart", **settings).fit(X, y, qid=qid).get_booster()
new.fit(X, y, qid=qid, xgb_model=old.get_booster())
seen.append(report("XGBRanker, gbtree then dart", new.get_booster(), anew))
assert seen == [(25, False), (5, True), (5, True), (25, False), (5, True)]
PY
