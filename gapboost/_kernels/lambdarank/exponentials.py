"""The sums of a list in linear time: factors of a pair as sums of exponentials, and running sums.

With the distance x of two scores (times sigma), t = 1 / (1 + e^x) and, if changes are divided,
d = 1 / (epsilon + x), else 1, the factors of a pair are t d, (1 - t) d and t (1 - t) d. Each is a
sum sum_k c_k e^(-r_k x), and e^(-r_k x) is a product of something at one document and something at
the other. So what a document receives from all documents above it comes from running sums of
powers, by grade; and what it receives from those below from the sums of a visit upwards.

Without division the rates are 0, 1, ..., 15: the sums are polynomials in e^-x.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from gapboost._kernels import Array
from gapboost._kernels.jit import inner_kernel
from gapboost._kernels.lambdarank.memory import Memory, Shape
from gapboost._kernels.vectors import FARTHEST as FARTHEST_EXPONENT
from gapboost._kernels.vectors import (
    THIRTY_TWO,
    Lanes,
    Pointer,
    decay,
    greater,
    load,
    pointer,
    store,
    total,
)

# One visit is enough for a range of the scores of a list (times sigma) up to this, and epsilon
# (times sigma) between these two.
NEAR, LEAST_EPSILON, MOST_EPSILON = 80.0, 0.01, 3.0

# Visits of a list are at most this many, and not for a wilder epsilon than this or its inverse.
MOST_VISITS, ABSURD_EPSILON = 8, 1e30

# Exponents between two anchors: e^600 and its inverse are far from overflow.
EXPONENT = 600.0

# Rates of a single visit, at the least epsilon, as a search found them for the least error. For a
# larger epsilon the high ones move down, in proportion of their logarithms: the highest is 12.8 /
# epsilon, but at least 20.
LOW_RATES = np.array((
    0.00689928, 0.0130268, 0.0231057, 0.0426726, 0.0619035, 0.130009, 0.22998, 0.376171, 0.57997,
    0.811468, 0.961062, 1.1422, 1.54162, 1.8856, 2.54223, 3.47135, 4.18477, 4.8852, 5.62316,
))  # fmt: skip
HIGH_RATES = np.array((
    8.5396, 12.7139, 18.9229, 28.2406, 42.2595, 63.4038, 95.3579, 143.718, 217.028, 328.61,
    500.405, 774.336, 1280.36,
))  # fmt: skip

# Rates of several visits: dense where the logistic function needs them; from there by this ratio up
# to the same highest rate, for small distances, and down, for large ones.
MIDDLE_RATES, RATIO = np.geomspace(0.3, 8.0, 24), 1.5

# Rates without division: as many as numbers in a vector.
POWERS = 16


class Exponentials(NamedTuple):
    """Sums of exponentials for one epsilon (times sigma), which is 0 if changes are not divided.

    Attributes
    ----------
    epsilon : float
    farthest : float
        Range of the scores of a list up to which they are exact.
    visits : int
        Of a list, each with other rates.
    numbers : float64 ndarray of shape (visits, 4, lanes), or its address
        Rates, and their coefficients of t d, (1 - t) d and t (1 - t) d.
    """

    epsilon: float
    farthest: float
    visits: int
    numbers: Pointer


def factors(x: Array, epsilon: float) -> Array:
    """Return the three factors at x, float64 of shape (N, 3)."""
    u, inverse = np.exp(-x), 1.0 / (epsilon + x) if epsilon else 1.0
    columns = np.stack([u / (1 + u), 1 / (1 + u), u / (1 + u) ** 2], axis=1)
    columns *= np.broadcast_to(inverse, x.shape)[:, None]
    return columns


def least_squares(rates: Array, x: Array, wanted: Array, weight: Array) -> Array:
    """Return coefficients with which sums of exponentials at x are as wanted, by column."""
    columns = np.exp(-np.outer(x, rates)) * weight[:, None]
    size = np.linalg.norm(columns, axis=0)
    fit = np.linalg.lstsq(columns / size, wanted * weight[:, None], rcond=1e-14)[0]
    coefficients: Array = (fit / size[:, None]).T
    return coefficients


@lru_cache(maxsize=1)
def sums_of_powers() -> Exponentials:
    """Return the sums without division, exact for any scores.

    Errors are at most 1.2e-12 of t and 1.4e-11 of t (1 - t).
    """
    x = np.append(np.geomspace(1e-3, NEAR, 2000), np.linspace(0.0, 20.0, 801))
    numbers = np.zeros((4, POWERS))
    numbers[0] = np.arange(POWERS)
    # t and t (1 - t) vanish for documents far apart, and 1 - t = 1 - t.
    wanted = factors(x, 0.0)[:, ::2]
    numbers[1::2, 1:] = least_squares(numbers[0, 1:], x, wanted, np.ones(len(x)))
    numbers[2] = -numbers[1]
    numbers[2, 0] = 1.0
    return Exponentials(0.0, np.inf, 1, numbers[None])


@lru_cache(maxsize=64)
def rates_and_range(epsilon: float, visits: int) -> tuple[Array, float]:
    """Return ascending rates, and the range of scores that they are for; 0 if they are too few."""
    highest = max(HIGH_RATES[-1] * LEAST_EPSILON / epsilon, 20.0)
    if visits == 1:
        last = LOW_RATES[-1]
        share = np.log(highest / last) / np.log(HIGH_RATES[-1] / last)
        rates = np.append(LOW_RATES, last * (HIGH_RATES / last) ** share)
        return rates, NEAR if LEAST_EPSILON <= epsilon <= MOST_EPSILON else 0.0
    n_high = int(np.ceil(np.log(highest / MIDDLE_RATES[-1]) / np.log(RATIO)))
    n_low = max(visits * len(THIRTY_TWO) - len(MIDDLE_RATES) - n_high, 0)
    low = MIDDLE_RATES[0] * RATIO ** np.arange(-n_low, 0.0)
    high = MIDDLE_RATES[-1] * RATIO ** np.arange(1.0, n_high + 1.0)
    return np.concatenate([low, MIDDLE_RATES, high]), 0.5 / low[0] if n_low else 0.0


@lru_cache(maxsize=16)
def sums_of_exponentials(epsilon: float, visits: int) -> Exponentials:
    """Return the sums with division.

    They are fitted by least squares. Errors are at most 3e-9 / min(epsilon + x, 4) with one visit,
    and 1e-9 / (epsilon + x) with more.
    """
    rates, farthest = rates_and_range(epsilon, visits)
    x = np.append(
        np.geomspace(1e-3 * min(epsilon, 1.0), farthest, 1000 * (visits + 1)),
        np.linspace(0.0, 20.0, 801),
    )
    weight = np.minimum(epsilon + x, 4.0 if visits == 1 else np.inf)
    wanted = factors(x, epsilon)
    numbers = np.vstack([rates, least_squares(rates, x, wanted, weight)])
    if visits > 1:
        steep, weight = rates >= MIDDLE_RATES[0], weight * np.exp(np.minimum(x, NEAR) / 4.0)
        # t d and t (1 - t) d vanish for documents far apart.
        numbers[1::2] = 0.0
        numbers[1::2, steep] = least_squares(rates[steep], x, wanted[:, ::2], weight)
    numbers = numbers.reshape(4, visits, len(THIRTY_TWO))
    return Exponentials(epsilon, farthest, visits, np.ascontiguousarray(numbers.swapaxes(0, 1)))


def fitted_exponentials(epsilon: float, distance: float = NEAR) -> Exponentials:
    """Return sums for lists whose scores (times sigma) are up to a distance apart, or `NEAR`.

    Without any visit, a list goes pair by pair.
    """
    if epsilon == 0.0:
        return sums_of_powers()
    if 1.0 / ABSURD_EPSILON < epsilon < ABSURD_EPSILON:
        for visits in range(1, MOST_VISITS + 1):
            if rates_and_range(epsilon, visits)[1] >= max(distance, NEAR):
                return sums_of_exponentials(epsilon, visits)
    return sums_of_powers()._replace(epsilon=epsilon, farthest=0.0, visits=0)


@inner_kernel
def at_address(sums: Exponentials) -> Exponentials:
    """Return sums with a pointer for the array."""
    return Exponentials(sums.epsilon, sums.farthest, sums.visits, pointer(sums.numbers, 0))


@inner_kernel
def add_running_sums(step: int, lanes: Lanes, numbers: Pointer, shape: Shape, m: Memory) -> None:
    """Visit documents, down (step 1) or up (-1): each receives from the moments, and adds to them.

    The first ``numbers`` are as many rates as there are lanes; their coefficients follow. Moments
    are running sums of powers by grade. The first ones are over the documents of a grade. Two more
    are weighted by what documents know of a swap with this grade: one over the documents of higher
    grades, one over those of lower ones. Of the lower documents of pairs all receive and add, of
    the upper ones those in the top.
    """
    n, top, n_levels, width, _ = shape
    s, moments, terms, down = m.s, m.moments, len(lanes), step > 0
    receivers, givers = (n, top) if down else (top, n)
    received, given = (m.lower, m.upper) if down else (m.upper, m.lower)
    higher, lower, end = n_levels * terms, 2 * n_levels * terms, 3 * n_levels * terms
    # Downwards, documents of a higher grade are above: in the right order.
    rates, slope = load(numbers, 0, lanes), load(numbers, 3 * terms, lanes)
    of_higher = load(numbers, (1 if down else 2) * terms, lanes)
    of_lower = load(numbers, (2 if down else 1) * terms, lanes)
    stretch = EXPONENT / numbers[terms - 1]
    for i in range(0, end, terms):
        store(moments, i, 0.0 * rates)
    r = 0 if down else n - 1
    anchor = s[r]
    for _ in range(n):
        distance = abs(s[r] - anchor)
        if distance > stretch:
            exponents = greater(-FARTHEST_EXPONENT + 0.0 * rates, -distance * rates)
            factor = decay(-1.0 * exponents)
            for i in range(0, end, terms):
                store(moments, i, factor * load(moments, i, lanes))
            anchor = s[r]
            distance = 0.0
        a, row = m.grade[r], r * width
        fall = decay(distance * rates)
        if r < receivers:
            from_higher = load(moments, higher + a * terms, lanes)
            from_lower = load(moments, lower + a * terms, lanes)
            for i in range(n_levels):  # nothing changes at i = a
                change, plain = received[row + i], load(moments, i * terms, lanes)
                from_higher = from_higher + (change if i > a else 0.0) * plain
                from_lower = from_lower + (change if i < a else 0.0) * plain
            grad = from_higher * of_higher + from_lower * of_lower
            m.lam[r] -= step * total(fall * grad)
            m.eta[r] -= step * total(fall * slope * (from_higher - from_lower))
        if r < givers:
            rise = 1.0 / fall
            store(moments, a * terms, load(moments, a * terms, lanes) + rise)
            for i in range(n_levels):
                at = (higher if i < a else lower) + i * terms
                store(moments, at, load(moments, at, lanes) + given[row + i] * rise)
        r += step
