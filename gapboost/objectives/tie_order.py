"""Order of documents with equal scores: by random keys, never by row."""

import numpy as np

from gapboost._data.judged import Judged
from gapboost._kernels import Array

KEYS_AT_ONCE = 1 << 20


def tie_order(random_state: int, data: Judged) -> Array:
    """Return a random permutation of each query's positions, int32 of shape (N,)."""
    offsets, sizes = data.queries.offsets, data.queries.sizes
    query = np.repeat(np.arange(len(sizes), dtype=np.uint64), sizes)
    rows = np.argsort(query << np.uint64(32) | tie_keys(random_state, data), kind="stable")
    positions: Array = (rows - np.repeat(offsets[:-1], sizes)).astype(np.int32)
    return positions


def tie_keys(random_state: int, data: Judged) -> Array:
    """Draw a key for each document by its row in the whole data set, uint32 of shape (N,)."""
    rng = np.random.default_rng(random_state)

    def draw(n: int) -> Array:
        return rng.integers(np.iinfo(np.uint32).max, size=n, dtype=np.uint32, endpoint=True)

    queries, whole = data.queries, data.whole
    if whole is None:
        return draw(queries.n_rows)
    positions = np.arange(queries.n_rows) + np.repeat(
        whole.begins - queries.offsets[:-1], queries.sizes
    )
    keys = np.empty(queries.n_rows, dtype=np.uint32)
    # Queries keep the order of the whole data set. Its keys are drawn block by block: all of them
    # might not fit in a worker's memory.
    filled, n_rows = 0, whole.summary.n_rows
    for first in range(0, n_rows, KEYS_AT_ONCE):
        block = draw(min(KEYS_AT_ONCE, n_rows - first))
        until = int(np.searchsorted(positions, first + len(block)))
        keys[filled:until] = block[positions[filled:until] - first]
        filled = until
    return keys
