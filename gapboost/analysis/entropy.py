"""The maximum-entropy distribution over grades at each rank, given the value of a measure.

How informative is the value of a measure about its list? [robertson2010] (4.1) and [yilmaz2009]
(3.3) answer with the probabilities p_n(i) of grade i at rank n that have the largest entropy
sum_n H(p_n) among those with

    E[M] = v,    sum_n p_n(i) = R_i  for every grade i,    sum_i p_n(i) = 1  at every rank n.

R_i counts the documents in the list; those that it lacks only enter M, through the recall base.

Grades at different ranks are independent under p, so the expected value of every measure of the
library is

    E[M] = sum_n discount[n] sum_j p_n(j) (own[j] + sum_{m<n} sum_i p_m(i) pair[i, j]),

read from the measure's own arrays.

With g_n(i) the derivative of E[M] by p_n(i), the solution satisfies

    log p_n(i) = mu_i + lambda g_n(i) + const_n,

and is found by Newton's method on these equations in the logits, multipliers and constraints
together. The derivative g_n depends on the other ranks only through the sum of the probabilities
above n and the discounted sum of those below, so with these two sums as further unknowns the linear
system has a narrow band, and a step costs O(n c^3).

Newton's method starts at the solution without a measure, p_n(i) = R_i / n, and follows the solution
as the value moves from the expected one there to v, in steps that are halved where it fails. For a
measure without pairs the problem is convex and this is the solution; otherwise it is the stationary
point that connects to the start, as every local method would find it.
"""

import numpy as np
from scipy.linalg import solve_banded
from scipy.special import entr, softmax
from sklearn.exceptions import ConvergenceWarning

from gapboost.analysis.result import Result, draw_columns
from gapboost.data import MOST_DOCUMENTS, Array, ArrayLike, RecallBase, checked_grades
from gapboost.measures import Measure, as_measure
from gapboost.measures.base import QuadraticForm, tables_of
from gapboost.measures.labels import grade_limit
from gapboost.optional import Axes
from gapboost.validation import as_number, finite_column, warn

# A constraint that is missed by less than this holds: the equations were then solved for a value as
# near as that.
REACHED = 1e-7
# Far below what any use of the distribution can notice, and above what rounding leaves.
TOLERANCE = 1e-9
# Share of the rest of the way to the value below which a step is given up.
SMALLEST_STEP = 1e-3
NEWTON_STEPS = 15


def expected_value(
    measure: str | Measure, probabilities: ArrayLike, recall_base: ArrayLike
) -> float:
    """Expected value of a measure where grades are drawn independently at each rank.

    Parameters
    ----------
    measure : Measure
        With its g, where it has one.
    probabilities : array-like of shape (n, c + 1)
        Probability of each grade at each rank.
    recall_base : array-like of shape (c + 1,)
        Documents of each grade in the collection.

    Examples
    --------
    >>> from gapboost import analysis
    >>> analysis.expected_value("p@2", [[0.25, 0.75], [0.5, 0.5]], recall_base=[1, 1])
    0.625
    """
    measure = as_measure(measure)
    base = _counts(recall_base, "recall_base")
    p = np.asarray(probabilities, dtype=np.float64)
    if p.shape[1:] != base.shape or not (np.isfinite(p) & (p >= 0)).all():
        raise ValueError(f"probabilities is {p}; expected numbers >= 0 of shape (n, {len(base)})")
    return Problem(measure, len(p), base, np.arange(p.shape[1])).expected(p)


