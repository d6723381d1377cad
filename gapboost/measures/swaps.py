"""Change of a measure when two documents of a ranking swap ranks.

For a quadratic form let a be the grade at rank p, b the grade at rank q > p, and

    C_g[r] = sum_{m<=r} pair[i_m, g]
    E_g[r] = sum_{n<=r} discount[n] pair[g, i_n]

for the grades i_n at the ranks n. The change is a sum of a number known at p and one known at q:

    Delta(p, q) = upper[p, b] + lower[q, a]
    upper[p, g] = discount[p] (own[g] + C_g[p-1] - own[a] - C_a[p-1]) - (E_g[p] - E_a[p])
    lower[q, g] = discount[q] (own[g] + C_g[q-1] + pair[b, g] - pair[g, g] - own[b] - C_b[q-1])
                  - (E_g[q-1] - E_b[q-1])
"""

import numpy as np

from gapboost._kernels import Array


def changes_of(grades: Array, pair: Array, own: Array, weights: Array) -> Array:
    """Return the upper triangle of `Measure.swap_changes` from the quadratic form of one query.

    Parameters
    ----------
    grades : int ndarray of shape (n,)
        Numbers of levels, best rank first.
    pair, own : float64 ndarrays of shapes (L, L) and (L,)
    weights : float64 ndarray of shape (n,)
        Discount of each rank.

    Returns
    -------
    float64 ndarray of shape (n, n)
    """
    rank = np.arange(len(grades))
    discount = weights[:, None]
    c = np.cumsum(pair[grades], axis=0)  # [r, g] = C_g[r]
    e = np.cumsum(discount * pair[:, grades].T, axis=0)  # [r, g] = E_g[r]
    here = discount * (own + c - pair[grades])
    upper = here - e
    upper -= upper[rank, grades][:, None]
    lower = (
        here + discount * (pair[grades] - np.diagonal(pair)) - (e - discount * pair[:, grades].T)
    )
    lower -= lower[rank, grades][:, None]
    changes: Array = np.triu(upper[:, grades] + lower[:, grades].T, 1)
    return changes
