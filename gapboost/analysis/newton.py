"""Newton's method for the maximum-entropy distribution of `gapboost.analysis.entropy`.

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
from scipy.special import softmax

from gapboost._data.recall_base import RecallBase
from gapboost._kernels import Array
from gapboost.measures import Measure
from gapboost.measures.form import QuadraticForm, tables_of

# Far below what any use of the distribution can notice, and above what rounding leaves.
TOLERANCE = 1e-9

# Share of the rest of the way to the value below which a step is given up.
SMALLEST_STEP = 1e-3

NEWTON_STEPS = 15


class Problem:
    """Arrays of a measure for one list, and its expected value with derivative.

    Only grades that occur have entries.
    """

    def __init__(self, measure: Measure, n: int, recall_base: Array, occurring: Array) -> None:
        base = RecallBase.of_whole_grades(recall_base[None, :])
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


class Path:
    """Newton's method along the solutions between the start without a measure and the wanted value.

    Logits are relative to the first grade that occurs, and so are the multipliers ``mu`` and the
    derivative.
    """

    def __init__(self, problem: Problem, counts: Array, value: float) -> None:
        self.problem = problem
        self.counts = counts
        self.value = value
        self.mu = np.log(counts[1:] / counts[0])
        self.logits = np.concatenate(
            [np.zeros((problem.n, 1)), np.tile(self.mu, (problem.n, 1))], axis=1
        )
        self.multiplier = 0.0
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
            # A few steps may first lead away; after that Newton's method converges fast or not at
            # all.
            if not np.isfinite(change).all() or (attempt > 3 and missed > last):
                return False
            last = missed
            logits[:, 1:] += change
            mu = mu + d_mu
            multiplier += d_multiplier
        return False

    def step(
        self, logits: Array, mu: Array, multiplier: float, value: float
    ) -> tuple[Array, Array, float, float]:
        """Return a Newton step for logits, mu and lambda, and the error before it."""
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
            [
                equations[:, :, None],
                np.broadcast_to(np.eye(c), (problem.n, c, c)),
                slope[:, :, None],
            ],
            axis=2,
        )
        d_logits = self.banded(covariance, multiplier, sides)
        d_p = covariance @ d_logits
        d_constraints = np.concatenate([d_p.sum(axis=0), np.einsum("na,nab->b", slope, d_p)[None]])
        multipliers = np.linalg.solve(d_constraints[:, 1:], constraints - d_constraints[:, 0])
        change = d_logits[:, :, 0] + d_logits[:, :, 1:] @ multipliers
        return change, multipliers[:-1], float(multipliers[-1]), missed

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
        sums = solve_banded(
            (band, band),
            matrix,
            right.reshape(2 * c * n, -1),
            overwrite_ab=True,
            check_finite=False,
        )
        sums = sums.reshape(right.shape)
        solution: Array = sides + multiplier * (
            d * (relative.T @ sums[:, :c]) + relative @ sums[:, c:]
        )
        return solution
