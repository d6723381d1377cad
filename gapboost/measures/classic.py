"""Measures of documents that are relevant or not, and of gains from 0 to 1.

>>> import gapboost as gb
>>> measures = ["ap", "precision@2", "recall@2", "rprecision", "rbp(p=0.5)", "insq"]
>>> values = gb.evaluate(measures, y_true=[1, 0, 2, 0], y_score=[4.0, 3.0, 2.0, 1.0])
>>> [round(value, 3) for value in values.values()]
[0.833, 0.5, 0.5, 0.5, 0.625, 0.485]
"""

from dataclasses import dataclass
from functools import partial

import numpy as np

from gapboost.data import Array, RecallBase, at_least
from gapboost.data.recall_base import lesser, reciprocal
from gapboost.measures.base import DiscountOfQuery, QuadraticForm, with_diagonal, without_pairs
from gapboost.measures.discounts import Constant, Discount, Geometric, InverseSquare, Reciprocal
from gapboost.measures.gains import GainMeasure, as_shares
from gapboost.validation import BELOW_ONE, as_flag, as_integer, as_number, as_relevant, parameter


@dataclass(frozen=True, repr=False)
class AP(QuadraticForm):
    """Average precision, ``sum_n 1/n 1{i_n >= rel} #{m <= n: i_m >= rel} / RB[rel]``.

    It is [qin2008] eq. 2, and eq. 2 of [ferrante2014] with the threshold `rel`.

    Parameters
    ----------
    rel : float, default=1
        The lowest grade that counts as relevant.
    k : int, optional
        Cutoff. The recall base stays complete, as in trec_eval.
    ideal_at_k : bool, default=False
        Divide by ``min(k, RB[rel])`` instead of ``RB[rel]``, so that the best ranking of every
        query has the value 1. This is what LightGBM and XGBoost report as ``map@k``. It changes
        nothing without `k`.

    Notes
    -----
    Documents with equal scores count with the mean over their orders. The ``average_precision``
    of scikit-learn differs where scores are equal, and ``aucpr`` of XGBoost also elsewhere.

    Examples
    --------
    >>> import gapboost as gb
    >>> gb.evaluate(gb.AP(), y_true=[0, 1], y_score=[2.0, 1.0])
    {'ap': 0.5}
    """

    rel: float = parameter(1, as_relevant, always_shown=True, kw_only=True)
    ideal_at_k: bool = parameter(False, as_flag, kw_only=True)

    discount_at = Reciprocal()

    def tables(self, base: RecallBase) -> tuple[Array, Array]:
        """``pair[i, j] = 1{i >= rel, j >= rel} / RB[rel]``, or ``/ min(k, RB[rel])``.

        The second is for `ideal_at_k`.
        """
        shares = shares_of_relevant(base, self.rel, self.k if self.ideal_at_k else None)
        return with_diagonal(lesser(shares))


def shares_of_relevant(base: RecallBase, rel: float, k: int | None = None) -> Array:
    """Return 1 over the number of relevant documents, at most `k`, for relevant levels; else 0.

    The shape is (Q, L).
    """
    count = base.relevant(rel)
    share = reciprocal(count if k is None else np.minimum(count, k))
    return at_least(base.levels, rel) * share[:, None]


@dataclass(frozen=True, repr=False)
class Precision(QuadraticForm):
    """Precision at k, ``#{n <= k: i_n >= rel} / k``, also for a list shorter than k.

    It is [qin2008] eq. 1.

    Parameters
    ----------
    k : int, default=10
        Cutoff.
    rel : float, default=1
        The lowest grade that counts as relevant.

    Examples
    --------
    >>> import gapboost as gb
    >>> gb.evaluate(gb.Precision(k=2), y_true=[1, 0, 2, 0], y_score=[4.0, 3.0, 2.0, 1.0])
    {'precision@2': 0.5}
    """

    k: int = parameter(10, as_integer, always_shown=True, kw_only=True)
    rel: float = parameter(1, as_relevant, kw_only=True)

    @property
    def discount_at(self) -> Discount:
        """``1 / k`` at every rank."""
        return Constant(1.0 / self.k)

    def tables(self, base: RecallBase) -> tuple[Array, Array]:
        """``own[j] = 1{j >= rel}``; no pairs."""
        return without_pairs(at_least(base.levels, self.rel), base)


