"""Measures whose discount depends on the query: R-precision and Q-measure, evaluated only.

>>> import gapboost as gb
>>> gb.evaluate([gb.RPrecision(), gb.QMeasure()], y_true=[1, 0, 2], y_score=[3.0, 2.0, 1.0])
{RPrecision(): 0.5, QMeasure(): 0.75}
"""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from gapboost._data.arguments import as_relevant, positive
from gapboost._data.grades import at_least
from gapboost._data.recall_base import RecallBase
from gapboost._kernels import Array
from gapboost.measures.binary import share_of_relevant
from gapboost.measures.form import QuadraticForm, reciprocal, with_diagonal, without_pairs
from gapboost.measures.gains import Gains, as_gains, gain_of_grades, last_grade
from gapboost.measures.measure import parameter


@dataclass(frozen=True, repr=False)
class DiscountOfQuery(QuadraticForm):
    """Measure of the form whose discount depends on the query: `weights_of`, no `discount_at`."""

    @property
    def trains(self) -> bool:
        """False: objectives need one discount for all queries."""
        return False

    @abstractmethod
    def weights_of(self, base: RecallBase, query: Array, ranks: Array) -> Array:
        """Weights at whole ranks as if there were no cutoff.

        Parameters
        ----------
        base : RecallBase
        query : int ndarray of shape (N,)
            The number of the query in `base` that each rank belongs to.
        ranks : float64 ndarray of shape (N,)

        Returns
        -------
        float64 ndarray of shape (N,)
        """

    def discounts(self, base: RecallBase, sizes: Array) -> tuple[Array, Array]:
        """See `QuadraticForm.discounts`; the weights of one query follow those of another."""
        ends = np.cumsum(sizes, dtype=np.int64)
        begins = ends - sizes
        ranks = np.arange(1.0, ends[-1] + 1) - np.repeat(begins, sizes)
        weights = self.weights_of(base, np.repeat(np.arange(len(sizes)), sizes), ranks)
        return np.where(ranks <= (np.inf if self.k is None else self.k), weights, 0.0), begins


@dataclass(frozen=True, repr=False)
class RPrecision(DiscountOfQuery):
    """R-precision, ``#{n <= RB[rel]: i_n >= rel} / RB[rel]``: precision equals recall.

    Parameters
    ----------
    rel : float, default=1
        The lowest grade that counts as relevant.
    k : int, optional
        Ranks beyond it contribute nothing, even where more documents are relevant.

    Examples
    --------
    >>> import gapboost as gb
    >>> y_true, y_score = [1, 0, 2, 0], [4.0, 3.0, 2.0, 1.0]
    >>> (value,) = gb.evaluate(gb.RPrecision(), y_true, y_score).values()
    >>> round(value, 3)
    0.5
    """

    rel: float = parameter(1, as_relevant)

    def weights_of(self, base: RecallBase, query: Array, ranks: Array) -> Array:
        """1 down to rank ``RB[rel]``."""
        return (ranks <= base.relevant(self.rel)[query]).astype(np.float64)

    def tables(self, base: RecallBase) -> tuple[Array, Array]:
        """``own[j] = 1{j >= rel} / RB[rel]``; no pairs."""
        own = at_least(base.levels, self.rel) * share_of_relevant(base, self.rel)
        return without_pairs(own, base)


def as_gains_by_name(gains: Any, name: str) -> Gains:
    """Return `as_gains`, in which exponential ones have their name: the default is another."""
    return as_gains(gains, name) or "exponential"


@dataclass(frozen=True, repr=False)
class QMeasure(DiscountOfQuery):
    """Mean of ``(C(n) + beta cg(n)) / (n + beta cg*(n))`` over relevant ranks n [sakai2004].

    C(n) relevant documents and a cumulated gain of cg(n) are among the first n, cg*(n) in an ideal
    ranking. Relevant are the documents with a gain.

    Parameters
    ----------
    beta : float, default=1.0
        Stress on the gain; near 0 it is average precision.
    gains : sequence of float, "exponential" or "linear", default="linear"
        Gain of grade 0, 1, ... Gains of fractional grades lie on straight lines between those of
        whole grades.
    k : int, optional
        Cutoff. The recall base stays complete.

    Examples
    --------
    >>> import gapboost as gb
    >>> y_true, y_score = [1, 0, 2, 0], [4.0, 3.0, 2.0, 1.0]
    >>> (value,) = gb.evaluate(gb.QMeasure(), y_true, y_score).values()
    >>> round(value, 3)
    0.75
    """

    beta: float = parameter(1.0, positive)
    gains: str | tuple[float, ...] | None = parameter("linear", as_gains_by_name)

    @property
    def monotone(self) -> bool:
        """False: a document that moves up is measured by a larger ideal gain a rank."""
        return False

    @property
    def highest_grade(self) -> float:
        """The last grade that has a gain; infinite if a formula gives all gains."""
        return last_grade(self.gains)

    def weights_of(self, base: RecallBase, query: Array, ranks: Array) -> Array:
        """``1 / (rank + beta cg*(rank))``."""
        gain = gain_of_grades(self.gains, base.levels)
        weights: Array = 1.0 / (ranks + self.beta * ideal_gain(gain, base, query, ranks))
        return weights

    def tables(self, base: RecallBase) -> tuple[Array, Array]:
        """``pair[i, j] = (1 + beta gain[i]) / R`` where both gain anything."""
        gain = gain_of_grades(self.gains, base.levels)
        relevant = gain > 0
        above = np.where(relevant, 1.0 + self.beta * gain, 0.0)
        factor = relevant * reciprocal(np.where(relevant, base.counts, 0).sum(axis=1))[:, None]
        return with_diagonal(above[..., :, None] * factor[:, None, :])


def ideal_gain(gain: Array, base: RecallBase, query: Array, ranks: Array) -> Array:
    """Cumulated gain of an ideal ranking down to each rank, float64 of shape (N,).

    Parameters
    ----------
    gain : float64 ndarray of shape (L,) or (Q, L)
        By level, never falling.
    base : RecallBase
    query : int ndarray of shape (N,)
        The number of the query in `base` that each rank belongs to.
    ranks : float64 ndarray of shape (N,)
        1, 2, ... in each query.
    """
    n_queries = len(base)
    counts = base.counts[:, ::-1]  # the highest level first
    gains = np.broadcast_to(gain, counts.shape)[:, ::-1]
    nothing = np.zeros((n_queries, 1))
    # Where each level begins, and the gain of all before it; unjudged documents come last.
    ends = np.cumsum(counts, axis=1)
    begins = np.hstack((nothing, ends))
    before = np.hstack((nothing, np.cumsum(gains * counts, axis=1)))
    level = (ranks[:, None] > ends[query]).sum(axis=1)
    here = np.hstack((gains, nothing))[query, level]
    cumulated: Array = before[query, level] + here * (ranks - begins[query, level])
    return cumulated
