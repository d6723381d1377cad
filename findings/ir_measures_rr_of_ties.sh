#!/usr/bin/env bash
# Versions: ir_measures 0.4.3 with pytrec-eval-terrier 0.5.11.
# Expectation: RR@10 is RR with an optional cutoff: never above RR, and equal to it in lists of ten
# or fewer. Tied scores have one order for both.
# Behavior: trec_eval computes RR and puts the largest document id of a tie first; a script of MS
# MARCO computes RR@k and puts the smallest first. Where the one is at its best the other is at its
# worst. P@1 and AP go with RR. The documentation of RR says nothing of it.
# Output seen:
#   relevant a of the tie a b c d: RR 0.250, RR@10 1.000, P@1 0.000, AP 0.250
#   relevant d of the tie a b c d: RR 1.000, RR@10 0.250, P@1 1.000, AP 1.000
#   relevant d, scores apart: RR 0.250, RR@10 0.250, P@1 0.000, AP 0.250
#   scores of three values: RR 0.487, RR@10 0.763, P@1 0.230, AP 0.487
#   the same, all scores apart: RR 0.685, RR@10 0.685, P@1 0.525, AP 0.685
# Who is hurt: Whoever compares RR@10 with RR, or with P@1, for rankers of few distinct scores
# (grades of a language model, small trees): ids that grow with time make one of them too high.
set -euo pipefail
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3.11 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q 'ir-measures==0.4.3' 'pytrec-eval-terrier==0.5.11' 'numpy==2.3.5' \
    'pandas==2.3.3'
cd "$tmp"
"$tmp/venv/bin/python" -W ignore - <<'PY'
import ir_measures
import numpy as np
from ir_measures import AP, RR, P

measures = (RR, RR @ 10, P @ 1, AP)


def measured(name, judgments, run):
    values = ir_measures.calc_aggregate(measures, judgments, run)
    print(f"{name}: " + ", ".join(f"{measure} {values[measure]:.3f}" for measure in measures))
    return [round(values[measure], 4) for measure in measures]


tied = {"q": dict.fromkeys("abcd", 1.0)}
low = measured("relevant a of the tie a b c d", {"q": {"a": 1}}, tied)
high = measured("relevant d of the tie a b c d", {"q": {"d": 1}}, tied)
ordered = {"q": {"a": 4.0, "b": 3.0, "c": 2.0, "d": 1.0}}
apart = measured("relevant d, scores apart", {"q": {"d": 1}}, ordered)
assert low == [0.25, 1, 0, 0.25] and high == [1, 0.25, 1, 1] and apart == [0.25, 0.25, 0, 0.25]

# Lists of eight; the relevant document is one of the three oldest, which have the smallest ids.
rng = np.random.default_rng(0)
judgments, coarse, fine = {}, {}, {}
for query in map(str, range(200)):
    relevant = rng.integers(0, 3)
    scores = rng.normal(size=8) + 1.5 * (np.arange(8) == relevant)
    judgments[query] = {f"d{relevant}": 1}
    fine[query] = {f"d{i}": float(score) for i, score in enumerate(scores)}
    coarse[query] = {f"d{i}": float(score > 0) + float(score > 1) for i, score in enumerate(scores)}
rr, rr_10, *_ = measured("scores of three values", judgments, coarse)
same, same_10, *_ = measured("the same, all scores apart", judgments, fine)
assert rr_10 > rr + 0.1 and same == same_10
PY
