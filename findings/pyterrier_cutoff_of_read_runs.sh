#!/usr/bin/env bash
# Versions: pyterrier 1.1.2.
# Expectation: Of a run read by pt.io.read_results, "% 5" keeps the five documents with the highest
# scores of each topic; the column of ranks, which trec_eval ignores, does not matter.
# Behavior: The ranks of the file are kept, and "% 5" keeps those below 5. Most runs count from 1:
# four documents stay. If all ranks are 1, all twelve stay.
# Output seen:
#   ranks from 0: documents 5, P@5 of the run 1.0, of its first five 1.0
#   ranks from 1: documents 4, P@5 of the run 1.0, of its first five 0.8
#   all ranks 1: documents 12, P@5 of the run 1.0, of its first five 1.0
# Who is hurt: Whoever re-ranks the first k of a run of another tool, or truncates runs to compare
# them: the last of the k is missing, and P@k falls.
set -euo pipefail
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3.11 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q 'pyterrier==1.1.2' 'numpy==2.3.5' 'pandas==2.3.3'
cd "$tmp"
"$tmp/venv/bin/python" -W ignore - <<'PY'
import pandas as pd
import pyterrier as pt

topics = pd.DataFrame({"qid": ["1"], "query": ["ranking"]})
judgments = pd.DataFrame({"qid": "1", "docno": [f"d{i}" for i in range(12)], "label": 1})

def report(name, ranks):
    with open("a.run", "w") as file:
        file.writelines(f"1 Q0 d{i} {rank} {20 - i}.0 a\n" for i, rank in enumerate(ranks))
    run = pt.Transformer.from_df(pt.io.read_results("a.run"))
    first = run % 5
    values = [pt.Experiment([t], topics, judgments, ["P_5"])["P_5"][0] for t in (run, first)]
    print(name, f"documents {len(first(topics))}, P@5 of the run {values[0]}, of its first five {values[1]}")
    return len(first(topics))

kept = [report("ranks from 0:", range(12)), report("ranks from 1:", range(1, 13)),
        report("all ranks 1:", [1] * 12)]
assert kept == [5, 4, 12]
PY
