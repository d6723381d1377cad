"""Means with their errors, simultaneous intervals, verdicts, power of comparisons, and ties.

`benchmarks/POLICY.md` says which estimate is used when, and why.

Values that differ by rounding alone are ties in all analyses. A value is a sum over ranks, a mean
is a sum over queries, and a sum changes in its last digits with the order and the form of its
terms: what is equal by definition is often not equal as numbers. Sums over 3 000 documents differ
so by some 100 units in the last place of a float64, over 30 000 by some 1 000. Different rankings
differ by more: two neighbors at rank 100 000 that change places change average precision and nDCG
by about 1e-10. (Discounts that fall exponentially end sooner: RBP with p = 0.5 at rank 40.) So
values within 1e-12 of the largest one are tied. The largest one sets the scale, as a value near 0
may be what is left of large terms.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import optimize, stats

from gapboost.data import Array

# Probability with which the test finds a difference that is called detectable.
POWER = 0.8
ROUNDING = 1e-12
AHEAD, BEHIND, EQUAL = "ahead", "behind", "equal"
EQUIVALENT, INCONCLUSIVE = "equivalent", "inconclusive"


@dataclass(frozen=True)
class Estimate:
    """A mean difference with its standard error, and the degrees of freedom of Student's t."""

    mean: float
    error: float
    freedom: float

    def interval(self, confidence: float = 0.95, family: int = 1) -> tuple[float, float]:
        """Return the confidence interval of the mean.

        Parameters
        ----------
        confidence : float, default=0.95
        family : int, default=1
            Number of comparisons that are read together. All of their intervals hold at once with
            this confidence, by Bonferroni's correction.
        """
        half = float(stats.t.ppf(1 - (1 - confidence) / (2 * family), self.freedom)) * self.error
        return self.mean - half, self.mean + half

    def verdict(
        self, confidence: float = 0.95, family: int = 1, margin: float | None = None
    ) -> str:
        """Return the word for a difference.

        Parameters
        ----------
        confidence : float, default=0.95
        family : int, default=1
            As for `interval`.
        margin : float, optional
            Largest difference that counts as equivalent, fixed before values were seen.

        Returns
        -------
        str
            ``"ahead"`` if `interval` is above 0, ``"behind"`` if it is below 0, ``"equal"`` if all
            values are 0, ``"equivalent"`` if a second test says so (`within`), else
            ``"inconclusive"``. Values that are all the same, and not 0, tell nothing about their
            error: ``"inconclusive"``.
        """
        if self.error == 0:
            return EQUAL if self.mean == 0 else INCONCLUSIVE
        low, high = self.interval(confidence, family)
        if low > 0:
            return AHEAD
        if high < 0:
            return BEHIND
        equivalent = margin is not None and self.within(margin, confidence, family)
        return EQUIVALENT if equivalent else INCONCLUSIVE

    @property
    def p(self) -> float:
        """Two-sided p-value of the hypothesis that the true mean is 0; NaN without an error."""
        if self.error == 0:
            return 1.0 if self.mean == 0 else float("nan")
        return float(2 * stats.t.sf(abs(self.mean) / self.error, self.freedom))

    def within(self, margin: float, confidence: float = 0.95, family: int = 1) -> bool:
        """Return True if two one-sided tests find the mean within the margin (Schuirmann, 1987).

        Each has the level 1 - `confidence`, corrected for the family by Bonferroni's method: with
        one comparison at 95 %, the 90 % interval lies within the margin.
        """
        low, high = self.interval(2 * confidence - 1, family)
        return -margin < low and high < margin


def independent(values: Array) -> Estimate:
    """Return the mean of independent values."""
    n = len(values)
    return Estimate(float(values.mean()), float(values.std(ddof=1) / n**0.5), n - 1)


