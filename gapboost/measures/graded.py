"""Graded average precision and its two extensions: GAP, xGAP, eGAP.

A user puts the threshold of relevance at grade k with probability g_k. With G[i] = g_1 + ... + g_i,
R[k] documents of grade k in the query, RB[k] = R[k] + ... + R[c] and w[i] = sum_{k<=i} g_k / RB[k]:

====  =====================  ======================================================
GAP   [robertson2010] eq. 15 sum_n 1/n sum_{m<=n} G[min(i_m, i_n)] / sum_k g_k RB[k]
xGAP  [ferrante2014] eq. 5   sum_n 1/n sum_{m<=n} G[min(i_m, i_n)] w[i_n] / G[i_n]
eGAP  [ferrante2014] eq. 6   sum_n 1/n sum_{m<=n} w[min(i_m, i_n)] = sum_k g_k AP_k
====  =====================  ======================================================

>>> import gapboost as gb
>>> gb.evaluate([gb.GAP(g=(0.5, 0.5))], y_true=[1, 2, 0], y_score=[3.0, 2.0, 1.0])
{GAP(g=(0.5, 0.5)): 0.8333333333333333}
"""

import itertools
import math
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from gapboost._data.arguments import as_floats, ordered
from gapboost._data.recall_base import RecallBase
from gapboost._kernels import Array
from gapboost.measures.arrays import lesser, reciprocal, with_diagonal
from gapboost.measures.discounts import Reciprocal
from gapboost.measures.form import QuadraticForm

# Loose enough for a g that went through float32, far tighter than any mistake.
SUM_TOLERANCE = 1e-6

# Its inverse must not overflow, times the number of documents.
LEAST_PROBABILITY = 1e-100


def as_levels(levels: Any, g: tuple[float, ...] | None) -> tuple[float, ...] | None:
    """Return the grades at which `g` is given, as a tuple of floats.

    Raises
    ------
    ValueError
        If they are not one rising grade above 0 for each entry of `g`.
    """
    if levels is None:
        return None
    try:
        grades = as_floats(levels)
    except (TypeError, ValueError):
        grades = ()
    rising = all(
        0 < low < high < math.inf for low, high in itertools.pairwise((LEAST_PROBABILITY, *grades))
    )
    if g is None or len(grades) != len(g) or not rising:
        raise ValueError(
            f"levels is {levels!r}; expected a grade above 0 for each entry of g, rising, such as "
            "(0.25, 0.5, 1.0)"
        )
    return grades


def as_thresholds(g: Any) -> tuple[float, ...] | None:
    """Return threshold probabilities as a tuple of floats.

    Raises
    ------
    ValueError
        If `g` is not a non-empty sequence of non-negative numbers with sum 1.
    """
    if g is None:
        return None
    if not ordered(g):
        raise ValueError(
            f"g is {g!r}; expected one threshold probability for each of the grades 1..c, such as "
            "(0.5, 0.5)"
        )
    try:
        thresholds = as_floats(g)
    except (TypeError, ValueError):
        raise ValueError(f"g is {g!r}; expected numbers, one for each of the grades 1..c") from None
    if not thresholds:
        raise ValueError(
            "g is empty; expected one threshold probability for each of the grades 1..c"
        )
    if any(math.isnan(x) or x < 0 for x in thresholds):
        raise ValueError(f"g is {thresholds}; expected probabilities, none of them negative or NaN")
    if any(0 < x < LEAST_PROBABILITY for x in thresholds):
        raise ValueError(
            f"g is {thresholds}; expected each to be 0 or at least {LEAST_PROBABILITY:g}"
        )
    if not abs(sum(thresholds) - 1) <= SUM_TOLERANCE:
        raise ValueError(
            f"g is {thresholds} with sum {sum(thresholds):g}; expected probabilities with sum 1"
        )
    return thresholds


