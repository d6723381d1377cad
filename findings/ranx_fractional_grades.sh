#!/usr/bin/env bash
# Versions: ranx 0.3.21.
# Expectation: Qrels built from a dictionary keep the grades given, or refuse what they cannot
# hold (pytrec_eval raises "Expected relevance to be integer").
# Behavior: Grades are cut to whole numbers as the dictionary is read: .9 becomes 0, not relevant;
# 1.9 becomes 1, as 1.1 does. Judgments divided by the top grade lose all but their best
# documents.
# Output seen:
#   averaged 1.9, 1.1, .9: {'a': 1, 'b': 1, 'c': 0}
#   scaled 1, .75, .25, 0: {'a': 1, 'b': 0, 'c': 0, 'd': 0}
# Who is hurt: Whoever evaluates against averaged or scaled judgments (mean of assessors, grades
# divided by the top grade): relevant documents count as not relevant, or two grades become one.
set -euo pipefail
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3.11 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q 'ranx==0.3.21' 'numpy==2.3.5' 'numba==0.68.1' 'pandas==2.3.3'
cd "$tmp"
"$tmp/venv/bin/python" -W ignore - <<'PY'
from ranx import Qrels

averaged = Qrels({"q": {"a": 1.9, "b": 1.1, "c": 0.9}})
scaled = Qrels({"q": {"a": 1.0, "b": 0.75, "c": 0.25, "d": 0.0}})
print("averaged 1.9, 1.1, .9:", dict(averaged.qrels["q"]))
print("scaled 1, .75, .25, 0:", dict(scaled.qrels["q"]))
assert dict(averaged.qrels["q"]) == {"a": 1, "b": 1, "c": 0}
assert dict(scaled.qrels["q"]) == {"a": 1, "b": 0, "c": 0, "d": 0}
PY
