#!/usr/bin/env bash
# Versions: ir_measures 0.4.3 with pytrec-eval-terrier 0.5.11.
# Expectation: A document twice in one query of a run is an error (trec_eval stops at it) or
# counts at its best place.
# Behavior: The row that comes last wins, whatever its score: the document found first with score
# 9 is ranked by its later row with score 1. Judgments given twice are treated likewise.
# Output seen:
#   as given  [('AP', 0.5833), ('P@1', 0.0), ('RR', 0.5)]
#   best kept [('AP', 0.8333), ('P@1', 1.0), ('RR', 1.0)]
#   judgments twice, the second all 0: 0.0
# Who is hurt: Whoever concatenates the passages of documents or the shards of an index: in a run
# sorted by falling score each duplicate counts at its worst place, and P@1 falls from 1 to 0.
set -euo pipefail
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3.11 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q 'ir-measures==0.4.3' 'pytrec-eval-terrier==0.5.11' 'pandas==2.3.3' 'numpy==2.3.5'
cd "$tmp"
"$tmp/venv/bin/python" -W ignore - <<'PY'
import pandas as pd
import ir_measures
from ir_measures import AP, P, RR

columns = ["query_id", "doc_id", "score"]
run = pd.DataFrame([("q", "a", 9.0), ("q", "c", 8.0), ("q", "a", 1.0), ("q", "b", 0.5)], columns=columns)
qrels = pd.DataFrame([("q", "a", 1), ("q", "b", 1), ("q", "c", 0)], columns=["query_id", "doc_id", "relevance"])
def measure(frame, judged=qrels):
    found = ir_measures.calc_aggregate([P @ 1, RR, AP], judged, frame)
    return {str(m): round(float(v), 4) for m, v in found.items()}
given, best_kept = measure(run), measure(run.drop_duplicates(["query_id", "doc_id"]))
print("as given ", sorted(given.items()))
print("best kept", sorted(best_kept.items()))
assert given["P@1"] == 0.0 and best_kept["P@1"] == 1.0
twice = pd.concat([qrels, qrels.assign(relevance=0)])
print("judgments twice, the second all 0:", measure(run, twice)["AP"])
assert measure(run, twice)["AP"] == 0.0
PY
