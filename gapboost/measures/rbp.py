"""Rank-biased precision and INSQ, whose users go on with a probability that depends on the rank.

>>> import gapboost as gb
>>> measures = [gb.RBP(p=0.5), gb.RBP(p=0.5, gains=(0, 0.5, 1))]
>>> gb.evaluate(measures, y_true=[1, 0, 2], y_score=[3.0, 2.0, 1.0])
{RBP(p=0.5): 0.625, RBP(p=0.5, gains=(0.0, 0.5, 1.0)): 0.375}
>>> gb.evaluate(gb.INSQ(t=1), y_true=[1, 0, 2], y_score=[3.0, 2.0, 1.0])
{INSQ(t=1.0): 0.48454565522825943}
"""

from dataclasses import dataclass, field

from gapboost._data.arguments import as_relevant, positive, probability
from gapboost._data.grades import at_least
from gapboost._data.recall_base import RecallBase
from gapboost._kernels import Array
from gapboost.measures.arrays import without_pairs
from gapboost.measures.discounts import Discount, Geometric, InverseSquare
from gapboost.measures.form import QuadraticForm
from gapboost.measures.gains import as_gains, gain_of_grades, most_grades


class WeightedPrecision(QuadraticForm):
    """A weighted mean over all ranks, down to infinity, of gains from 0 to 1 [moffat2012].

    Subclasses are dataclasses with the two fields below.
    """

    rel: float
    gains: tuple[float, ...] | None

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "rel", as_relevant(self.rel))
        gains = as_gains(self.gains)
        if gains is not None and (isinstance(gains, str) or gains[-1] > 1 or self.rel != 1):
            raise ValueError(
                f"gains is {self.gains!r}; expected the gain of grade 0, 1, ..., each from 0 to 1, "
                "without rel"
            )
        object.__setattr__(self, "gains", gains)

    @property
    def n_grades(self) -> int | None:
        """Positive grades that have a gain; None where grades are relevant or not."""
        return most_grades(self.gains)

    def tables(self, base: RecallBase) -> tuple[Array, Array]:
        """``own[j] = gain[j]``; no pairs."""
        gain = (
            at_least(base.levels, self.rel)
            if self.gains is None
            else gain_of_grades(self.gains, base.levels)
        )
        return without_pairs(gain, base)


@dataclass(frozen=True, repr=False)
class RBP(WeightedPrecision):
    """Rank-biased precision, ``(1 - p) sum_n p^(n - 1) gain[i_n]`` [moffat2008].

    Parameters
    ----------
    p : float, default=0.8
        Probability to look at the next document, between 0 and 1.
    rel : float, default=1
        Lowest relevant grade. Relevant documents have the gain 1, others 0.
    gains : sequence of float, optional
        Gain of grade 0, 1, ..., from 0 to 1, instead of `rel`. Gains of fractional grades are
        interpolated linearly.
    k : int, optional
        Cut-off.

    Examples
    --------
    >>> import gapboost as gb
    >>> y_true, y_score = [1, 0, 2, 0], [4.0, 3.0, 2.0, 1.0]
    >>> (value,) = gb.evaluate(gb.RBP(p=0.8), y_true, y_score).values()
    >>> round(value, 3)
    0.328
    """

    p: float = field(default=0.8, metadata={"always_shown": True})
    rel: float = 1
    gains: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "p", probability(self.p, "p"))

    @property
    def short_name(self) -> str:
        """``rbp``."""
        return "rbp"

    @property
    def discount_at(self) -> Discount:
        """``(1 - p) p^(rank - 1)``."""
        return Geometric(self.p)


@dataclass(frozen=True, repr=False)
class INSQ(WeightedPrecision):
    """INSQ, ``sum_n gain[i_n] / (n + 2 t - 1)^2`` over the sum of all these weights [moffat2012].

    A user who hopes for `t` relevant documents goes on from rank n with probability
    ``((n + 2 t - 1) / (n + 2 t))^2``. The deeper the user is, the more likely it is that the user
    goes on, where in `RBP` the probability stays the same.

    Parameters
    ----------
    t : float, default=1
        Number of relevant documents that the user hopes for, above 0.
    rel : float, default=1
        Lowest relevant grade. Relevant documents have the gain 1, others 0.
    gains : sequence of float, optional
        Gain of grade 0, 1, ..., from 0 to 1, instead of `rel`. Gains of fractional grades are
        interpolated linearly.
    k : int, optional
        Cut-off.

    Examples
    --------
    >>> import gapboost as gb
    >>> y_true, y_score = [1, 0, 2, 0], [4.0, 3.0, 2.0, 1.0]
    >>> (value,) = gb.evaluate(gb.INSQ(t=2), y_true, y_score).values()
    >>> round(value, 3)
    0.318
    """

    t: float = field(default=1.0, metadata={"always_shown": True})
    rel: float = 1
    gains: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "t", positive(self.t, "t"))

    @property
    def short_name(self) -> str:
        """``insq``."""
        return "insq"

    @property
    def discount_at(self) -> Discount:
        """``1 / (rank + 2 t - 1)^2`` over its sum over all ranks."""
        return InverseSquare(self.t)
