#!/usr/bin/env bash
# Versions: implicit 0.7.3.
# Expectation: recommend(filter_already_liked_items=True) does not return the items that the user
# rated, as its documentation promises; with too few left, the answer is shorter.
# Behavior: The answer always has N items. Liked and filtered items come back at the end: with a
# score of -3.4e38 from a factor model, with 0.0 from a neighborhood model, the same 0.0 as an
# unseen item. Past the catalog, item 0 is repeated with score 0.0, above the others by score.
# Output seen:
#   factors liked 0, 1, 2: [3, 2, 1, 0] ['-3.4e+38', '-3.4e+38', '-3.4e+38']
#   cosine liked 0, 1, 2: [3, 2, 1, 0] ['0.0e+00', '0.0e+00', '0.0e+00']
#   factors, N=7 of 4 items: [3, 2, 1, 0, 0, 0, 0]
#     scores of the last six ['-3.4e+38', '-3.4e+38', '-3.4e+38', '0.0e+00', '0.0e+00', '0.0e+00']
# Who is hurt: Whoever takes the ids as candidates for a second-stage ranker (small catalogs,
# heavy users, items= given): items seen or barred reach the user, item 0 more than once.
set -euo pipefail
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3.11 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q 'implicit==0.7.3' 'numpy==1.26.4' 'scipy==1.15.3'
cd "$tmp"
"$tmp/venv/bin/python" -W ignore - <<'PY'
import numpy as np
import scipy.sparse as sp
from implicit.lmf import LogisticMatrixFactorization
from implicit.nearest_neighbours import CosineRecommender

likes = sp.csr_matrix(np.array([[1, 1, 1, 0], [1, 0, 0, 1], [0, 1, 1, 1.0]]))
factors = LogisticMatrixFactorization(factors=4, random_state=0, num_threads=1)
near = CosineRecommender(K=4, num_threads=1)
for name, model in (("factors", factors), ("cosine", near)):
    model.fit(likes, show_progress=False)
    ids, scores = model.recommend(0, likes[0], N=4)
    print(name, "liked 0, 1, 2:", ids.tolist(), ["%.1e" % s for s in scores[1:]])
    assert ids[0] == 3 and set(ids.tolist()) == {0, 1, 2, 3}
    barred = model.recommend(0, likes[0], N=4, filter_items=[3])[0]
    assert {0, 1, 2} <= set(barred.tolist())
ids, scores = factors.recommend(0, likes[0], N=7)
print("factors, N=7 of 4 items:", ids.tolist())
print("  scores of the last six", ["%.1e" % s for s in scores[1:]])
assert ids[4:].tolist() == [0, 0, 0] and scores[4:].tolist() == [0, 0, 0] and scores[3] < -1e38
PY
