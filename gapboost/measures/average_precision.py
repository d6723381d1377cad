"""Average precision: the mean precision at the ranks of relevant documents.

>>> import gapboost as gb
>>> gb.evaluate([gb.AP()], y_true=[1, 0, 2], y_score=[3.0, 2.0, 1.0])
{AP(rel=1): 0.8333333333333333}
"""

from dataclasses import dataclass, field

import numpy as np

from gapboost._data.arguments import as_flag, as_relevant
from gapboost._data.grades import at_least
from gapboost._data.recall_base import RecallBase
from gapboost._kernels import Array
from gapboost.measures.arrays import lesser, reciprocal, with_diagonal
from gapboost.measures.discounts import Reciprocal
from gapboost.measures.form import QuadraticForm


@dataclass(frozen=True, repr=False)
class AP(QuadraticForm):
    """Average precision, ``sum_n 1/n 1{i_n >= rel} #{m <= n: i_m >= rel} / RB[rel]``.

    Parameters
    ----------
    rel : float, default=1
        The lowest grade that counts as relevant.
    k : int, optional
        Cut-off. The recall base stays complete, as in trec_eval.
    ideal_at_k : bool, default=False
        Divide by ``min(k, RB[rel])`` instead of ``RB[rel]``, so that the best ranking of every
        query has the value 1. This is what LightGBM and XGBoost report as ``map@k``. It changes
        nothing without `k`.

    Examples
    --------
    >>> import gapboost as gb
    >>> (value,) = gb.evaluate(gb.AP(), y_true=[1, 0, 2, 0], y_score=[4.0, 3.0, 2.0, 1.0]).values()
    >>> round(value, 3)
    0.833
    """

    rel: float = field(default=1, metadata={"always_shown": True})
    ideal_at_k: bool = False

    discount_at = Reciprocal()

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "rel", as_relevant(self.rel))
        object.__setattr__(self, "ideal_at_k", as_flag(self.ideal_at_k, "ideal_at_k"))

    @property
    def short_name(self) -> str:
        """``ap``."""
        return "ap"

    def tables(self, base: RecallBase) -> tuple[Array, Array]:
        """``pair[i, j] = 1{i >= rel, j >= rel} / RB[rel]``, or ``/ min(k, RB[rel])``.

        The second is for `ideal_at_k`.
        """
        relevant = at_least(base.levels, self.rel).astype(np.float64)
        count = base.relevant(self.rel)
        if self.ideal_at_k and self.k is not None:
            count = np.minimum(count, self.k)
        return with_diagonal(lesser(relevant) * reciprocal(count)[:, None, None])
