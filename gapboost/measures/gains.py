"""Gains of grades, and measures of cumulated gain: DCG and nDCG.

>>> import gapboost as gb
>>> gb.evaluate([gb.nDCG(k=2), gb.DCG(k=2)], y_true=[0, 1, 2], y_score=[3.0, 2.0, 1.0])
{nDCG(k=2): 0.17376534287144, DCG(k=2): 0.6309297535714575}
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from gapboost._data.arguments import as_flag
from gapboost._data.recall_base import RecallBase, sums_of
from gapboost._kernels import Array
from gapboost.measures.discounts import DISCOUNTS_BY_NAME, Discount, LogFromBase, as_discount_by
from gapboost.measures.form import QuadraticForm, reciprocal, without_pairs
from gapboost.measures.measure import as_numbers, parameter

# The quotient of two gains must not overflow.
LEAST_GAIN = 1e-100

Gains = str | tuple[float, ...] | None


def as_gains(gains: Any, name: str) -> Gains:
    """Return gains by grade as a tuple of floats, ``"linear"``, or None for exponential ones.

    Raises
    ------
    ValueError
        If they are not finite, begin below 0, fall, or are so small or large that their
        quotients would overflow.
    """
    if gains is None or (isinstance(gains, str) and gains in ("exponential", "linear")):
        return None if gains == "exponential" else gains

    def valid(gains: tuple[float, ...]) -> bool:
        in_range = all(x == 0 or LEAST_GAIN <= x <= 1 / LEAST_GAIN for x in gains)
        return in_range and len(gains) > 1 and list(gains) == sorted(gains)

    expected = (
        "the gains of grade 0, 1, ..., such as (0, 1, 3), never falling, each 0 or from "
        f'{LEAST_GAIN:g} to {1 / LEAST_GAIN:g}; or "exponential" or "linear"'
    )
    return as_numbers(gains, name, valid, expected)


def as_shares(gains: Any, name: str) -> tuple[float, ...] | None:
    """Return `as_gains` of gains from 0 to 1, or None; raise ValueError for others."""
    values = as_gains(gains, name)
    if isinstance(values, str) or (values is not None and values[-1] > 1):
        raise ValueError(
            f"{name} is {gains!r}; expected the gain of grade 0, 1, ..., each from 0 to 1"
        )
    return values


def last_grade(gains: Gains) -> float:
    """Return the last grade that has a gain; infinite if a formula gives all gains."""
    return len(gains) - 1 if isinstance(gains, tuple) else math.inf


def gain_of_grades(gains: Gains, levels: Array) -> Array:
    """Return the gain of each grade, float64; a tuple is interpolated between whole grades."""
    if isinstance(gains, tuple):
        # Grades above the last have no document: measures with gains of their own evaluated
        # together.
        return np.interp(levels, np.arange(len(gains)), gains)
    return levels if gains == "linear" else np.exp2(levels) - 1


@dataclass(frozen=True, repr=False)
class CumulatedGain(QuadraticForm):
    """A measure of gains and a discount of ranks."""

    gains: str | tuple[float, ...] | None = parameter(None, as_gains)
    discount_by: str | float = parameter("log2", as_discount_by)

    @property
    def highest_grade(self) -> float:
        """The last grade that has a gain; infinite if a formula gives all gains."""
        return last_grade(self.gains)

    @property
    def discount_at(self) -> Discount:
        """Discount of each rank, as selected by `discount_by`."""
        if isinstance(self.discount_by, str):
            return DISCOUNTS_BY_NAME[self.discount_by]
        return LogFromBase(self.discount_by)


@dataclass(frozen=True, repr=False)
class DCG(CumulatedGain):
    """Discounted cumulative gain, ``sum_{n<=k} gain[i_n] discount(n)``, without upper bound.

    Parameters
    ----------
    k : int, optional
        Cutoff.
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

    def tables(self, base: RecallBase) -> tuple[Array, Array]:
        """``own[j] = gain[j]``; no pairs."""
        return without_pairs(gain_of_grades(self.gains, base.levels), base)


@dataclass(frozen=True, repr=False)
class nDCG(CumulatedGain):
    """Normalized DCG: ``sum_{n<=k} gain[i_n] discount(n)`` over that of an ideal ranking.

    Parameters
    ----------
    k : int, optional
        Cutoff, of the ideal ranking too.
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

    short_is_zero: bool = parameter(False, as_flag)

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
