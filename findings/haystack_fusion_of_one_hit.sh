#!/usr/bin/env bash
# Versions: haystack-ai 3.4.1.
# Expectation: DocumentJoiner with join_mode="distribution_based_rank_fusion" brings the scores of
# each retriever into [0, 1]; a single hit, or hits of equal scores, stand in the middle.
# Behavior: The scores of such a list are kept as they came, beside the rescaled ones. A single
# BM25 hit of 14 is above everything; a single cosine of .1, or a logit below 0, is below everything.
# Output seen:
#   two BM25 hits {'x': 0.67, 'a': 0.65, 'b': 0.58, 'y': 0.33, 'c': 0.27}
#   one BM25 hit {'x': 14.0, 'a': 0.65, 'b': 0.58, 'c': 0.27}
#   two equal BM25 hits {'x': 14.0, 'y': 14.0, 'a': 0.65, 'b': 0.58, 'c': 0.27}
#   one cosine {'a': 0.65, 'b': 0.58, 'c': 0.27, 'x': 0.1}
#   one logit {'a': 0.65, 'b': 0.58, 'c': 0.27, 'x': -2.5}
# Who is hurt: Whoever fuses BM25 with dense retrieval: for queries with one keyword hit the order is
# that of the units.
set -euo pipefail
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3.11 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q 'haystack-ai==3.4.1'
cd "$tmp"
"$tmp/venv/bin/python" -W ignore - <<'PY'
from haystack import Document
from haystack.components.joiners import DocumentJoiner

fusion = DocumentJoiner(join_mode="distribution_based_rank_fusion", sort_by_score=True)


def fuse(*lists):
    joined = fusion.run([[Document(id=name, content=name, score=score) for name, score in hits.items()]
                         for hits in lists])["documents"]
    return {document.id: round(document.score, 2) for document in joined}


dense = {"a": 0.9, "b": 0.8, "c": 0.4}
found = {"two BM25 hits": fuse(dense, {"x": 14.0, "y": 9.0}), "one BM25 hit": fuse(dense, {"x": 14.0}),
         "two equal BM25 hits": fuse(dense, {"x": 14.0, "y": 14.0}), "one cosine": fuse(dense, {"x": 0.1}),
         "one logit": fuse(dense, {"x": -2.5})}
for name, scores in found.items():
    print(name, scores)
assert all(0 <= score <= 1 for score in found["two BM25 hits"].values())
assert found["one BM25 hit"]["x"] == found["two equal BM25 hits"]["y"] == 14
assert list(found["one cosine"])[-1] == "x" and found["one logit"]["x"] == -2.5
PY
