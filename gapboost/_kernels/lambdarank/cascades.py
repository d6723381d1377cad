"""The sums of LambdaRank for a cascade, pair by pair: a swap changes a product.

A user goes down the list and stops at a document with the probability R of its grade. With P the
probability to reach rank p, V[q] = prod_{p<m<q} (1 - R_m) that to go on from p to q, and B[q] =
sum_{p<m<q} discount[m] R_m prod_{p<l<m} (1 - R_l) what the documents between are worth to who goes
on from p,

    Delta(p, q) = P (R_q - R_p) (discount[p] - B[q] - discount[q] V[q]).

The last factor is never negative, as discounts fall. V and B are carried along, so that a pair
costs a few operations.
"""

import numpy as np

from gapboost._kernels import Array
from gapboost._kernels.jit import kernel


@kernel
def sum_cascades(
    starts: Array, deep: Array, s: Array, stops: Array, discount: Array, lam: Array, eta: Array
) -> None:
    """Write ``lam`` and ``eta`` of each document of each list.

    ``s`` and ``stops`` are by rank: scores times sigma, and probabilities to stop. The upper
    document of a pair is among the first ``deep`` of its list.
    """
    for q in range(len(starts) - 1):
        begin, n = starts[q], starts[q + 1] - starts[q]
        lam[begin : begin + n] = 0.0
        eta[begin : begin + n] = 0.0
        reaching = 1.0
        for p in range(min(deep[q], n - 1)):
            upper = begin + p
            here = stops[upper]
            between, passing = 0.0, reaching
            for r in range(p + 1, n):
                lower = begin + r
                there = stops[lower]
                if here != there:
                    better = here - there
                    change = -abs(better) * (
                        reaching * discount[p] - between - passing * discount[r]
                    )
                    u = np.exp(s[lower] - s[upper])
                    t = u / (1.0 + u)
                    push = change * (t if better > 0.0 else t - 1.0)
                    curve = change * t / (1.0 + u)
                    lam[upper] += push
                    lam[lower] -= push
                    eta[upper] -= curve
                    eta[lower] -= curve
                between += passing * there * discount[r]
                passing *= 1.0 - there
            reaching *= 1.0 - here
            if reaching == 0.0:
                break
