"""Order of documents with equal scores: by random keys, never by row."""

import numpy as np

from gapboost._data.judged import Judged
from gapboost._kernels import Array


def tie_order(random_state: int, data: Judged) -> Array:
    """Return a random permutation of each query's positions, int32 of shape (N,)."""
    offsets, sizes = data.queries.offsets, data.queries.sizes
    query = np.repeat(np.arange(len(sizes), dtype=np.uint64), sizes)
    rows = np.argsort(query << np.uint64(32) | tie_keys(random_state, data), kind="stable")
    positions: Array = (rows - np.repeat(offsets[:-1], sizes)).astype(np.int32)
    return positions


def tie_keys(random_state: int, data: Judged) -> Array:
    """Draw a key for each document, uint32 of shape (N,)."""
    rng = np.random.default_rng(random_state)
    keys: Array = rng.integers(
        np.iinfo(np.uint32).max, size=data.queries.n_rows, dtype=np.uint32, endpoint=True
    )
    return keys
