"""The maximum-entropy distribution over grades at each rank, given the value of a measure.

What does a measure's value say about the list it was computed from? [robertson2010] (4.1) and [yilmaz2009] (3.3) answer
with the probabilities p_n(i) of grade i at rank n that have the largest entropy sum_n H(p_n) among those with

    E[M] = v,    sum_n p_n(i) = R_i  for every grade i,    sum_i p_n(i) = 1  at every rank n.

Grades at different ranks are independent under p, so the expected value of every measure of the library is

    E[M] = sum_n discount[n] sum_j p_n(j) (own[j] + sum_{m<n} sum_i p_m(i) pair[i, j]),

read from the measure's own arrays. With g_n(i) the derivative of E[M] by p_n(i), the solution satisfies

    log p_n(i) = mu_i + lambda g_n(i) + const_n,

and is found by Newton's method on these equations in the logits, multipliers and constraints together. The derivative
g_n depends on the other ranks only through the sum of the probabilities above n and the discounted sum of those below,
so with these two sums as further unknowns the linear system has a narrow band, and a step costs O(n c^3).

Newton's method starts at the solution without a measure, p_n(i) = R_i / n, and follows the solution as the value moves
from the expected one there to v, in steps that are halved where it fails. For a measure without pairs the problem is
convex and this is the solution; otherwise it is the stationary point that connects to the start, as every local method
would find it.
"""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import solve_banded
from scipy.special import entr, softmax
from sklearn.exceptions import ConvergenceWarning

from gapboost.analysis.optional import axes, frame
from gapboost.measures import Measure
from gapboost.queries import Array

# Far below what any use of the distribution can notice, and above what rounding leaves.
TOLERANCE = 1e-9

# A constraint that is missed by less than this holds: the equations were then solved for a value as near as that.
REACHED = 1e-7

# Share of the rest of the way to the value below which a step is given up.
SMALLEST_STEP = 1e-3

NEWTON_STEPS = 15


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
        Largest violation of a constraint: by how much the expected measure misses the value, or a grade its count.
    converged : bool
        Whether all constraints hold. Otherwise `probabilities` is the solution for the nearest value that was reached.
    iterations : int
        Newton steps.
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
        """What another measure is expected to be, given the value of this one."""
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
            ax.plot(ranks, self.probabilities[:, grade], label=f"grade {grade}, {self.measure}", **line)
        ax.set(xlabel="rank", ylabel="probability", xscale="log")
        ax.legend()
        return ax


def expected_value(measure: Measure, probabilities: Array, recall_base: Any) -> float:
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
    p = np.asarray(probabilities, dtype=np.float64)
    problem = _Problem(measure, len(p), np.asarray(recall_base), np.arange(p.shape[1]))
    return problem.expected(p)


def maximum_entropy(measure: Measure, value: float, counts: Any, recall_base: Any = None) -> MaximumEntropy:
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
        With ``converged=False``, and a `sklearn.exceptions.ConvergenceWarning`, where no distribution was found: for
        values that no ranking with these counts has, and for the very largest and smallest possible ones, which
        leave nothing to chance.

    Raises
    ------
    ValueError
        Where counts, recall base or value are unusable.

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


def solve(measure: Measure, value: float, counts: Any, recall_base: Any = None) -> MaximumEntropy:
    """As `maximum_entropy`, without the warning."""
    whole = _counts(counts, "counts")
    base = whole if recall_base is None else _counts(recall_base, "recall_base")
    if whole.sum() < 1:
        raise ValueError(f"counts is {whole.tolist()}; expected at least one document")
    width = max(len(whole), len(base))
    whole, base = (np.concatenate([c, np.zeros(width - len(c), dtype=np.int64)]) for c in (whole, base))
    if (base < whole)[1:].any():
        raise ValueError(
            f"recall_base is {base.tolist()}, but {whole.tolist()} are in the ranking; expected at least those from "
            "grade 1 on"
        )
    if not np.isfinite(value):
        raise ValueError(f"value is {value}; expected the finite value of a measure")
    occurring = np.flatnonzero(whole)
    problem = _Problem(measure, int(whole.sum()), base, occurring)
    path = _Path(problem, whole[occurring].astype(np.float64), float(value))
    path.follow()
    probabilities = np.zeros((problem.n, width))
    probabilities[:, occurring] = softmax(path.logits, axis=1)
    missed = np.abs(probabilities.sum(axis=0) - whole).max()
    residual = max(float(missed), abs(problem.expected(probabilities[:, occurring]) - value))
    converged = residual < REACHED
    return MaximumEntropy(measure, float(value), whole, base, probabilities, residual, converged, path.iterations)


