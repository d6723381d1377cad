#!/usr/bin/env bash
# Versions: whylogs 1.6.4.
# Expectation: recall@k of log_batch_ranking_metrics is the share of the items in the target column
# that are among the first k, and 0 if none is; average precision divides by the items of the
# target as well.
# Behavior: Both divide by the relevant items in the list that was recommended. A list of one
# relevant item of four has recall and average precision 1. A list without any has recall NaN, not
# 0, and falls out of the mean.
# Output seen:
#   one of four, first {'recall': 1.0, 'AP': 1.0, 'nDCG': 0.469}
#   two of four, first and third {'recall': 1.0, 'AP': 0.833, 'nDCG': 0.704}
#   one of four, and three lists with nothing {'recall': 1.0, 'AP': 0.25, 'nDCG': 0.117}
# Who is hurt: Whoever watches the recall of candidates or recommendations: it is the better the
# less is found.
set -euo pipefail
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3.11 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q 'whylogs==1.6.4' 'whylogs-sketching==3.4.1.dev3' \
    'pandas==2.3.3' 'numpy==1.26.4'
cd "$tmp"
"$tmp/venv/bin/python" -W ignore - <<'PY'
import pandas as pd
from whylogs.experimental.api.logger import log_batch_ranking_metrics


def means(lists, relevant, k):
    frame = pd.DataFrame({"list": lists, "relevant": relevant})
    view = log_batch_ranking_metrics(frame, prediction_column="list", target_column="relevant", k=k).view()
    table = view.to_pandas()["distribution/mean"]
    return {short: round(float(table[name]), 3) for short, name in (
        ("recall", f"recall_k_{k}"), ("AP", f"average_precision_k_{k}"),
        ("nDCG", f"norm_dis_cumul_gain_k_{k}"))}


relevant = ["a", "b", "c", "d"]
one = means([["a", "x", "y"]], [relevant], 3)
two = means([["a", "x", "b"]], [relevant], 3)
none = means([["a", "x", "y"]] + [["x", "y", "z"]] * 3, [relevant] * 4, 3)
print("one of four, first", one)
print("two of four, first and third", two)
print("one of four, and three lists with nothing", none)
assert one["recall"] == one["AP"] == two["recall"] == 1 and two["AP"] == 0.833
assert none["recall"] == 1 and none["AP"] == 0.25
PY
