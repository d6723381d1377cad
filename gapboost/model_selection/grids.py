"""Threshold probabilities to try.

>>> simplex_grid(2, 4)
[(0.0, 1.0), (0.25, 0.75), (0.5, 0.5), (0.75, 0.25), (1.0, 0.0)]
>>> simplex_grid(3, 4, full_support=True)
[(0.25, 0.25, 0.5), (0.25, 0.5, 0.25), (0.5, 0.25, 0.25)]
>>> len(simplex_grid(4, 10))
286
"""

import itertools
from typing import Literal

import numpy as np

from gapboost._data.arguments import as_integer, one_of


def uniform_g(n_grades: int) -> tuple[float, ...]:
    """Equal probabilities for `n_grades` positive grades.

    Raises
    ------
    ValueError
        If `n_grades` is not a whole number >= 1.

    Examples
    --------
    >>> uniform_g(4)
    (0.25, 0.25, 0.25, 0.25)
    """
    n_grades = as_integer(n_grades, "n_grades")
    return (1 / n_grades,) * n_grades


def simplex_grid(
    n_grades: int,
    steps: int,
    *,
    full_support: bool = False,
    monotone: Literal["increasing", "decreasing"] | None = None,
) -> list[tuple[float, ...]]:
    """Return all ``C(steps + n_grades - 1, n_grades - 1)`` g with entries in ``1 / steps``.

    Parameters
    ----------
    n_grades : int
        Number of positive grades.
    steps : int
        Steps from 0 to 1.
    full_support : bool, default=False
        Only those without a 0, in which each grade is the threshold of some users.
    monotone : {"increasing", "decreasing"}, optional
        Only those that never fall, or never rise, from grade to grade.

    Returns
    -------
    list of tuple of float
        In ascending order.

    Raises
    ------
    ValueError
        If a number is not whole and >= 1, `monotone` is unknown, or `full_support` leaves
        nothing.

    Examples
    --------
    >>> from gapboost.model_selection import simplex_grid
    >>> simplex_grid(2, 2)
    [(0.0, 1.0), (0.5, 0.5), (1.0, 0.0)]
    """
    n_grades, steps = as_integer(n_grades, "n_grades"), as_integer(steps, "steps")
    one_of(monotone, "monotone", ("increasing", "decreasing", None))
    if full_support and steps < n_grades:
        raise ValueError(
            f"steps is {steps} with full_support; expected at least {n_grades}, one for each grade"
        )
    # A point of the lattice is a way to set n_grades - 1 bars among the steps.
    points = []
    for bars in itertools.combinations(range(steps + n_grades - 1), n_grades - 1):
        counts = np.diff([-1, *bars, steps + n_grades - 1]) - 1
        falls, rises = (np.diff(counts) < 0).any(), (np.diff(counts) > 0).any()
        if full_support and not counts.all():
            continue
        if (monotone == "increasing" and falls) or (monotone == "decreasing" and rises):
            continue
        points.append(tuple(int(c) / steps for c in counts))
    return points
