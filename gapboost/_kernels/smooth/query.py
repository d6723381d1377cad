"""Documents of queries as the sums see them, and gradients and hessians of derivatives."""

from typing import NamedTuple

import numpy as np

from gapboost._kernels import Array
from gapboost._kernels.jit import inner_kernel, kernel
from gapboost._kernels.lambdarank.gradients import HESSIAN_FLOOR

# A query whose gradient is smaller than this still weighs as one that has it. With a cut-off
# SoftRank starts where the measure is flat: at equal scores each document is within the first 10 of
# 150 ranks with a probability of 1e-30.
SMALLEST_TOTAL = 0.05

# Pushes that are this small relative to their terms are rounding errors, which must not be scaled
# up: all documents that push are far from each other.
ROUNDING_OF_PUSHES = 1e-14

# Distance of two positions at which the steps are 0 or 1, and their slopes too little to count.
CERTAIN = 64.0

# Below this a float has lost its digits, and what would scale it up overflows.
LEAST_TOTAL = 1e-305


class Documents(NamedTuple):
    """Query after query, each by rank: best document first. Grades are int64, the rest float64.

    ``x`` are positions, falling within a query; ``share``, ``total`` and ``by_rank`` (b) as in the
    measure; ``d_score`` what the pairs of a document push it up, and ``pushes`` the sum over grades
    of the absolute value of what those of one grade do.
    """

    grade: Array
    x: Array
    share: Array
    total: Array
    by_rank: Array
    d_score: Array
    pushes: Array


@inner_kernel
def part(documents: Documents, first: int, last: int) -> Documents:
    """Documents ``first..last-1``."""
    return Documents(
        grade=documents.grade[first:last], x=documents.x[first:last],
        share=documents.share[first:last], total=documents.total[first:last],
        by_rank=documents.by_rank[first:last], d_score=documents.d_score[first:last],
        pushes=documents.pushes[first:last],
    )  # fmt: skip


@kernel
def find_positions(scores: Array, starts: Array, steepness: float, x: Array) -> None:
    """Write positions of documents: falling scores times ``steepness``, from the best one.

    Scores are subtracted before they are multiplied, which loses no digits however far from 0 they
    are. Neighbors that are `CERTAIN` apart or more are put that far apart: who is above is
    certain, and nothing overflows.
    """
    top = 0.0
    behind = 0.0
    for q in range(len(starts) - 1):
        for r in range(starts[q], starts[q + 1]):
            score = float(scores[r])
            if r == starts[q]:
                top, behind = score, 0.0
            elif (float(scores[r - 1]) - score) * steepness > CERTAIN:
                top, behind = score, x[r - 1] - CERTAIN
            x[r] = behind - (top - score) * steepness


def gradient_and_hessian(
    starts: Array,
    weights: Array,
    steepness: float,
    steepest: float,
    normalize: bool,
    documents: Documents,
) -> tuple[Array, Array]:
    """Return gradient and hessian by rank, to be minimized, from derivatives by position.

    The hessian is the sum of absolute pushes times ``steepest``, the derivative by the score of the
    probability to be above a document of equal score. ``steepness`` is that of positions by the
    score.
    """
    scale = weights
    if normalize:
        # In units of the steepness of a logistic function, so that a change of the smoothing
        # changes the unit of the scores and nothing else.
        size = np.add.reduceat(np.abs(documents.d_score), starts[:-1])
        brought = np.abs(documents.by_rank) + np.abs(documents.share * documents.total)
        moves = size > ROUNDING_OF_PUSHES * np.add.reduceat(brought, starts[:-1])
        size = size * (steepness / (4.0 * steepest))
        damped = np.log2(1.0 + np.maximum(size, SMALLEST_TOTAL))
        moves &= size > LEAST_TOTAL
        scale = weights * np.divide(damped, size, out=np.zeros(len(size)), where=moves)
    factor = np.repeat(scale * steepness, np.diff(starts))
    return -documents.d_score * factor, np.maximum(
        steepest * documents.pushes * factor, HESSIAN_FLOOR
    )
