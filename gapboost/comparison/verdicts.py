"""Verdicts on pairs of rankers, by their differences on each query.

Values of a query are averaged over the seeds first. The queries of one fold were ranked by the same
models, so that their differences are not independent: a fold is a cluster, and intervals come from
the spread of whole folds. Seeds are no further clusters: their models share training rows and test
queries, and a booster without random draws trains the same model for each seed.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gapboost._kernels import Array
from gapboost.analysis.estimates import POWER, Estimate, clustered, holm, independent
from gapboost.analysis.ties import rounding

AHEAD, BEHIND, INCONCLUSIVE = "ahead", "behind", "inconclusive"


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
    p : float
        p-value, corrected by Holm's method for all verdicts of the same call.
    confidence : float
        Confidence of the interval and of the verdict, such as 0.95.
    n_together : int
        Number of verdicts of the same call.

    Examples
    --------
    >>> from gapboost.comparison import compare_rankers
    >>> from gapboost.datasets import load_digits_ranking
    >>> from sklearn.linear_model import Ridge
    >>> data = load_digits_ranking().test
    >>> rankers = {"one": Ridge(alpha=1.0), "other": Ridge(alpha=100.0)}
    >>> comparison = compare_rankers(data.X, data.y, data.qid, rankers, measures="map", seeds=1)
    >>> from gapboost.comparison import Verdict
    >>> (verdict,) = comparison.verdicts("one")
    >>> isinstance(verdict, Verdict), verdict.ranker, verdict.beside
    (True, 'other', 'one')
    """

    ranker: str
    beside: str
    measure: str
    estimate: Estimate
    n_queries: int
    p: float
    confidence: float
    n_together: int

    @property
    def difference(self) -> float:
        """Mean difference over the queries."""
        return self.estimate.mean

    @property
    def interval(self) -> tuple[float, float]:
        """Confidence interval of the difference, not corrected for other verdicts."""
        return self.estimate.interval(self.confidence)

    @property
    def verdict(self) -> str:
        """``"ahead"``, ``"behind"`` or ``"inconclusive"``, by the corrected p."""
        if self.p >= 1 - self.confidence or self.difference == 0:
            return INCONCLUSIVE
        return AHEAD if self.difference > 0 else BEHIND

    @property
    def detectable(self) -> float:
        """Smallest true difference that 80 % of comparisons such as this one would find."""
        return self.estimate.detectable((1 - self.confidence) / self.n_together, POWER)

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
    pairs: Mapping[tuple[str, str, str], Sequence[tuple[Array, Array]]], confidence: float = 0.95
) -> list[Verdict]:
    """Return a verdict for each ``(ranker, beside, measure)``, corrected for their number.

    Parameters
    ----------
    pairs : mapping {(ranker, beside, measure): list of (values, values)}
        Values of the two rankers on the queries of each fold, float64 arrays of shape (Q,).
        Differences by rounding alone count as 0.
    confidence : float, default=0.95
    """
    estimates = {key: _estimate(folds) for key, folds in pairs.items()}
    corrected = holm({key: estimate.p for key, estimate in estimates.items()})
    return [
        Verdict(*key, estimate, sum(len(a) for a, _ in pairs[key]), corrected[key], confidence, len(pairs))
        for key, estimate in estimates.items()
    ]


def _estimate(folds: Sequence[tuple[Array, Array]]) -> Estimate:
    """Estimate the mean difference, with folds as clusters, or over the queries of one fold."""
    within = rounding(np.concatenate([np.concatenate(pair) for pair in folds]))
    differences = [np.where(np.abs(a - b) <= within, 0.0, a - b) for a, b in folds]
    return clustered(differences) if len(differences) > 1 else independent(differences[0])
