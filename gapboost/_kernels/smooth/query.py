"""What the smooth measures share: queries, working memory, and how gradients are scaled and written."""

import math
from typing import Any, NamedTuple

import numpy as np

from gapboost._kernels.jit import kernel
from gapboost._kernels.lambdarank.gradients import HESSIAN_FLOOR

Array = np.ndarray[Any, Any]

# A query whose gradient is smaller than this still weighs as one that has it. With a cut-off SoftRank starts on a plateau:
# at equal scores each document is within the first 10 of 150 ranks with a probability of 1e-30.
SMALLEST_TOTAL = 0.05


class Queries(NamedTuple):
    """Queries ``0..Q-1`` of a chunk, in grouped order.

    Attributes
    ----------
    starts : int64 ndarray of shape (Q + 1,)
    scores : float64 ndarray of shape (N,)
    grades : int32 ndarray of shape (N,)
    counted : bool ndarray of shape (Q, c + 1)
        Whether the measure looks at documents of a grade at all.
    pair, own : float64 ndarrays
        The tables of the measure.
    ranks, discount, slope : float64 ndarrays of shape (N,)
        Smooth ranks, and the discount and its derivative at them.
    weights : float64 ndarray of shape (Q,)
    """

    starts: Array
    scores: Array
    grades: Array
    counted: Array
    pair: Array
    own: Array
    ranks: Array
    discount: Array
    slope: Array
    weights: Array


class Gradients(NamedTuple):
    """What is written: the measure of each query, and gradient and hessian of each document, float64."""

    values: Array
    grad: Array
    hess: Array


class Scratch(NamedTuple):
    """Working memory for one query after the other, float64 by document; ``found`` int64.

    ``share`` and ``total`` are as in the measure, ``by_rank`` its derivative by the smooth rank of a document,
    ``rising`` what the pairs of a document push it up, and ``pushes`` the sum of the absolute values of that.
    """

    found: Array
    share: Array
    total: Array
    by_rank: Array
    rising: Array
    pushes: Array


def scratch_for(longest: int) -> Scratch:
    """Working memory for lists up to `longest`."""
    return Scratch(np.empty(longest, np.int64), *np.empty((5, longest)))


@kernel
def find_counted(queries: Queries, q: int, scratch: Scratch) -> int:
    """Set the scratch of query q to zero, and ``found`` to the positions of counted documents; returns their number."""
    begin = queries.starts[q]
    size = 0
    for i in range(queries.starts[q + 1] - begin):
        scratch.share[i] = 0.0
        scratch.total[i] = 0.0
        scratch.by_rank[i] = 0.0
        scratch.rising[i] = 0.0
        scratch.pushes[i] = 0.0
        if queries.counted[q, queries.grades[begin + i]]:
            scratch.found[size] = i
            size += 1
    return size


@kernel
def push_up(i: int, j: int, push: float, scratch: Scratch) -> None:
    """Document i is pushed up, and document j down as much."""
    scratch.rising[i] += push
    scratch.rising[j] -= push
    scratch.pushes[i] += abs(push)
    scratch.pushes[j] += abs(push)


@kernel
def write_scaled(queries: Queries, q: int, steepest: float, normalize: bool, scratch: Scratch, out: Gradients) -> None:
    """Turn the derivatives of one query's smooth measure into a gradient and hessian to be minimised.

    The hessian is ``steepest`` times the sum of absolute pushes, where ``steepest`` is the derivative by the score of the
    probability to be above a document of equal score.
    """
    begin = queries.starts[q]
    n = queries.starts[q + 1] - begin
    scale = queries.weights[q]
    if normalize:
        # In units of the steepness of a logistic function, so that a change of the smoothing changes the unit of the
        # scores and nothing else.
        size = 0.0
        for i in range(n):
            size += abs(scratch.rising[i])
        size /= 4.0 * steepest
        if size > 0.0:
            scale *= math.log2(1.0 + max(size, SMALLEST_TOTAL)) / size
    for i in range(n):
        out.grad[begin + i] = -scratch.rising[i] * scale
        out.hess[begin + i] = max(steepest * scratch.pushes[i] * scale, HESSIAN_FLOOR)
