#!/usr/bin/env bash
# Versions: azure-ai-evaluation 1.18.10.
# Expectation: DocumentRetrievalEvaluator(ground_truth_label_max=10) is for judgments from 0 to 10.
# Fidelity is the share of the worth of the judged documents that was found: the more, the higher
# the grades found are. XDCG@3 of three documents of the top grade is 100, as with grades to 4.
# Behavior: The numbers of documents of each grade are sorted by the grade as text (1, 10, 2), the
# worths by number. Grade 10 has the worth of 2, and 2 that of 3. A list with the document of grade
# 2 alone is more faithful than one with that of grade 10. XDCG is per cent of grade 4, whatever
# the maximum.
# Output seen:
#   grades to 4: fidelity of the best alone 0.816, of the other 0.184, XDCG of the best three 100
#   grades to 9: fidelity of the best alone 0.993, of the other 0.007, XDCG of the best three 225
#   grades to 10: fidelity of the best alone 0.318, of the other 0.682, XDCG of the best three 250
#   grades to 1: XDCG of the best three 25
# Who is hurt: Whoever judges by stars of ten or by a language model's 0 to 10: a retriever that
# misses the best documents wins, and the threshold of XDCG, 50, passes or fails everything.
set -euo pipefail
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3.11 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q 'azure-ai-evaluation==1.18.10' 'numpy==2.3.5' 'pandas==2.3.3'
cd "$tmp"
"$tmp/venv/bin/python" -W ignore - <<'PY'
from azure.ai.evaluation import DocumentRetrievalEvaluator


def measured(top, judged, found):
    evaluator = DocumentRetrievalEvaluator(ground_truth_label_min=0, ground_truth_label_max=top)
    truth = [{"document_id": name, "query_relevance_label": grade} for name, grade in judged.items()]
    answer = [{"document_id": name, "relevance_score": 1 / place} for place, name in enumerate(found, 1)]
    result = evaluator(retrieval_ground_truth=truth, retrieved_documents=answer)
    return result["document_retrieval_properties"]


fidelity, xdcg = {}, {}
for top in (4, 9, 10, 1):
    xdcg[top] = measured(top, dict.fromkeys("abc", top), "abc")["xdcg@3"]
    text = f"grades to {top}: "
    if top > 2:
        judged = {"best": top, "other": 2}
        fidelity[top] = [measured(top, judged, [name])["fidelity"] for name in judged]
        text += "fidelity of the best alone %.3f, of the other %.3f, " % tuple(fidelity[top])
    print(text + f"XDCG of the best three {xdcg[top]:.0f}")
assert all(best > other for top, (best, other) in fidelity.items() if top < 10)
assert fidelity[10][0] < 0.4 < 0.6 < fidelity[10][1]
assert all(abs(xdcg[top] - 25 * top) < 1e-6 for top in xdcg)
PY
