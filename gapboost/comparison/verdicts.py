"""Whether one ranker is ahead of another, by their differences on each query and the models that were trained.

Values of a query are averaged over the seeds first. The queries of one fold were ranked by the same models, so that their
differences are no independent evidence: a fold is a cluster, and intervals come from the spread of whole folds. Seeds make no
further clusters, as their models share training rows and test queries, and for a booster without random draws are one model.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gapboost._kernels import Array
from gapboost.analysis.estimates import POWER, Estimate, clustered, holm, independent
from gapboost.analysis.ties import rounding

AHEAD, BEHIND, UNTOLD = "ahead", "behind", "cannot be told"


@dataclass(frozen=True)
class Verdict:
    """One ranker beside another, by one measure.

    Attributes
    ----------
    ranker, beside, measure : str
    estimate : Estimate
        Of the mean difference, `ranker` minus `beside`, over all test queries.
    n_queries : int
    p : float
        Corrected by Holm's method for all verdicts that are given together.
    confidence : float
    n_together : int
        How many these are.

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
        """Mean over the queries."""
        return self.estimate.mean

    @property
    def interval(self) -> tuple[float, float]:
        """Of the difference, for this verdict alone."""
        return self.estimate.interval(self.confidence)

    @property
    def told(self) -> str:
        """``"ahead"``, ``"behind"`` or ``"cannot be told"``, by the corrected p."""
        if self.p >= 1 - self.confidence or self.difference == 0:
            return UNTOLD
        return AHEAD if self.difference > 0 else BEHIND

    @property
    def detectable(self) -> float:
        """The true difference that would be told in 80 % of comparisons such as this one."""
        return self.estimate.detectable((1 - self.confidence) / self.n_together, POWER)

    @property
    def queries_needed(self) -> float:
        """Test queries with which a true difference as large as this one would be told in 80 % of comparisons.

        With as many folds, and errors that shrink with the root of the number of queries. Infinite for no difference.
        """
        if self.difference == 0:
            return math.inf
        return math.ceil(self.n_queries * (self.detectable / self.difference) ** 2)


def verdicts(
    pairs: Mapping[tuple[str, str, str], Sequence[tuple[Array, Array]]], confidence: float = 0.95
) -> list[Verdict]:
    """A verdict for each ``(ranker, beside, measure)``, corrected for their number.

    Parameters
    ----------
    pairs : mapping
        Values of the two rankers on the queries of each fold, float64 arrays of shape (Q,). Differences by rounding alone are 0.
    confidence : float
    """
    estimates = {key: _estimate(folds) for key, folds in pairs.items()}
    corrected = holm({key: estimate.p for key, estimate in estimates.items()})
    return [
        Verdict(*key, estimate, sum(len(a) for a, _ in pairs[key]), corrected[key], confidence, len(pairs))
        for key, estimate in estimates.items()
    ]


def _estimate(folds: Sequence[tuple[Array, Array]]) -> Estimate:
    """Of the mean difference; over queries where there is one fold, which tells of its models alone."""
    within = rounding(np.concatenate([np.concatenate(pair) for pair in folds]))
    differences = [np.where(np.abs(a - b) <= within, 0.0, a - b) for a, b in folds]
    return clustered(differences) if len(differences) > 1 else independent(differences[0])
