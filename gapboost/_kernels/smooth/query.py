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

# Pushes that are this small beside what their documents bring are rounding, which must not be scaled up: all that push
# are far from each other.
ROUNDING = 1e-14


class Queries(NamedTuple):
    """Queries ``0..Q-1`` of a chunk, in grouped order.

    Attributes
    ----------
    starts : int64 ndarray of shape (Q + 1,)
    order : int32 ndarray of shape (N,)
        By falling score.
    scores : float64 ndarray of shape (N,)
    grades : int32 ndarray of shape (N,)
    counted : bool ndarray of shape (Q, c + 1)
        Whether the measure looks at documents of a grade at all; the others only take up ranks.
    pair, own : float64 ndarrays
        The tables of the measure.
    ranks, discount, slope : float64 ndarrays of shape (N,)
        Smooth ranks, and the discount and its derivative at them.
    weights : float64 ndarray of shape (Q,)
    """

    starts: Array
    order: Array
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


class Documents(NamedTuple):
    """One query after the other, by rank: best document first. Grades are int64, the rest float64.

    ``x`` are positions, falling; ``share``, ``total`` and ``by_rank`` (b) as in the measure; ``rising`` what the
    pairs of a document push it up, and
    ``pushes`` the sum over grades of the absolute value of what those of one grade do.
    """

    grade: Array
    x: Array
    share: Array
    total: Array
    by_rank: Array
    rising: Array
    pushes: Array


def documents_for(longest: int) -> Documents:
    """Room for lists up to `longest`."""
    return Documents(np.empty(longest, np.int64), *np.empty((6, longest)))


@kernel
def take(queries: Queries, q: int, steepness: float, documents: Documents) -> Any:
    """Grades, and scores times ``steepness`` as positions, of query q; all else 0. Returns the number of documents."""
    begin = queries.starts[q]
    n = queries.starts[q + 1] - begin
    for r in range(n):
        i = begin + queries.order[begin + r]
        documents.grade[r] = queries.grades[i]
        documents.x[r] = queries.scores[i] * steepness
        documents.share[r] = 0.0
        documents.total[r] = 0.0
        documents.by_rank[r] = 0.0
        documents.rising[r] = 0.0
        documents.pushes[r] = 0.0
    return n


@kernel
def value_of(n: int, documents: Documents) -> float:
    """The smooth measure; and ``by_rank``, so far without the total, times it."""
    value = 0.0
    for r in range(n):
        value += documents.share[r] * documents.total[r]
        documents.by_rank[r] *= documents.total[r]
    return value


@kernel
def write_scaled(
    queries: Queries, q: int, steepness: float, steepest: float, normalize: bool, documents: Documents, out: Gradients
) -> None:
    """Turn the derivatives of one query's smooth measure by position into a gradient and hessian to be minimised.

    The hessian is ``steepest`` times the sum of absolute pushes, where ``steepest`` is the derivative by the score of the
    probability to be above a document of equal score.
    """
    begin = queries.starts[q]
    n = queries.starts[q + 1] - begin
    scale = queries.weights[q]
    if normalize:
        # In units of the steepness of a logistic function, so that a change of the smoothing changes the unit of the
        # scores and nothing else.
        size, brought = 0.0, 0.0
        for r in range(n):
            size += abs(documents.rising[r])
            brought += abs(documents.by_rank[r]) + abs(documents.share[r] * documents.total[r])
        if size > ROUNDING * brought:
            size *= steepness / (4.0 * steepest)
            scale *= math.log2(1.0 + max(size, SMALLEST_TOTAL)) / size
        else:
            scale = 0.0
    for r in range(n):
        i = begin + queries.order[begin + r]
        out.grad[i] = -documents.rising[r] * steepness * scale
        out.hess[i] = max(steepest * documents.pushes[r] * steepness * scale, HESSIAN_FLOOR)
