#!/usr/bin/env bash
# Versions: alibi-detect 0.13.0.
# Expectation: A drift detector leaves missing values out, or refuses data or a reference with them.
# Behavior: One missing value makes the p-value of its feature NaN, which is never below the
# threshold: there is no drift, without a warning. A missing value in the reference does that for
# good.
# Output seen:
#   drift, and drift by feature
#   KSDrift {'complete': (1, [1, 1]), 'one value': (1, [0, 1]), 'one row': (0, [0, 0]),
#     'reference': (0, [0, 0])}
#   CVMDrift {'complete': (1, [1, 1]), 'one value': (1, [0, 1]), 'one row': (0, [0, 0]),
#     'reference': (0, [0, 0])}
#   TabularDrift {'complete': (1, [1, 1]), 'one value': (1, [0, 1]), 'one row': (0, [0, 0]),
#     'reference': (0, [0, 0])}
# Who is hurt: Whoever monitors the features or the scores of a ranker: the first empty price
# switches the alarm of that feature off, and one empty row all of them.
set -euo pipefail
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3.11 -m venv "$tmp/venv"
# Without the packages that only detectors of images need.
"$tmp/venv/bin/pip" install -q --no-deps 'alibi-detect==0.13.0'
"$tmp/venv/bin/pip" install -q 'numpy==1.26.4' 'scipy==1.17.1' 'pandas==2.3.3' 'scikit-learn==1.9.1' \
    'numba==0.59.1' 'transformers==4.57.6' 'catalogue==2.0.10' 'dill==0.3.9' 'pydantic==2.11.10' \
    'toml==0.10.2' 2> "$tmp/log" || { cat "$tmp/log"; exit 1; }
cd "$tmp"
"$tmp/venv/bin/python" -W ignore - <<'PY'
import logging

import numpy as np
from alibi_detect.cd import CVMDrift, KSDrift, TabularDrift

logging.disable(logging.CRITICAL)
rng = np.random.default_rng(0)
reference = rng.normal(size=(500, 2))
shifted = rng.normal(size=(500, 2)) + 3
one_value, one_row, gap_in_reference = shifted.copy(), shifted.copy(), reference.copy()
one_value[0, 0] = np.nan
one_row[0] = np.nan
gap_in_reference[0] = np.nan

print("drift, and drift by feature")
for detector in (KSDrift, CVMDrift, TabularDrift):
    found = {}
    for name, ref, data in (("complete", reference, shifted), ("one value", reference, one_value),
                            ("one row", reference, one_row), ("reference", gap_in_reference, shifted)):
        by_feature = detector(ref, p_val=0.05).predict(data, drift_type="feature")["data"]["is_drift"]
        batch = detector(ref, p_val=0.05).predict(data)["data"]["is_drift"]
        found[name] = (batch, by_feature.tolist())
    print(detector.__name__, found)
    assert found == {"complete": (1, [1, 1]), "one value": (1, [0, 1]), "one row": (0, [0, 0]),
                     "reference": (0, [0, 0])}
PY
