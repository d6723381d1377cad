"""Recall at a cut-off, and R-precision, whose cut-off is the number of relevant documents.

>>> import gapboost as gb
>>> y_true, y_score = [1, 0, 2, 1], [4.0, 3.0, 2.0, 1.0]
>>> gb.evaluate([gb.Recall(k=2), gb.RPrecision()], y_true, y_score)
{Recall(k=2): 0.3333333333333333, RPrecision(): 0.6666666666666666}
"""

from dataclasses import dataclass

import numpy as np

from gapboost._data.arguments import as_relevant
from gapboost._data.grades import at_least
from gapboost._data.recall_base import RecallBase
from gapboost._kernels import Array
from gapboost.measures.arrays import reciprocal, without_pairs
from gapboost.measures.discount_of_query import DiscountOfQuery
from gapboost.measures.discounts import Constant
from gapboost.measures.precision import RelevantAtCutoff


def shares(base: RecallBase, rel: float) -> tuple[Array, Array]:
    """``own[j] = 1{j >= rel} / RB[rel]``, and no pairs."""
    share = reciprocal(base.relevant(rel))[:, None]
    return without_pairs(at_least(base.levels, rel) * share, base)


@dataclass(frozen=True, repr=False)
class Recall(RelevantAtCutoff):
    """Recall at k, ``#{n <= k: i_n >= rel} / RB[rel]``.

    Parameters
    ----------
    k : int, default=10
        Cut-off.
    rel : float, default=1
        The lowest grade that counts as relevant.

    Examples
    --------
    >>> import gapboost as gb
    >>> y_true, y_score = [1, 0, 2, 0], [4.0, 3.0, 2.0, 1.0]
    >>> (value,) = gb.evaluate(gb.Recall(k=2), y_true, y_score).values()
    >>> round(value, 3)
    0.5
    """

    discount_at = Constant(1.0)

    @property
    def short_name(self) -> str:
        """``recall``."""
        return "recall"

    def tables(self, base: RecallBase) -> tuple[Array, Array]:
        """``own[j] = 1{j >= rel} / RB[rel]``; no pairs."""
        return shares(base, self.rel)


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
    >>> y_true, y_score = [1, 0, 2, 0], [4.0, 3.0, 2.0, 1.0]
    >>> (value,) = gb.evaluate(gb.RPrecision(), y_true, y_score).values()
    >>> round(value, 3)
    0.5
    """

    rel: float = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "rel", as_relevant(self.rel))

    @property
    def short_name(self) -> str:
        """``rprecision``."""
        return "rprecision"

    def weights_of(self, base: RecallBase, query: Array, ranks: Array) -> Array:
        """1 down to rank ``RB[rel]``."""
        return (ranks <= base.relevant(self.rel)[query]).astype(np.float64)

    def tables(self, base: RecallBase) -> tuple[Array, Array]:
        """``own[j] = 1{j >= rel} / RB[rel]``; no pairs."""
        return shares(base, self.rel)