def maximum_entropy(
    measure: str | Measure, value: float, counts: ArrayLike, recall_base: ArrayLike | None = None
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
        If counts, recall base or value are unusable, or a grade is beyond those of the measure.

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
        warn(
            f"no maximum-entropy distribution was found with {measure!r} = {value:g} and counts "
            f"{solution.counts.tolist()}: a constraint is missed by {solution.residual:.2g}",
            ConvergenceWarning,
        )
    return solution


def solve(
    measure: str | Measure, value: float, counts: ArrayLike, recall_base: ArrayLike | None = None
) -> Result:
    """Compute `maximum_entropy` without its warning."""
    measure = as_measure(measure)
    whole = _counts(counts, "counts")
    base = whole if recall_base is None else _counts(recall_base, "recall_base")
    width = max(len(whole), len(base))
    whole, base = (np.pad(c, (0, width - len(c))) for c in (whole, base))
    if not whole.any() or (base < whole)[1:].any():
        raise ValueError(f"counts is {whole} and recall_base {base}; expected 1 to all documents")
    value = as_number(value, "value", -1e100)
    occurring = np.flatnonzero(whole)
    problem = Problem(measure, int(whole.sum()), base, occurring)
    path = Continuation(problem, whole[occurring].astype(np.float64), value)
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
        value=value,
        counts=whole,
        recall_base=base,
        probabilities=probabilities,
        entropy=float(entr(probabilities).sum()),
        residual=residual,
        converged=residual < REACHED,
        iterations=path.iterations,
    )


def _counts(counts: ArrayLike, name: str) -> Array:
    expected = "one number of documents for each of the grades 0, 1, ..."
    column = finite_column(counts, name, expected, 0, MOST_DOCUMENTS, whole=True)
    return column.astype(np.int64)


def _draw(solution: Result, ax: Axes) -> None:
    """Draw the probability of each positive grade against the rank."""
    draw_columns(solution.to_pandas().iloc[:, 1:], ax)
    ax.set(xlabel="rank", ylabel="probability", xscale="log", title=str(solution.measure))


class Problem:
    """Arrays of a measure for one list, and its expected value with derivative.

    Only grades that occur have entries.
    """

    def __init__(self, measure: Measure, n: int, recall_base: Array, occurring: Array) -> None:
        highest = np.flatnonzero(recall_base).max(initial=0)
        checked_grades([highest], "recall_base", grade_limit([measure]).get(None))
        base = RecallBase.of_integer_grades(recall_base[None, :])
        pair, own = tables_of(measure, base)
        self.n = n
        self.pair = pair[0][np.ix_(occurring, occurring)]
        self.own = own[0][occurring]
        assert isinstance(measure, QuadraticForm)
        self.discount = measure.discounts(base, np.array([n]))[0][:, None]

    def expected(self, p: Array) -> float:
        """The expected value where p_n(i) is the probability of grade i at rank n."""
        above = np.cumsum(p, axis=0) - p
        return float((self.discount * p * (self.own + above @ self.pair)).sum())

    def derivative(self, p: Array) -> Array:
        """``[n, i]``: derivative of the expected value by p_n(i)."""
        above = np.cumsum(p, axis=0) - p
        weighed = self.discount * p
        below = np.cumsum(weighed[::-1], axis=0)[::-1] - weighed
        derivative: Array = self.discount * (self.own + above @ self.pair) + below @ self.pair.T
        return derivative


