"""Verdicts on pairs of rankers, by their differences on each query.

The queries of one fold were ranked by the same models, so that their differences are not
independent. With a number of folds, each repeat has its own split and models: queries and models
are clusters that cross each other. With folds that are given, each fold is a cluster, and the
values of a query are averaged over the repeats first: their models share training rows and test
queries. `benchmarks/POLICY.md` gives the reasons.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from gapboost._kernels import Array
from gapboost.analysis.estimates import POWER, Estimate, clustered, crossed, independent, rounding


@dataclass(frozen=True)
class Verdict:
    """Comparison of two rankers by one measure.

    Attributes
    ----------
    ranker, baseline, measure : str
    estimate : Estimate
        Mean difference, `ranker` minus `baseline`, over all test queries.
    n_queries : int
        Number of test queries.
    confidence : float
        Confidence of all intervals of the family together, such as 0.95.
    family : int
        Number of comparisons of the same call by this measure.
    margin : float or None
        Largest difference that counts as equivalent.
    t_test : float
        p-value of the paired t-test over queries, not corrected.
    """

    ranker: str
    baseline: str
    measure: str
    estimate: Estimate
    n_queries: int
    confidence: float
    family: int
    margin: float | None = None
    t_test: float = math.nan

    @property
    def difference(self) -> float:
        """Mean difference over the queries."""
        return self.estimate.mean

    @property
    def interval(self) -> tuple[float, float]:
        """Simultaneous confidence interval of the difference; NaN if its error is unknown."""
        if self.estimate.error == 0 != self.difference:
            return math.nan, math.nan
        return self.estimate.interval(self.confidence, self.family)

    @property
    def p(self) -> float:
        """p-value, corrected by Bonferroni's method for the family."""
        return float(np.minimum(1.0, self.family * self.estimate.p))

    @property
    def verdict(self) -> str:
        """``"ahead"``, ``"behind"``, ``"equal"``, ``"equivalent"`` or ``"inconclusive"``."""
        return self.estimate.verdict(self.confidence, self.family, self.margin)

    @property
    def detectable(self) -> float:
        """Smallest true difference that 80 % of such comparisons would find; NaN if unknown."""
        if self.estimate.error == 0:
            return math.nan
        return self.estimate.detectable((1 - self.confidence) / self.family, POWER)

    def queries_needed(self, difference: float) -> float:
        """Return the number of test queries to find this difference in 80 % of comparisons.

        It assumes as many folds, and errors that shrink with the root of the number of queries.
        """
        return float(np.ceil(self.n_queries * (self.detectable / difference) ** 2))


def estimate_difference(
    splits: Sequence[tuple[Array, Array]], queries: Sequence[Array]
) -> tuple[Estimate, float]:
    """Return the mean difference, with the error that its splits allow to estimate, and a p-value.

    Parameters
    ----------
    splits : list of (values, values)
        Values of the two rankers on the test queries of each split, float64 arrays of shape (Q,).
        Differences by rounding alone count as 0.
    queries : list of int ndarray
        Numbers of the test queries of each split. A query is tested once, or once in each repeat.

    Returns
    -------
    tuple of (Estimate, float)
        The p-value is that of the paired t-test over the queries, which counts no models.
    """
    within = rounding(np.concatenate([np.concatenate(pair) for pair in splits]))
    parts = [np.where(np.abs(a - b) <= within, 0.0, a - b) for a, b in splits]
    differences = np.concatenate(parts)
    numbers = np.unique(np.concatenate(queries), return_inverse=True)[1]
    by_query = np.bincount(numbers, differences) / np.bincount(numbers)
    if len(parts) == 1:
        estimate = independent(differences)
    elif len(numbers) == len(by_query):
        estimate = clustered(parts)
    else:
        models = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
        estimate = crossed(differences, numbers, models)
    if estimate.error <= within:  # all differences are the same
        return Estimate(estimate.mean, 0.0, estimate.freedom), math.nan
    return estimate, float(stats.ttest_1samp(by_query, 0.0).pvalue)
