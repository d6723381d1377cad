#!/usr/bin/env bash
# Versions: recommenders 1.2.1, its measures for pandas.
# Expectation: relevancy_method="by_threshold" with threshold=4 takes the items predicted at 4 or
# more as the recommended ones, as in spark_evaluation of the same package, which keeps those "having
# ratings above certain threshold".
# Behavior: The threshold is a number of items, rounded up: the first four of each user, whatever is
# predicted. A higher threshold keeps more items, not fewer, and predictions divided by ten change
# nothing. No warning, although 3.5 is no number of items.
# Output seen:
#   threshold 1: recall 0.25, of items predicted at it or above 0.75
#   threshold 2: recall 0.50, of items predicted at it or above 0.75
#   threshold 3: recall 0.50, of items predicted at it or above 0.50
#   threshold 4: recall 0.50, of items predicted at it or above 0.50
#   threshold 4.7: recall 0.75, of items predicted at it or above 0.25
#   threshold 4.7, predictions divided by ten: recall 0.75
#   a user with nothing at 4 or above: precision@5 0.40
# Who is hurt: Whoever evaluates what a shop would show, only items predicted well enough: users
# with nothing to show count as if four or five items were shown, and the curve over thresholds runs
# the other way.
set -euo pipefail
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3.11 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q 'numpy==2.3.5' 'pandas==2.3.3' 'scikit-learn==1.7.2' 'scipy==1.16.3'
"$tmp/venv/bin/pip" install -q --no-deps 'recommenders==1.2.1'  # without its models' dependencies
cd "$tmp"
"$tmp/venv/bin/python" -W ignore - <<'PY'
import pandas as pd
from recommenders.evaluation.python_evaluation import precision_at_k, recall_at_k

liked = pd.DataFrame({"userID": 1, "itemID": [1, 2, 3, 4], "rating": [5.0, 5.0, 4.0, 4.0]})
predicted = pd.DataFrame({"userID": 1, "itemID": [1, 2, 11, 12, 3, 13, 14, 15],
                          "prediction": [4.8, 4.6, 3.2, 2.9, 2.5, 2.0, 1.5, 0.4]})


def recall(threshold, table):
    return recall_at_k(liked, table, relevancy_method="by_threshold", threshold=threshold, k=10)


found = {}
for threshold in (1, 2, 3, 4, 4.7):
    kept = predicted[predicted.prediction >= threshold]
    told, true = recall(threshold, predicted), kept.itemID.isin(liked.itemID).sum() / len(liked)
    found[threshold] = told, true
    print(f"threshold {threshold}: recall {told:.2f}, of items predicted at it or above {true:.2f}")
tenth = recall(4.7, predicted.assign(prediction=predicted.prediction / 10))
print("threshold 4.7, predictions divided by ten: recall %.2f" % tenth)
weak = predicted.assign(prediction=predicted.prediction - 4)
shown = precision_at_k(liked, weak, relevancy_method="by_threshold", threshold=4, k=5)
print("a user with nothing at 4 or above: precision@5 %.2f" % shown)
assert [kept for kept, _ in found.values()] == [0.25, 0.5, 0.5, 0.5, 0.75]
assert tenth == 0.75 and shown == 0.4
PY
