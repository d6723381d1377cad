#!/usr/bin/env bash
# Versions: cornac 2.2.1, beside scikit-learn 1.5.2.
# Expectation: AUC counts a tied pair as one half, as scikit-learn does; constant scores have an
# AUC of .5.
# Behavior: Cornac counts only pairs in which the relevant item scores strictly higher. Constant
# scores have 0.0, worse than random, and coarse scores are marked down by half of their ties.
# Output seen:
#   constant cornac 0.0000 scikit-learn 0.5000
#   coarse cornac 0.6667 scikit-learn 0.8000
#   untied cornac 0.7333 scikit-learn 0.7333
# Who is hurt: Whoever compares a tree model, a popularity baseline or rounded scores with a
# factor model: ties decide, not ranking: of the last two below, the better by scikit-learn is the
# worse by Cornac.
set -euo pipefail
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3.11 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q 'cornac==2.2.1' 'scikit-learn==1.5.2' 'numpy==1.26.4' 'scipy==1.14.1'
cd "$tmp"
"$tmp/venv/bin/python" -W ignore - <<'PY'
import numpy as np
from cornac.metrics import AUC
from sklearn.metrics import roc_auc_score

items, relevant = np.arange(8), np.array([0, 1, 2])
label = np.isin(items, relevant).astype(int)
found = {}
for name, scores in (("constant", np.zeros(8)),
                     ("coarse", np.array([2, 2, 1, 2, 1, 1, 0, 0.0])),
                     ("untied", np.array([9, 7, 2, 8, 6, 5, 1, 0.0]))):
    ours = AUC().compute(item_indices=items, pd_scores=scores, gt_pos=relevant)
    found[name] = (round(float(ours), 4), round(float(roc_auc_score(label, scores)), 4))
    print(name, "cornac %.4f scikit-learn %.4f" % found[name])
assert found["constant"] == (0.0, 0.5)
assert found["untied"][0] == found["untied"][1]
assert found["coarse"][1] > found["untied"][1] and found["coarse"][0] < found["untied"][0]
PY
