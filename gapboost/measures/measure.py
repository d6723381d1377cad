"""What a measure is: a frozen value that fills the three arrays of the quadratic form (see `gapboost.kernels`)."""

from abc import ABC, abstractmethod
from dataclasses import MISSING, dataclass, field, fields
from typing import Any, Self

import numpy as np

Array = np.ndarray[Any, Any]


def as_cutoff(k: Any, name: str = "k") -> int | None:
    """A cut-off as int, or None for the whole list.

    Raises
    ------
    ValueError
        Where `k` is not a whole number >= 1.
    """
    if k is None:
        return None
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
        raise ValueError(f"{name} is {k!r}; expected a whole number of ranks >= 1, or None for the whole list")
    return int(k)


def as_relevant(rel: Any) -> int:
    """The lowest relevant grade as int."""
    if isinstance(rel, bool) or not isinstance(rel, int | np.integer) or rel < 1:
        raise ValueError(f"rel is {rel!r}; expected the lowest relevant grade, a whole number >= 1")
    return int(rel)


@dataclass(frozen=True, repr=False)
class Measure(ABC):
    """A measure of the form ``M = sum_n discount[n] (own[i_n] + sum_{m<n} pair[i_m, i_n])``.

    A measure is data: evaluation, swap changes, objectives and analyses all read `discount` and `tables` and never
    branch on which measure it is. Subclasses are frozen dataclasses; they are hashable, picklable and print as they
    are written.

    Parameters
    ----------
    k : int, optional, keyword-only
        Cut-off: ranks beyond it contribute nothing; the recall base stays complete. None is the whole list.
    """

    k: int | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", as_cutoff(self.k))

    def __repr__(self) -> str:
        shown = []
        # Inherited fields come first in a dataclass; people write the cut-off last.
        for f in sorted(fields(self), key=lambda f: f.name == "k"):
            value = getattr(self, f.name)
            if f.default is MISSING or value != f.default or f.metadata.get("always_shown"):
                shown.append(f"{f.name}={value!r}")
        return f"{type(self).__name__}({', '.join(shown)})"

    @property
    @abstractmethod
    def short_name(self) -> str:
        """Lower-case name by which rankers take the measure and boosters report it."""

    @property
    def n_grades(self) -> int | None:
        """Number of positive grades the measure is defined for; None means any."""
        return None

    def resolved(self, occurring: Array) -> Self:
        """The same measure with what it leaves to the data (``g=None``) taken from the grades that occur."""
        return self

    def depth(self, n: int) -> int:
        """Number of ranks with a discount above 0 in a list of `n` documents."""
        return n if self.k is None else min(n, self.k)

    def discount(self, n: int) -> Array:
        """Weights of ranks ``1..n``, float64 of shape (n,), 0 beyond the cut-off."""
        weights, _ = self.discount_at(np.arange(1.0, n + 1))
        weights[self.depth(n) :] = 0.0
        return weights

    @abstractmethod
    def discount_at(self, ranks: Array) -> tuple[Array, Array]:
        """Weights at real ranks as if there were no cut-off: what the discount and smooth versions of a measure read.

        Parameters
        ----------
        ranks : float64 ndarray of any shape
            Ranks >= 1, not necessarily whole.

        Returns
        -------
        weight, slope : float64 ndarrays of the shape of `ranks`
            The weight and its derivative.
        """

    @abstractmethod
    def tables(self, counts: Array) -> tuple[Array, Array]:
        """The worth of pairs and of single documents.

        Parameters
        ----------
        counts : int ndarray of shape (Q, c + 1)
            Documents of each grade in each query: the recall base.

        Returns
        -------
        pair : float64 ndarray of shape (Q, c + 1, c + 1)
            ``[q, i, j]``: what a document of grade j is worth below one of grade i.
        own : float64 ndarray of shape (Q, c + 1)
            ``[q, j]``: what a document of grade j is worth by itself. Both are 0 in a query where nothing is relevant.
        """


def harmonic(ranks: Array) -> tuple[Array, Array]:
    """``1 / rank`` and its derivative, the discount of every average precision."""
    weight = 1.0 / ranks
    return weight, -weight * weight


def reciprocal(values: Array) -> Array:
    """``1 / values``, and 0 where the value is 0."""
    return np.divide(1.0, values, out=np.zeros(values.shape), where=values > 0)


def at_or_above(counts: Array) -> Array:
    """``[q, k]``: documents of query q with grade k or higher, of the shape of `counts`."""
    return np.cumsum(counts[:, ::-1], axis=1)[:, ::-1]


def diagonal(pair: Array) -> Array:
    """``[q, j] = pair[q, j, j]``, contiguous: the worth of a document counts its own relevance too."""
    return np.ascontiguousarray(np.diagonal(pair, axis1=1, axis2=2))
