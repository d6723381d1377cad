"""Measures of a user who stops at a document that satisfies: RR, ERR and Success.

They do not fit the form of the others: what a document is worth falls by a factor with every
document above it. `LambdaRank` trains for them pair by pair; SoftRank and ApproxRank do not.

>>> import gapboost as gb
>>> measures = [gb.RR(), gb.ERR(top=2), gb.Success(k=1)]
>>> gb.evaluate(measures, y_true=[0, 1, 2], y_score=[3.0, 2.0, 1.0])
{'rr': 0.5, 'err(top=2)': 0.3125, 'success@1': 0.0}
"""

import math
from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from gapboost._kernels.expected_value import Ranked, evaluate_cascade
from gapboost.data import Array, RecallBase, at_least
from gapboost.measures.base import Evaluator, Measure
from gapboost.measures.discounts import Constant, Reciprocal
from gapboost.validation import as_integer, as_relevant, parameter


class Cascade(Measure):
    """``sum_n discount[n] stop[i_n] prod_{m<n} (1 - stop[i_m])``."""

    trains = True

    discount_at: ClassVar[Any] = Reciprocal()

    @abstractmethod
    def stops(self, levels: Array) -> Array:
        """Probability to stop at a document of each of these grades, float64 of their shape."""

    def evaluator(self, base: RecallBase, sizes: Array) -> Evaluator:
        """See `Measure.evaluator`.

        A group of t tied documents, of which R can satisfy, costs O(t R).
        """
        longest = int(sizes.max())
        stops, discount = np.atleast_2d(self.stops(base.levels)), self.discount(longest)

        def evaluated(ranked: Ranked) -> Array:
            values, reaching = np.empty(len(base)), np.empty(longest + 1)
            evaluate_cascade(ranked, discount, self.depth(longest), stops, reaching, values)
            return values

        return evaluated

    def relevant(self, base: RecallBase) -> Array:
        """See `Measure.relevant`."""
        return np.asarray(np.any((base.counts > 0) & (self.stops(base.levels) > 0), axis=1))


@dataclass(frozen=True, repr=False)
class RR(Cascade):
    """Reciprocal rank, 1 over the rank of the first relevant document; 0 where none is in the list.

    Parameters
    ----------
    rel : float, default=1
        The lowest grade that counts as relevant.
    k : int, optional
        Cutoff: 0 where none is among the first k.

    Examples
    --------
    >>> import gapboost as gb
    >>> gb.evaluate(gb.RR(rel=2), y_true=[1, 2, 0], y_score=[3.0, 2.0, 1.0])
    {'rr(rel=2)': 0.5}
    """

    rel: float = parameter(1, as_relevant, kw_only=True)

    def stops(self, levels: Array) -> Array:
        """1 from grade `rel` on."""
        return at_least(levels, self.rel).astype(np.float64)


@dataclass(frozen=True, repr=False)
class Success(RR):
    """Success at k, or hit rate: 1 if one of the first k documents is relevant, else 0.

    Parameters
    ----------
    k : int, default=10
        Cutoff.
    rel : float, default=1
        The lowest grade that counts as relevant.

    Examples
    --------
    >>> import gapboost as gb
    >>> y_true, y_score, qid = [0, 1, 1, 0], [4.0, 3.0, 2.0, 1.0], ["a", "a", "b", "b"]
    >>> gb.evaluate(gb.Success(k=1), y_true, y_score, qid)
    {'success@1': 0.5}
    """

    discount_at = Constant(1.0)

    k: int = parameter(10, as_integer, always_shown=True, kw_only=True)


@dataclass(frozen=True, repr=False)
class ERR(Cascade):
    """Expected reciprocal rank, with ``stop[i] = (2**i - 1) / 2**top`` [chapelle2009].

    Parameters
    ----------
    top : int, optional
        The highest grade of the scale; None: the highest that occurs in the (training) labels.
    k : int, optional
        Cutoff.

    Examples
    --------
    >>> import gapboost as gb
    >>> y_true, y_score = [1, 0, 2, 0], [4.0, 3.0, 2.0, 1.0]
    >>> (value,) = gb.evaluate(gb.ERR(top=2), y_true, y_score).values()
    >>> round(value, 3)
    0.438
    """

    top: int | None = parameter(None, as_integer)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set(highest_grade=math.inf if self.top is None else self.top)

    def resolved(self, occurring: Array) -> Self:
        """Return the measure with ``top=None`` set to the highest grade that occurs."""
        return self if self.top is not None else replace(self, top=max(math.ceil(occurring[-1]), 1))

    def stops(self, levels: Array) -> Array:
        """``(2**i - 1) / 2**top``."""
        assert self.top is not None, f"{self!r} has no top yet: call resolved() first"
        # Grades above it have no document: measures with a top of their own evaluated together.
        grades = np.minimum(levels, self.top)
        stops: Array = np.exp2(grades - self.top) - np.exp2(-float(self.top))
        return stops
