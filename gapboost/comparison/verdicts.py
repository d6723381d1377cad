"""Verdicts on pairs of rankers, by their differences on each query.

The queries of one fold were ranked by the same models, so that their differences are not
independent. With a number of folds, each repeat has its own split and models: queries and models
are clusters that cross each other. With folds that are given, each fold is a cluster, and the
values of a query are averaged over the repeats first: their models share training rows and test
queries. `benchmarks/POLICY.md` gives the reasons.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gapboost._kernels import Array
from gapboost.analysis.estimates import POWER, Estimate, clustered, crossed, independent
from gapboost.analysis.ties import rounding


@dataclass(frozen=True)
class Verdict:
    """Comparison of two rankers by one measure.

    Attributes
    ----------
    ranker, beside, measure : str
    estimate : Estimate
        Mean difference, `ranker` minus `beside`, over all test queries.
    n_queries : int
        Number of test queries.
    confidence : float
        Confidence of all intervals of the family together, such as 0.95.
    family : int
        Number of comparisons of the same call by this measure.

    Examples
    --------
    >>> from gapboost.comparison import compare_rankers
    >>> from gapboost.datasets import load_digits_ranking
    >>> from sklearn.linear_model import Ridge
    >>> data = load_digits_ranking().test
    >>> rankers = {"one": Ridge(alpha=1.0), "other": Ridge(alpha=100.0)}
    >>> found = compare_rankers(data.X, data.y, data.qid, rankers, measures="map", repeats=1)
    >>> from gapboost.comparison import Verdict
    >>> (verdict,) = found.verdicts("one")
    >>> isinstance(verdict, Verdict), verdict.ranker, verdict.beside
    (True, 'other', 'one')
    """

    ranker: str
    beside: str
    measure: str
    estimate: Estimate
    n_queries: int
    confidence: float
    family: int

    @property
    def difference(self) -> float:
        """Mean difference over the queries."""
        return self.estimate.mean

    @property
    def interval(self) -> tuple[float, float]:
        """Simultaneous confidence interval of the difference: the one that decides."""
        return self.estimate.interval(self.confidence, self.family)

    @property
    def p(self) -> float:
        """p-value, corrected by Bonferroni's method for the family."""
        return min(1.0, self.family * self.estimate.p)

    @property
    def verdict(self) -> str:
        """``"ahead"`` or ``"behind"`` if the interval leaves out 0, else ``"inconclusive"``."""
        return self.estimate.verdict(self.confidence, self.family)

    @property
    def detectable(self) -> float:
        """Smallest true difference that 80 % of comparisons such as this one would find."""
        return self.estimate.detectable((1 - self.confidence) / self.family, POWER)

    @property
    def queries_needed(self) -> float:
        """Number of test queries to find a true difference of this size in 80 % of comparisons.

        It assumes as many folds, and errors that shrink with the root of the number of queries. It
        is infinite if there is no difference.
        """
        if self.difference == 0:
            return math.inf
        return math.ceil(self.n_queries * (self.detectable / self.difference) ** 2)


def verdicts(
    pairs: Mapping[tuple[str, str, str], Sequence[tuple[Array, Array]]],
    queries: Sequence[Array],
    confidence: float = 0.95,
) -> list[Verdict]:
    """Return a verdict for each ``(ranker, beside, measure)``; each measure is one family.

    Parameters
    ----------
    pairs : mapping {(ranker, beside, measure): list of (values, values)}
        Values of the two rankers on the test queries of each split, float64 arrays of shape (Q,).
        Differences by rounding alone count as 0.
    queries : list of int ndarray
        Numbers of the test queries of each split. A query is tested once, or once in each repeat.
    confidence : float, default=0.95
    """
    families = Counter(measure for *_, measure in pairs)
    n_queries = len(np.unique(np.concatenate(queries)))
    return [
        Verdict(
            *key, estimate_difference(splits, queries), n_queries, confidence, families[key[-1]]
        )
        for key, splits in pairs.items()
    ]


def estimate_difference(
    splits: Sequence[tuple[Array, Array]], queries: Sequence[Array]
) -> Estimate:
    """Return the mean difference, with the error that its splits allow to estimate."""
    within = rounding(np.concatenate([np.concatenate(pair) for pair in splits]))
    differences = [np.where(np.abs(a - b) <= within, 0.0, a - b) for a, b in splits]
    if len(differences) == 1:
        return independent(differences[0])
    numbers = np.unique(np.concatenate(queries), return_inverse=True)[1]
    if len(numbers) == numbers.max() + 1:
        return clustered(differences)
    models = np.repeat(np.arange(len(differences)), [len(d) for d in differences])
    return crossed(np.concatenate(differences), numbers, models)