def _counts(counts: Any, name: str) -> Array:
    array = np.asarray(counts)
    if array.ndim != 1 or array.dtype.kind not in "iuf" or (array < 0).any() or (array != np.floor(array)).any():
        raise ValueError(f"{name} is {counts!r}; expected one number of documents for each of the grades 0, 1, ...")
    return array.astype(np.int64)


class _Problem:
    """The arrays of a measure for one list, and the expected value with its derivative; only for grades that occur."""

    def __init__(self, measure: Measure, n: int, recall_base: Array, occurring: Array) -> None:
        pair, own = measure.tables(recall_base[None, :])
        self.n = n
        self.pair = pair[0][np.ix_(occurring, occurring)]
        self.own = own[0][occurring]
        self.discount = measure.discount(n)[:, None]

    def expected(self, p: Array) -> float:
        above = np.cumsum(p, axis=0) - p
        return float((self.discount * p * (self.own + above @ self.pair)).sum())

    def derivative(self, p: Array) -> Array:
        """``[n, i]``: derivative of the expected value by p_n(i)."""
        above = np.cumsum(p, axis=0) - p
        weighed = self.discount * p
        below = np.cumsum(weighed[::-1], axis=0)[::-1] - weighed
        derivative: Array = self.discount * (self.own + above @ self.pair) + below @ self.pair.T
        return derivative


