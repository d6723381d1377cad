"""The sums of a list in linear time: factors of a pair as sums of exponentials, and running sums.

With the distance x of two scores (times sigma), t = 1 / (1 + e^x) and, if changes are divided,
d = 1 / (epsilon + x), else 1, the factors of a pair are t d, (1 - t) d and t (1 - t) d. Each is a
sum sum_k c_k e^(-r_k x), and e^(-r_k x) is a product of something at one document and something at
the other. So what a document receives from all documents above it comes from running sums of
powers, by grade; and what it receives from those below from the sums of a visit upwards.

Without division the rates are 0, 1, ..., 15: the sums are polynomials in e^-x.
"""

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from gapboost._kernels import Array
from gapboost._kernels.jit import kernel
from gapboost._kernels.vectors import (
    EIGHT,
    SIXTEEN,
    THIRTY_TWO,
    Lanes,
    Pointer,
    decay,
    greater,
    load,
    store,
    total,
)
from gapboost._kernels.vectors import FARTHEST as FARTHEST_EXPONENT

# Range of the scores (times sigma) of a list, and least epsilon (times sigma): other lists go pair
# by pair if changes are divided.
FARTHEST, LEAST_EPSILON = 80.0, 0.005

# Exponents between two anchors: e^600 and its inverse are far from overflow.
EXPONENT = 600.0

# Rates of the visits of a list, in vectors: without division, and two visits with it.
POWERS = SIXTEEN
FIRST, SECOND = THIRTY_TWO, EIGHT

# Of changes that are divided the least rates, in two geometric progressions around 1, and the
# number of further ones, which go up to `STEEPEST` / epsilon. A random search found them, for the
# least error at an epsilon of .01.
LOW_RATES = 0.6055 * np.append(1.5487 ** np.arange(-10.0, 0.0), 1.19755 ** np.arange(16.0))
HIGH, STEEPEST = 14, 20.715


class Exponentials(NamedTuple):
    """Sums of exponentials for one epsilon (times sigma), which is 0 if changes are not divided.

    Attributes
    ----------
    epsilon : float
    farthest : float
        Range of the scores of a list, beyond which it goes pair by pair.
    numbers : float64 ndarray, or its address
        For each visit of a list its rates, and their coefficients of t d, (1 - t) d and
        t (1 - t) d.
    """

    epsilon: float
    farthest: float
    numbers: Any


def factors(x: Array, epsilon: float) -> Array:
    """Return the three factors at x, float64 of shape (N, 3)."""
    u, inverse = np.exp(-x), 1.0 / (epsilon + x) if epsilon else 1.0
    columns = np.stack([u / (1 + u), 1 / (1 + u), u / (1 + u) ** 2], axis=1)
    columns *= np.broadcast_to(inverse, x.shape)[:, None]
    return columns


@lru_cache(maxsize=16)
def fitted_numbers(epsilon: float) -> Array:
    """Return rates, and coefficients of the three factors; float64 of shape (4, K).

    They are fitted by least squares. Without division errors are at most 1.2e-12 of t and 1.4e-11
    of t (1 - t). With an epsilon from .01 on they are at most 4e-10 / min(epsilon + x, 1), for .005
    ten times as large.
    """
    x = np.append(
        np.geomspace(1e-3 * (epsilon or 1.0), FARTHEST, 2000), np.linspace(0.0, 20.0, 801)
    )
    wanted = factors(x, epsilon)
    if epsilon == 0.0:
        numbers = np.zeros((4, len(POWERS)))
        numbers[0] = np.arange(len(POWERS))
        # t and t (1 - t) vanish for documents far apart, and 1 - t = 1 - t.
        powers = np.exp(-np.outer(x, numbers[0, 1:]))
        numbers[1::2, 1:] = np.linalg.lstsq(powers, wanted[:, ::2], rcond=None)[0].T
        numbers[2] = -numbers[1]
        numbers[2, 0] = 1.0
        return numbers
    steepest = max(STEEPEST / epsilon, 4.0 * LOW_RATES[-1])
    high = LOW_RATES[-1] * (steepest / LOW_RATES[-1]) ** (np.arange(1.0, HIGH + 1) / HIGH)
    rates = np.append(LOW_RATES, high)
    weight = np.minimum(epsilon + x, 1.0)[:, None]
    columns = np.exp(-np.outer(x, rates)) * weight
    size = np.linalg.norm(columns, axis=0)
    fitted = np.linalg.lstsq(columns / size, wanted * weight, rcond=1e-14)[0] / size[:, None]
    return np.vstack([rates, fitted.T])


