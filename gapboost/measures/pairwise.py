"""Measures of the whole order, in which all ranks count alike.

Kendall's tau, pairwise accuracy, Spearman's rho.

>>> import gapboost as gb
>>> gb.evaluate([gb.KendallTau(), gb.PairwiseAccuracy()], y_true=[1, 2, 0], y_score=[3.0, 2.0, 1.0])
{'kendalltau': 0.3333333333333333, 'pairwiseaccuracy': 0.6666666666666666}
>>> gb.evaluate("spearman", y_true=[1, 2, 0], y_score=[3.0, 2.0, 1.0])
{'spearmanrho': 0.5}
"""

from dataclasses import dataclass

import numpy as np

from gapboost.data import Array, RecallBase
from gapboost.data.recall_base import reciprocal, sums_of
from gapboost.measures.base import QuadraticForm, with_diagonal
from gapboost.measures.discounts import Constant


class PairMeasure(QuadraticForm):
    """A measure that is a sum over pairs of documents with different grades, wherever they are.

    It is monotone without a cutoff. With a cutoff, a document that enters the top k adds its pairs
    with all documents above it. The value at the cutoff 1 is 0.
    """

    discount_at = Constant(1.0)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set(monotone=self.k is None)


def share_of_pairs(base: RecallBase) -> tuple[Array, Array]:
    """Return ``sign(i - j)``, of shape (L, L), and 1 / pairs of different grades, (Q, 1, 1)."""
    # As floats: a query may have more pairs than a whole number of 64 bits counts.
    documents = base.counts.astype(np.float64)
    pairs = (documents.sum(axis=1) ** 2 - (documents**2).sum(axis=1)) / 2
    level = np.arange(base.n_levels)
    return np.sign(level[:, None] - level), reciprocal(pairs)[:, None, None]


@dataclass(frozen=True, repr=False)
class KendallTau(PairMeasure):
    """Pairs in the right order minus pairs in the wrong one, over pairs of different grades.

    From -1 to 1; documents with equal scores count 0 in expectation. A pair of which a document is
    missing from the list counts 0, and in the number of pairs.

    Parameters
    ----------
    k : int, optional
        Cutoff: pairs within it count, over the number of all pairs.

    Examples
    --------
    >>> import gapboost as gb
    >>> y_true, y_score = [1, 0, 2, 0], [4.0, 3.0, 2.0, 1.0]
    >>> (value,) = gb.evaluate(gb.KendallTau(), y_true, y_score).values()
    >>> round(value, 3)
    0.2
    """

    def tables(self, base: RecallBase) -> tuple[Array, Array]:
        """``pair[i, j] = 1{i > j} - 1{i < j}`` over the number of pairs; ``own`` is 0."""
        order, share = share_of_pairs(base)
        return with_diagonal(order * share)


@dataclass(frozen=True, repr=False)
class PairwiseAccuracy(PairMeasure):
    """Share of the pairs of documents with different grades that are in the right order.

    ``(KendallTau + 1) / 2`` where no documents are missing; with two grades it is the area under
    the ROC curve.

    Parameters
    ----------
    k : int, optional
        Cutoff: pairs within it count, over the number of all pairs.

    Examples
    --------
    >>> import gapboost as gb
    >>> y_true, y_score = [1, 0, 2, 0], [4.0, 3.0, 2.0, 1.0]
    >>> (value,) = gb.evaluate(gb.PairwiseAccuracy(), y_true, y_score).values()
    >>> round(value, 3)
    0.6
    """

    def tables(self, base: RecallBase) -> tuple[Array, Array]:
        """``pair[i, j] = 1{i > j}`` over the number of pairs; ``own`` is 0."""
        order, share = share_of_pairs(base)
        return with_diagonal((order > 0) * share)


@dataclass(frozen=True, repr=False)
class SpearmanRho(PairMeasure):
    """Spearman's rank correlation between the ranking and the grades.

    Equal grades share their mean rank.

    From -1 to 1. Without equal scores and missing documents it is `scipy.stats.spearmanr`. Where
    documents share a grade, the ideal ranking has less than 1.

    r[i] is the mean rank of the documents of grade i if the N documents are sorted by grade, the
    lowest first. The value is the sum of ``r[i_m] - r[i_n]`` over all pairs with m above n, divided
    by ``sqrt((N^3 - N) / 3 * sum_n (r[i_n] - mean(r))^2)``. A pair with equal scores counts 0 in
    expectation, and so does a pair of which a document is missing from the list.

    Parameters
    ----------
    k : int, optional
        Cutoff: pairs within it count, over the divisor of the whole list.

    Notes
    -----
    `scipy.stats.spearmanr` gives equal scores their mean rank. It also divides by the standard
    deviation of these ranks, so its value is farther from 0.

    Examples
    --------
    >>> import gapboost as gb
    >>> y_true, y_score = [1, 0, 2, 0], [4.0, 3.0, 2.0, 1.0]
    >>> (value,) = gb.evaluate(gb.SpearmanRho(), y_true, y_score).values()
    >>> round(value, 3)
    0.211
    """

    def tables(self, base: RecallBase) -> tuple[Array, Array]:
        """Return ``pair[i, j] = r[i] - r[j]`` over the divisor; single documents are worth 0."""
        documents = base.counts.astype(np.float64)
        n = documents.sum(axis=1, keepdims=True)
        # A mean of 0 keeps the numbers small, and is what the variance needs.
        rank = np.cumsum(documents, axis=1) - documents / 2 - n / 2
        variance = sums_of(documents, rank**2)[:, None]
        share = reciprocal(np.sqrt((n**3 - n) / 3 * variance))
        return with_diagonal((rank[:, :, None] - rank[:, None, :]) * share[:, :, None])
