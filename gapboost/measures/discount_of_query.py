"""Measures whose discount depends on the query."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from gapboost._data.recall_base import RecallBase
from gapboost._kernels import Array
from gapboost.measures.form import QuadraticForm


@dataclass(frozen=True, repr=False)
class DiscountOfQuery(QuadraticForm):
    """Measure of the form whose discount depends on the query: `weights_of`, no `discount_at`."""

    discount_at: ClassVar[None] = None

    @property
    def trains(self) -> bool:
        """False: objectives need one discount for all queries."""
        return False

    @abstractmethod
    def weights_of(self, base: RecallBase, query: Array, ranks: Array) -> Array:
        """Weights at whole ranks as if there were no cut-off.

        Parameters
        ----------
        base : RecallBase
        query : int ndarray of shape (N,)
            The number of the query in `base` that each rank belongs to.
        ranks : float64 ndarray of shape (N,)

        Returns
        -------
        float64 ndarray of shape (N,)
        """

    def discounts(self, base: RecallBase, sizes: Array) -> tuple[Array, Array]:
        """See `Measure.discounts`; the weights of one query follow those of another."""
        ends = np.cumsum(sizes, dtype=np.int64)
        begins = ends - sizes
        ranks = np.arange(1.0, ends[-1] + 1) - np.repeat(begins, sizes)
        weights = self.weights_of(base, np.repeat(np.arange(len(sizes)), sizes), ranks)
        return np.where(ranks <= (np.inf if self.k is None else self.k), weights, 0.0), begins
