"""The maximum-entropy distribution over grades at each rank, given the value of a measure.

How informative is the value of a measure about its list? [robertson2010] (4.1) and [yilmaz2009]
(3.3) answer with the probabilities p_n(i) of grade i at rank n that have the largest entropy
sum_n H(p_n) among those with

    E[M] = v,    sum_n p_n(i) = R_i  for every grade i,    sum_i p_n(i) = 1  at every rank n.

R_i counts the documents in the list; those that it lacks only enter M, through the recall base.

Grades at different ranks are independent under p, so the expected value of every measure of the
library is

    E[M] = sum_n discount[n] sum_j p_n(j) (own[j] + sum_{m<n} sum_i p_m(i) pair[i, j]),

read from the measure's own arrays. `gapboost.analysis.newton` solves the problem.
"""

import warnings
from typing import Any

import numpy as np
from scipy.special import entr, softmax
from sklearn.exceptions import ConvergenceWarning

from gapboost._data.columns import numeric_column
from gapboost._data.judgments import MOST_DOCUMENTS
from gapboost._kernels import Array
from gapboost._pictures import line as styled
from gapboost.analysis.newton import Path, Problem
from gapboost.analysis.result import Result
from gapboost.measures import Measure, as_measure

# A constraint that is missed by less than this holds: the equations were then solved for a value as
# near as that.
REACHED = 1e-7


def expected_value(measure: str | Measure, probabilities: Array, recall_base: Any) -> float:
    """Expected value of a measure where grades are drawn independently at each rank.

    Parameters
    ----------
    measure : Measure
        With its g, where it has one.
    probabilities : array-like of shape (n, c + 1)
        Probability of each grade at each rank.
    recall_base : array-like of shape (c + 1,)
        Documents of each grade in the collection.
    """
    measure = as_measure(measure)
    base = _counts(recall_base, "recall_base")
    try:
        p = np.asarray(probabilities, dtype=np.float64)
    except (TypeError, ValueError):
        p = np.empty(0)
    if p.ndim != 2 or p.shape[1] != len(base) or not (p >= 0).all() or not np.isfinite(p).all():
        raise ValueError(
            f"probabilities is {probabilities!r}; expected numbers >= 0 of shape (n, {len(base)}): "
            "one column for each of the grades of recall_base"
        )
    return Problem(measure, len(p), base, np.arange(p.shape[1])).expected(p)


def maximum_entropy(
    measure: str | Measure, value: float, counts: Any, recall_base: Any = None
) -> Result:
    """Return the maximum-entropy distribution of grades over ranks given the value of a measure.

    Parameters
    ----------
    measure : Measure
        With its g, where it has one.
    value : float
        Value of the measure for a ranking with these counts.
    counts : array-like of shape (c + 1,)
        Documents of grade 0, 1, ..., c in the ranking; their sum is its length.
    recall_base : array-like of shape (c + 1,), optional
        Documents of each grade in the collection, where the ranking lacks some.

    Returns
    -------
    Result
        Its table has ranks as rows and a column of probabilities for each grade. Attributes:

        * ``probabilities``: float64 of shape (n, c + 1), ``[n - 1, i]`` of grade i at rank n.
        * ``entropy``: sum over the ranks, in nats.
        * ``residual``: largest violation of a constraint: by how much the expected measure misses
          the value, or a grade its count.
        * ``converged``: True if all constraints hold. Otherwise the solution is that for the
          nearest value that was reached.
        * ``iterations``: Newton steps.
        * ``measure``, ``value``, ``counts``, ``recall_base``.

    Raises
    ------
    ValueError
        If counts, recall base or value are unusable.

    Warns
    -----
    sklearn.exceptions.ConvergenceWarning
        If no distribution was found: for values that no ranking with these counts has, and for the
        very largest and smallest possible ones, which leave nothing to chance.

    Examples
    --------
    >>> import gapboost as gb
    >>> solution = maximum_entropy(gb.GAP(g=(0.5, 0.5)), 0.7, counts=[17, 2, 1])
    >>> solution.converged, solution.probabilities.sum(axis=0).round(3).tolist()
    (True, [17.0, 2.0, 1.0])
    """
    solution = solve(measure, value, counts, recall_base)
    if not solution.converged:
        warnings.warn(
            f"no maximum-entropy distribution was found with {measure!r} = {value:g} and counts "
            f"{solution.counts.tolist()}: a constraint is missed by {solution.residual:.2g}",
            ConvergenceWarning,
            stacklevel=2,
        )
    return solution


def solve(measure: str | Measure, value: float, counts: Any, recall_base: Any = None) -> Result:
    """Compute `maximum_entropy` without its warning."""
    measure = as_measure(measure)
    whole = _counts(counts, "counts")
    base = whole if recall_base is None else _counts(recall_base, "recall_base")
    if whole.sum() < 1:
        raise ValueError(f"counts is {whole.tolist()}; expected at least one document")
    width = max(len(whole), len(base))
    whole, base = (np.pad(c, (0, width - len(c))) for c in (whole, base))
    if (base < whole)[1:].any():
        raise ValueError(
            f"recall_base is {base.tolist()}, but {whole.tolist()} are in the ranking; expected at "
            "least those from grade 1 on"
        )
    if not isinstance(value, int | float | np.integer | np.floating) or not np.isfinite(value):
        raise ValueError(f"value is {value!r}; expected the finite value of a measure")
    occurring = np.flatnonzero(whole)
    problem = Problem(measure, int(whole.sum()), base, occurring)
    path = Path(problem, whole[occurring].astype(np.float64), float(value))
    path.follow()
    probabilities = np.zeros((problem.n, width))
    probabilities[:, occurring] = softmax(path.logits, axis=1)
    missed = np.abs(probabilities.sum(axis=0) - whole).max()
    residual = max(float(missed), abs(problem.expected(probabilities[:, occurring]) - value))
    grades = {f"grade {i}": probabilities[:, i] for i in range(width)}
    return Result(
        {"rank": np.arange(1, problem.n + 1), **grades},
        ["rank"],
        _draw,
        measure=measure,
        value=float(value),
        counts=whole,
        recall_base=base,
        probabilities=probabilities,
        entropy=float(entr(probabilities).sum()),
        residual=residual,
        converged=residual < REACHED,
        iterations=path.iterations,
    )


def _counts(counts: Any, name: str) -> Array:
    expected = "one number of documents for each of the grades 0, 1, ..."
    array = numeric_column(counts, name, expected, expected)
    usable = (array >= 0) & (array == np.floor(array)) & (array <= MOST_DOCUMENTS)
    if len(array) == 0 or not usable.all():
        raise ValueError(f"{name} is {counts!r}; expected {expected}")
    return array.astype(np.int64)


def _draw(solution: Result, ax: Any, **line: Any) -> None:
    """Draw the probability of each positive grade against the rank."""
    ranks = np.arange(1, len(solution.probabilities) + 1)
    for grade in range(1, solution.probabilities.shape[1]):
        style = styled(len(ax.get_lines()), marked=False)
        style |= {"label": f"grade {grade}, {solution.measure}"} | line
        ax.plot(ranks, solution.probabilities[:, grade], **style)
    ax.set(xlabel="rank", ylabel="probability", xscale="log")
