"""The quadratic form of almost all measures, from the arrays that compiled code reads."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from gapboost._data.recall_base import RecallBase
from gapboost._kernels import Array
from gapboost._kernels.expected_value import Ranked, evaluate_form
from gapboost.measures.arrays import checked_arrays
from gapboost.measures.measure import Measure
from gapboost.measures.metaclass import MeasureType
from gapboost.measures.swaps import changes_of

# Methods that follow from `discount_at`, unless a measure overrides them.
DISCOUNTS = ("depth", "discount", "discounts")


@dataclass(frozen=True, repr=False)
class QuadraticForm(Measure):
    """Measure ``M = sum_n discount[n] (own[i_n] + sum_{m<n} pair[i_m, i_n])`` up to rank `k`.

    Such a measure is data: evaluation, swap changes, objectives and analyses all read `discounts`
    and `tables` and never branch on which measure it is. A subclass defines `short_name`,
    `discount_at` and `tables`.

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

    @abstractmethod
    def tables(self, base: RecallBase) -> tuple[Array, Array]:
        """Return the worth of pairs and of single documents.

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

    @property
    def trains(self) -> bool:
        """True."""
        return True

    def evaluated(self, ranked: Ranked, base: RecallBase, weights: Array, begins: Array) -> Array:
        """See `Measure.evaluated`."""
        depth = self.depth(int(np.diff(ranked.starts).max()))
        values = np.empty(len(base))
        pair, own = tables_of(self, base)
        evaluate_form(
            ranked, weights, begins, depth, pair, own, np.empty((2, own.shape[1])), values
        )
        return values

    def relevant(self, base: RecallBase) -> Array:
        """Return True for each query with a document of some worth: bool of shape (Q,)."""
        occurs = base.counts > 0
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
