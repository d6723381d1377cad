"""Precision at a cut-off.

>>> import gapboost as gb
>>> gb.evaluate([gb.Precision(k=2)], y_true=[1, 0, 2], y_score=[3.0, 2.0, 1.0])
{Precision(k=2): 0.5}
"""

from dataclasses import dataclass, field

from gapboost._data.arguments import as_relevant
from gapboost._data.grades import at_least
from gapboost._data.recall_base import RecallBase
from gapboost._kernels import Array
from gapboost.measures.arrays import without_pairs
from gapboost.measures.discounts import Constant, Discount
from gapboost.measures.form import QuadraticForm


@dataclass(frozen=True, repr=False)
class RelevantAtCutoff(QuadraticForm):
    """``#{n <= k: i_n >= rel}`` over some number of documents."""

    k: int | None = field(default=10, kw_only=True, metadata={"always_shown": True})
    rel: float = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.k is None:
            raise ValueError(f"k is None; expected a cut-off >= 1: {self.short_name} needs one")
        object.__setattr__(self, "rel", as_relevant(self.rel))


@dataclass(frozen=True, repr=False)
class Precision(RelevantAtCutoff):
    """Precision at k, ``#{n <= k: i_n >= rel} / k``, also for a list shorter than k.

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
    >>> (value,) = gb.evaluate(gb.Precision(k=2), y_true, y_score).values()
    >>> round(value, 3)
    0.5
    """

    @property
    def short_name(self) -> str:
        """``precision``."""
        return "precision"

    @property
    def discount_at(self) -> Discount:
        """``1 / k`` at every rank."""
        assert self.k is not None
        return Constant(1.0 / self.k)

    def tables(self, base: RecallBase) -> tuple[Array, Array]:
        """``own[j] = 1{j >= rel}``; no pairs."""
        return without_pairs(at_least(base.levels, self.rel), base)
