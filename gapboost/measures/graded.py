"""Graded average precision and its two extensions, GAP, xGAP and eGAP; and grAP, another one.

A user puts the threshold of relevance at grade k with probability g_k. With G[i] = g_1 + ... + g_i,
R[k] documents of grade k in the query, RB[k] = R[k] + ... + R[c] and w[i] = sum_{k<=i} g_k / RB[k]:

====  =====================  ======================================================
GAP   [robertson2010] 2.2    sum_n 1/n sum_{m<=n} G[min(i_m, i_n)] / sum_k g_k RB[k]
xGAP  [ferrante2014] eq. 5   sum_n 1/n sum_{m<=n} G[min(i_m, i_n)] w[i_n] / G[i_n]
eGAP  [ferrante2014] eq. 6   sum_n 1/n sum_{m<=n} w[min(i_m, i_n)] = sum_k g_k AP_k
====  =====================  ======================================================

>>> import gapboost as gb
>>> gb.evaluate([gb.GAP(g=(0.5, 0.5))], y_true=[1, 2, 0], y_score=[3.0, 2.0, 1.0])
{'gap(g=(0.5, 0.5))': 0.8333333333333333}
"""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from gapboost.data import Array, ArrayLike, RecallBase
from gapboost.data.recall_base import lesser, reciprocal
from gapboost.measures.base import QuadraticForm, with_diagonal
from gapboost.measures.discounts import Reciprocal
from gapboost.measures.gains import GainMeasure, as_numbers, as_shares
from gapboost.validation import as_number, parameter

# Loose enough for a g that went through float32, far tighter than any mistake.
SUM_TOLERANCE = 1e-6


def as_thresholds(g: ArrayLike, name: str = "g") -> tuple[float, ...]:
    """Return threshold probabilities as a tuple of floats; raise ValueError unless their sum is 1.

    The sum may be off by `SUM_TOLERANCE`.
    """
    expected = (
        "one threshold probability for each of the grades 1..c, with sum 1, such as (0.5, 0.5)"
    )
    if hasattr(g, "g"):  # the result of `g_from_clicks`
        raise TypeError(f"{name} is a {type(g).__name__}; expected its attribute g")
    return as_numbers(g, name, lambda g: abs(sum(g) - 1) <= SUM_TOLERANCE, expected)


def as_levels(levels: ArrayLike, name: str) -> tuple[float, ...]:
    """Return the grades at which `g` is given, as a tuple of floats; raise unless they rise."""
    expected = "a grade above 0 for each entry of g, rising, such as (0.25, 0.5, 1.0)"
    return as_numbers(levels, name, lambda levels: bool(np.diff((0, *levels)).min() > 0), expected)


@dataclass(frozen=True, repr=False)
class GradedMeasure(QuadraticForm):
    """Measure over threshold probabilities `g`, one for each positive grade.

    None is uniform over the grades that occur.
    """

    g: tuple[float, ...] | None = parameter(None, as_thresholds)
    levels: tuple[float, ...] | None = parameter(None, as_levels)

    discount_at = Reciprocal()

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.levels is not None and len(self.levels) != len(self.g or ()):
            raise ValueError(
                f"levels is {self.levels!r} and g is {self.g!r}; expected a grade for each entry "
                "of g"
            )
        if self.g is not None:
            self._set(highest_grade=self.levels[-1] if self.levels else len(self.g))

    def resolved(self, occurring: Array) -> Self:
        """Return the measure with ``g=None`` set to equal probabilities of the grades that occur.

        These are the positive grades in `occurring`; other grades get 0. If some grades are
        fractional, the threshold is uniform from 0 to the highest grade.
        """
        if self.g is not None:
            return self
        if (occurring != np.floor(occurring)).any():
            return replace(self, g=(1.0,), levels=(float(occurring[-1]),))
        positive = occurring[occurring > 0]
        if not len(positive):
            raise ValueError("g is None, but all grades are 0; expected g or relevant documents")
        occurs = np.isin(np.arange(1, positive[-1] + 1), positive)
        return replace(self, g=tuple(occurs / len(positive)))

    def thresholds(self, levels: Array) -> tuple[Array, Array]:
        """Return ``g`` and ``G`` of levels: the probability of a threshold at, and up to, each.

        Between the grades at which `g` is given, thresholds are spread evenly.
        """
        assert self.g is not None, f"{self!r} has no g yet: call resolved() first"
        grades = np.arange(1.0, len(self.g) + 1) if self.levels is None else np.array(self.levels)
        before = np.concatenate(([0.0], grades[:-1]))
        # How much of what lies between two of the grades of g comes between each of the levels and
        # the one below it.
        below = np.concatenate((np.zeros((*levels.shape[:-1], 1)), levels[..., :-1]), axis=-1)
        shares = np.minimum(levels[..., None], grades) - np.maximum(below[..., None], before)
        g = (np.maximum(shares, 0.0) / (grades - before)) @ np.array(self.g)
        return g, np.cumsum(g, axis=-1)

    def _w(self, base: RecallBase, g: Array) -> Array:
        return np.cumsum(g * reciprocal(base.at_or_above), axis=1)


