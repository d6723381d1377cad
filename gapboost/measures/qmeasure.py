"""Q-measure: average precision with a blended ratio of precision and cumulated gain.

>>> import gapboost as gb
>>> gb.evaluate([gb.QMeasure()], y_true=[1, 0, 2], y_score=[3.0, 2.0, 1.0])
{QMeasure(): 0.75}
"""

from dataclasses import dataclass

import numpy as np

from gapboost._data.arguments import positive
from gapboost._data.recall_base import RecallBase
from gapboost._kernels import Array
from gapboost.measures.arrays import reciprocal, with_diagonal
from gapboost.measures.discount_of_query import DiscountOfQuery
from gapboost.measures.gains import Gains, as_gains, gain_of_grades, ideal_gain, most_grades


@dataclass(frozen=True, repr=False)
class QMeasure(DiscountOfQuery):
    """Mean of ``(C(n) + beta cg(n)) / (n + beta cg*(n))`` over relevant ranks n [sakai2004].

    C(n) relevant documents and a cumulated gain of cg(n) are among the first n, cg*(n) in an ideal
    ranking. Relevant are the documents with a gain.

    Parameters
    ----------
    beta : float, default=1.0
        Stress on the gain; near 0 it is average precision.
    gains : sequence of float, "exponential" or "linear", default="linear"
        Gain of grade 0, 1, ... Gains of fractional grades lie on straight lines between those of
        whole grades.
    k : int, optional
        Cut-off. The recall base stays complete.

    Examples
    --------
    >>> import gapboost as gb
    >>> y_true, y_score = [1, 0, 2, 0], [4.0, 3.0, 2.0, 1.0]
    >>> (value,) = gb.evaluate(gb.QMeasure(), y_true, y_score).values()
    >>> round(value, 3)
    0.75
    """

    beta: float = 1.0
    gains: Gains = "linear"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "beta", positive(self.beta, "beta"))
        gains = as_gains(self.gains)
        object.__setattr__(self, "gains", "exponential" if gains is None else gains)

    @property
    def monotone(self) -> bool:
        """False: a document that moves up is measured by a larger ideal gain a rank."""
        return False

    @property
    def short_name(self) -> str:
        """``qmeasure``."""
        return "qmeasure"

    @property
    def n_grades(self) -> int | None:
        """Positive grades that have a gain."""
        return most_grades(self.gains)

    def weights_of(self, base: RecallBase, query: Array, ranks: Array) -> Array:
        """``1 / (rank + beta cg*(rank))``."""
        weights: Array = 1.0 / (
            ranks
            + self.beta * ideal_gain(gain_of_grades(self.gains, base.levels), base, query, ranks)
        )
        return weights

    def tables(self, base: RecallBase) -> tuple[Array, Array]:
        """``pair[i, j] = (1 + beta gain[i]) / R`` where both gain anything."""
        gain = gain_of_grades(self.gains, base.levels)
        relevant = gain > 0
        above = np.where(relevant, 1.0 + self.beta * gain, 0.0)
        factor = relevant * reciprocal(np.where(relevant, base.counts, 0).sum(axis=1))[:, None]
        return with_diagonal(above[..., :, None] * factor[:, None, :])
