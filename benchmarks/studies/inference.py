"""p-values by changes of signs, and bootstrapped intervals; what else there is to infer, `gapboost.analysis.estimates` does."""

from collections.abc import Callable, Sequence

import numpy as np

from gapboost._kernels import Array


def by_signs(clusters: Sequence[Array]) -> float:
    """Two-sided p-value of a mean of 0: the share of all changes of clusters' signs that bring it as far from 0."""
    sums = np.zeros(1)
    totals = [float(values.sum()) for values in clusters]
    for total in totals:
        sums = np.concatenate((sums + total, sums - total))
    return float((np.abs(sums) >= abs(sum(totals)) - 1e-12).mean())


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
