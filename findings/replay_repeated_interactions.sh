#!/usr/bin/env bash
# Versions: replay-rec (RePlay) 0.22.0.
# Expectation: An item that a user took six times in the test period is one relevant item: NDCG is,
# in the words of its documentation, "the binary version, it takes into account whether the item was
# consumed or not".
# Behavior: In pandas and in polars the ideal lists of NDCG and MAP have a place for each row of the
# ground truth, though a list can fill only one for each item. Recall takes the set of items. Only
# repeats among the recommendations give a warning.
# Output seen:
#   each item once: a perfect list NDCG 1.000, MAP 1.000, Recall 1.000
#   one item six times: a perfect list NDCG 0.448, MAP 0.286, Recall 1.000
#   mean NDCG of two models: once 0.500, 0.347, with the repeats 0.224, 0.347
# Who is hurt: Whoever evaluates on logs of purchases or plays: the oftener users come back for
# something, the less they count, and the model that serves them perfectly loses.
set -euo pipefail
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3.11 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q 'replay-rec==0.22.0' 'numpy==2.3.5' 'pandas==2.3.3' \
    'polars==1.35.2' 'pyarrow==22.0.0' 'scikit-learn==1.7.2' 'scipy==1.16.3'
cd "$tmp"
"$tmp/venv/bin/python" -W error::UserWarning - <<'PY'
import pandas as pd
import polars as pl
from replay.metrics import MAP, NDCG, Recall


def table(lists):
    rows = [(user, item, -rank) for user, items in lists.items() for rank, item in enumerate(items)]
    return pd.DataFrame(rows, columns=["query_id", "item_id", "rating"])


def values(recommended, taken):
    frames = table(recommended), table(taken)[["query_id", "item_id"]]
    measures = {"NDCG@10": NDCG(10), "MAP@10": MAP(10), "Recall@10": Recall(10)}
    found = [
        [measure(*map(kind, frames))[name] for name, measure in measures.items()]
        for kind in (pd.DataFrame, pl.from_pandas)
    ]
    assert found[0] == found[1]
    return found[0]


once, often = ["a", "b"], ["a"] * 6 + ["b"]
for name, taken in (("each item once", once), ("one item six times", often)):
    perfect = values({1: ["a", "b"]}, {1: taken})
    print(f"{name}: a perfect list NDCG %.3f, MAP %.3f, Recall %.3f" % tuple(perfect))
    assert perfect[2] == 1
    assert perfect[0] == perfect[1] == 1 if taken is once else max(perfect[:2]) < 0.5
models = {1: ["a", "b"], 2: ["x", "y", "z"]}, {1: ["x", "y", "z"], 2: ["x", "c", "d"]}
means = [values(model, {1: taken, 2: ["c", "d"]})[0] for taken in (once, often) for model in models]
print("mean NDCG of two models: once %.3f, %.3f, with the repeats %.3f, %.3f" % tuple(means))
assert means[0] > means[1] == means[3] > means[2]
PY
