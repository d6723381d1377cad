"""Changes that are divided by epsilon and the distance of the two scores.

With t = 1 / (1 + e^x) and the distance x of two scores (times sigma), the factors of a pair become

    t / (epsilon + x),  t (1 - t) / (epsilon + x)  and, for a pair in the wrong order,
    (1 - t) / (epsilon + x).

These and 1 / (epsilon + x) are sums of exponentials, sum_k c_k e^(-r_k x), on 0 <= x <= `FARTHEST`,
so that running sums work as in `moments`: with the rates r_k in place of 1, 2, ..., 16. Rates are
close to each other around 1, for t, and grow up to some 12 / epsilon.
"""

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from gapboost._kernels import Array
from gapboost._kernels.jit import kernel
from gapboost._kernels.lambdarank.form import Form
from gapboost._kernels.lambdarank.memory import BLOCK
from gapboost._kernels.lambdarank.moments import Documents, Way
from gapboost._kernels.simd import LANES, Pointer, every8, load8, load16, store, total
from gapboost._kernels.simd.exponential import decay8

# Range of the scores (times sigma) of a list, and least epsilon (times sigma): other lists go pair
# by pair.
FARTHEST, LEAST_EPSILON = 80.0, 0.005

# Exponents between two anchors: e^600 and its inverse are far from overflow.
EXPONENT = 600.0

# Twice the width of `load16`.
TERMS, HALF = 32, 16

# The least rates, found by random search for the least error at an epsilon of .01. `HIGH` more are
# in geometric progression up to `STEEPEST` / epsilon.
# fmt: off
RATES = (
    0.0083746, 0.0136081, 0.0213133, 0.033086, 0.0640363, 0.1051633, 0.177379, 0.299525, 0.3717628,
    0.4590511, 0.6310728, 0.7531101, 1.0043035, 1.2674666, 1.6546391, 1.934654, 2.5030621,
    3.0831397, 4.1283632, 4.7577863,
)
# fmt: on
HIGH, STEEPEST = 12, 10.78442


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

    Errors are at most 1.5e-8 / min(epsilon + x, 1) for an epsilon from .01 on, 1.3e-7 for .005.
    """
    steepest = max(STEEPEST / epsilon, 4.0 * RATES[-1])
    rates = np.concatenate([RATES, np.geomspace(1.5 * RATES[-1], steepest, HIGH)])
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
            wrong, other_wrong = load16(wrongly, TERMS * a), load16(wrongly, TERMS * a + HALF)
            both = wrong + load16(rightly, TERMS * a)
            other_both = other_wrong + load16(rightly, TERMS * a + HALF)
            for i in range(size):
                plain, other_plain = load16(moments, TERMS * i), load16(moments, TERMS * i + HALF)
                # the grades for which the factor is 1 - t: higher ones below, lower ones above
                against = table[i] if step * i < step * a else 0.0
                both += table[i] * plain
                other_both += table[i] * other_plain
                wrong += against * plain
                other_wrong += against * other_plain
            power, other_power = load16(way.at_receiver, at), load16(way.at_receiver, at + HALF)
            wrong *= power
            other_wrong *= other_power
            both *= power
            other_both *= other_power
            push = both * load16(logistic, 0) + other_both * load16(logistic, HALF)
            push -= wrong * load16(whole, 0) + other_wrong * load16(whole, HALF)
            curve = both * load16(slope, 0) + other_both * load16(slope, HALF)
            lam[r] -= step * total(push)
            eta[r] -= total(curve)
        if r < way.givers_end:
            table = way.giver_tables + (r - way.lo) * form.width
            power, other_power = load16(way.at_giver, at), load16(way.at_giver, at + HALF)
            row = TERMS * a
            store(moments, row, load16(moments, row) + power)
            store(moments, row + HALF, load16(moments, row + HALF) + other_power)
            for i in range(size):
                row = (i + form.width * (2 if step * i > step * a else 1)) * TERMS
                store(moments, row, load16(moments, row) + table[i] * power)
                row += HALF
                store(moments, row, load16(moments, row) + table[i] * other_power)
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
