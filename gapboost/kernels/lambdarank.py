"""LambdaRank gradients of one query after the other, over all pairs."""

from typing import Any

import numpy as np

from gapboost.kernels.compile import kernel
from gapboost.kernels.ordering import rank

Array = np.ndarray[Any, Any]

# Keeps XGBoost and LightGBM from dividing by zero for documents that no pair has touched.
HESSIAN_FLOOR = 1e-16


@kernel
def lambdarank(
    scores: Array,
    grades: Array,
    offsets: Array,
    keys: Array,
    order: Array,
    discount: Array,
    pair: Array,
    own: Array,
    weights: Array,
    sigma: float,
    truncation: int,
    normalize: bool,
    grad: Array,
    hess: Array,
    first: int,
    last: int,
) -> None:
    rank(scores, keys, offsets, order, first, last)
    c1 = own.shape[1]
    for z in range(first, last):
        b0 = offsets[z]
        n = offsets[z + 1] - b0
        P = pair[z - first]
        O = own[z - first]
        s = np.empty(n)
        y = np.empty(n, np.int64)
        for r in range(n):
            s[r] = scores[b0 + order[b0 + r]] * sigma
            y[r] = grades[b0 + order[b0 + r]]
        C = np.zeros((n + 1, c1))
        E = np.zeros((n + 1, c1))
        for r in range(n):
            for i in range(c1):
                C[r + 1, i] = C[r, i] + P[y[r], i]
                E[r + 1, i] = E[r, i] + discount[r] * P[i, y[r]]
        lam = np.zeros(n)
        eta = np.zeros(n)
        top = n if truncation <= 0 else min(n, truncation)
        for p in range(top):
            a = y[p]
            for q in range(p + 1, n):
                b = y[q]
                if a == b:
                    continue
                F = -(E[p + 1, b] - E[p + 1, a]) + discount[p] * ((O[b] + C[p, b]) - (O[a] + C[p, a]))
                H = (E[q, b] - E[q, a]) + discount[q] * ((O[a] + C[q, a] - P[a, a] + P[b, a]) - (O[b] + C[q, b]))
                d = F + H
                t = 1.0 / (1.0 + np.exp(s[p] - s[q]))
                if a > b:
                    l = d * t
                    h = -d * t * (1 - t)
                else:
                    l = d * (1 - t)
                    h = d * t * (1 - t)
                lam[p] += l * sigma
                lam[q] -= l * sigma
                eta[p] += h * sigma * sigma
                eta[q] += h * sigma * sigma
        scale = weights[z]
        if normalize:
            S = np.abs(lam).sum()
            if S > 0:
                scale *= np.log2(1 + S) / S
        for r in range(n):
            grad[b0 + order[b0 + r]] = lam[r] * scale
            hess[b0 + order[b0 + r]] = max(eta[r] * scale, HESSIAN_FLOOR)
