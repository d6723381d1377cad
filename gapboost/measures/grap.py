"""Graded average precision of [moffat2022]: documents are accepted independently.

It differs from `GAP`, although the names are almost the same. GAP has one threshold for all
documents of a list, so that a pair is worth ``G[min(i, j)]``; here it is worth the product of two
gains.

>>> import gapboost as gb
>>> gb.evaluate(gb.grAP(gains=(0, 0.5, 1)), y_true=[1, 2, 0], y_score=[3.0, 2.0, 1.0])
{grAP(gains=(0.0, 0.5, 1.0)): 0.6666666666666666}
"""

from dataclasses import dataclass, replace
from typing import Self

from gapboost._data.arguments import positive
from gapboost._data.recall_base import RecallBase
from gapboost._kernels import Array
from gapboost.measures.arrays import reciprocal, with_diagonal
from gapboost.measures.discounts import Reciprocal
from gapboost.measures.form import QuadraticForm
from gapboost.measures.gains import as_gains, gain_of_grades, most_grades


@dataclass(frozen=True, repr=False)
class grAP(QuadraticForm):
    """``sum_n r_n sum_{m<=n} r_m / n`` over the sum of all r, the gains of grades.

    Parameters
    ----------
    gains : sequence of float, optional
        Gain of grade 0, 1, ..., from 0 to 1; None: the grade over `top`. Gains of fractional grades
        lie on straight lines between those of whole grades.
    top : float, optional
        The highest grade; None: the highest that occurs in the (training) labels.
    k : int, optional
        Cut-off. The sum of all r stays complete.

    Raises
    ------
    ValueError
        If `gains`, `top` or `k` is not of this kind, or there are both gains and a highest
        grade.

    Notes
    -----
    With binary gains it is average precision. The ideal ranking has less than 1 where gains lie
    between 0 and 1.

    Examples
    --------
    >>> import gapboost as gb
    >>> y_true, y_score = [1, 0, 2, 0], [4.0, 3.0, 2.0, 1.0]
    >>> (value,) = gb.evaluate(gb.grAP(gains=(0, 0.5, 1)), y_true, y_score).values()
    >>> round(value, 3)
    0.5
    """

    gains: tuple[float, ...] | None = None
    top: float | None = None

    discount_at = Reciprocal()

    def __post_init__(self) -> None:
        super().__post_init__()
        gains = as_gains(self.gains)
        if gains is not None and (isinstance(gains, str) or gains[-1] > 1):
            raise ValueError(
                f"gains is {self.gains!r}; expected the gain of grade 0, 1, ..., each from 0 to 1"
            )
        object.__setattr__(self, "gains", gains)
        if self.top is not None:
            if gains is not None:
                raise ValueError(
                    f"top is {self.top!r}, but gains are given too; expected one of them"
                )
            object.__setattr__(self, "top", positive(self.top, "top"))

    @property
    def short_name(self) -> str:
        """``grap``."""
        return "grap"

    @property
    def n_grades(self) -> int | None:
        """Positive grades that have a gain."""
        return most_grades(self.gains)

    @property
    def highest_grade(self) -> float:
        """`top`, or the last grade that has a gain."""
        return super().highest_grade if self.top is None else self.top

    def resolved(self, occurring: Array) -> Self:
        """Set ``top=None`` to the highest grade that occurs, unless `gains` are given."""
        return (
            self
            if self.gains is not None or self.top is not None
            else replace(self, top=float(occurring[-1]))
        )

    def tables(self, base: RecallBase) -> tuple[Array, Array]:
        """``pair[i, j] = r[i] r[j]`` over the sum of all r."""
        if self.gains is None and self.top is None:
            raise ValueError(
                f"{self!r} has no top yet; expected gains or a top, or a call of resolved() first"
            )
        gain = (
            gain_of_grades(self.gains, base.levels) if self.top is None else base.levels / self.top
        )
        factor = gain * reciprocal(base.total(gain))[:, None]
        return with_diagonal(gain[..., :, None] * factor[:, None, :])
