"""The form of a measure: its grades, the arrays that compiled code reads, and the values and changes that follow."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from gapboost._data.arguments import as_cutoff
from gapboost._data.recall_base import RecallBase
from gapboost._kernels import Array
from gapboost._kernels.expected_value import Ranked, evaluate_form
from gapboost._kernels.expected_worth import evaluate_worth
from gapboost._kernels.worth import Worth
from gapboost.measures.arrays import checked_arrays
from gapboost.measures.discounts import Discount
from gapboost.measures.swaps import changes_of
from gapboost.measures.worth import Stated, tables_from, worth_from


@dataclass(frozen=True, repr=False)
class QuadraticForm(ABC):
    """``M = sum_n discount[n] (own[i_n] + sum_{m<n} pair[i_m, i_n])`` up to the rank `k`; see `gapboost._kernels`."""

    # Whether `tables` and a discount give its value.
    has_tables: ClassVar[bool] = True

    # Whether the discount is the same for all queries.
    has_one_discount: ClassVar[bool] = True

    k: int | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", as_cutoff(self.k))

    @property
    def n_grades(self) -> int | None:
        """Number of positive grades the measure is defined for; None means any."""
        return None

    @property
    def highest_grade(self) -> float:
        """The highest grade that the measure is defined for; infinite where it is for any."""
        return math.inf if self.n_grades is None else self.n_grades

    @property
    def between_whole_grades(self) -> bool:
        """Whether it was told something of whole grades alone, and reads fractional ones between them."""
        return False

    def depth(self, n: int) -> int:
        """Number of ranks with a discount above 0 in a list of `n` documents."""
        return n if self.k is None else min(n, self.k)

    def discount(self, n: int) -> Array:
        """Weights of ranks ``1..n``, float64 of shape (n,), 0 beyond the cut-off."""
        weights, _ = weights_at(self, np.arange(1.0, n + 1))
        return np.where(np.arange(n) < self.depth(n), weights, 0.0)

    def discounts(self, base: RecallBase, sizes: Array) -> tuple[Array, Array]:
        """Weights of the ranks of several queries, 0 beyond the cut-off.

        Parameters
        ----------
        base : RecallBase
            Of the queries.
        sizes : int ndarray of shape (Q,)
            Documents in the list of each query, at least 1.

        Returns
        -------
        weights : float64 ndarray
        begins : int64 ndarray of shape (Q,)
            Rank n of query q weighs ``weights[begins[q] + n - 1]``. All queries begin at 0, unless the discount belongs to
            the query (`DiscountOfQuery`).
        """
        return self.discount(int(sizes.max())), np.zeros(len(sizes), dtype=np.int64)

    @property
    @abstractmethod
    def discount_at(self) -> Discount:
        """Weights at real ranks as if there were no cut-off: what the discount and smooth versions of a measure read.

        A function: a method ``discount_at(self, ranks)`` will do, and so does a value of `gapboost.measures.discounts`. In a
        `WeightedSum`, measures with equal values and one cut-off are one measure of the form. A method is equal to that of no
        other measure. A measure that overrides `depth`, `discount` or `discounts` stays apart too.

        Parameters
        ----------
        ranks : float64 ndarray of any shape
            Ranks >= 1, not necessarily whole.

        Returns
        -------
        weight, slope : float64 ndarrays of the shape of `ranks`
            The weight and its derivative.
        """

    def worth(self, base: RecallBase) -> Stated:
        """What documents are worth by themselves and below others, by level: where this is stated, `tables` follow from it.

        With it a measure is defined for any number of different grades in a query, without it for up to 64.

        Parameters
        ----------
        base : RecallBase
            As in `tables`.

        Returns
        -------
        own : float64 ndarray of shape (Q, L)
        pairs : tuple of Pairs
            Terms whose sum a document is worth below another one (`gapboost.measures.worth`).
        """
        raise ValueError(
            f"{self!r} has tables of grades by grades, for few different grades in a query; expected grades rounded to "
            "fewer values, or a measure that defines worth()"
        )

    def tables(self, base: RecallBase) -> tuple[Array, Array]:
        """The worth of pairs and of single documents; a measure defines this, or `worth`.

        Parameters
        ----------
        base : RecallBase
            Documents of each grade in each query: ``base.counts``, int64 of shape (Q, L), of the L grades ``base.levels``.

        Returns
        -------
        pair : float64 ndarray of shape (Q, L, L)
            ``[q, i, j]``: what a document of the grade ``levels[j]`` is worth below one of ``levels[i]``.
        own : float64 ndarray of shape (Q, L)
            ``[q, j]``: what a document of the grade ``levels[j]`` is worth by itself. Both arrays are C-contiguous; where
            nothing in a query is relevant, they are 0 for every grade that occurs in it.
        """
        return tables_from(self.worth(base), base)

    def evaluated(self, ranked: Ranked, base: RecallBase, weights: Array, begins: Array) -> Array:
        """The value of each query, its expectation over the orders of tied documents.

        Parameters
        ----------
        ranked : Ranked
            Queries in order of rank.
        base : RecallBase
            Of the queries.
        weights, begins
            Of these queries, as `discounts` returns them.

        Returns
        -------
        float64 ndarray of shape (Q,)
        """
        depth = self.depth(int(np.diff(ranked.starts).max()))
        values = np.empty(len(base))
        if base.many_levels:
            evaluate_worth(ranked, weights, begins, depth, worth_of(self, base), values)
            return values
        pair, own = tables_of(self, base)
        evaluate_form(ranked, weights, begins, depth, pair, own, np.empty((2, own.shape[1])), values)
        return values

    def relevant(self, base: RecallBase) -> Array:
        """Whether anything in a query is worth anything, bool of shape (Q,)."""
        occurs = base.counts > 0
        if base.many_levels:
            own, pairs = self.worth(base)
            worth = own > 0
            for term in pairs:
                worth |= term.helps
            return np.asarray(np.any(worth & occurs, axis=1))
        pair, own = tables_of(self, base)
        worth = np.any((own > 0) & occurs, axis=1)
        worth |= np.any((pair > 0) & occurs[:, :, None] & occurs[:, None, :], axis=(1, 2))
        return np.asarray(worth)

    def changes(self, grades: Array, base: RecallBase) -> Array:
        """The upper triangle of `swap_changes` for one checked list, whose grades are numbers of levels of `base`."""
        (pair,), (own,) = tables_of(self, base)
        weights, _ = self.discounts(base, np.array([len(grades)]))
        return changes_of(grades, pair, own, weights)


def tables_of(measure: QuadraticForm, base: RecallBase) -> tuple[Array, Array]:
    """``pair`` and ``own`` of `QuadraticForm.tables`, as compiled code trusts them.

    Raises
    ------
    ValueError
        Where they are not finite numbers of the shapes that `QuadraticForm.tables` promises.
    """
    shape = base.counts.shape
    pair, own = checked_arrays(measure, "tables", measure.tables(base), [(*shape, base.n_levels), shape])
    return pair, own


def worth_of(measure: QuadraticForm, base: RecallBase) -> Worth:
    """`QuadraticForm.worth` by query and level, as compiled code trusts it.

    Raises
    ------
    ValueError
        Where it is not finite numbers of the shapes that `QuadraticForm.worth` promises.
    """
    worth = worth_from(measure.worth(base), base)
    shape = base.counts.shape
    checked_arrays(measure, "worth", list(worth), [shape, *[(len(worth.above), *shape)] * 5])
    return worth


def weights_at(measure: QuadraticForm, ranks: Array) -> tuple[Array, Array]:
    """``weight`` and ``slope`` of `QuadraticForm.discount_at`, as compiled code trusts them.

    Raises
    ------
    ValueError
        Where they are not finite numbers of the shape of `ranks`.
    """
    weight, slope = checked_arrays(measure, "discount_at", measure.discount_at(ranks), [ranks.shape] * 2)
    return weight, slope
