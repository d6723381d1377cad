#!/usr/bin/env bash
# Versions: catboost 1.2.10.
# Expectation: ERR and PFound need a probability of relevance in [0, 1]; labels 0..4 are refused,
# as QueryAUC refuses them ("should be in the segment [0, 1]"), or mapped by (2^g - 1) / 2^4.
# Behavior: The grade itself is taken as the probability. A perfect order of the grades 4, 3 has
# an ERR of -.5 and a PFound of -3.65; the same list with nothing behind its first document scores
# 4.0.
# Output seen:
#   [4, 3] ERR -0.5 PFound -3.65
#   [4, 0] ERR 4.0 PFound 4.0
#   [1, 0] ERR 1.0 PFound 1.0
#   [0, 4, 4] ERR -2.0 PFound -5.27
#   [0.5, 0.25] ERR 0.5625 PFound 0.6062
#   QueryAUC: All target values should be in the segment [0, 1]
# Who is hurt: Whoever passes custom_metric="ERR" or selects a ranker by it on the usual grades
# 0..4: more relevant documents near the top lower the score, without an error.
set -euo pipefail
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3.11 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q 'catboost==1.2.10' 'numpy==2.3.5' 'pandas==2.3.3' 'scipy==1.16.3'
cd "$tmp"
"$tmp/venv/bin/python" -W ignore - <<'PY'
from catboost.utils import eval_metric

def score(name, grades):
    """The metric of a list whose documents stand in the order given."""
    n = len(grades)
    return round(eval_metric(grades, [float(n - i) for i in range(n)], name, group_id=[0] * n)[0], 4)

for grades in ([4, 3], [4, 0], [1, 0], [0, 4, 4], [0.5, 0.25]):
    print(grades, "ERR", score("ERR", grades), "PFound", score("PFound", grades))
assert score("ERR", [4, 3]) == -0.5 and score("ERR", [4, 0]) == 4.0
assert score("PFound", [4, 3]) < 0 < score("PFound", [1, 0])
assert score("ERR", [0.5, 0.25]) == 0.5625
try:
    score("QueryAUC", [4, 0])
    print("QueryAUC takes grades")
    refused = False
except Exception as error:
    refused = True
    print("QueryAUC:", str(error).split(": ", 1)[1].split(", for")[0])
assert refused
PY
