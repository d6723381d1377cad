"""The exponential function of a vector: the C library's takes one number at a time."""

from typing import Any

from gapboost._kernels.jit import kernel
from gapboost._kernels.simd import every8, times_power, where

LOG2E = 1.4426950408889634
LN2_HIGH = 6.93147180369123816490e-01
LN2_LOW = 1.90821492927058770002e-10
ROUNDER = 6755399441055744.0  # 1.5 * 2**52: adding and subtracting it rounds to a whole number
FARTHEST = 700.0


@kernel
def decay8(x: Any) -> Any:
    """``exp(-x)`` of 8 lanes to about 1e-15 for 0 <= x <= `FARTHEST`, as at these ends beyond.

    exp(-x) = 2**k exp(r) with the whole number k nearest to -x / ln 2, and the Taylor sum of exp(r)
    for abs(r) <= ln 2 / 2.
    """
    x = where(x > 0.0, x, every8(0.0))
    x = where(x < FARTHEST, x, every8(FARTHEST))
    k = x * -LOG2E + ROUNDER
    k = k - ROUNDER
    r = 0.0 - x - k * LN2_HIGH
    r = r - k * LN2_LOW
    p = every8(1.0 / 479001600.0) * r + 1.0 / 39916800.0
    p = p * r + 1.0 / 3628800.0
    p = p * r + 1.0 / 362880.0
    p = p * r + 1.0 / 40320.0
    p = p * r + 1.0 / 5040.0
    p = p * r + 1.0 / 720.0
    p = p * r + 1.0 / 120.0
    p = p * r + 1.0 / 24.0
    p = p * r + 1.0 / 6.0
    p = p * r + 0.5
    p = p * r + 1.0
    p = p * r + 1.0
    return times_power(p, k)
