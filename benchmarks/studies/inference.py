"""Bootstrapped intervals."""

from collections.abc import Callable

import numpy as np

from gapboost._kernels import Array


def bootstrapped(
    statistic: Callable[[Array], float], n: int, draws: int = 2000, confidence: float = 0.95
) -> tuple[float, float]:
    """Return the percentile interval of a statistic of n units, which are drawn with replacement.

    `statistic` takes the numbers of the units drawn. Draws without a value, NaN, are left out.
    """
    rng = np.random.default_rng(0)
    values = np.array([statistic(rng.integers(n, size=n)) for _ in range(draws)])
    tail = 50 * (1 - confidence)
    low, high = np.nanpercentile(values, (tail, 100 - tail))
    return float(low), float(high)
