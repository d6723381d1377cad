"""The quadratic form of almost all measures, from the arrays that compiled code reads."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from gapboost._data.recall_base import RecallBase
from gapboost._kernels import Array
from gapboost._kernels.expected_value import Ranked, evaluate_form
from gapboost.measures.measure import Measure, checked_arrays


@dataclass(frozen=True, repr=False)
class QuadraticForm(Measure):
    """Measure ``M = sum_n discount[n] (own[i_n] + sum_{m<n} pair[i_m, i_n])`` up to rank `k`.

    Such a measure is data: evaluation, swap changes, objectives and analyses read `discount` and
    `tables` and never branch on which measure it is. A subclass defines `discount_at` and `tables`.

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
            grades ``base.levels``, of shape (L,) or (Q, L).

        Returns
        -------
        pair : float64 ndarray of shape (Q, L, L)
            ``[q, i, j]``: what a document of the grade ``levels[j]`` is worth below one of
            ``levels[i]``.
        own : float64 ndarray of shape (Q, L)
            ``[q, j]``: what a document of the grade ``levels[j]`` is worth by itself. Both arrays
            are 0 for every grade of a query in which nothing is relevant.
        """

    @property
    def trains(self) -> bool:
        """True."""
        return True

    def discounts(self, base: RecallBase, sizes: Array) -> tuple[Array, Array]:
        """Weights of the ranks of several queries, 0 beyond the cutoff.

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
            Rank n of query q weighs ``weights[begins[q] + n - 1]``. All queries begin at 0, unless
            the discount depends on the query (`DiscountOfQuery`).
        """
        return self.discount(int(sizes.max())), np.zeros(len(sizes), dtype=np.int64)

    def evaluated(self, ranked: Ranked, base: RecallBase) -> Array:
        """See `Measure.evaluated`."""
        sizes = np.diff(ranked.starts)
        weights, begins = self.discounts(base, sizes)
        pair, own = tables_of(self, base)
        values, scratch = np.empty(len(base)), np.empty((2, base.n_levels))
        depth = self.depth(int(sizes.max()))
        evaluate_form(ranked, weights, begins, depth, pair, own, scratch, values)
        return values

    def relevant(self, base: RecallBase) -> Array:
        """Return True for each query with a document of some worth: bool of shape (Q,)."""
        occurs = base.counts > 0
        pair, own = tables_of(self, base)
        worth = np.any((own > 0) & occurs, axis=1)
        worth |= np.any((pair > 0) & occurs[:, :, None] & occurs[:, None, :], axis=(1, 2))
        return np.asarray(worth)

    def changes(self, grades: Array, base: RecallBase) -> Array:
        """Return the upper triangle of `swap_changes` for one list, by numbers of levels.

        Let a be the grade at rank p, b the grade at rank q > p, and ::

            C_g[r] = sum_{m<=r} pair[i_m, g]
            E_g[r] = sum_{n<=r} discount[n] pair[g, i_n]

        for the grades i_n at the ranks n. The change is a number known at p and one known at q::

            Delta(p, q) = upper[p, b] + lower[q, a]
            upper[p, g] = discount[p] (own[g] + C_g[p-1] - own[a] - C_a[p-1]) - (E_g[p] - E_a[p])
            lower[q, g] = discount[q] (own[g] + C_g[q-1] + pair[b, g] - pair[g, g] - own[b]
                          - C_b[q-1]) - (E_g[q-1] - E_b[q-1])
        """
        (pair,), (own,) = tables_of(self, base)
        weights, _ = self.discounts(base, np.array([len(grades)]))
        rank, discount = np.arange(len(grades)), weights[:, None]
        c = np.cumsum(pair[grades], axis=0)  # [r, g] = C_g[r]
        e = np.cumsum(discount * pair[:, grades].T, axis=0)  # [r, g] = E_g[r]
        here = discount * (own + c - pair[grades])
        upper = here - e
        upper -= upper[rank, grades][:, None]
        lower = here + discount * (pair[grades] - np.diagonal(pair))
        lower = lower - (e - discount * pair[:, grades].T)
        lower -= lower[rank, grades][:, None]
        changes: Array = np.triu(upper[:, grades] + lower[:, grades].T, 1)
        return changes

    @property
    def merge_key(self) -> Any:
        """See `Measure.merge_key`: cutoff and discount, unless the class computes its own."""
        kind = type(self)
        own = kind.discount is not Measure.discount or kind.depth is not Measure.depth
        return self if own or self.discount_at is None else (self.k, self.discount_at)


def tables_of(measure: Measure, base: RecallBase) -> tuple[Array, Array]:
    """Return ``pair`` and ``own`` of `QuadraticForm.tables`, checked for compiled code.

    Raises
    ------
    ValueError
        If the measure has none, or they are not finite numbers of the promised shapes.
    """
    if not isinstance(measure, QuadraticForm):
        raise ValueError(
            f"measure is {measure!r}, which is no sum over pairs of documents; expected one such "
            "as nDCG(k=10)"
        )
    shape = base.counts.shape
    shapes = [(*shape, base.n_levels), shape]
    pair, own = checked_arrays(measure, "tables", measure.tables(base), shapes)
    return pair, own


def without_pairs(own: Array, base: RecallBase) -> tuple[Array, Array]:
    """Return the tables of a measure without pairs from the worth of levels, (L,) or (Q, L)."""
    by_query = np.array(np.broadcast_to(own, base.counts.shape), dtype=np.float64, order="C")
    return np.zeros((*base.counts.shape, base.n_levels)), by_query


def with_diagonal(pair: Array) -> tuple[Array, Array]:
    """Return ``pair``, and its diagonal as ``own``: a document counts its own relevance too."""
    return pair, np.ascontiguousarray(np.diagonal(pair, axis1=1, axis2=2))


def lesser(amount: Array) -> Array:
    """Return ``[..., i, j]``: the lesser of the amounts of levels i and j."""
    return np.minimum(amount[..., :, None], amount[..., None, :])


def reciprocal(values: Array) -> Array:
    """``1 / values``, and 0 where the value is 0."""
    return np.divide(1.0, values, out=np.zeros(values.shape), where=values > 0)
