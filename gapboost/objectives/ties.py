"""The order of documents with equal scores in gradients."""

import numpy as np

from gapboost._kernels import Array
from gapboost.data.query_data import QueryData


def tie_order(random_state: int, data: QueryData) -> Array:
    """Return a random permutation of each query's positions, int32 of shape (N,).

    It orders documents with equal scores: by random keys, never by row.
    """
    queries = data.queries
    query = np.repeat(np.arange(len(queries), dtype=np.uint64), queries.sizes)
    rng, largest = np.random.default_rng(random_state), np.iinfo(np.uint32).max
    keys = rng.integers(largest, size=queries.n_rows, dtype=np.uint32, endpoint=True)
    rows = np.argsort(query << np.uint64(32) | keys, kind="stable")
    positions: Array = (rows - np.repeat(queries.offsets[:-1], queries.sizes)).astype(np.int32)
    return positions
