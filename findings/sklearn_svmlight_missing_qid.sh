#!/usr/bin/env bash
# Versions: scikit-learn 1.7.2 (Python 3.11).
# Expectation: load_svmlight_file(query_id=True) returns one query id a row, as X and y have one
# entry a row; a line without "qid:" should be an error.
# Behavior: Lines without "qid:" add a row and a label but no query id. The array of ids is
# shorter, and from there on every id stands beside the wrong row. No warning.
# Output seen:
#   rows 4 labels 4 ids [1, 2, 2]
#   pairs [(1, 2.0), (2, 0.0), (2, 1.0)]
# Who is hurt: Whoever reads a LETOR file put together from several sources: group sizes counted
# from the ids go to the wrong rows, and zip() drops the last rows in silence.
set -euo pipefail
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3.11 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q 'scikit-learn==1.7.2' 'numpy==2.3.5' 'scipy==1.16.3'
cd "$tmp"
"$tmp/venv/bin/python" -W ignore - <<'PY'
import io
from sklearn.datasets import load_svmlight_file

lines = b"2 qid:1 1:0.5\n0 1:0.1\n1 qid:2 1:0.4\n0 qid:2 1:0.2\n"
X, y, qid = load_svmlight_file(io.BytesIO(lines), query_id=True)
print("rows", X.shape[0], "labels", len(y), "ids", qid.tolist())
print("pairs", [(int(q), float(v)) for q, v in zip(qid, y)])
assert X.shape[0] == len(y) == 4
assert qid.tolist() == [1, 2, 2]
PY
