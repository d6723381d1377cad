#!/usr/bin/env bash
# Versions: evidently 0.7.23, pandas 2.3.3.
# Expectation: Of items with equal scores the first rows come first, or every order counts alike;
# no two items share a place, so precision and NDCG stay between 0 and 1.
# Behavior: Tied items all get their mean place, rounded down. Three items tied on top are all at
# place 2: place 1 is empty, and three items are among the first two. Precision reaches 1.5 and
# NDCG 1.16, or both are 0 where the tie is longer than k. With scores that differ all is right.
# Output seen:
#   three good items, apart   precision@2 1.00 recall@2 0.67 ndcg@2 1.00
#   three good items, tied    precision@2 1.50 recall@2 1.00 ndcg@2 1.16
#   five good items, tied     precision@2 0.00 recall@2 0.00 ndcg@2 0.00
#   one of three, tied, last  precision@2 0.50 recall@2 1.00 ndcg@2 0.63
#   good item tied with 0 others: recall@2 1.00, by chance 1.00; ndcg@2 1.00
#   good item tied with 1 others: recall@2 1.00, by chance 1.00; ndcg@2 1.00
#   good item tied with 2 others: recall@2 1.00, by chance 0.67; ndcg@2 0.63
#   good item tied with 3 others: recall@2 1.00, by chance 0.50; ndcg@2 0.63
# Who is hurt: Whoever watches a ranker of few leaves or counts (or popularity) in production:
# reports move with the number of ties, not with the order, and an average over users hides it.
set -euo pipefail
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 DO_NOT_TRACK=1
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3.11 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q --no-compile 'evidently==0.7.23' 'pandas==2.3.3' 'numpy==2.3.5' 'scipy==1.16.3' 'scikit-learn==1.7.2'
cd "$tmp"
"$tmp/venv/bin/python" -W ignore - <<'PY'
import numpy as np
import pandas as pd
from evidently import DataDefinition, Dataset, Recsys, Report
from evidently.metrics import NDCG, PrecisionTopK, RecallTopK

ranking = Recsys(user_id="user", item_id="item", target="label", prediction="score",
                 recommendations_type="score")

def first_two(users):
    """Precision, recall and NDCG of the first two places of users given as (labels, scores)."""
    table = pd.concat([pd.DataFrame({"user": "u%d" % i, "item": np.arange(len(labels)), "label": labels,
                                     "score": scores}) for i, (labels, scores) in enumerate(users)])
    data = Dataset.from_pandas(table.reset_index(drop=True),
                               data_definition=DataDefinition(ranking=[ranking]))
    values = Report([m(k=2) for m in (PrecisionTopK, RecallTopK, NDCG)]).run(data).dict()["metrics"]
    return [float(list(value["value"]["value"].values())[1]) for value in values]

cases = {
    "three good items, apart": [([1, 1, 1, 0], [0.9, 0.8, 0.7, 0.1])],
    "three good items, tied": [([1, 1, 1, 0], [0.9, 0.9, 0.9, 0.1])],
    "five good items, tied": [([1, 1, 1, 1, 1, 0], [0.9, 0.9, 0.9, 0.9, 0.9, 0.1])],
    "one of three, tied, last": [([0, 0, 1, 0], [0.9, 0.9, 0.9, 0.1])],
}
seen = {}
for name, users in cases.items():
    seen[name] = first_two(users)
    print("%-25s precision@2 %.2f recall@2 %.2f ndcg@2 %.2f" % (name, *seen[name]))
assert np.allclose(seen["three good items, apart"], [1, 2 / 3, 1])
assert seen["three good items, tied"][0] == 1.5 and seen["three good items, tied"][2] > 1.1
assert seen["five good items, tied"] == [0, 0, 0]

# One good item of six, tied with others at the top.
rng = np.random.default_rng(0)
def user(tied):
    labels = np.zeros(6, int)
    scores = np.array([0.9] * tied + [0.5, 0.4, 0.3, 0.2, 0.1][:6 - tied])
    labels[rng.integers(tied)] = 1
    return labels, scores
for tied in (1, 2, 3, 4):
    value = first_two([user(tied) for _ in range(100)])
    chance = min(2 / tied, 1)
    print("good item tied with %d others: recall@2 %.2f, by chance %.2f; ndcg@2 %.2f" % (
        tied - 1, value[1], chance, value[2]))
    assert (abs(value[1] - chance) > 0.2) == (tied > 2)
PY
