"""Worth of documents by themselves and below others, by level, and the tables made from it.

Most measures define their worth rather than tables.
"""

from typing import NamedTuple

import numpy as np

from gapboost._data.recall_base import RecallBase
from gapboost._kernels import Array
from gapboost._kernels.worth import Worth
from gapboost.measures.arrays import no_pairs


class Pairs(NamedTuple):
    """A term of the worth of a document below another: see `gapboost._kernels.worth`.

    Float64 ndarrays of shape (L,) or (Q, L), by level. `above`, `floor` and `cap` never fall from
    one level to the next.

    Attributes
    ----------
    above
        What the upper document brings.
    cap, floor
        Upper and lower limit of `above`, set by the lower document.
    zero
        The number that counts as nothing: it is subtracted from the limited `above`.
    factor
        Factor of the lower document.
    """

    above: Array
    cap: Array
    factor: Array
    floor: Array | float = 0.0
    zero: Array | float = 0.0

    def table(self) -> Array:
        """``[..., i, j]``: worth of a document of level j below one of level i."""
        brought = np.minimum(self.above[..., :, None], self.cap[..., None, :])
        if np.ndim(self.floor) > 0:
            brought = np.maximum(brought, _row(self.floor)) - _row(self.zero)
        table: Array = brought * self.factor[..., None, :]
        return table

    def itself(self) -> Array:
        """The diagonal of `table`."""
        own: Array = (
            np.maximum(np.minimum(self.above, self.cap), self.floor) - self.zero
        ) * self.factor
        return own

    @property
    def helps(self) -> Array:
        """Bool array: True for levels whose documents may be worth more than 0 below another."""
        helps: Array = (
            np.maximum((self.cap - self.zero) * self.factor, (self.floor - self.zero) * self.factor)
            > 0
        )
        return helps


def _row(numbers: Array | float) -> Array:
    return np.asarray(numbers)[..., None, :]


# What each level is worth by itself, of shape (Q, L), and the terms of what it is worth below
# others.
Stated = tuple[Array, tuple[Pairs, ...]]


def in_pairs(base: RecallBase, pairs: Pairs) -> Stated:
    """One term with ``own[j] = pair[j, j]``: a document counts its own relevance too."""
    return for_each_query(pairs.itself(), base), (pairs,)


def alone(worth: Array, base: RecallBase) -> Stated:
    """The worth of levels by themselves, of shape (L,) or (Q, L); no pairs."""
    return for_each_query(worth, base), ()


def for_each_query(worth: Array, base: RecallBase) -> Array:
    """Numbers by level, of shape (L,) or (Q, L), as float64 of shape (Q, L)."""
    return np.array(np.broadcast_to(worth, base.counts.shape), dtype=np.float64, order="C")


def tables_from(stated: Stated, base: RecallBase) -> tuple[Array, Array]:
    """Return ``pair`` and ``own`` of `QuadraticForm.tables`."""
    own, pairs = stated
    if not pairs:
        return no_pairs(base), own
    table = pairs[0].table()
    for term in pairs[1:]:
        table += term.table()
    return table, own


def worth_from(stated: Stated, base: RecallBase) -> Worth:
    """Return the worth by query and level, as arrays for compiled code."""
    own, pairs = stated
    shape = base.counts.shape

    def stacked(numbers: list[Array]) -> Array:
        return np.array(
            [np.broadcast_to(each, shape) for each in numbers], dtype=np.float64
        ).reshape(-1, *shape)

    return Worth(
        own=for_each_query(own, base),
        above=stacked([term.above for term in pairs]),
        floor=stacked([np.asarray(term.floor) for term in pairs]),
        cap=stacked([term.cap for term in pairs]),
        zero=stacked([np.asarray(term.zero) for term in pairs]),
        factor=stacked([term.factor for term in pairs]),
    )