class _Path:
    """Newton's method along the solutions between the start without a measure and the wanted value.

    Logits are relative to the first grade that occurs, and so are the multipliers ``mu`` and the derivative.
    """

    def __init__(self, problem: _Problem, counts: Array, value: float) -> None:
        self.problem = problem
        self.counts = counts
        self.value = value
        self.mu = np.log(counts[1:] / counts[0])
        self.logits = np.concatenate([np.zeros((problem.n, 1)), np.tile(self.mu, (problem.n, 1))], axis=1)
        self.multiplier = 0.0
        self.iterations = 0

    def follow(self) -> None:
        """Go to the wanted value, or as far as it goes."""
        start = self.problem.expected(softmax(self.logits, axis=1))
        if len(self.counts) == 1:
            return
        reached, step = 0.0, 1.0
        # A value that leaves nothing to chance is only approached: steps are measured by what is left of the way.
        while reached < 1 and step > SMALLEST_STEP:
            goal = reached + min(1.0, step) * (1 - reached)
            if self.newton(start + goal * (self.value - start)):
                reached, step = goal, 2 * step
            else:
                step /= 2
            if (1 - reached) * abs(self.value - start) < TOLERANCE:
                break

    def newton(self, value: float) -> bool:
        """Solve for a value nearby; where that fails, stay."""
        logits, mu, multiplier = self.logits.copy(), self.mu, self.multiplier
        last = np.inf
        for attempt in range(NEWTON_STEPS):
            self.iterations += 1
            with np.errstate(all="ignore"):
                try:
                    change, d_mu, d_multiplier, missed = self.step(logits, mu, multiplier, value)
                except np.linalg.LinAlgError:
                    return False
            if missed < TOLERANCE:
                self.logits, self.mu, self.multiplier = logits, mu, multiplier
                return True
            # A few steps may first lead away; after that Newton's method converges fast or not at all.
            if not np.isfinite(change).all() or (attempt > 3 and missed > last):
                return False
            last = missed
            logits[:, 1:] += change
            mu = mu + d_mu
            multiplier += d_multiplier
        return False

    def step(self, logits: Array, mu: Array, multiplier: float, value: float) -> tuple[Array, Array, float, float]:
        """One Newton step for logits, mu and lambda, and by how much the equations are missed before it."""
        problem, c = self.problem, len(mu)
        p = softmax(logits, axis=1)
        derivative = problem.derivative(p)
        slope = derivative[:, 1:] - derivative[:, :1]
        equations = mu + multiplier * slope - logits[:, 1:]
        constraints = np.append(self.counts[1:] - p[:, 1:].sum(axis=0), value - problem.expected(p))
        missed = max(float(np.abs(equations).max()), float(np.abs(constraints).max()))
        # dp = covariance dlogits; the right-hand sides are the equations, each mu, and lambda
        covariance = -p[:, 1:, None] * p[:, None, 1:]
        covariance[:, np.arange(c), np.arange(c)] += p[:, 1:]
        sides = np.concatenate(
            [equations[:, :, None], np.broadcast_to(np.eye(c), (problem.n, c, c)), slope[:, :, None]], axis=2
        )
        d_logits = self.banded(covariance, multiplier, sides)
        d_p = covariance @ d_logits
        d_constraints = np.concatenate([d_p.sum(axis=0), np.einsum("na,nab->b", slope, d_p)[None]])
        multipliers = np.linalg.solve(d_constraints[:, 1:], constraints - d_constraints[:, 0])
        change = d_logits[:, :, 0] + d_logits[:, :, 1:] @ multipliers
        return change, multipliers[:-1], float(multipliers[-1]), missed

    def banded(self, covariance: Array, multiplier: float, sides: Array) -> Array:
        """Solve ``dlogits - lambda d(slope) = sides`` for each of the right-hand sides.

        Unknowns of rank n: the change A_n of the probabilities above it, and B_n of the discounted ones below. With
        J_n = covariance_n, d_n = discount[n] and K = pair relative to the first grade,

            dlogits_n = sides_n + lambda (d_n K' A_n + K B_n),
            A_{n+1} = A_n + J_n dlogits_n,        B_{n-1} = B_n + d_n J_n dlogits_n.
        """
        pair, d = self.problem.pair, self.problem.discount[:, :, None]
        relative = pair[1:, 1:] - pair[:1, 1:] - pair[1:, :1] + pair[0, 0]
        n, c = len(covariance), covariance.shape[1]
        if not relative.any():
            return sides
        above = multiplier * d * (covariance @ relative.T)
        below = multiplier * (covariance @ relative)
        band = 3 * c - 1
        matrix = np.zeros((2 * band + 1, 2 * c * n))
        matrix[band] = 1.0
        first = np.arange(n) * 2 * c
        for a in range(c):
            for b in range(c):
                one = float(a == b)
                for row, column, entry in (
                    (first[1:] + a, first[:-1] + b, -(one + above[:-1, a, b])),
                    (first[1:] + a, first[:-1] + c + b, -below[:-1, a, b]),
                    (first[:-1] + c + a, first[1:] + c + b, -(one + d[1:, 0, 0] * below[1:, a, b])),
                    (first[:-1] + c + a, first[1:] + b, -d[1:, 0, 0] * above[1:, a, b]),
                ):
                    matrix[band + row - column, column] = entry
        moved = covariance @ sides
        right = np.zeros((n, 2 * c, sides.shape[2]))
        right[1:, :c] = moved[:-1]
        right[:-1, c:] = d[1:] * moved[1:]
        sums = solve_banded((band, band), matrix, right.reshape(2 * c * n, -1), overwrite_ab=True, check_finite=False)
        sums = sums.reshape(right.shape)
        solution: Array = sides + multiplier * (d * (relative.T @ sums[:, :c]) + relative @ sums[:, c:])
        return solution
