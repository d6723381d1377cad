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
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import entr, softmax
from sklearn.exceptions import ConvergenceWarning

from gapboost._data.judgments import MOST_DOCUMENTS
from gapboost._kernels import Array
from gapboost._optional import axes, frame
from gapboost._pictures import legend
from gapboost._pictures import line as styled
from gapboost.analysis.newton import Path, Problem
from gapboost.measures import Measure, as_measure

# A constraint that is missed by less than this holds: the equations were then solved for a value as
# near as that.
REACHED = 1e-7


@dataclass(frozen=True, eq=False)
class MaximumEntropy:
    """The least committed distribution of grades over ranks that explains a measure's value.

    Attributes
    ----------
    measure : Measure
    value : float
        What was asked for.
    counts, recall_base : int64 ndarray of shape (c + 1,)
    probabilities : float64 ndarray of shape (n, c + 1)
        ``[n - 1, i]``: probability of grade i at rank n.
    residual : float
        Largest violation of a constraint: by how much the expected measure misses the value, or a
        grade its count.
    converged : bool
        Whether all constraints hold. Otherwise `probabilities` is the solution for the nearest
        value that was reached.
    iterations : int
        Newton steps.

    Examples
    --------
    >>> from gapboost import analysis
    >>> found = analysis.maximum_entropy("ap", 0.6, [3, 2])
    >>> found.relevance().round(2).tolist()
    [0.25, 0.37, 0.43, 0.46, 0.49]
    """

    measure: Measure
    value: float
    counts: Array
    recall_base: Array
    probabilities: Array
    residual: float
    converged: bool
    iterations: int

    @property
    def entropy(self) -> float:
        """Sum over the ranks, in nats."""
        return float(entr(self.probabilities).sum())

    def relevance(self, rel: int = 1) -> Array:
        """Probability of a grade of at least `rel` at each rank, float64 of shape (n,)."""
        relevant: Array = self.probabilities[:, rel:].sum(axis=1)
        return relevant

    def expected(self, measure: Measure) -> float:
        """Return the expected value of another measure, given the value of this one."""
        return expected_value(measure, self.probabilities, self.recall_base)

    def to_pandas(self) -> Any:
        """Ranks as rows, one column of probabilities for each grade."""
        n, n_grades = self.probabilities.shape
        columns = {f"grade {i}": self.probabilities[:, i] for i in range(n_grades)}
        return frame({"rank": np.arange(1, n + 1), **columns}, ["rank"])

    def plot(self, ax: Any = None, **line: Any) -> Any:
        """Probability of each positive grade against the rank; returns the axes."""
        ax = axes(ax)
        ranks = np.arange(1, len(self.probabilities) + 1)
        for grade in range(1, self.probabilities.shape[1]):
            style = (
                styled(len(ax.get_lines()), marked=False)
                | {"label": f"grade {grade}, {self.measure}"}
                | line
            )
            ax.plot(ranks, self.probabilities[:, grade], **style)
        ax.set(xlabel="rank", ylabel="probability", xscale="log")
        legend(ax)
        return ax


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
) -> MaximumEntropy:
    """The maximum-entropy distribution of grades over ranks given the value of a measure.

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
    MaximumEntropy
        With ``converged=False``, and a `sklearn.exceptions.ConvergenceWarning`, where no
        distribution was found: for values that no ranking with these counts has, and for the very
        largest and smallest possible ones, which leave nothing to chance.

    Raises
    ------
    ValueError
        If counts, recall base or value are unusable.

    Examples
    --------
    >>> import gapboost as gb
    >>> solution = maximum_entropy(gb.GAP(g=(0.5, 0.5)), 0.7, counts=[17, 2, 1])
    >>> solution.converged, round(solution.expected(gb.GAP(g=(0.5, 0.5))), 6)
    (True, 0.7)
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


def solve(
    measure: str | Measure, value: float, counts: Any, recall_base: Any = None
) -> MaximumEntropy:
    """Compute `maximum_entropy` without its warning."""
    measure = as_measure(measure)
    whole = _counts(counts, "counts")
    base = whole if recall_base is None else _counts(recall_base, "recall_base")
    if whole.sum() < 1:
        raise ValueError(f"counts is {whole.tolist()}; expected at least one document")
    width = max(len(whole), len(base))
    whole, base = (
        np.concatenate([c, np.zeros(width - len(c), dtype=np.int64)]) for c in (whole, base)
    )
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
    converged = residual < REACHED
    return MaximumEntropy(
        measure, float(value), whole, base, probabilities, residual, converged, path.iterations
    )


def _counts(counts: Any, name: str) -> Array:
    try:
        array = np.asarray(counts)
    except ValueError:
        array = np.empty((0, 0))
    if (
        array.ndim != 1
        or len(array) == 0
        or array.dtype.kind not in "iuf"
        or not np.isfinite(array).all()
        or (array < 0).any()
        or (array != np.floor(array)).any()
        or (array > MOST_DOCUMENTS).any()
    ):
        raise ValueError(
            f"{name} is {counts!r}; expected one number of documents for each of the grades 0, 1, "
            "..."
        )
    return array.astype(np.int64)
