#!/usr/bin/env bash
# Versions: xgboost 3.2.0, with pandas 2.3.3.
# Expectation: XGBoost records the categories of the training data frame. A prediction for a
# category that training lacks is an error, as the library says of one: "Found a category not in the
# training set".
# Behavior: The error comes only for a category that follows all those of training in their order.
# Any other one gets the scores of the next category of training, without a warning. That the names
# are alike matters nothing: "bikes" is scored as "books", and "ants" as "audio".
# Output seen:
#   ants scored as audio, bikes scored as books, cars scored as games, zebras an error
# Who is hurt: Rankers of shops and feeds, where new brands and genres arrive every day: they
# inherit the scores of an unrelated one.
set -euo pipefail
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3.11 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q 'xgboost==3.2.0' 'numpy==2.3.5' 'pandas==2.3.3' \
    'scikit-learn==1.7.2' 'pyarrow==22.0.0'
cd "$tmp"
"$tmp/venv/bin/python" -W ignore - <<'PY'
import numpy as np
import pandas as pd
import xgboost

known = ["audio", "books", "games", "shoes"]
code = np.arange(400) % 4
qid = np.repeat(np.arange(50), 8)
table = pd.DataFrame({"genre": pd.Categorical(np.array(known)[code])})
ranker = xgboost.XGBRanker(n_estimators=20, enable_categorical=True, n_jobs=1)
ranker.fit(table, np.array([0, 3, 1, 2])[code], qid=qid)
scores = ranker.predict(pd.DataFrame({"genre": pd.Categorical(known)}))
assert len(set(scores.tolist())) == 4
found = {}
for genre in ("ants", "bikes", "cars", "zebras"):
    new = pd.DataFrame({"genre": pd.Categorical([genre])})
    try:
        (score,) = ranker.predict(new)
        (place,) = np.flatnonzero(scores == score)
        found[genre] = f"scored as {known[place]}"
    except xgboost.core.XGBoostError as error:
        assert "not in the training set" in str(error)
        found[genre] = "an error"
print(", ".join(f"{genre} {what}" for genre, what in found.items()))
assert found == {
    "ants": "scored as audio",
    "bikes": "scored as books",
    "cars": "scored as games",
    "zebras": "an error",
}
PY