@dataclass(frozen=True, repr=False)
class Recall(QuadraticForm):
    """Recall at k, ``#{n <= k: i_n >= rel} / RB[rel]``.

    Parameters
    ----------
    k : int, default=10
        Cutoff.
    rel : float, default=1
        The lowest grade that counts as relevant.
    capped : bool, default=False
        Divide by ``min(k, RB[rel])`` instead of ``RB[rel]``, so that the best ranking of every
        query has the value 1.

    Examples
    --------
    >>> import gapboost as gb
    >>> y_true, y_score = [1, 0, 2, 1], [4.0, 3.0, 2.0, 1.0]
    >>> values = gb.evaluate([gb.Recall(k=2), gb.Recall(k=2, capped=True)], y_true, y_score)
    >>> [round(value, 3) for value in values.values()]
    [0.333, 0.5]
    """

    k: int = parameter(10, as_integer, always_shown=True, kw_only=True)
    rel: float = parameter(1, as_relevant, kw_only=True)
    capped: bool = parameter(False, as_flag, kw_only=True)

    discount_at = Constant(1.0)

    def tables(self, base: RecallBase) -> tuple[Array, Array]:
        """``own[j] = 1{j >= rel} / RB[rel]``, or ``/ min(k, RB[rel])``; no pairs."""
        shares = shares_of_relevant(base, self.rel, self.k if self.capped else None)
        return without_pairs(shares, base)


class WeightedPrecision(GainMeasure):
    """A weighted mean over all ranks, down to infinity, of gains from 0 to 1 [moffat2012].

    Subclasses are dataclasses with the fields `rel` and `gains`.
    """

    rel: float

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.gains is not None and self.rel != 1:
            raise ValueError(f"rel is {self.rel!r}, but gains are given too; expected one of them")

    def gain(self, levels: Array) -> Array:
        """See `GainMeasure.gain`; without `gains`, relevant grades have the gain 1."""
        return at_least(levels, self.rel) if self.gains is None else super().gain(levels)


@dataclass(frozen=True, repr=False)
class RBP(WeightedPrecision):
    """Rank-biased precision, ``(1 - p) sum_n p^(n - 1) gain[i_n]`` [moffat2008].

    Parameters
    ----------
    p : float, default=0.8
        Probability to look at the next document, between 0 and 1.
    rel : float, default=1
        Lowest relevant grade. Relevant documents have the gain 1, others 0.
    gains : sequence of float, optional
        Gain of grade 0, 1, ..., from 0 to 1, instead of `rel`. Gains of fractional grades are
        interpolated linearly.
    k : int, optional
        Cutoff.

    Examples
    --------
    >>> import gapboost as gb
    >>> gb.evaluate(gb.RBP(p=0.5), y_true=[1, 0, 2, 0], y_score=[4.0, 3.0, 2.0, 1.0])
    {'rbp(p=0.5)': 0.625}
    """

    p: float = parameter(0.8, partial(as_number, high=BELOW_ONE), always_shown=True)
    rel: float = parameter(1, as_relevant, kw_only=True)
    gains: tuple[float, ...] | None = parameter(None, as_shares)

    @property
    def discount_at(self) -> Discount:
        """``(1 - p) p^(rank - 1)``."""
        return Geometric(self.p)


@dataclass(frozen=True, repr=False)
class INSQ(WeightedPrecision):
    """INSQ, ``sum_n gain[i_n] / (n + 2 t - 1)^2`` over the sum of all these weights [moffat2012].

    A user who hopes for `t` relevant documents goes on from rank n with probability
    ``((n + 2 t - 1) / (n + 2 t))^2``. The deeper the user is, the more likely it is that the user
    goes on, where in `RBP` the probability stays the same.

    Parameters
    ----------
    t : float, default=1
        Number of relevant documents that the user hopes for, above 0.
    rel : float, default=1
        Lowest relevant grade. Relevant documents have the gain 1, others 0.
    gains : sequence of float, optional
        Gain of grade 0, 1, ..., from 0 to 1, instead of `rel`. Gains of fractional grades are
        interpolated linearly.
    k : int, optional
        Cutoff.

    Examples
    --------
    >>> import gapboost as gb
    >>> (value,) = gb.evaluate(gb.INSQ(t=0.5), y_true=[0, 1], y_score=[2.0, 1.0]).values()
    >>> round(value, 3)
    0.152
    """

    t: float = parameter(1.0, as_number, always_shown=True)
    rel: float = parameter(1, as_relevant, kw_only=True)
    gains: tuple[float, ...] | None = parameter(None, as_shares)

    @property
    def discount_at(self) -> Discount:
        """``1 / (rank + 2 t - 1)^2`` over its sum over all ranks."""
        return InverseSquare(self.t)


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
    >>> gb.evaluate(gb.RPrecision(), y_true=[1, 0, 2, 0], y_score=[4.0, 3.0, 2.0, 1.0])
    {'rprecision': 0.5}
    """

    rel: float = parameter(1, as_relevant, kw_only=True)

    def weights_of(self, base: RecallBase, query: Array, ranks: Array) -> Array:
        """1 down to rank ``RB[rel]``."""
        return (ranks <= base.relevant(self.rel)[query]).astype(np.float64)

    def tables(self, base: RecallBase) -> tuple[Array, Array]:
        """``own[j] = 1{j >= rel} / RB[rel]``; no pairs."""
        return without_pairs(shares_of_relevant(base, self.rel), base)