def one_way_clustered(clusters: Sequence[Array]) -> Estimate:
    """Mean of the values of all clusters, which are independent where values within one are not.

    The variance of Bell and McCaffrey (2002), CR2, which allows for few and unequal clusters, with
    Satterthwaite's degrees of freedom: with shares w of the values, residual sums S and N values it
    is the sum of S^2 / (1 - w), over N^2.
    """
    sizes = np.array([len(values) for values in clusters])
    n = int(sizes.sum())
    share = sizes / n
    mean = float(np.concatenate(clusters).mean())
    residuals = np.array([(values - mean).sum() for values in clusters])
    variance = float((residuals**2 / (1 - share)).sum()) / n**2
    # Of the matrix of s_i s_j (w_i [i = j] - w_i w_j), where s^2 = 1 / (1 - w): the squared trace
    # over the sum of squares.
    ratio = share / (1 - share)
    squares = (ratio**2 * (1 - 2 * share)).sum() + (ratio * share).sum() ** 2
    return Estimate(mean, float(np.sqrt(variance)), float(share.sum() ** 2 / squares))


def two_way_clustered(values: Array, queries: Array, models: Array) -> Estimate:
    """Return the mean of values that share queries and models, as in repeated cross-validation.

    Parameters
    ----------
    values : float64 ndarray of shape (n,)
        One difference for each test of a query by a model. Each query is tested equally often.
    queries, models : int ndarray of shape (n,)
        Number of the query, and of the (repeat, fold), of each difference.

    Returns
    -------
    Estimate
        The variance for two-way clusters of Cameron, Gelbach and Miller (2011, eq. 2.11): that of
        queries, plus that of models, less that of single values; at least that of queries. The
        degrees of freedom are the number of models less 1.
    """
    n, n_models = len(values), int(models.max()) + 1
    mean = float(values.mean())
    residuals = values - mean
    of_queries, of_models = (
        float((np.bincount(c, residuals) ** 2).sum()) / n**2 for c in (queries, models)
    )
    n_queries = int(queries.max()) + 1
    by_query = of_queries * n_queries / (n_queries - 1)
    shared = of_models * n_models / (n_models - 1) - float((residuals**2).sum()) / n**2
    return Estimate(mean, float(np.sqrt(by_query + max(shared, 0.0))), n_models - 1)


def noncentrality(freedom: float, level: float) -> float:
    """Return the true mean that the two-sided t-test at `level` detects with probability `POWER`.

    The unit is the standard error.
    """
    # Given the standard error that comes out, the estimate is normal: the mean over quantiles of
    # that error. The non-central t of scipy is NaN for few degrees of freedom.
    quantiles = (np.arange(2000) + 0.5) / 2000
    errors = np.sqrt(stats.chi2.ppf(quantiles, freedom) / freedom)
    critical = stats.t.ppf(1 - level / 2, freedom) * errors

    def excess_power(delta: float) -> float:
        detected = stats.norm.sf(critical - delta) + stats.norm.cdf(-critical - delta)
        return float(np.mean(detected)) - POWER

    return float(optimize.brentq(excess_power, 0.0, critical[-1] + 10))


def paired_by_index(first: Any, second: Any, names: tuple[str, str]) -> tuple[Any, Any]:
    """Return two columns with the second in the order of the first, by the index of pandas.

    Columns without an index are returned as they are.

    Raises
    ------
    ValueError
        If the two have other indices.
    """
    if not (hasattr(first, "reindex") and hasattr(second, "reindex")):
        return first, second
    if first.index.equals(second.index):
        return first, second
    unique = first.index.is_unique and second.index.is_unique
    if not unique or set(first.index) != set(second.index):
        raise ValueError(
            f"{names[1]} has another index than {names[0]}, or values twice; expected the same "
            "index, or arrays in the same order"
        )
    return first, second.reindex(first.index)


def rounding(values: Array, axis: int | tuple[int, ...] | None = None) -> Array:
    """Return the largest difference of two of `values` that counts as a tie, along `axis`."""
    largest: Array = np.abs(values).max(axis=axis)
    return ROUNDING * largest


def merge_ties(values: Array, within: float | None = None) -> Array:
    """Return `values` of shape (n,), with tied values set to the least of them.

    `within` is the largest difference that is a tie, where the values are themselves differences;
    None: as `rounding` says.
    """
    allowed = rounding(values) if within is None else within
    order = np.argsort(values, kind="stable")
    ascending = values[order].tolist()
    # Not from neighbor to neighbor: a chain of ties would tie its ends.
    lowest = ascending[0]
    for place, value in enumerate(ascending):
        lowest = value if value - lowest > allowed else lowest
        ascending[place] = lowest
    equal = np.empty(len(values))
    equal[order] = ascending
    return equal
