"""The one tie rule: documents by falling score, equal scores by rising key, equal keys by row."""

from typing import Any

import numpy as np

from gapboost.kernels.compile import kernel

Array = np.ndarray[Any, Any]


@kernel
def rank(scores: Array, keys: Array, offsets: Array, order: Array, first: int, last: int) -> None:
    """Bring ``order`` of queries ``first..last-1`` from any permutation into the order of the current scores."""
    for q in range(first, last):
        begin = offsets[q]
        n = offsets[q + 1] - begin
        by_key = np.argsort(keys[begin : begin + n], kind="mergesort")
        by_score = np.argsort(-scores[begin : begin + n][by_key], kind="mergesort")
        for r in range(n):
            order[begin + r] = by_key[by_score[r]]
