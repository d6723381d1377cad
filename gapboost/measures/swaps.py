"""Change of a measure when two documents of a ranking swap ranks."""

import numpy as np

from gapboost._kernels import Array


def changes_of(grades: Array, pair: Array, own: Array, weights: Array) -> Array:
    """Return the upper triangle of `Measure.swap_changes` from the quadratic form of one query.

    The docstring of `Measure.swap_changes` has the formula.

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
    lower = here + discount * (pair[grades] - np.diagonal(pair)) - (e - discount * pair[:, grades].T)
    lower -= lower[rank, grades][:, None]
    changes: Array = np.triu(upper[:, grades] + lower[:, grades].T, 1)
    return changes
