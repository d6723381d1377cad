"""What the smooth measures share: how their gradients are scaled and written."""

from typing import Any

import numpy as np

from gapboost._kernels.jit import kernel
from gapboost._kernels.lambdarank.gradients import HESSIAN_FLOOR

Array = np.ndarray[Any, Any]


# A query whose gradient is smaller than this still weighs as one that has it. With a cut-off SoftRank starts on a plateau:
# at equal scores each document is within the first 10 of 150 ranks with a probability of 1e-30.
SMALLEST_TOTAL = 0.05


@kernel
def write_scaled(
    rising: Array,
    pushes: Array,
    steepest: float,
    weight: float,
    normalize: bool,
    grad: Array,
    hess: Array,
    begin: int,
) -> None:
    """Turn the derivatives of one query's smooth measure into a gradient and hessian to be minimised.

    ``rising[i]`` is the sum over the pairs of document i of what they push it up, ``pushes[i]`` that of their absolute
    values. The hessian is ``steepest`` times the latter, where ``steepest`` is the derivative by the score of the
    probability to be above a document of equal score.
    """
    scale = weight
    if normalize:
        # In units of the steepness of a logistic function, so that a change of the smoothing changes the unit of the
        # scores and nothing else.
        total = np.abs(rising).sum() / (4.0 * steepest)
        if total > 0:
            scale *= np.log2(1 + max(total, SMALLEST_TOTAL)) / total
    for i in range(len(rising)):
        grad[begin + i] = -rising[i] * scale
        hess[begin + i] = max(steepest * pushes[i] * scale, HESSIAN_FLOOR)


@kernel
def counted_documents(counted: Array, grades: Array, begin: int, n: int) -> Array:
    """Positions in the query of the documents whose grade the measure looks at; the others only take up ranks."""
    found = np.empty(n, np.int64)
    size = 0
    for i in range(n):
        if counted[grades[begin + i]]:
            found[size] = i
            size += 1
    return found[:size]
