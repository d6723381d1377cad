"""Parts of the tables of measures: pairs and single documents, for the levels of each query."""

import numpy as np

from gapboost.data import Array, RecallBase


def without_pairs(own: Array, base: RecallBase) -> tuple[Array, Array]:
    """Return the tables of a measure without pairs from the worth of levels, (L,) or (Q, L)."""
    shape = base.counts.shape
    return np.zeros((*shape, shape[1])), np.broadcast_to(own, shape).astype(np.float64)


def with_diagonal(pair: Array) -> tuple[Array, Array]:
    """Return ``pair``, and its diagonal as ``own``: a document counts its own relevance too."""
    return pair, np.diagonal(pair, axis1=1, axis2=2)


def lesser(amount: Array) -> Array:
    """Return ``[..., i, j]``: the lesser of the amounts of levels i and j."""
    return np.minimum(amount[..., :, None], amount[..., None, :])


def reciprocal(values: Array) -> Array:
    """``1 / values``, and 0 where the value is 0."""
    return np.divide(1.0, values, out=np.zeros(values.shape), where=values > 0)
