"""The worth of documents by themselves and below others, without tables of grades by grades.

Where most documents of a query have grades of their own, ``pair`` would have a row for each of
them. Every pair of documents, i above j, is worth a sum of a few terms instead,

    pair[i, j] = sum_k factor[k, j] * (min(max(above[k, i], floor[k, j]), cap[k, j]) - zero[k, j]):

what the upper one brings, held between a floor and a cap of the lower one, times a factor of the
lower one. ``min(G[i], G[j])`` of graded average precision is such a term, and so are products,
``1{i > j}`` and ``1{i > j} - 1{i < j}``.
"""

from typing import Any, NamedTuple

import numpy as np

from gapboost._kernels import Array
from gapboost._kernels.jit import kernel


class Worth(NamedTuple):
    """The numbers of K terms, float64: by query and level (K, Q, L), or by document (K, N).

    ``own`` has no K: what a document is worth by itself. ``above``, ``floor`` and ``cap`` never
    fall from one level to the next.
    """

    own: Array
    above: Array
    floor: Array
    cap: Array
    zero: Array
    factor: Array

    def taken(self, *index: Array) -> "Worth":
        """Return the numbers of some documents, by document.

        ``index`` is the query and the level of each document, or its number.
        """
        of_each: tuple[Any, ...] = (..., *index)
        return Worth(*(np.ascontiguousarray(numbers[of_each]) for numbers in self))


@kernel
def pair_worth(worth: Worth, i: int, j: int) -> float:
    """Return the worth of document j below document i."""
    total = 0.0
    for k in range(len(worth.above)):
        brought = min(max(worth.above[k, i], worth.floor[k, j]), worth.cap[k, j])
        total += worth.factor[k, j] * (brought - worth.zero[k, j])
    return total