@dataclass(frozen=True, repr=False)
class GAP(GradedMeasure):
    """Graded average precision ([robertson2010] 2.2, [ferrante2014] eq. 4).

    ``sum_n 1/n sum_{m<=n} G[min(i_m, i_n)] / sum_k g_k RB[k]`` with the grade i_n at rank n,
    ``G[i] = g_1 + ... + g_i`` and RB[k] documents of grade k or higher.

    Parameters
    ----------
    g : sequence of float, optional
        g_k is the share of users who accept grade k and higher, and nothing lower; non-negative,
        sum 1. None: uniform over the grades that occur in the (training) labels.
    levels : sequence of float, optional
        The grades at which `g` is given; None: 1, 2, ... Thresholds are spread evenly between them,
        so that fractional grades have their probability too.
    k : int, optional
        Cutoff.

    Raises
    ------
    ValueError
        If `g` or `k` is not of this kind.

    Examples
    --------
    >>> GAP(g=(0.5, 0.5), k=10)
    GAP(g=(0.5, 0.5), k=10)
    """

    def tables(self, base: RecallBase) -> tuple[Array, Array]:
        """``pair[i, j] = min(G[i], G[j]) / E[RB]``, with ``E[RB] = sum_i R[i] G[i]``."""
        _, cumulative = self.thresholds(base.levels)
        total = base.total(cumulative)[:, None, None]
        return with_diagonal(lesser(cumulative) * reciprocal(total))


@dataclass(frozen=True, repr=False)
class xGAP(GradedMeasure):
    """Extended graded average precision, an expectation in the precision ([ferrante2014] eq. 5).

    ``sum_n 1/n sum_{m<=n} G[min(i_m, i_n)] w[i_n] / G[i_n]`` with G and RB as in `GAP` and
    ``w[i] = sum_{k<=i} g_k / RB[k]``.
    Unlike GAP and eGAP it can rise when a lower grade moves above a higher one.

    Parameters
    ----------
    g, levels : sequence of float, optional
        As in `GAP`.
    k : int, optional
        Cutoff.

    Examples
    --------
    >>> import gapboost as gb
    >>> y_true, y_score = [1, 0, 2, 0], [4.0, 3.0, 2.0, 1.0]
    >>> (value,) = gb.evaluate(gb.xGAP(g=(0.5, 0.5)), y_true, y_score).values()
    >>> round(value, 3)
    0.625
    """

    monotone = False

    def tables(self, base: RecallBase) -> tuple[Array, Array]:
        """``pair[i, j] = min(G[i], G[j]) w[j] / G[j]``."""
        g, cumulative = self.thresholds(base.levels)
        factor = self._w(base, g) * reciprocal(cumulative)
        return with_diagonal(lesser(cumulative) * factor[:, None, :])


@dataclass(frozen=True, repr=False)
class eGAP(GradedMeasure):
    """Expected graded average precision, of AP over thresholds ([ferrante2014] eq. 6).

    ``sum_n 1/n sum_{m<=n} w[min(i_m, i_n)]`` with w as in `xGAP`, which is ``sum_k g_k AP_k``.

    Parameters
    ----------
    g, levels : sequence of float, optional
        As in `GAP`.
    k : int, optional
        Cutoff.

    Examples
    --------
    >>> import gapboost as gb
    >>> y_true, y_score = [1, 0, 2, 0], [4.0, 3.0, 2.0, 1.0]
    >>> (value,) = gb.evaluate(gb.eGAP(g=(0.5, 0.5)), y_true, y_score).values()
    >>> round(value, 3)
    0.583
    """

    def tables(self, base: RecallBase) -> tuple[Array, Array]:
        """``pair[i, j] = min(w[i], w[j])``."""
        g, _ = self.thresholds(base.levels)
        return with_diagonal(lesser(self._w(base, g)))


@dataclass(frozen=True, repr=False)
class grAP(GainMeasure):
    """``sum_n r_n sum_{m<=n} r_m / n`` over the sum of all r, the gains of grades [moffat2022].

    It differs from `GAP`, although the names are almost the same: documents are accepted
    independently. GAP has one threshold for all documents of a list, so that a pair is worth
    ``G[min(i, j)]``; here it is worth the product of two gains.

    Parameters
    ----------
    gains : sequence of float, optional
        Gain of grade 0, 1, ..., from 0 to 1; None: the grade over `top`. Gains of fractional grades
        lie on straight lines between those of whole grades.
    top : float, optional
        The highest grade; None: the highest that occurs in the (training) labels.
    k : int, optional
        Cutoff. The sum of all r stays complete.

    Raises
    ------
    ValueError
        If `gains`, `top` or `k` is not of this kind, or there are both gains and a highest
        grade.

    Notes
    -----
    With binary gains it is average precision. The ideal ranking has less than 1 where gains lie
    between 0 and 1.

    Examples
    --------
    >>> import gapboost as gb
    >>> y_true, y_score = [1, 0, 2, 0], [4.0, 3.0, 2.0, 1.0]
    >>> (value,) = gb.evaluate(gb.grAP(gains=(0, 0.5, 1)), y_true, y_score).values()
    >>> round(value, 3)
    0.5
    """

    gains: tuple[float, ...] | None = parameter(None, as_shares)
    top: float | None = parameter(None, as_number)

    discount_at = Reciprocal()

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.gains is not None and self.top is not None:
            raise ValueError(f"top is {self.top!r}, but gains are given too; expected one of them")
        if self.top is not None:
            self._set(highest_grade=self.top)

    def resolved(self, occurring: Array) -> Self:
        """Set ``top=None`` to the highest grade that occurs, unless `gains` are given."""
        if self.gains is not None or self.top is not None:
            return self
        return replace(self, top=float(occurring[-1]))

    def gain(self, levels: Array) -> Array:
        """See `GainMeasure.gain`; without `gains`, the grade over `top`."""
        if self.gains is not None:
            return super().gain(levels)
        assert self.top is not None, f"{self!r} has no top yet: call resolved() first"
        return levels / self.top

    def tables(self, base: RecallBase) -> tuple[Array, Array]:
        """``pair[i, j] = r[i] r[j]`` over the sum of all r."""
        gain = self.gain(base.levels)
        factor = gain * reciprocal(base.total(gain))[:, None]
        return with_diagonal(gain[..., :, None] * factor[:, None, :])
