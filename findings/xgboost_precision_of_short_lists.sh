#!/usr/bin/env bash
# Versions: xgboost 3.2.0 and pytrec-eval-terrier 0.5.11.
# Expectation: pre@10 is precision at 10, the number of relevant documents among the first ten
# divided by ten, as trec_eval's P_10 is.
# Behavior: XGBoost divides by the length of the list where that is below k. A list of one
# relevant document has pre@10 = 1.0, not .1, and weighs as much in the mean as a list of ten
# hits.
# Output seen:
#   xgboost pre@10 0.7222
#   trec_eval P_10 0.2667 [0.1, 0.2, 0.5]
# Who is hurt: Whoever compares pre@k of training with the offline evaluation, or selects a model
# by it on lists of unlike length: short lists carry the mean.
set -euo pipefail
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3.11 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q 'xgboost==3.2.0' 'pytrec-eval-terrier==0.5.11' 'numpy==2.3.5' 'scipy==1.16.3'
cd "$tmp"
"$tmp/venv/bin/python" -W ignore - <<'PY'
import numpy as np
import pytrec_eval
import xgboost as xgb

sizes, labels = [1, 3, 12], np.array([1, 1, 1, 0, *[1, 0] * 6], dtype=float)
scores = np.concatenate([-np.arange(n, dtype=float) for n in sizes])
data = xgb.DMatrix(scores[:, None], labels, group=sizes, base_margin=scores)
booster = xgb.train({"objective": "rank:pairwise", "eta": 0.0, "eval_metric": "pre@10"}, data, 1)
boosted = float(booster.eval(data).split("pre@10:")[1])
qrels, run, at = {}, {}, 0
for q, n in enumerate(sizes):
    qrels[str(q)] = {str(i): int(labels[at + i]) for i in range(n)}
    run[str(q)] = {str(i): float(scores[at + i]) for i in range(n)}
    at += n
each = pytrec_eval.RelevanceEvaluator(qrels, {"P_10"}).evaluate(run)
trec = [round(each[str(q)]["P_10"], 4) for q in range(3)]
print("xgboost pre@10 %.4f" % boosted)
print("trec_eval P_10 %.4f" % np.mean(trec), trec)
assert abs(boosted - (1 / 1 + 2 / 3 + 5 / 10) / 3) < 1e-6
assert abs(np.mean(trec) - (0.1 + 0.2 + 0.5) / 3) < 1e-6
PY