class Continuation:
    """Newton's method along the solutions between the start without a measure and the wanted value.

    Logits are relative to the first grade that occurs, and so are the multipliers ``mu`` and the
    derivative.
    """

    def __init__(self, problem: Problem, counts: Array, value: float) -> None:
        self.problem = problem
        self.counts = counts
        self.value = value
        mu = np.log(counts[1:] / counts[0])
        self.logits = np.tile(np.append(0.0, mu), (problem.n, 1))
        self.multipliers = np.append(mu, 0.0)  # mu and lambda
        self.iterations = 0

    def follow(self) -> None:
        """Go to the wanted value, or as close as possible."""
        start = self.problem.expected(softmax(self.logits, axis=1))
        if len(self.counts) == 1:
            return
        reached, step = 0.0, 1.0
        # A value that leaves nothing to chance is only approached: steps are measured by what is
        # left of the way.
        while reached < 1 and step > SMALLEST_STEP:
            goal = reached + min(1.0, step) * (1 - reached)
            if self.newton(start + goal * (self.value - start)):
                reached, step = goal, 2 * step
            else:
                step /= 2
            if (1 - reached) * abs(self.value - start) < TOLERANCE:
                break

    def newton(self, value: float) -> bool:
        """Solve for a value nearby; stay if that fails."""
        logits, multipliers, last = self.logits.copy(), self.multipliers, np.inf
        for attempt in range(NEWTON_STEPS):
            self.iterations += 1
            with np.errstate(all="ignore"):
                try:
                    change, moved, missed = self.step(logits, multipliers, value)
                except np.linalg.LinAlgError:
                    return False
            if missed < TOLERANCE:
                self.logits, self.multipliers = logits, multipliers
                return True
            # A few steps may first lead away; after that Newton's method converges fast or not at
            # all.
            if not np.isfinite(change).all() or (attempt > 3 and missed > last):
                return False
            last = missed
            logits[:, 1:] += change
            multipliers = multipliers + moved
        return False

    def step(self, logits: Array, multipliers: Array, value: float) -> tuple[Array, Array, float]:
        """Return a Newton step for logits and multipliers, and the error before it."""
        problem, c = self.problem, len(multipliers) - 1
        p = softmax(logits, axis=1)
        derivative = problem.derivative(p)
        slope = derivative[:, 1:] - derivative[:, :1]
        equations = multipliers[:-1] + multipliers[-1] * slope - logits[:, 1:]
        constraints = np.append(self.counts[1:] - p[:, 1:].sum(axis=0), value - problem.expected(p))
        missed = max(float(np.abs(equations).max()), float(np.abs(constraints).max()))
        # dp = covariance dlogits; the right-hand sides are the equations, each mu, and lambda
        covariance = -p[:, 1:, None] * p[:, None, 1:]
        covariance[:, np.arange(c), np.arange(c)] += p[:, 1:]
        sides = np.empty((problem.n, c, c + 2))
        sides[:, :, 0], sides[:, :, 1:-1], sides[:, :, -1] = equations, np.eye(c), slope
        d_logits = self.banded(covariance, multipliers[-1], sides)
        d_p = covariance @ d_logits
        d_constraints = np.concatenate([d_p.sum(axis=0), np.einsum("na,nab->b", slope, d_p)[None]])
        moved = np.linalg.solve(d_constraints[:, 1:], constraints - d_constraints[:, 0])
        return d_logits[:, :, 0] + d_logits[:, :, 1:] @ moved, moved, missed

    def banded(self, covariance: Array, multiplier: float, sides: Array) -> Array:
        """Solve ``dlogits - lambda d(slope) = sides`` for each of the right-hand sides.

        Unknowns of rank n: the change A_n of the probabilities above it, and B_n of the discounted
        ones below. With J_n = covariance_n, d_n = discount[n] and K = pair relative to the first
        grade,

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
        above_of, below_of, one = np.arange(n) * 2 * c, np.arange(n) * 2 * c + c, np.eye(c)
        i, j = np.indices((c, c))
        for rows, columns, block in (
            (above_of[1:], above_of[:-1], -(one + above[:-1])),
            (above_of[1:], below_of[:-1], -below[:-1]),
            (below_of[:-1], below_of[1:], -(one + d[1:] * below[1:])),
            (below_of[:-1], above_of[1:], -d[1:] * above[1:]),
        ):
            row, column = rows[:, None, None] + i, columns[:, None, None] + j
            matrix[band + row - column, column] = block
        moved = covariance @ sides
        right = np.zeros((n, 2 * c, sides.shape[2]))
        right[1:, :c] = moved[:-1]
        right[:-1, c:] = d[1:] * moved[1:]
        flat = right.reshape(2 * c * n, -1)
        sums = solve_banded((band, band), matrix, flat, overwrite_ab=True, check_finite=False)
        sums = sums.reshape(right.shape)
        pairs: Array = d * (relative.T @ sums[:, :c]) + relative @ sums[:, c:]
        return sides + multiplier * pairs
