#!/usr/bin/env bash
# Versions: ydf 0.16.1.
# Expectation: evaluate() of a ranker treats tied scores alike in all its measures: expected over
# the orders, or by the order of the rows.
# Behavior: NDCG is the mean over ties; MRR and MAP put the relevant documents of a tie first. A
# model that scores all documents the same has MRR 1 and MAP 1, wherever the relevant one stands.
# Output seen:
#   a good feature distinct scores 66 {'ndcg': 0.536, 'mrr': 0.471, 'map': 0.471}
#   a constant feature distinct scores 1 {'ndcg': 0.295, 'mrr': 1.0, 'map': 1.0}
#   ties in any order: expected MRR 0.293
# Who is hurt: Whoever selects by MRR or MAP among models of few leaves, trees or distinct features:
# the coarser the scores, the better.
set -euo pipefail
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3.11 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q 'ydf==0.16.1' 'numpy==2.3.5' 'pandas==2.3.3'
cd "$tmp"
"$tmp/venv/bin/python" -W ignore - <<'PY'
import numpy as np
import ydf

ydf.verbose(0)
rng = np.random.default_rng(0)
group = np.repeat([f"q{i}".encode() for i in range(40)], 10)


def lists():
    """Forty lists of ten with one relevant document, and a feature that tells of it."""
    label = (np.arange(400) % 10 == np.repeat(rng.integers(0, 10, 40), 10)).astype(float)
    return {"label": label, "group": group, "x": label + rng.normal(size=400)}


found = {}
train = lists()
model = ydf.GradientBoostedTreesLearner(label="label", task=ydf.Task.RANKING, ranking_group="group",
                                        num_trees=20, validation_ratio=0.0, num_threads=1).train(train)
test = lists()
constant = dict(test, x=np.zeros(400))
for name, data in (("a good feature", test), ("a constant feature", constant)):
    scores = model.predict(data)
    report = model.evaluate(data).to_dict()
    found[name] = {measure: round(report[measure], 3) for measure in ("ndcg", "mrr", "map")}
    print(name, "distinct scores", len(np.unique(scores)), found[name])
places = np.arange(1, 11)
print("ties in any order: expected MRR %.3f" % np.mean(1 / places))
assert len(np.unique(model.predict(constant))) == 1
assert found["a constant feature"]["mrr"] == found["a constant feature"]["map"] == 1
assert found["a constant feature"]["ndcg"] < found["a good feature"]["ndcg"]
assert found["a good feature"]["mrr"] < 1
PY
