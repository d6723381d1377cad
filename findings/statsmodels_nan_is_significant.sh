#!/usr/bin/env bash
# Versions: statsmodels 0.15.0, with pyterrier 1.1.2.
# Expectation: A system that scores as the baseline does on every topic has no p-value (the t-test
# gives NaN); the correction for several tests leaves it out, or refuses NaN, as scipy's
# false_discovery_control does.
# Behavior: Holm and Holm-Sidak reject the NaN too, once they have rejected all the others. Hommel
# rejects nothing any more. Benjamini-Hochberg still rejects, beside corrected p-values that are all
# NaN. There is no warning, and correction= of PyTerrier's Experiment passes NaN on.
# Output seen:
#   none: p-values better 0.000, twin nan
#   holm: better True, twin True; without the twin True
#   holm-sidak: better True, twin True; without the twin True
#   hommel: better False, twin False; without the twin True
#   fdr_bh: better True, twin False; without the twin True; corrected [nan, nan]
# Who is hurt: Whoever compares several rankers with a baseline that one of them equals, by P@1 or
# with a switch that does nothing: the equal one is reported as a significant difference, or the
# differences of the others are gone.
set -euo pipefail
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3.11 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q 'pyterrier==1.1.2' 'statsmodels==0.15.0' 'numpy==2.3.5' \
    'pandas==2.3.3' 'scipy==1.16.3'
cd "$tmp"
"$tmp/venv/bin/python" -W ignore - <<'PY'
import numpy as np
import pandas as pd
import pyterrier as pt
from scipy.stats import false_discovery_control

rng = np.random.default_rng(0)
topics = pd.DataFrame({"qid": [f"q{i}" for i in range(30)], "query": "ranking"})
judgments = pd.DataFrame(
    [(q, f"d{i}", int(rng.random() < 0.3)) for q in topics.qid for i in range(10)],
    columns=["qid", "docno", "label"],
)

def system(noise):
    scores = judgments.label + noise * rng.normal(size=len(judgments))
    run = judgments[["qid", "docno"]].assign(score=scores, query="ranking")
    return pt.Transformer.from_df(pt.model.add_ranks(run))

baseline, better = system(2.0), system(0.3)
twin = pt.apply.doc_score(lambda row: 10 * row["score"])  # the same order

def compare(correction, *systems):
    names = ["baseline", "better", "twin"][: len(systems)]
    return pt.Experiment(list(systems), topics, judgments, ["map"], names=names, baseline=0,
                         correction=correction).set_index("name")[1:]

systems = [baseline, better, baseline >> twin]
values = compare(None, *systems)["map p-value"]
print("none: p-values better %.3f, twin %.3f" % tuple(values))
assert values["better"] < 0.001 and np.isnan(values["twin"])
expected = {"holm": (True, True), "holm-sidak": (True, True), "hommel": (False, False),
            "fdr_bh": (True, False)}
for name, rejected in expected.items():
    table, alone = compare(name, *systems), compare(name, *systems[:2])
    found, corrected = table["map reject"], table["map p-value corrected"]
    print(f"{name}: better {found['better']}, twin {found['twin']}; without the twin",
          alone["map reject"]["better"], end="")
    print(f"; corrected {corrected.tolist()}" if name == "fdr_bh" else "")
    assert tuple(found) == rejected and alone["map reject"]["better"]
    assert name != "fdr_bh" or corrected.isna().all()
try:
    false_discovery_control([0.001, np.nan])
    raise AssertionError("scipy takes NaN")
except ValueError:
    pass
PY
