#!/usr/bin/env bash
# Versions: mlflow-skinny 3.17.2 (mlflow.metrics, deprecated since 3.4.0), scikit-learn 1.7.2.
# Expectation: ndcg_at_k(10) of a list shorter than 10 is measured against the best first 10, as
# everywhere: missing documents cost.
# Behavior: The best is cut at the length of the list too. A list of one relevant document has
# nDCG@10 = 1 however many it misses; a second document, if it is not relevant, makes it worse. The
# documentation tells this of precision, not of nDCG.
# Output seen:
#   a nDCG@10 1.0 usual 0.339 recall@10 0.2 precision@10 1.0
#   ax nDCG@10 0.613 usual 0.339 recall@10 0.2 precision@10 0.5
#   axbc nDCG@10 0.754 usual 0.655 recall@10 0.6 precision@10 0.75
#   axbcdyzuvw nDCG@10 0.786 usual 0.786 recall@10 0.8 precision@10 0.4
# Who is hurt: Whoever compares retrievers that may return less than k: by nDCG, as by precision, the
# one that stops after its surest document wins.
set -euo pipefail
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3.11 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q 'mlflow-skinny==3.17.2' 'scikit-learn==1.7.2' 'pandas==2.3.3' \
    'numpy==2.3.5' 'scipy==1.16.3'
cd "$tmp"
"$tmp/venv/bin/python" -W ignore - <<'PY'
import math

import pandas as pd
from mlflow.metrics import ndcg_at_k, precision_at_k, recall_at_k


def score(metric, retrieved, relevant, k):
    scores = metric(k).eval_fn(pd.Series([retrieved]), pd.Series([relevant])).scores
    return round(float(scores[0]), 3)


def usual(retrieved, relevant, k):
    gain = sum(1 / math.log2(i + 2) for i, doc in enumerate(retrieved[:k]) if doc in relevant)
    return round(gain / sum(1 / math.log2(i + 2) for i in range(min(k, len(relevant)))), 3)


relevant = list("abcde")
found = {}
for retrieved in (["a"], ["a", "x"], ["a", "x", "b", "c"], list("axbcd") + list("yzuvw")):
    found["".join(retrieved)] = score(ndcg_at_k, retrieved, relevant, 10)
    print("".join(retrieved), "nDCG@10", found["".join(retrieved)], "usual", usual(retrieved, relevant, 10),
          "recall@10", score(recall_at_k, retrieved, relevant, 10),
          "precision@10", score(precision_at_k, retrieved, relevant, 10))
assert usual(["a"], relevant, 10) == 0.339
assert found["a"] == 1 and found["a"] > found["axbc"]
assert found["axbcdyzuvw"] == usual(list("axbcdyzuvw"), relevant, 10)
PY
