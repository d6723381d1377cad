"""Gains of grades, a parameter of measures of cumulated gain."""

from typing import Any

import numpy as np

from gapboost._data.arguments import as_floats
from gapboost._data.recall_base import RecallBase
from gapboost._kernels import Array

# The quotient of two gains must not overflow.
LEAST_GAIN = 1e-100

Gains = str | tuple[float, ...] | None


def as_gains(gains: Any) -> Gains:
    """Gains by grade as a tuple of floats, ``"linear"``, or None for exponential ones.

    Raises
    ------
    ValueError
        If they are not finite, begin below 0, fall, or are so small or large that their
        quotients would overflow.
    """
    if gains is None or (isinstance(gains, str) and gains in ("exponential", "linear")):
        return None if gains == "exponential" else gains
    try:
        values = as_floats(gains)
    except (TypeError, ValueError):
        values = ()
    if not values:
        raise ValueError(
            f"gains is {gains!r}; expected the gain of grade 0, 1, ..., such as (0, 1, 3), or "
            '"exponential" or "linear"'
        )
    if (
        len(values) < 2
        or not np.isfinite(values).all()
        or values[0] < 0
        or (np.diff(values) < 0).any()
    ):
        raise ValueError(
            f"gains is {values}; expected finite gains of grade 0, 1, ..., from 0 on and never "
            "falling"
        )
    if any(0 < x < LEAST_GAIN for x in values) or values[-1] > 1 / LEAST_GAIN:
        raise ValueError(
            f"gains is {values}; expected each to be 0, or from {LEAST_GAIN:g} to "
            f"{1 / LEAST_GAIN:g}"
        )
    return values


def most_grades(gains: Gains) -> int | None:
    """Return the number of positive grades with a gain; None if a formula gives all gains."""
    return len(gains) - 1 if isinstance(gains, tuple) else None


def gain_of_grades(gains: Gains, levels: Array) -> Array:
    """Return the gain of each grade, float64; a tuple is interpolated between whole grades."""
    if isinstance(gains, tuple):
        # Grades above the last have no document: measures with gains of their own evaluated
        # together.
        return np.interp(levels, np.arange(len(gains)), gains)
    return levels if gains == "linear" else np.exp2(levels) - 1


def ideal_gain(gain: Array, base: RecallBase, query: Array, ranks: Array) -> Array:
    """Cumulated gain of an ideal ranking down to each rank, float64 of shape (N,).

    Parameters
    ----------
    gain : float64 ndarray of shape (L,) or (Q, L)
        By level, never falling.
    base : RecallBase
    query : int ndarray of shape (N,)
        The number of the query in `base` that each rank belongs to.
    ranks : float64 ndarray of shape (N,)
        1, 2, ... in each query.
    """
    # From the highest level down, as far as each list goes: millions may be missing from it, or it
    # may have more than are judged.
    sizes = np.bincount(query, minlength=len(base))
    ends = np.column_stack(
        (np.minimum(np.cumsum(base.counts[:, ::-1], axis=1), sizes[:, None]), sizes)
    )
    here = np.diff(ends, axis=1, prepend=0)
    worth = np.column_stack(
        (np.broadcast_to(gain, base.counts.shape)[:, ::-1], np.zeros(len(base)))
    )
    before = np.cumsum(np.column_stack((np.zeros(len(base)), worth * here)), axis=1)[:, :-1]
    # Which level each rank of each list falls into, in one row over all of them.
    level = np.repeat(np.arange(here.size), here.ravel())
    at = level[(np.cumsum(sizes) - sizes)[query] + ranks.astype(np.int64) - 1]
    cumulated: Array = before.ravel()[at] + worth.ravel()[at] * (ranks - (ends - here).ravel()[at])
    return cumulated
