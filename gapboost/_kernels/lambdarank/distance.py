"""Changes that are divided by epsilon and the distance of the two scores.

With t = 1 / (1 + e^x) and the distance x of two scores (times sigma), the factors of a pair become

    t / (epsilon + x),  t (1 - t) / (epsilon + x)  and, for a pair in the wrong order,
    (1 - t) / (epsilon + x).

These and 1 / (epsilon + x) are sums of exponentials, sum_k c_k e^(-r_k x), on 0 <= x <= `FARTHEST`,
so that running sums work as in `moments`: with the rates r_k in place of 1, 2, ..., 16. Rates are
close to each other around 1, for t, and grow up to some 20 / epsilon.
"""

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from gapboost._kernels import Array
from gapboost._kernels.jit import kernel
from gapboost._kernels.lambdarank.form import Form
from gapboost._kernels.lambdarank.memory import BLOCK
from gapboost._kernels.lambdarank.moments import Documents, Way
from gapboost._kernels.simd import LANES, Pointer, every8, fold, load8, load16, store, total
from gapboost._kernels.simd.exponential import decay8

# Range of the scores (times sigma) of a list, and least epsilon (times sigma): other lists go pair
# by pair.
FARTHEST, LEAST_EPSILON = 80.0, 0.005

# Exponents between two anchors: e^600 and its inverse are far from overflow.
EXPONENT = 600.0

# Number of rates: vectors of 16, 16 and 8, which begin at these.
TERMS, SECOND, THIRD = 40, 16, 32

# The least rates, in two geometric progressions, and the number of further ones, which go up to
# `STEEPEST` / epsilon. A random search found them, for the least error at an epsilon of .01.
RATES = np.concatenate(
    [0.6055 / 1.5487 ** np.arange(10.0, 0.0, -1.0), 0.6055 * 1.19755 ** np.arange(16.0)]
)
HIGH, STEEPEST = 14, 20.715


class Decays(NamedTuple):
    """Sums of exponentials for one epsilon (times sigma).

    Attributes
    ----------
    epsilon : float
        0: changes are not divided.
    farthest : float
        Range of the scores of a list, beyond which it goes pair by pair.
    stretch : float
        Range of scores with one anchor.
    numbers : float64 ndarray of shape (4, TERMS), or its address
        Rates, and coefficients of t / (epsilon + x), t (1 - t) / (epsilon + x), 1 / (epsilon + x).
    """

    epsilon: float
    farthest: float
    stretch: float
    numbers: Any


UNDIVIDED = Decays(0.0, 0.0, 1.0, np.zeros((4, TERMS)))


def factors(x: Array, epsilon: float) -> Array:
    """Return the three factors at x, float64 of shape (N, 3)."""
    u, inverse = np.exp(-x), 1.0 / (epsilon + x)
    columns: Array = np.stack([u / (1 + u) * inverse, u / (1 + u) ** 2 * inverse, inverse], axis=1)
    return columns


@lru_cache(maxsize=16)
def fitted_decays(epsilon: float) -> Decays:
    """Fit the sums of exponentials by least squares.

    Errors are at most 4e-10 / min(epsilon + x, 1) for an epsilon from .01 on, 4e-9 for .005.
    """
    steepest = max(STEEPEST / epsilon, 4.0 * RATES[-1])
    high = RATES[-1] * (steepest / RATES[-1]) ** (np.arange(1.0, HIGH + 1) / HIGH)
    rates = np.concatenate([RATES, high])
    x = np.concatenate(
        [[0.0], np.geomspace(1e-3 * epsilon, FARTHEST, 2000), np.linspace(0.0, 20.0, 800)]
    )
    weight = np.minimum(epsilon + x, 1.0)[:, None]
    columns = np.exp(-np.outer(x, rates)) * weight
    size = np.linalg.norm(columns, axis=0)
    wanted = factors(x, epsilon) * weight
    coefficients = np.linalg.lstsq(columns / size, wanted, rcond=1e-14)[0] / size[:, None]
    farthest = FARTHEST if epsilon >= LEAST_EPSILON else 0.0
    numbers = np.ascontiguousarray(np.vstack([rates, coefficients.T]))
    return Decays(epsilon, farthest, float(EXPONENT / rates[-1]), numbers)