@dataclass(frozen=True, repr=False)
class GradedMeasure(QuadraticForm):
    """Measure over threshold probabilities `g`, one for each positive grade.

    None is uniform over the grades that occur.
    """

    g: tuple[float, ...] | None = None
    levels: tuple[float, ...] | None = None

    discount_at = Reciprocal()

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "g", as_thresholds(self.g))
        object.__setattr__(self, "levels", as_levels(self.levels, self.g))

    @property
    def n_grades(self) -> int | None:
        """``len(g)``."""
        return None if self.g is None else len(self.g)

    @property
    def highest_grade(self) -> float:
        """The last of `levels`."""
        return super().highest_grade if self.levels is None else self.levels[-1]

    @property
    def between_whole_grades(self) -> bool:
        """True if `g` is given without `levels`."""
        return self.g is not None and self.levels is None

    def resolved(self, occurring: Array) -> Self:
        """Return the measure with ``g=None`` set to equal probabilities of the grades that occur.

        These are the positive grades in `occurring`; other grades get 0. If some grades are
        fractional, the threshold is uniform from 0 to the highest grade.
        """
        if self.g is not None:
            return self
        if (occurring != np.floor(occurring)).any():
            return replace(self, g=(1.0,), levels=(float(occurring[-1]),))
        positive = [int(i) for i in occurring if i > 0]
        if not positive:
            raise ValueError(
                "g is None and no document has a grade above 0; expected a g or some relevant "
                "documents"
            )
        g = [0.0] * max(positive)
        for i in positive:
            g[i - 1] = 1 / len(positive)
        return replace(self, g=tuple(g))

    def thresholds(self, levels: Array) -> tuple[Array, Array]:
        """Return ``g`` and ``G`` of levels: the probability of a threshold at, and up to, each.

        Between the grades at which `g` is given, thresholds are spread evenly.
        """
        if self.g is None:
            raise ValueError(f"{self!r} has no g yet; expected a g, or a call of resolved() first")
        grades = np.arange(1.0, len(self.g) + 1) if self.levels is None else np.array(self.levels)
        before = np.concatenate(([0.0], grades[:-1]))
        # How much of what lies between two of the grades of g comes between each of the levels and
        # the one below it.
        below = np.concatenate((np.zeros((*levels.shape[:-1], 1)), levels[..., :-1]), axis=-1)
        shares = np.minimum(levels[..., None], grades) - np.maximum(below[..., None], before)
        g = (np.maximum(shares, 0.0) / (grades - before)) @ np.array(self.g)
        return g, np.cumsum(g, axis=-1)

    def _w(self, base: RecallBase, g: Array) -> Array:
        w: Array = np.cumsum(g * reciprocal(base.at_or_above), axis=1)
        return w


@dataclass(frozen=True, repr=False)
class GAP(GradedMeasure):
    """Graded average precision [robertson2010].

    Parameters
    ----------
    g : sequence of float, optional
        Probability that a user accepts documents from grade 1, 2, ... on; non-negative, sum 1.
        None: uniform over the grades that occur in the (training) labels.
    levels : sequence of float, optional
        The grades at which `g` is given; None: 1, 2, ... Thresholds are spread evenly between them,
        so that fractional grades have their probability too.
    k : int, optional
        Cut-off.

    Raises
    ------
    ValueError
        If `g` or `k` is not of this kind.

    Examples
    --------
    >>> GAP(g=(0.5, 0.5), k=10)
    GAP(g=(0.5, 0.5), k=10)
    """

    @property
    def short_name(self) -> str:
        """``gap``."""
        return "gap"

    def tables(self, base: RecallBase) -> tuple[Array, Array]:
        """``pair[i, j] = min(G[i], G[j]) / E[RB]``, with ``E[RB] = sum_i R[i] G[i]``."""
        _, cumulative = self.thresholds(base.levels)
        total = base.total(cumulative)[:, None, None]
        return with_diagonal(lesser(cumulative) * reciprocal(total))


@dataclass(frozen=True, repr=False)
class xGAP(GradedMeasure):
    """Extended graded average precision, the expectation taken inside the precision [ferrante2014].

    Unlike GAP and eGAP it can rise when a lower grade moves above a higher one.

    Parameters
    ----------
    g, levels : sequence of float, optional
        As in `GAP`.
    k : int, optional
        Cut-off.

    Examples
    --------
    >>> import gapboost as gb
    >>> y_true, y_score = [1, 0, 2, 0], [4.0, 3.0, 2.0, 1.0]
    >>> (value,) = gb.evaluate(gb.xGAP(g=(0.5, 0.5)), y_true, y_score).values()
    >>> round(value, 3)
    0.625
    """

    @property
    def monotone(self) -> bool:
        """False."""
        return False

    @property
    def short_name(self) -> str:
        """``xgap``."""
        return "xgap"

    def tables(self, base: RecallBase) -> tuple[Array, Array]:
        """``pair[i, j] = min(G[i], G[j]) w[j] / G[j]``."""
        g, cumulative = self.thresholds(base.levels)
        factor = self._w(base, g) * reciprocal(cumulative)
        return with_diagonal(lesser(cumulative) * factor[:, None, :])


@dataclass(frozen=True, repr=False)
class eGAP(GradedMeasure):
    """Expected graded average precision: the expectation of AP over thresholds [ferrante2014].

    Parameters
    ----------
    g, levels : sequence of float, optional
        As in `GAP`.
    k : int, optional
        Cut-off.

    Examples
    --------
    >>> import gapboost as gb
    >>> y_true, y_score = [1, 0, 2, 0], [4.0, 3.0, 2.0, 1.0]
    >>> (value,) = gb.evaluate(gb.eGAP(g=(0.5, 0.5)), y_true, y_score).values()
    >>> round(value, 3)
    0.583
    """

    @property
    def short_name(self) -> str:
        """``egap``."""
        return "egap"

    def tables(self, base: RecallBase) -> tuple[Array, Array]:
        """``pair[i, j] = min(w[i], w[j])``."""
        g, _ = self.thresholds(base.levels)
        return with_diagonal(lesser(self._w(base, g)))
