"""Means and standard errors of independent and of clustered values, Holm's correction, power."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from scipy import optimize, stats

from gapboost._kernels import Array

LEVEL = 0.05
# Probability with which the test finds a difference that is called detectable.
POWER = 0.8
Name = TypeVar("Name", bound=Hashable)


@dataclass(frozen=True)
class Estimate:
    """A mean with its standard error, and the degrees of freedom of Student's t."""

    mean: float
    error: float
    freedom: float

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Return the confidence interval of the mean."""
        half = float(stats.t.ppf((1 + confidence) / 2, self.freedom)) * self.error
        return self.mean - half, self.mean + half

    @property
    def p(self) -> float:
        """Two-sided p-value of the hypothesis that the true mean is 0."""
        if self.error == 0:
            return float(self.mean == 0)
        return float(2 * stats.t.sf(abs(self.mean) / self.error, self.freedom))

    def level(self, margin: float) -> bool:
        """Return True if the 90 % interval lies within the margin, as in two one-sided tests."""
        low, high = self.interval(1 - 2 * LEVEL)
        return -margin < low and high < margin

    def detectable(self, level: float = LEVEL, power: float = POWER) -> float:
        """Return the true mean that a two-sided t-test detects with probability `power`."""
        return noncentrality(self.freedom, level, power) * self.error


def independent(values: Array) -> Estimate:
    """Return the mean of independent values."""
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


def holm(p_values: Mapping[Name, float]) -> dict[Name, float]:
    """Holm's correction of p-values that are looked at together."""
    corrected: dict[Name, float] = {}
    running = 0.0
    for rank, (key, p) in enumerate(sorted(p_values.items(), key=lambda item: item[1])):
        running = max(running, min(1.0, p * (len(p_values) - rank)))
        corrected[key] = running
    return corrected


def noncentrality(freedom: float, level: float = LEVEL, power: float = POWER) -> float:
    """Return the true mean that the two-sided t-test at `level` detects with probability `power`.

    The unit is the standard error.
    """
    # Given the standard error that comes out, the estimate is normal: the mean over quantiles of that error. The non-central t of
    # scipy is NaN for few degrees of freedom.
    quantiles = (np.arange(2000) + 0.5) / 2000
    least = stats.t.ppf(1 - level / 2, freedom) * np.sqrt(stats.chi2.ppf(quantiles, freedom) / freedom)

    def short(delta: float) -> float:
        return float(np.mean(stats.norm.sf(least - delta) + stats.norm.cdf(-least - delta))) - power

    return float(optimize.brentq(short, 0.0, least[-1] + 10))
