"""The quadratic form of almost all measures, from the arrays that compiled code reads."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from gapboost._data.recall_base import RecallBase
from gapboost._kernels import Array
from gapboost._kernels.expected_value import Ranked, evaluate_form
from gapboost._kernels.expected_worth import evaluate_worth
from gapboost._kernels.worth import Worth
from gapboost.measures.arrays import checked_arrays
from gapboost.measures.measure import Measure
from gapboost.measures.metaclass import MeasureType
from gapboost.measures.swaps import changes_of
from gapboost.measures.worth import Stated, tables_from, worth_from

# Methods that follow from `discount_at`, unless a measure overrides them.
DISCOUNTS = ("depth", "discount", "discounts")


@dataclass(frozen=True, repr=False)
class QuadraticForm(Measure):
    """Measure ``M = sum_n discount[n] (own[i_n] + sum_{m<n} pair[i_m, i_n])`` up to rank `k`.

    Such a measure is data: evaluation, swap changes, objectives and analyses all read `discounts`
    and `tables` and never branch on which measure it is. A subclass defines `short_name`,
    `discount_at`, and `tables` or `worth`.

    Parameters
    ----------
    k : int, optional, keyword-only
        As in `Measure`.

    Examples
    --------
    >>> import gapboost as gb
    >>> [isinstance(measure, gb.measures.QuadraticForm) for measure in (gb.AP(), gb.RR())]
    [True, False]
    """

    def worth(self, base: RecallBase) -> Stated:
        """Return the worth of documents by themselves and below others, by level.

        A measure that defines `worth` gets `tables` from it, and accepts any number of different
        grades in a query. A measure that defines only `tables` accepts up to 64.

        Parameters
        ----------
        base : RecallBase
            As in `tables`.

        Returns
        -------
        own : float64 ndarray of shape (Q, L)
        pairs : tuple of Pairs
            Terms; their sum is the worth of a document below another (`gapboost.measures.worth`).
        """
        raise ValueError(
            f"{self!r} has tables of grades by grades, for few different grades in a query; "
            "expected grades rounded to fewer values, or a measure that defines worth()"
        )

    def tables(self, base: RecallBase) -> tuple[Array, Array]:
        """Return the worth of pairs and of single documents; define this or `worth`.

        Parameters
        ----------
        base : RecallBase
            Documents of each grade in each query: ``base.counts``, int64 of shape (Q, L), of the L
            grades ``base.levels``.

        Returns
        -------
        pair : float64 ndarray of shape (Q, L, L)
            ``[q, i, j]``: what a document of the grade ``levels[j]`` is worth below one of
            ``levels[i]``.
        own : float64 ndarray of shape (Q, L)
            ``[q, j]``: what a document of the grade ``levels[j]`` is worth by itself. Both arrays
            are C-contiguous; where nothing in a query is relevant, they are 0 for every grade that
            occurs in it.
        """
        return tables_from(self.worth(base), base)

    @property
    def trains(self) -> bool:
        """True."""
        return True

    def evaluated(self, ranked: Ranked, base: RecallBase, weights: Array, begins: Array) -> Array:
        """See `Measure.evaluated`."""
        depth = self.depth(int(np.diff(ranked.starts).max()))
        values = np.empty(len(base))
        if base.many_levels:
            evaluate_worth(ranked, weights, begins, depth, worth_of(self, base), values)
            return values
        pair, own = tables_of(self, base)
        evaluate_form(
            ranked, weights, begins, depth, pair, own, np.empty((2, own.shape[1])), values
        )
        return values

    def relevant(self, base: RecallBase) -> Array:
        """Return True for each query with a document of some worth: bool of shape (Q,)."""
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
        """See `Measure.changes`."""
        (pair,), (own,) = tables_of(self, base)
        weights, _ = self.discounts(base, np.array([len(grades)]))
        return changes_of(grades, pair, own, weights)

    @property
    def _addition_key(self) -> Any:
        own_discount = any(
            getattr(type(self), name) is not getattr(Measure, name) for name in DISCOUNTS
        )
        return self if own_discount else (self.k, self.discount_at)


MeasureType.form = QuadraticForm


def as_form(measure: Measure) -> QuadraticForm:
    """Return a measure that is a quadratic form.

    Raises
    ------
    ValueError
        If it is none.
    """
    if not isinstance(measure, QuadraticForm):
        raise ValueError(
            f"measure is {measure!r}, which is no sum over pairs of documents; expected one such "
            "as nDCG(k=10)"
        )
    return measure


def tables_of(measure: Measure, base: RecallBase) -> tuple[Array, Array]:
    """Return ``pair`` and ``own`` of `QuadraticForm.tables`, checked for compiled code.

    Raises
    ------
    ValueError
        If they are not finite numbers of the shapes that `QuadraticForm.tables` promises, or
        there are none.
    """
    shape = base.counts.shape
    pair, own = checked_arrays(
        measure, "tables", as_form(measure).tables(base), [(*shape, base.n_levels), shape]
    )
    return pair, own


def worth_of(measure: Measure, base: RecallBase) -> Worth:
    """Return `QuadraticForm.worth` by query and level, checked for compiled code.

    Raises
    ------
    ValueError
        If it is not finite numbers of the shapes that `QuadraticForm.worth` promises.
    """
    worth = worth_from(as_form(measure).worth(base), base)
    shape = base.counts.shape
    checked_arrays(measure, "worth", list(worth), [shape, *[(len(worth.above), *shape)] * 5])
    return worth
