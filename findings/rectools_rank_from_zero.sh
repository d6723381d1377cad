#!/usr/bin/env bash
# Versions: RecTools 0.19.0.
# Expectation: The column "rank" holds ranks 1, 2, 3; other ranks (from 0, or tied at 1) are
# refused, or only their order counts.
# Behavior: The number is used as it stands. Counted from 0, nDCG and MRR are infinite and
# Recall@2 looks at three items; with competition ranks 1, 1, 1 nDCG is 1.23 and Precision@2
# counts three items.
# Output seen:
#   1, 2, 3, hits at places 2, 3 {'recall': 0.5, 'precision': 0.5, 'mrr': 0.5, 'ndcg': 0.3869}
#   0, 1, 2, hits at places 2, 3 {'recall': 1.0, 'precision': 1.0, 'mrr': 1.0, 'ndcg': 1.0}
#   0, 1, 2, hits at places 1, 2 {'recall': 1.0, 'precision': 1.0, 'mrr': inf, 'ndcg': inf}
#   1, 1, 1 {'recall': 1.0, 'precision': 1.0, 'mrr': 1.0, 'ndcg': 1.2263}
# Who is hurt: Whoever ranks with enumerate(), cumcount() or rank(method="min"): recall is too
# high by one place while only nDCG and MRR betray it, and a hit not at rank 0 hides even that.
set -euo pipefail
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3.11 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q 'RecTools==0.19.0' 'numpy==1.26.4' 'pandas==2.3.3' 'scipy==1.15.3'
cd "$tmp"
"$tmp/venv/bin/python" -W ignore - <<'PY'
import pandas as pd
from rectools.metrics import MRR, NDCG, Precision, Recall

seen = pd.DataFrame({"user_id": [1, 1], "item_id": ["b", "c"]})
measures = [Recall(k=2), Precision(k=2), MRR(k=2), NDCG(k=2, divide_by_achievable=True)]

def report(name, items, ranks):
    reco = pd.DataFrame({"user_id": 1, "item_id": list(items), "rank": ranks})
    values = [round(float(m.calc(reco, seen)), 4) for m in measures]
    print(name, dict(zip(("recall", "precision", "mrr", "ndcg"), values)))
    return values

right = report("1, 2, 3, hits at places 2, 3", "abc", [1, 2, 3])
shifted = report("0, 1, 2, hits at places 2, 3", "abc", [0, 1, 2])
first = report("0, 1, 2, hits at places 1, 2", "bca", [0, 1, 2])
tied = report("1, 1, 1", "abc", [1, 1, 1])
assert right[0] == 0.5 and shifted[0] == 1.0 and shifted[3] == 1.0
assert first[2] == first[3] == float("inf")
assert tied[1] == 1.0 and tied[3] > 1.2
PY
