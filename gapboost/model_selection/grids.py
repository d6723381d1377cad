"""Threshold probabilities to try.

>>> simplex_grid(2, 4)
[(0.0, 1.0), (0.25, 0.75), (0.5, 0.5), (0.75, 0.25), (1.0, 0.0)]
>>> len(simplex_grid(4, 10))
286
"""

import itertools

import numpy as np

from gapboost.validation import as_integer


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


def simplex_grid(n_grades: int, steps: int) -> list[tuple[float, ...]]:
    """Return all ``C(steps + n_grades - 1, n_grades - 1)`` g with entries in ``1 / steps``.

    Parameters
    ----------
    n_grades : int
        Number of positive grades.
    steps : int
        Steps from 0 to 1.

    Returns
    -------
    list of tuple of float
        In ascending order.

    Raises
    ------
    ValueError
        If a number is not whole and >= 1.

    Examples
    --------
    >>> from gapboost.model_selection import simplex_grid
    >>> simplex_grid(2, 2)
    [(0.0, 1.0), (0.5, 0.5), (1.0, 0.0)]

    Only g in which each grade is the threshold of some users:

    >>> [g for g in simplex_grid(2, 4) if min(g) > 0]
    [(0.25, 0.75), (0.5, 0.5), (0.75, 0.25)]
    """
    n_grades, steps = as_integer(n_grades, "n_grades"), as_integer(steps, "steps")
    points = []
    # A point of the lattice is a way to set n_grades - 1 bars among the steps.
    for bars in itertools.combinations(range(steps + n_grades - 1), n_grades - 1):
        counts = np.diff([-1, *bars, steps + n_grades - 1]) - 1
        points.append(tuple(int(count) / steps for count in counts))
    return points
