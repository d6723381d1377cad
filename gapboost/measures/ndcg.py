"""Normalised discounted cumulative gain.

>>> import gapboost as gb
>>> gb.evaluate([gb.nDCG(k=2)], y_true=[0, 1, 2], y_score=[3.0, 2.0, 1.0])
{nDCG(k=2): 0.17376534287144}
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from gapboost._data.arguments import as_floats
from gapboost._data.queries import Array
from gapboost.measures.measure import Measure, reciprocal

# The quotient of two gains must not overflow.
LEAST_GAIN = 1e-100


def as_gains(gains: Any) -> tuple[float, ...] | None:
    """Gains by grade as a tuple of floats.

    Raises
    ------
    ValueError
        Where they are not finite, begin below 0, fall, or are so small or large that their quotients would overflow.
    """
    if gains is None:
        return None
    try:
        values = as_floats(gains)
    except (TypeError, ValueError):
        values = ()
    if not values:
        raise ValueError(f"gains is {gains!r}; expected the gain of grade 0, 1, ..., such as (0, 1, 3)")
    if len(values) < 2 or not np.isfinite(values).all() or values[0] < 0 or (np.diff(values) < 0).any():
        raise ValueError(f"gains is {values}; expected finite gains of grade 0, 1, ..., from 0 on and never falling")
    if any(0 < x < LEAST_GAIN for x in values) or values[-1] > 1 / LEAST_GAIN:
        raise ValueError(f"gains is {values}; expected each to be 0, or from {LEAST_GAIN:g} to {1 / LEAST_GAIN:g}")
    return values


@dataclass(frozen=True, repr=False)
class nDCG(Measure):
    """Normalised discounted cumulative gain, ``sum_{n<=k} gain[i_n] / log2(n + 1)`` over that of an ideal ranking.

    Parameters
    ----------
    k : int, optional
        Cut-off, of the ideal ranking too.
    gains : sequence of float, optional
        Gain of grade 0, 1, ...; None is ``2**grade - 1``.
    """

    gains: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "gains", as_gains(self.gains))

    @property
    def short_name(self) -> str:
        """``ndcg``."""
        return "ndcg"

    @property
    def n_grades(self) -> int | None:
        """Positive grades that have a gain; None where the gains are ``2**grade - 1``."""
        return None if self.gains is None else len(self.gains) - 1

    def discount_at(self, ranks: Array) -> tuple[Array, Array]:
        """``1 / log2(rank + 1)``."""
        weight = 1.0 / np.log2(ranks + 1)
        return weight, -weight * weight / (np.log(2) * (ranks + 1))

    def tables(self, counts: Array) -> tuple[Array, Array]:
        """``own[j] = gain[j] / ideal DCG``; no pairs."""
        n_grades = counts.shape[1]
        if self.gains is None:
            gain = np.exp2(np.arange(n_grades)) - 1
        else:
            gain = np.array(self.gains + (self.gains[-1],) * n_grades)[:n_grades]
        # The ideal ranking fills the ranks grade by grade from the top: its DCG is a sum of differences of the
        # cumulated discount at the edges between grades.
        # Those that gain nothing come last: however many there are, they need no rank.
        longest = self.depth(int(counts[:, gain > 0].sum(axis=1).max(initial=0)))
        cumulated = np.concatenate(([0.0], np.cumsum(self.discount(longest))))
        edges = np.minimum(np.cumsum(counts[:, ::-1], axis=1), longest)
        ranks = np.diff(cumulated[edges], axis=1, prepend=0.0)[:, ::-1]
        own = gain * reciprocal(ranks @ gain)[:, None]
        return np.zeros((len(counts), n_grades, n_grades)), own