def farthest(epsilon: float) -> float:
    """Return the range of the scores of a list beyond which it goes pair by pair."""
    if epsilon == 0.0:
        return np.inf
    return FARTHEST if epsilon >= LEAST_EPSILON else 0.0


def fitted_exponentials(epsilon: float) -> Exponentials:
    """Return the sums of exponentials for the visits of a list."""
    numbers = fitted_numbers(epsilon)
    visits = np.append(numbers[:, : len(FIRST)], numbers[:, len(FIRST) :])
    return Exponentials(epsilon, farthest(epsilon), visits)


class Ranked(NamedTuple):
    """A list of ``n`` documents by rank."""

    n: int
    n_levels: int
    s: Any
    grade: Any
    lam: Any
    eta: Any


class Visit(NamedTuple):
    """A visit of the documents ``lo..hi-1``, down (step 1) or up (-1).

    The first ``receivers`` ranks receive, the first ``givers`` add to the moments, by rows of
    ``width`` numbers of their tables, which begin at the document ``lo``.
    """

    step: int
    lo: int
    hi: int
    receivers: int
    givers: int
    received: Any
    given: Any
    width: int


@kernel
def add_running_sums(
    visit: Visit, lanes: Lanes, numbers: Pointer, documents: Ranked, moments: Pointer
) -> None:
    """Visit documents: each receives from the moments, then adds to them.

    The first ``numbers`` are as many rates as there are lanes; their coefficients follow. Moments
    are running sums of powers by grade: plain ones over the documents of a grade; and two that are
    weighted by what documents know of a swap with this grade, over those of higher grades and over
    those of lower ones. Behind them is the score of their anchor.
    """
    step, terms = visit.step, len(lanes)
    n, n_levels, s, grade, lam, eta = documents
    higher, lower, end = n_levels * terms, 2 * n_levels * terms, 3 * n_levels * terms
    # Downwards, documents of a higher grade are above: in the right order.
    rates, slope = load(numbers, 0, lanes), load(numbers, 3 * terms, lanes)
    of_higher = load(numbers, (1 if step > 0 else 2) * terms, lanes)
    of_lower = load(numbers, (2 if step > 0 else 1) * terms, lanes)
    stretch = EXPONENT / numbers[terms - 1]
    r = visit.lo if step > 0 else visit.hi - 1
    if r == (0 if step > 0 else n - 1):
        for i in range(0, end, terms):
            store(moments, i, 0.0 * rates)
        moments[end] = s[r]
    anchor = moments[end]
    for _ in range(visit.hi - visit.lo):
        distance = abs(s[r] - anchor)
        if distance > stretch:
            exponents = greater(-FARTHEST_EXPONENT + 0.0 * rates, -distance * rates)
            factor = decay(-1.0 * exponents)
            for i in range(0, end, terms):
                store(moments, i, factor * load(moments, i, lanes))
            anchor = s[r]
            distance = 0.0
        a, row = grade[r], (r - visit.lo) * visit.width
        fall = decay(distance * rates)
        if r < visit.receivers:
            from_higher = load(moments, higher + a * terms, lanes)
            from_lower = load(moments, lower + a * terms, lanes)
            for i in range(n_levels):  # nothing changes at i = a
                change, plain = visit.received[row + i], load(moments, i * terms, lanes)
                from_higher = from_higher + (change if i > a else 0.0) * plain
                from_lower = from_lower + (change if i < a else 0.0) * plain
            push = from_higher * of_higher + from_lower * of_lower
            lam[r] -= step * total(fall * push)
            eta[r] -= step * total(fall * slope * (from_higher - from_lower))
        if r < visit.givers:
            rise = 1.0 / fall
            store(moments, a * terms, load(moments, a * terms, lanes) + rise)
            for i in range(n_levels):
                at = (higher if i < a else lower) + i * terms
                store(moments, at, load(moments, at, lanes) + visit.given[row + i] * rise)
        r += step
    moments[end] = anchor
