"""Smooth steps: the probability to be above, by the difference of two positions, and its derivative."""

import math

from gapboost._kernels.jit import kernel

LOGISTIC, GAUSSIAN = 0, 1


@kernel
def overtaking(step: int, distance: float) -> float:
    """The probability to be above a document that is higher by ``distance``, at least 0; no digits lost where it is small."""
    if step == GAUSSIAN:
        return 0.5 * math.erfc(distance)
    u = math.exp(-distance)
    return u / (1.0 + u)


@kernel
def above(step: int, x: float) -> float:
    """``1 / (1 + e^-x)``, or the probability that a Gaussian of variance 1/2 is below x; no digits lost where it is small."""
    return 1.0 - overtaking(step, x) if x >= 0.0 else overtaking(step, -x)


@kernel
def slope(step: int, x: float) -> float:
    """The derivative of `above`."""
    if step == GAUSSIAN:
        return math.exp(-x * x) / math.sqrt(math.pi)
    u = math.exp(-abs(x))
    return u / ((1.0 + u) * (1.0 + u))
