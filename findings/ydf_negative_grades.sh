#!/usr/bin/env bash
# Versions: ydf (YDF, Yggdrasil Decision Forests) 0.16.1.
# Expectation: evaluate() of a ranking model refuses a grade of -1 (unjudged, spam), as LightGBM
# and XGBoost do, or reads it as 0; NDCG stays within 0 and 1.
# Behavior: -1 is a gain of 2^-1 - 1 = -.5 in the sum and in the ideal sum, which is then nearly
# zero or negative. A relevant document below the cut of five scores -57 where 0 is right, and a
# query of -1 only is a perfect 1.0 in any order.
# Output seen:
#   relevant at place 20, the others 0: 0.0  the others -1: -57.2062
#   nothing relevant, all 0: 0.0  all -1: 1.0
# Who is hurt: Whoever evaluates on judgments with -1: one query outweighs all others in the mean,
# or the mean rises with queries without anything relevant.
set -euo pipefail
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3.11 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q 'ydf==0.16.1' 'numpy==2.3.5' 'pandas==2.3.3'
cd "$tmp"
"$tmp/venv/bin/python" -W ignore - <<'PY'
import numpy as np
import pandas as pd
import ydf

rng = np.random.default_rng(0)
frame = pd.DataFrame(rng.normal(size=(600, 4)), columns=list("abcd"))
frame["y"] = np.clip(np.round(frame.a + frame.b * frame.c + 1), 0, 4).astype(int)
frame["q"] = np.repeat([f"q{i}" for i in range(30)], 20)
model = ydf.GradientBoostedTreesLearner(label="y", task=ydf.Task.RANKING, ranking_group="q", num_threads=1,
                                        num_trees=20, validation_ratio=0.0).train(frame, verbose=0)

def ndcg(first_relevant, others):
    """NDCG of a list of 20 (grade 1 at one place), beside a second list that scores 1."""
    docs = frame[frame.q == "q0"].copy()
    order = np.argsort(-model.predict(docs), kind="stable")
    grades = np.full(20, float(others))
    if first_relevant is not None:
        grades[order[first_relevant]] = 1
    docs["y"] = grades
    perfect = docs.assign(q="q1", y=0.0)
    perfect.iloc[order[0], perfect.columns.get_loc("y")] = 1
    return round(float(2 * model.evaluate(pd.concat([docs, perfect])).ndcg - 1), 4)

last, last_negative, none, none_negative = ndcg(19, 0), ndcg(19, -1), ndcg(None, 0), ndcg(None, -1)
print("relevant at place 20, the others 0:", last, " the others -1:", last_negative)
print("nothing relevant, all 0:", none, " all -1:", none_negative)
assert last == none == 0.0
assert last_negative < -10 and none_negative == 1.0
PY
