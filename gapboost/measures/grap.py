"""The graded average precision of [moffat2022], in which documents are accepted independently of each other.

It is another measure than `GAP` by almost the same name. GAP has one threshold for all documents of a list, so that a pair is
worth ``G[min(i, j)]``; here it is worth the product of two gains.

>>> import gapboost as gb
>>> gb.evaluate(gb.grAP(gains=(0, 0.5, 1)), y_true=[1, 2, 0], y_score=[3.0, 2.0, 1.0])
{grAP(gains=(0.0, 0.5, 1.0)): 0.6666666666666666}
"""

from dataclasses import dataclass, replace
from typing import Self

from gapboost._data.recall_base import RecallBase
from gapboost._kernels import Array
from gapboost.measures.arrays import diagonal, reciprocal
from gapboost.measures.discounts import Reciprocal
from gapboost.measures.gains import as_gains, gain_of_grades, most_grades
from gapboost.measures.measure import Measure


@dataclass(frozen=True, repr=False)
class grAP(Measure):
    """``sum_n r_n sum_{m<=n} r_m / n`` over the sum of all r, with r the gain of the grade at rank n.

    Parameters
    ----------
    gains : sequence of float, optional
        Gain of grade 0, 1, ..., from 0 to 1; None: the grade over the highest one that occurs in the (training) labels.
    k : int, optional
        Cut-off. The sum of all r stays complete.

    Raises
    ------
    ValueError
        Where `gains` or `k` is not of this kind.

    Notes
    -----
    With binary gains it is average precision. The ideal ranking has less than 1 where gains lie between 0 and 1.

    Examples
    --------
    >>> import gapboost as gb
    >>> (value,) = gb.evaluate(gb.grAP(gains=(0, 0.5, 1)), y_true=[1, 0, 2, 0], y_score=[4.0, 3.0, 2.0, 1.0]).values()
    >>> round(value, 3)
    0.5
    """

    gains: tuple[float, ...] | None = None

    discount_at = Reciprocal()

    def __post_init__(self) -> None:
        super().__post_init__()
        gains = as_gains(self.gains)
        if gains is not None and (isinstance(gains, str) or gains[-1] > 1):
            raise ValueError(f"gains is {self.gains!r}; expected the gain of grade 0, 1, ..., each from 0 to 1")
        object.__setattr__(self, "gains", gains)

    @property
    def short_name(self) -> str:
        """``grap``."""
        return "grap"

    @property
    def whole_grades(self) -> bool:
        """Whether `gains` has one for each whole grade."""
        return isinstance(self.gains, tuple)

    @property
    def n_grades(self) -> int | None:
        """Positive grades that have a gain."""
        return most_grades(self.gains)

    def resolved(self, occurring: Array) -> Self:
        """With the grades over the highest one that occurs for `gains`."""
        if self.gains is not None:
            return self
        top = max(int(occurring[-1]), 1)
        return replace(self, gains=tuple(grade / top for grade in range(top + 1)))

    def tables(self, base: RecallBase) -> tuple[Array, Array]:
        """``pair[i, j] = r[i] r[j]`` over the sum of all r."""
        if self.gains is None:
            raise ValueError(f"{self!r} leaves gains to the data; expected gains, or a call of resolved() first")
        gain = gain_of_grades(self.gains, base.levels)
        pair = (gain[..., :, None] * gain[..., None, :]) * reciprocal(base.total(gain))[:, None, None]
        return pair, diagonal(pair)
