"""Intervals of means, where observations come in clusters and where they do not; corrected p-values; bootstrapped intervals."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from scipy import stats

from gapboost._kernels import Array

LEVEL = 0.05
Name = TypeVar("Name", bound=Hashable)


@dataclass(frozen=True)
class Estimate:
    """A mean with its standard error, and the degrees of freedom of Student's t."""

    mean: float
    error: float
    freedom: float

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Of the mean."""
        half = float(stats.t.ppf((1 + confidence) / 2, self.freedom)) * self.error
        return self.mean - half, self.mean + half

    @property
    def p(self) -> float:
        """Two-sided, of a mean of 0."""
        if self.error == 0:
            return float(self.mean == 0)
        return float(2 * stats.t.sf(abs(self.mean) / self.error, self.freedom))

    def level(self, margin: float) -> bool:
        """Whether two one-sided tests prove that the mean is within the margin: the 90 % interval is."""
        low, high = self.interval(1 - 2 * LEVEL)
        return -margin < low and high < margin


def independent(values: Array) -> Estimate:
    """Mean of values that share nothing."""
    return Estimate(float(values.mean()), float(stats.sem(values)), len(values) - 1)


def clustered(clusters: Sequence[Array]) -> Estimate:
    """Mean of the values of all clusters, which are independent where values within one are not.

    The variance of Bell and McCaffrey (2002), CR2, which allows for few and unequal clusters, with Satterthwaite's degrees of
    freedom: with shares w of the values, residual sums S and N values it is the sum of S^2 / (1 - w), over N^2.
    """
    sizes = np.array([len(values) for values in clusters])
    n = int(sizes.sum())
    share = sizes / n
    mean = float(np.concatenate(clusters).mean())
    residuals = np.array([(values - mean).sum() for values in clusters])
    variance = float((residuals**2 / (1 - share)).sum()) / n**2
    scale = 1 / np.sqrt(1 - share)
    products = np.outer(scale, scale) * (np.diag(share) - np.outer(share, share))
    return Estimate(mean, float(np.sqrt(variance)), float(np.trace(products) ** 2 / (products**2).sum()))


def by_signs(clusters: Sequence[Array]) -> float:
    """Two-sided p-value of a mean of 0: the share of all changes of clusters' signs that bring it as far from 0."""
    sums = np.zeros(1)
    totals = [float(values.sum()) for values in clusters]
    for total in totals:
        sums = np.concatenate((sums + total, sums - total))
    return float((np.abs(sums) >= abs(sum(totals)) - 1e-12).mean())


def holm(p_values: Mapping[Name, float]) -> dict[Name, float]:
    """Holm's correction of p-values that are looked at together."""
    corrected: dict[Name, float] = {}
    running = 0.0
    for rank, (key, p) in enumerate(sorted(p_values.items(), key=lambda item: item[1])):
        running = max(running, min(1.0, p * (len(p_values) - rank)))
        corrected[key] = running
    return corrected


def bootstrapped(statistic: Callable[[Array], float], n: int, draws: int = 2000, seed: int = 0) -> tuple[float, float]:
    """95 % interval of a statistic of units, drawn with replacement: `statistic` takes the numbers of those drawn.

    Draws without a value, NaN, are left out.
    """
    rng = np.random.default_rng(seed)
    values = np.array([statistic(rng.integers(n, size=n)) for _ in range(draws)])
    low, high = np.nanpercentile(values, (2.5, 97.5))
    return float(low), float(high)
