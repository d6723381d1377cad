"""Gains of grades, and measures of cumulated gain: DCG, nDCG and Q-measure.

>>> import gapboost as gb
>>> y_true, y_score = [1, 0, 2, 0], [4.0, 3.0, 2.0, 1.0]
>>> gb.evaluate([gb.DCG(), gb.nDCG(k=2), gb.QMeasure()], y_true, y_score)
{'dcg': 2.5, 'ndcg@2': 0.27541155237618664, 'qmeasure': 0.75}
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gapboost.data import Array, ArrayLike, RecallBase
from gapboost.data.grades import HIGHEST_OF_EXPONENTIAL
from gapboost.data.recall_base import reciprocal, sums_of
from gapboost.measures.base import DiscountOfQuery, QuadraticForm, with_diagonal, without_pairs
from gapboost.measures.discounts import DISCOUNTS_BY_NAME, Discount, LogFromBase, as_discount_by
from gapboost.validation import as_flag, as_number, numeric_column, parameter, short_repr

# The inverse of a number must not overflow, nor the quotient of two.
LEAST = 1e-100


def as_numbers(
    values: ArrayLike, name: str, valid: Callable[[tuple[float, ...]], bool], expected: str
) -> tuple[float, ...]:
    """Return values as a tuple of floats; raise ValueError unless they are usable.

    Each must be 0 or from `LEAST` to its inverse, and all together `valid`.
    """
    column = numeric_column(values, name, expected)
    numbers = tuple(map(float, column))
    in_range = (column == 0) | ((column >= LEAST) & (column <= 1 / LEAST))
    if not numbers or not in_range.all() or not valid(numbers):
        raise ValueError(f"{name} is {short_repr(values)}; expected {expected}")
    return numbers


def never_fall(gains: tuple[float, ...]) -> bool:
    """Return True for gains of two grades or more that never fall."""
    return len(gains) > 1 and list(gains) == sorted(gains)


def as_gains(gains: ArrayLike, name: str) -> str | tuple[float, ...]:
    """Return "exponential", "linear", or gains by grade as a tuple of floats."""
    if isinstance(gains, str) and gains in ("exponential", "linear"):
        return gains
    expected = 'the gains of grade 0, 1, ..., never falling; or "exponential" or "linear"'
    return as_numbers(gains, name, never_fall, expected)


def as_shares(gains: ArrayLike, name: str) -> tuple[float, ...]:
    """Return gains by grade from 0 to 1 as a tuple of floats; raise ValueError for others."""
    expected = "the gains of grade 0, 1, ..., never falling, each from 0 to 1"
    return as_numbers(gains, name, lambda g: never_fall(g) and g[-1] <= 1, expected)


class GainMeasure(QuadraticForm):
    """A measure of the gains of grades. Subclasses are dataclasses with the field below."""

    gains: str | tuple[float, ...] | None

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.gains, tuple):
            self._set(highest_grade=len(self.gains) - 1)
        elif self.gains == "exponential":
            self._set(highest_grade=HIGHEST_OF_EXPONENTIAL)

    def gain(self, levels: Array) -> Array:
        """Return the gain of each grade, float64; a tuple is interpolated between whole grades."""
        if isinstance(self.gains, tuple):
            # Grades above the last have no document: measures with gains of their own evaluated
            # together.
            return np.interp(levels, np.arange(len(self.gains)), self.gains)
        return levels if self.gains == "linear" else np.exp2(levels) - 1

    def tables(self, base: RecallBase) -> tuple[Array, Array]:
        """``own[j] = gain[j]``; no pairs."""
        return without_pairs(self.gain(base.levels), base)


@dataclass(frozen=True, repr=False)
class DCG(GainMeasure):
    """Discounted cumulative gain, ``sum_{n<=k} gain[i_n] discount(n)``, without upper bound.

    Parameters
    ----------
    k : int, optional
        Cutoff.
    gains : sequence of float, "exponential" or "linear", default="exponential"
        Gain of grade 0, 1, ...; "exponential" is ``2**grade - 1`` for grades up to 31, "linear" is
        the grade. Gains of fractional grades lie on straight lines between those of whole grades.
    discount_by : {"log2", "letor", "reciprocal"} or float, default="log2"
        ``1 / log2(rank + 1)``; 1, 1, ``1 / log2(3)``, 1 / 2, ...; ``1 / rank``; or the base b of
        ``1 / max(1, log_b(rank))``, which for 2 is LETOR's.

    Examples
    --------
    >>> import gapboost as gb
    >>> gb.evaluate(gb.DCG(), y_true=[1, 0, 2, 0], y_score=[4.0, 3.0, 2.0, 1.0])
    {'dcg': 2.5}
    """

    gains: str | tuple[float, ...] = parameter("exponential", as_gains)
    discount_by: str | float = parameter("log2", as_discount_by)

    @property
    def discount_at(self) -> Discount:
        """Discount of each rank, as selected by `discount_by`."""
        if isinstance(self.discount_by, str):
            return DISCOUNTS_BY_NAME[self.discount_by]
        return LogFromBase(self.discount_by)


@dataclass(frozen=True, repr=False)
class nDCG(DCG):
    """Normalized DCG: ``sum_{n<=k} gain[i_n] discount(n)`` over that of an ideal ranking.

    With the defaults it is [qin2008] eq. 4.

    Parameters
    ----------
    k : int, optional
        Cutoff, of the ideal ranking too.
    gains : sequence of float, "exponential" or "linear", default="exponential"
        Gain of grade 0, 1, ...; "exponential" is ``2**grade - 1`` for grades up to 31, "linear" is
        the grade. Gains of fractional grades lie on straight lines between those of whole grades.
    discount_by : {"log2", "letor", "reciprocal"} or float, default="log2"
        As for `DCG`.
    short_is_zero : bool, default=False
        A query with less than `k` documents, those missing from the list included, counts as one
        with nothing relevant: 0, as in the tables published with LETOR.

    Examples
    --------
    >>> import gapboost as gb
    >>> y_true, y_score = [1, 0, 2, 0], [4.0, 3.0, 2.0, 1.0]
    >>> (value,) = gb.evaluate(gb.nDCG(k=10), y_true, y_score).values()
    >>> round(value, 3)
    0.689
    """

    short_is_zero: bool = parameter(False, as_flag)

    def tables(self, base: RecallBase) -> tuple[Array, Array]:
        """``own[j] = gain[j] / ideal DCG``; no pairs."""
        counts, gain = base.counts, self.gain(base.levels)
        # The ideal ranking fills the ranks grade by grade from the top: its DCG is a sum of
        # differences of the cumulated discount at the edges between grades. Those that gain nothing
        # come last: however many there are, they need no rank.
        longest = self.depth(int(np.where(gain > 0, counts, 0).sum(axis=1).max(initial=0)))
        cumulated = np.concatenate(([0.0], np.cumsum(self.discount(longest))))
        edges = np.minimum(np.cumsum(counts[:, ::-1], axis=1), longest)
        ranks = np.diff(cumulated[edges], axis=1, prepend=0.0)[:, ::-1]
        own = gain * reciprocal(sums_of(ranks, gain))[:, None]
        if self.short_is_zero and self.k is not None:
            own[counts.sum(axis=1) < self.k] = 0.0
        return without_pairs(own, base)


@dataclass(frozen=True, repr=False)
class QMeasure(GainMeasure, DiscountOfQuery):
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
    >>> gb.evaluate(gb.QMeasure(), y_true=[1, 0, 2, 0], y_score=[4.0, 3.0, 2.0, 1.0])
    {'qmeasure': 0.75}
    """

    beta: float = parameter(1.0, as_number)
    gains: str | tuple[float, ...] = parameter("linear", as_gains)

    # A document that moves up is measured by a larger ideal gain a rank.
    monotone = False

    def weights_of(self, base: RecallBase, query: Array, ranks: Array) -> Array:
        """``1 / (rank + beta cg*(rank))``."""
        ideal = ideal_gain(self.gain(base.levels), base, query, ranks)
        return 1.0 / (ranks + self.beta * ideal)

    def tables(self, base: RecallBase) -> tuple[Array, Array]:
        """``pair[i, j] = (1 + beta gain[i]) / R`` where both gain anything."""
        gain = self.gain(base.levels)
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
