#!/usr/bin/env bash
# Versions: evidently 0.7.23, pandas 2.3.3.
# Expectation: With recommendations_type="score" the items of a user are ordered by their scores;
# the order of the rows in the table is of no account where no two scores are equal.
# Behavior: MAP asks of the last row of the table among the first k places, not of the row at
# place k, whether it is relevant. Only for rows sorted by falling score are the two the same.
# NDCG, MRR and precision of the same report are right for every order, so nothing looks amiss.
# Output seen:
#   rows by falling score  MAP 0.833 NDCG 0.920 MRR 1.000 Precision 0.667
#   rows by rising score   MAP 1.083 NDCG 0.920 MRR 1.000 Precision 0.667
#   rows by item           MAP 0.500 NDCG 0.920 MRR 1.000 Precision 0.667
#   300 users: better ranker, sorted, MAP 0.683 NDCG 0.804; weaker one, by item, MAP 0.801 NDCG 0.779
# Who is hurt: Whoever logs candidates in the order of retrieval and scores them in place: MAP goes
# up or down with the order of the log, and the weaker ranker wins.
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
from evidently.metrics import MAP, MRR, NDCG, PrecisionTopK

ranking = Recsys(user_id="user", item_id="item", target="label", prediction="score",
                 recommendations_type="score")

def evaluate(table, metrics, k):
    data = Dataset.from_pandas(table, data_definition=DataDefinition(ranking=[ranking]))
    values = Report([metric(k=k) for metric in metrics]).run(data).dict()["metrics"]
    # The first value is that of place 1, the k-th that of place k.
    return [float(list(value["value"]["value"].values())[k - 1]) for value in values]

four = (MAP, NDCG, MRR, PrecisionTopK)
table = pd.DataFrame({"user": "u", "item": ["a", "b", "c", "d"], "label": [1, 1, 0, 0],
                      "score": [0.7, 0.9, 0.8, 0.1]})
orders = {"rows by falling score": table.sort_values("score", ascending=False),
          "rows by rising score": table.sort_values("score"), "rows by item": table}
seen = {}
for name, rows in orders.items():
    seen[name] = evaluate(rows.reset_index(drop=True), four, 3)
    print(f"{name:22}", "MAP %.3f NDCG %.3f MRR %.3f Precision %.3f" % tuple(seen[name]))
by_hand = (1 / 1 + 2 / 3) / 2
assert np.isclose(seen["rows by falling score"][0], by_hand)
assert np.ptp([values[1:] for values in seen.values()], axis=0).max() < 1e-12
assert np.ptp([values[0] for values in seen.values()]) > 0.4

rng = np.random.default_rng(0)
label = (rng.random(3000) < 0.3).astype(int)
logged = pd.DataFrame({"user": np.repeat(np.arange(300), 10), "item": np.tile(np.arange(10), 300),
                       "label": label})
better = logged.assign(score=label + rng.normal(size=3000))
better = better.sort_values(["user", "score"], ascending=[True, False]).reset_index(drop=True)
weaker = logged.assign(score=0.8 * label + rng.normal(size=3000))
values = evaluate(better, [MAP, NDCG], 10) + evaluate(weaker, [MAP, NDCG], 10)
print("300 users: better ranker, sorted, MAP %.3f NDCG %.3f; weaker one, by item, MAP %.3f NDCG %.3f" % tuple(values))
assert values[0] < values[2] - 0.05 and values[1] > values[3] + 0.01
PY
