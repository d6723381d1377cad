#!/usr/bin/env bash
# Versions: xgboost 3.2.0.
# Expectation: ndcg and map without @k are computed over whole lists, as the documentation of ndcg@n
# suggests, where n cuts off the top positions. An objective has no part in it.
# Behavior: without @k they end at rank 32, for every objective, also if pairs are sampled by "mean"
# or lambdarank_num_pair_per_sample is 100. The only relevant document at rank 33 gives 0.
# Output seen:
#   rank 32: ndcg 0.1982 map 0.0312 ndcg@1000 0.1982
#   rank 33: ndcg 0.0000 map 0.0000 ndcg@1000 0.1966
# Who is hurt: Whoever compares them with another evaluator's nDCG and MAP, or stops early by them,
# on lists of more than 32 documents.
set -euo pipefail
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3.11 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q 'xgboost==3.2.0' 'numpy==2.3.5' 'scipy==1.16.3'
cd "$tmp"
"$tmp/venv/bin/python" -W ignore - <<'PY'
import numpy as np
import xgboost as xgb

OTHERS = [
    {"objective": "binary:logistic"},
    {"objective": "rank:map", "lambdarank_num_pair_per_sample": 100},
    {"objective": "rank:ndcg", "lambdarank_pair_method": "mean"},
]


def values(rank, objective=OTHERS[0]):
    scores = np.arange(40, 0, -1.0)
    data = xgb.DMatrix(scores[:, None], np.arange(1, 41) == rank, group=[40], base_margin=scores)
    names = ["ndcg", "map", "ndcg@1000"]
    found = xgb.Booster({**objective, "eval_metric": names}, [data]).eval(data).split("\t")[1:]
    return [float(value.rpartition(":")[2]) for value in found]


for rank in (32, 33):
    print("rank %d: ndcg %.4f map %.4f ndcg@1000 %.4f" % (rank, *values(rank)))
    ideal = 1 / np.log2(1 + rank)
    expected = [ideal, 1 / rank, ideal] if rank == 32 else [0, 0, ideal]
    for objective in OTHERS:
        assert np.allclose(values(rank, objective), expected, atol=1e-6)
PY
