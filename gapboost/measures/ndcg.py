"""Discounted cumulative gain, DCG and nDCG.

>>> import gapboost as gb
>>> gb.evaluate([gb.nDCG(k=2), gb.DCG(k=2)], y_true=[0, 1, 2], y_score=[3.0, 2.0, 1.0])
{nDCG(k=2): 0.17376534287144, DCG(k=2): 0.6309297535714575}
"""

from dataclasses import dataclass

import numpy as np

from gapboost._data.arguments import as_flag
from gapboost._data.recall_base import RecallBase, sums_of
from gapboost._kernels import Array
from gapboost.measures.arrays import reciprocal, without_pairs
from gapboost.measures.discounts import DISCOUNTS_BY_NAME, Discount, LogFromBase, as_discount_by
from gapboost.measures.form import QuadraticForm
from gapboost.measures.gains import Gains, as_gains, gain_of_grades, most_grades


@dataclass(frozen=True, repr=False)
class CumulatedGain(QuadraticForm):
    """A measure of gains and a discount of ranks."""

    gains: Gains = None
    discount_by: str | float = "log2"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "gains", as_gains(self.gains))
        object.__setattr__(self, "discount_by", as_discount_by(self.discount_by))

    @property
    def n_grades(self) -> int | None:
        """Positive grades with a gain; None if gains are ``2**grade - 1`` or the grades."""
        return most_grades(self.gains)

    @property
    def discount_at(self) -> Discount:
        """Discount of each rank, as selected by `discount_by`."""
        return (
            DISCOUNTS_BY_NAME[self.discount_by]
            if isinstance(self.discount_by, str)
            else LogFromBase(self.discount_by)
        )


@dataclass(frozen=True, repr=False)
class DCG(CumulatedGain):
    """Discounted cumulative gain, ``sum_{n<=k} gain[i_n] discount(n)``, without upper bound.

    Parameters
    ----------
    k : int, optional
        Cut-off.
    gains : sequence of float, "exponential" or "linear", optional
        Gain of grade 0, 1, ...; None and "exponential" are ``2**grade - 1``, "linear" is the grade.
        Gains of fractional grades lie on straight lines between those of whole grades.
    discount_by : {"log2", "letor", "reciprocal"} or float, default="log2"
        ``1 / log2(rank + 1)``; 1, 1, ``1 / log2(3)``, 1 / 2, ...; ``1 / rank``; or the base b of
        ``1 / max(1, log_b(rank))``, which for 2 is LETOR's.

    Examples
    --------
    >>> import gapboost as gb
    >>> (value,) = gb.evaluate(gb.DCG(), y_true=[1, 0, 2, 0], y_score=[4.0, 3.0, 2.0, 1.0]).values()
    >>> round(value, 3)
    2.5
    """

    @property
    def short_name(self) -> str:
        """``dcg``."""
        return "dcg"

    def tables(self, base: RecallBase) -> tuple[Array, Array]:
        """``own[j] = gain[j]``; no pairs."""
        return without_pairs(gain_of_grades(self.gains, base.levels), base)


@dataclass(frozen=True, repr=False)
class nDCG(CumulatedGain):
    """Normalized DCG: ``sum_{n<=k} gain[i_n] discount(n)`` over that of an ideal ranking.

    Parameters
    ----------
    k : int, optional
        Cut-off, of the ideal ranking too.
    gains : sequence of float, "exponential" or "linear", optional
        Gain of grade 0, 1, ...; None and "exponential" are ``2**grade - 1``, "linear" is the grade.
        Gains of fractional grades lie on straight lines between those of whole grades.
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

    short_is_zero: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "short_is_zero", as_flag(self.short_is_zero, "short_is_zero"))

    @property
    def short_name(self) -> str:
        """``ndcg``."""
        return "ndcg"

    def tables(self, base: RecallBase) -> tuple[Array, Array]:
        """``own[j] = gain[j] / ideal DCG``; no pairs."""
        counts, gain = base.counts, gain_of_grades(self.gains, base.levels)
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