@kernel
def fill_decays(lo: int, hi: int, decays: Decays, distance: Pointer, powers: Pointer) -> None:
    """Fill e^(-r_k distance) of documents ``lo..hi-1``, and behind them, for a block, the inverses.

    Distances are those from the anchor.
    """
    inverses = powers + BLOCK * TERMS
    for r in range(lo, hi):
        row = (r - lo) * TERMS
        for k in range(0, TERMS, LANES):
            e = decay8(load8(decays.numbers, k) * distance[r])
            store(powers, row + k, e)
            store(inverses, row + k, every8(1.0) / e)


@kernel
def carry_apart(
    way: Way, form: Form, documents: Documents, decays: Decays, moments: Pointer
) -> None:
    """Do what `gapboost._kernels.lambdarank.moments.carry` does, for changes that are divided.

    Moments of documents whose pair with the receiver has the factor 1 - t are kept apart.
    """
    step, size = way.step, form.size
    rightly, wrongly = moments + TERMS * form.width, moments + 2 * TERMS * form.width
    logistic, slope, whole = (
        decays.numbers + TERMS,
        decays.numbers + 2 * TERMS,
        decays.numbers + 3 * TERMS,
    )
    grade, jump, lam, eta = documents.grade, documents.jump, documents.lam, documents.eta
    r = way.lo if step > 0 else way.hi - 1
    for _ in range(way.hi - way.lo):
        if step > 0 and jump[r] > 0.0:
            scale_apart(size, jump[r], decays, form.width, moments)
        a = grade[r]
        at = (r - way.lo) * TERMS
        if r < way.receivers_end:
            table = way.receiver_tables + (r - way.lo) * form.width
            row = TERMS * a
            wrong1, wrong2 = load16(wrongly, row), load16(wrongly, row + SECOND)
            wrong3 = load8(wrongly, row + THIRD)
            both1 = wrong1 + load16(rightly, row)
            both2 = wrong2 + load16(rightly, row + SECOND)
            both3 = wrong3 + load8(rightly, row + THIRD)
            for i in range(size):
                row = TERMS * i
                plain1, plain2 = load16(moments, row), load16(moments, row + SECOND)
                plain3 = load8(moments, row + THIRD)
                # the grades for which the factor is 1 - t: higher ones below, lower ones above
                against = table[i] if step * i < step * a else 0.0
                both1 += table[i] * plain1
                both2 += table[i] * plain2
                both3 += table[i] * plain3
                wrong1 += against * plain1
                wrong2 += against * plain2
                wrong3 += against * plain3
            power1, power2 = load16(way.at_receiver, at), load16(way.at_receiver, at + SECOND)
            power3 = load8(way.at_receiver, at + THIRD)
            both1 *= power1
            both2 *= power2
            both3 *= power3
            push = both1 * load16(logistic, 0) - wrong1 * power1 * load16(whole, 0)
            push += both2 * load16(logistic, SECOND) - wrong2 * power2 * load16(whole, SECOND)
            push3 = both3 * load8(logistic, THIRD) - wrong3 * power3 * load8(whole, THIRD)
            curve = both1 * load16(slope, 0) + both2 * load16(slope, SECOND)
            lam[r] -= step * total(fold(push) + push3)
            eta[r] -= total(fold(curve) + both3 * load8(slope, THIRD))
        if r < way.givers_end:
            table = way.giver_tables + (r - way.lo) * form.width
            power1, power2 = load16(way.at_giver, at), load16(way.at_giver, at + SECOND)
            power3 = load8(way.at_giver, at + THIRD)
            for i in range(-1, size):
                row, weight = TERMS * a, 1.0
                if i >= 0:
                    kind = 2 if step * i > step * a else 1
                    row, weight = (i + form.width * kind) * TERMS, table[i]
                store(moments, row, load16(moments, row) + weight * power1)
                row += SECOND
                store(moments, row, load16(moments, row) + weight * power2)
                row += THIRD - SECOND
                store(moments, row, load8(moments, row) + weight * power3)
        if step < 0 and jump[r] > 0.0:
            scale_apart(size, jump[r], decays, form.width, moments)
        r += step


@kernel
def scale_apart(size: int, jump: float, decays: Decays, width: int, moments: Pointer) -> None:
    """Move moments to an anchor at the distance ``jump``."""
    for k in range(0, TERMS, LANES):
        factor = decay8(load8(decays.numbers, k) * jump)
        for kind in range(3):
            for i in range(size):
                row = (kind * width + i) * TERMS + k
                store(moments, row, factor * load8(moments, row))
