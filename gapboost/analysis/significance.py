"""Is one ranker better than another? Paired tests over queries, all of them reported, as [yilmaz2009] does."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from gapboost.analysis.optional import axes, frame
from gapboost.analysis.work import generators
from gapboost.arguments import probability, whole
from gapboost.queries import Array, numbers


@dataclass(frozen=True, eq=False)
class Significance:
    """Difference of two rankers over the same queries, first minus second.

    Attributes
    ----------
    differences : float64 ndarray of shape (Q,)
        One a query; queries without a value for one of the rankers are left out.
    interval : tuple of float
        Confidence interval of the mean difference, from Student's t.
    confidence : float
    t, wilcoxon, sign, randomization : float
        Two-sided p-values: paired t-test, Wilcoxon's signed-rank test, sign test (both without the queries that do not
        differ), and the randomisation test of the mean.
    """

    differences: Array
    interval: tuple[float, float]
    confidence: float
    t: float
    wilcoxon: float
    sign: float
    randomization: float

    @property
    def difference(self) -> float:
        """Mean difference."""
        return float(self.differences.mean())

    @property
    def effect_size(self) -> float:
        """Cohen's d for pairs: mean difference over its standard deviation; infinite where all differences are equal."""
        deviation = float(self.differences.std(ddof=1))
        if deviation > 1e-12 * abs(self.difference):
            return self.difference / deviation
        return 0.0 if self.difference == 0 else float(np.copysign(np.inf, self.difference))

    @property
    def counts(self) -> tuple[int, int, int]:
        """Queries on which the first is better, equal, worse."""
        d = self.differences
        return int((d > 0).sum()), int((d == 0).sum()), int((d < 0).sum())

    def significant(self, level: float = 0.05) -> bool:
        """Whether Wilcoxon's test, the sign test and the t-test all find a difference, the rule of [yilmaz2009]."""
        return max(self.t, self.wilcoxon, self.sign) < level

    def __repr__(self) -> str:
        low, high = self.interval
        return (
            f"Significance(difference={self.difference:.4f}, interval=({low:.4f}, {high:.4f}), effect_size="
            f"{self.effect_size:.3f}, t={self.t:.3g}, wilcoxon={self.wilcoxon:.3g}, sign={self.sign:.3g}, "
            f"randomization={self.randomization:.3g})"
        )

    def to_pandas(self) -> Any:
        """One row a test with its p-value, after the mean difference, its interval and the effect size."""
        better, equal, worse = self.counts
        numbers = {
            "mean difference": self.difference,
            f"{self.confidence:.0%} interval, low": self.interval[0],
            f"{self.confidence:.0%} interval, high": self.interval[1],
            "effect size": self.effect_size,
            "queries better": better,
            "queries equal": equal,
            "queries worse": worse,
            "p, t-test": self.t,
            "p, Wilcoxon": self.wilcoxon,
            "p, sign test": self.sign,
            "p, randomisation": self.randomization,
        }
        return frame({"": list(numbers), "value": list(numbers.values())}, [""])

    def plot(self, ax: Any = None) -> Any:
        """The differences from the best to the worst query, with mean and interval; returns the axes."""
        ax = axes(ax)
        ranked = np.sort(self.differences)[::-1]
        ax.bar(range(1, len(ranked) + 1), ranked, width=1.0)
        ax.axhline(self.difference, color="C1", label=f"mean {self.difference:+.4f}")
        ax.axhspan(*self.interval, color="C1", alpha=0.25, label=f"{self.confidence:.0%} interval")
        ax.set(xlabel="queries by falling difference", ylabel="difference", title=f"t-test: p = {self.t:.3g}")
        ax.legend()
        return ax


def significance(
    first: Any, second: Any, *, confidence: float = 0.95, n_resamples: int = 9999, random_state: Any = None
) -> Significance:
    """Test the difference of two rankers, query by query.

    Parameters
    ----------
    first, second : array-like of shape (Q,)
        Values of one measure for the same queries in the same order, as ``evaluate(..., per_query=True)[measure]``; NaN
        where a query has none.
    confidence : float, default=0.95
        Of the interval.
    n_resamples : int, default=9999
        Random changes of sign in the randomisation test; all of them are tried where there are no more than these.
    random_state : int, Generator or RandomState, optional

    Raises
    ------
    ValueError
        Where the shapes differ, or fewer than two queries have both values.

    Examples
    --------
    >>> result = significance([0.5, 0.7, 0.9, 0.4], [0.4, 0.5, 0.8, 0.4], random_state=0)
    >>> round(result.difference, 3), round(result.t, 3), result.counts
    (0.1, 0.092, (3, 1, 0))
    """
    a, b = (numbers(v, n, "values of a measure").astype(np.float64) for v, n in ((first, "first"), (second, "second")))
    if a.shape != b.shape:
        raise ValueError(f"first has {len(a)} values but second has {len(b)}; expected the same queries")
    d = a - b
    d = d[~np.isnan(d)]
    if len(d) < 2 or not np.isfinite(d).all():
        raise ValueError(f"{len(d)} queries have values for both rankers; expected at least two, and finite values")
    confidence, n_resamples = probability(confidence, "confidence"), whole(n_resamples, "n_resamples")
    mean, error = float(d.mean()), float(stats.sem(d))
    half = float(stats.t.ppf((1 + confidence) / 2, len(d) - 1)) * error
    differing = d[d != 0]
    if len(differing) == 0:
        return Significance(d, (mean, mean), confidence, 1.0, 1.0, 1.0, 1.0)
    # All differences equal: no deviation, an infinite t.
    t = float(2 * stats.t.sf(abs(mean) / error, len(d) - 1)) if error > 1e-12 * abs(mean) else 0.0
    (generator,) = generators(random_state, 1)
    return Significance(
        d,
        (mean - half, mean + half),
        confidence,
        t,
        float(stats.wilcoxon(differing).pvalue),
        float(stats.binomtest(int((differing > 0).sum()), len(differing)).pvalue),
        _randomization(d, n_resamples, generator),
    )


def _randomization(d: Array, n_resamples: int, generator: np.random.Generator) -> float:
    """Share of changes of sign with a mean at least as far from 0; the observed signs count among random ones."""
    n = len(d)
    every = n < 63 and 2**n <= n_resamples + 1
    if every:
        signs = 1 - 2 * (np.arange(2**n)[:, None] >> np.arange(n) & 1)
    else:
        signs = 2 * generator.integers(2, size=(n_resamples, n), dtype=np.int8) - 1
    # Sums that are equal but for rounding are equal.
    as_far = np.count_nonzero(np.abs(signs @ d) >= abs(d.sum()) - 1e-12 * np.abs(d).sum())
    return as_far / len(signs) if every else (as_far + 1) / (n_resamples + 1)
