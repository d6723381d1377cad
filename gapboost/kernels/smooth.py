"""What the smooth measures share: how their gradients are scaled and written."""

from typing import Any

import numpy as np

from gapboost.kernels.compile import kernel
from gapboost.kernels.lambdarank import HESSIAN_FLOOR

Array = np.ndarray[Any, Any]


@kernel
def write_scaled(
    rising: Array, curvature: Array, weight: float, normalize: bool, grad: Array, hess: Array, begin: int
) -> None:
    """Turn the derivatives of one query's smooth measure into a gradient and hessian to be minimised."""
    scale = weight
    if normalize:
        total = np.abs(rising).sum()
        if total > 0:
            scale *= np.log2(1 + total) / total
    for i in range(len(rising)):
        grad[begin + i] = -rising[i] * scale
        hess[begin + i] = max(curvature[i] * scale, HESSIAN_FLOOR)


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
