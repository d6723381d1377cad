#!/usr/bin/env bash
# Versions: lancedb 0.40.0.
# Expectation: In hybrid search with LinearCombinationReranker(weight=.1), where text weighs .9, the
# only row that has the words of the query is first.
# Behavior: Scores are stretched to [0, 1] within the hits of each search, and those of a single
# hit, or of hits of equal scores, become 0, what rows without the words get. The row is last, and
# cut off. With a second, worse hit for the same words it is first.
# Output seen:
#   one hit {0: 0.1, 1: 0.078, 2: 0.054, 3: 0.028, 4: 0.0}
#   one hit, by rank {0: 0.1, 1: 0.075, 2: 0.05, 3: 0.025, 4: 0.0}
#   two equal hits {0: 0.1, 1: 0.078, 2: 0.054, 3: 0.028, 4: 0.0}
#   a second, worse hit {9: 0.9, 0: 0.1, 1: 0.078, 2: 0.054, 3: 0.028}
#   one hit, RRF {0: 0.016, 9: 0.016, 1: 0.016, 2: 0.016, 3: 0.016}
# Who is hurt: Whoever adds keyword search so that a product code or a name is found: the rarer the
# code, the less it counts.
set -euo pipefail
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3.11 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q 'lancedb==0.40.0' 'pyarrow==26.0.1' 'numpy==2.3.5'
cd "$tmp"
"$tmp/venv/bin/python" -W ignore - <<'PY'
import lancedb
from lancedb.rerankers import LinearCombinationReranker, RRFReranker

db = lancedb.connect("data")


def search(texts, reranker, normalize="score"):
    """The first five of twelve rows, of which those in texts have the words; row 0 is the nearest."""
    rows = [{"row": i, "text": texts.get(i, "blue hat"), "vector": [1 + i / 10, 0.0]} for i in range(12)]
    table = db.create_table("rows", rows, mode="overwrite")
    table.create_fts_index("text")
    found = table.search(query_type="hybrid").vector([0.0, 0.0]).text("ax7000").limit(5)
    return {hit["row"]: round(hit["_relevance_score"], 3)
            for hit in found.rerank(reranker, normalize=normalize).to_list()}


one = {9: "ax7000"}
worse = {9: "ax7000", 10: "ax7000 bag with plenty of room for shoes"}
text = LinearCombinationReranker(weight=0.1)
results = {"one hit": search(one, text), "one hit, by rank": search(one, text, "rank"),
           "two equal hits": search({9: "ax7000", 10: "ax7000"}, text),
           "a second, worse hit": search(worse, text), "one hit, RRF": search(one, RRFReranker())}
for name, found in results.items():
    print(name, found)
assert 9 not in results["one hit"] and 9 not in results["one hit, by rank"]
assert not {9, 10} & set(results["two equal hits"])
assert next(iter(results["a second, worse hit"])) == 9 and results["a second, worse hit"][9] == 0.9
assert 9 in results["one hit, RRF"]
PY
