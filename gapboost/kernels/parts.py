"""What one query needs before and after its sums: grades, worths, scores in order, and the scaled gradients."""

import math
from typing import Any

import numpy as np

from gapboost.kernels.compile import kernel
from gapboost.kernels.moments import LANES, MOMENTS, collect
from gapboost.kernels.sweep import backward, forward, tables
from gapboost.kernels.vectors import (
    add,
    at,
    decay8,
    div,
    gather8,
    greater8,
    keep8,
    load8,
    magnitude,
    mul,
    put,
    replace8,
    shift,
    splat8,
    store8,
    sub,
    total,
)  # fmt: skip

Array = np.ndarray[Any, Any]
Pointer = Any

# Documents whose tables are held at a time.
BLOCK = 128

# Range of scores (times sigma) within which exp(range) and its inverse are far from overflow.
NEAR = 300.0

# Scores times sigma are held within this: the difference of two must not overflow.
FARTHEST_SCORE = 8e307

# Keeps the boosters from dividing by zero for documents that no pair has touched.
HESSIAN_FLOOR = 1e-16


def aligned(n: int) -> Array:
    """Uninitialised float64 that begin on a cache line: vectors across two lines load at half speed."""
    raw = np.empty(n + LANES)
    start = -(raw.ctypes.data // 8) % LANES
    return raw[start : start + n]


@kernel
def reach(discount: Array, longest: int, truncation: int) -> int:
    """Number of ranks whose document can be the upper one of a pair that counts: deeper, no swap changes anything."""
    deep = longest
    while deep > 0 and discount[deep - 1] == 0.0:
        deep -= 1
    return min(deep, truncation) if truncation > 0 else deep


def carved_length(longest: int, rows: int, widest: int) -> int:
    """Length of the working memory that `carve` divides."""
    saved = (longest // BLOCK + 2) * 2 * widest
    return 6 * (longest + 2 * LANES) + saved + 3 * rows * widest + (2 * MOMENTS + 7 * widest + 1) * widest


@kernel
def carve(start: Pointer, longest: int, rows: int, widest: int) -> tuple[Pointer, ...]:
    """Divide working memory for lists up to ``longest``, tables of ``rows`` documents and rows up to ``widest``.

    In this order: scores, their exponentials and jumps, lam, eta, prefixes, upper, lower, turned, above, below,
    masks, constants; each begins at a multiple of 8.
    """
    padded = longest + LANES + -longest % LANES
    fall = shift(start, padded)
    rise = shift(fall, padded)
    jump = shift(rise, padded)
    lam = shift(jump, padded)
    eta = shift(lam, padded)
    prefixes = shift(eta, padded)
    upper = shift(prefixes, (longest // BLOCK + 2) * 2 * widest)
    lower = shift(upper, rows * widest)
    turned = shift(lower, rows * widest)
    above = shift(turned, rows * widest)
    below = shift(above, MOMENTS * widest)
    masks = shift(below, MOMENTS * widest)
    constants = shift(masks, 3 * widest * widest)
    return start, fall, rise, jump, lam, eta, prefixes, upper, lower, turned, above, below, masks, constants


@kernel
def clear(n: int, values: Pointer) -> None:
    """Set the first ``n`` elements, rounded up to a multiple of 8, to zero."""
    zero = splat8(0.0)
    for j in range(0, n, LANES):
        store8(values, j, zero)


@kernel
def fill_masks(width: int, masks: Pointer) -> None:
    """Rows by grade a: 1{i > a}, 1{i < a}, 1{i = a}."""
    square = width * width
    for a in range(width):
        for i in range(width):
            put(masks, a * width + i, 1.0 if i > a else 0.0)
            put(masks, square + a * width + i, 1.0 if i < a else 0.0)
            put(masks, 2 * square + a * width + i, 1.0 if i == a else 0.0)


@kernel
def fill_signs(size: int, width: int, constants: Pointer) -> None:
    """What `fill_constants` leaves alone: the same for all queries with ``size`` grades."""
    clear((4 * width + 1) * width, constants)
    for a in range(size):
        for i in range(size):
            put(constants, (2 * width + a) * width + i, 1.0 if a > i else (-1.0 if a < i else 0.0))


@kernel
def fill_constants(
    pair: Pointer, own: Pointer, n_grades: int, kept: Pointer, size: int, width: int, constants: Pointer
) -> None:
    """From the worth of the ``size`` grades in ``kept``, by rows of ``width``: pair, its transpose, sign(a - i), bend, own.

    bend[a, i] = sign(a - i) * (pair[a, a] + pair[i, i] - pair[a, i] - pair[i, a]). The signs, and zeros in further lanes,
    are there already, from `fill_signs`.
    """
    square = width * width
    for a in range(size):
        row = shift(pair, at(kept, a) * n_grades)
        for i in range(size):
            worth = at(row, at(kept, i))
            put(constants, a * width + i, worth)
            put(constants, square + i * width + a, worth)
        # the diagonal, for a moment
        put(constants, 4 * square + a, at(row, at(kept, a)))
    for a in range(size):
        alike = splat8(at(constants, 4 * square + a))
        for j in range(0, width, LANES):
            i = a * width + j
            equal = add(alike, load8(constants, 4 * square + j))
            unequal = add(load8(constants, i), load8(constants, square + i))
            store8(constants, 3 * square + i, mul(load8(constants, 2 * square + i), sub(equal, unequal)))
    for a in range(size):
        put(constants, 4 * square + a, at(own, at(kept, a)))


@kernel
def keep_grades(grades: Pointer, n: int, n_grades: int, names: Pointer, kept: Pointer) -> int:
    """Number of grades that occur; ``kept`` lists them and ``names`` numbers them."""
    for i in range(n_grades):
        put(names, i, 0)
    for i in range(n):
        put(names, at(grades, i), 1)
    size = 0
    for i in range(n_grades):
        put(kept, size, i)
        occurs = at(names, i)
        put(names, i, size)
        size += occurs
    return size


@kernel
def take(
    n: int, scores: Pointer, grades: Pointer, order: Pointer, sigma: float, names: Pointer, s: Pointer, grade: Pointer
) -> None:
    """Copy scores times sigma and numbered grades of the first ``n`` ranks."""
    for r in range(n):
        i = at(order, r)
        put(s, r, min(max(at(scores, i) * sigma, -FARTHEST_SCORE), FARTHEST_SCORE))
        put(grade, r, at(names, at(grades, i)))


@kernel
def sweep(
    m: int,
    rank0: int,
    deep: int,
    wanted: bool,
    width: int,
    size: int,
    grade: Pointer,
    discount: Pointer,
    fall: Pointer,
    rise: Pointer,
    jump: Pointer,
    constants: Pointer,
    masks: Pointer,
    prefixes: Pointer,
    upper: Pointer,
    lower: Pointer,
    above: Pointer,
    below: Pointer,
    lam: Pointer,
    eta: Pointer,
) -> None:
    """Both sweeps over a segment of ``m`` documents whose first rank is ``rank0``.

    The first ``2 * width`` of ``prefixes`` are C and E above the segment, ``above`` and ``below`` the moments of the
    documents above and below it; all three are carried to the other end. ``deep`` counts from the start of the segment.
    Gradients are added to ``lam`` and ``eta`` if ``wanted``.
    """
    carried = 2 * width
    blocks = (m + BLOCK - 1) // BLOCK
    for k in range(blocks):
        lo = k * BLOCK
        hi = min(m, lo + BLOCK)
        saved = shift(prefixes, (k + 1) * carried)
        for j in range(0, carried, LANES):
            store8(saved, j, load8(prefixes, j))
        tables(lo, hi, width, grade, discount, rank0, constants, prefixes, upper, lower)
        forward(lo, hi, deep, wanted, width, size, grade, fall, rise, jump, masks, upper, lower, above, lam, eta)
    shown = deep if wanted else 0
    for k in range(blocks - 1, -1, -1):
        lo = k * BLOCK
        hi = min(m, lo + BLOCK)
        if k < blocks - 1:
            saved = shift(prefixes, (k + 1) * carried)
            tables(lo, hi, width, grade, discount, rank0, constants, saved, upper, lower)
        backward(lo, hi, shown, width, size, grade, fall, rise, jump, masks, upper, lower, below, lam, eta)


@kernel
def own_moments(
    m: int,
    rank0: int,
    deep: int,
    width: int,
    size: int,
    grade: Pointer,
    discount: Pointer,
    fall: Pointer,
    rise: Pointer,
    constants: Pointer,
    masks: Pointer,
    prefixes: Pointer,
    upper: Pointer,
    lower: Pointer,
    above: Pointer,
    below: Pointer,
) -> None:
    """The moments that `sweep` leaves in ``above`` and ``below`` for a segment without jumps, without its gradients."""
    square = width * width
    smaller = shift(masks, square)
    same = shift(masks, 2 * square)
    for lo in range(0, m, BLOCK):
        hi = min(m, lo + BLOCK)
        tables(lo, hi, width, grade, discount, rank0, constants, prefixes, upper, lower)
        collect(lo, min(hi, deep), width, size, grade, rise, masks, same, upper, above)
        collect(lo, hi, width, size, grade, fall, smaller, same, lower, below)


@kernel
def pairs(
    n: int,
    deep: int,
    width: int,
    size: int,
    s: Pointer,
    grade: Pointer,
    upper: Pointer,
    lower: Pointer,
    turned: Pointer,
    fall: Pointer,
    rise: Pointer,
    upper_lam: Pointer,
    upper_eta: Pointer,
    lam: Pointer,
    eta: Pointer,
) -> None:
    """The same sums pair by pair: each of the first ``deep`` ranks with every rank below it.

    ``turned`` is room for ``size * (n + 8)``; the arrays by rank must have room for 8 elements beyond ``n``;
    ``fall``, ``rise``, ``upper_lam`` and ``upper_eta`` (which may be ``lower``) are scratch.
    """
    stride = n + LANES
    for q in range(n):
        for i in range(size):
            put(turned, i * stride + q, at(lower, q * width + i))
    for q in range(n, stride):
        put(s, q, at(s, n - 1))
        put(grade, q, 0)
    one = splat8(1.0)
    zero = splat8(0.0)
    top_rank = min(deep, n - 1)
    # one exponential per document instead of one per pair, unless it could overflow
    near = at(s, 0) - at(s, n - 1) < NEAR
    if near:
        first = splat8(at(s, 0))
        for q in range(0, n, LANES):
            e = decay8(sub(first, load8(s, q)))
            store8(fall, q, e)
            store8(rise, q, div(one, e))
    for p in range(top_rank):
        a = at(grade, p)
        changes = shift(upper, p * width)
        theirs = shift(turned, a * stride)
        top = splat8(at(s, p))
        lam_p = zero
        eta_p = zero
        # from multiples of 8, and the upper role kept apart: a load that covers parts of several earlier stores waits
        for q in range((p + 1) // LANES * LANES, n, LANES):
            if size <= LANES:
                change = zero
                for i in range(size):
                    change = replace8(change, grade, q, i, at(changes, i))
            else:
                change = gather8(changes, grade, q)
            change = keep8(add(change, load8(theirs, q)), p + 1 - q, n - q)
            u = mul(splat8(at(rise, p)), load8(fall, q)) if near else decay8(sub(top, load8(s, q)))
            v = div(one, add(one, u))
            t = mul(u, v)
            push = mul(change, sub(t, greater8(grade, q, a)))
            curve = mul(change, mul(t, v))
            lam_p = add(lam_p, push)
            eta_p = add(eta_p, curve)
            store8(lam, q, sub(load8(lam, q), push))
            store8(eta, q, sub(load8(eta, q), curve))
        put(upper_lam, p, total(lam_p))
        put(upper_eta, p, total(eta_p))
    for p in range(top_rank):
        put(lam, p, at(lam, p) + at(upper_lam, p))
        put(eta, p, at(eta, p) - at(upper_eta, p))


@kernel
def mass(n: int, values: Pointer) -> Any:
    """Sum of the absolute values of the first ``n`` elements."""
    lanes = splat8(0.0)
    whole = n // LANES * LANES
    for r in range(0, whole, LANES):
        lanes = add(lanes, magnitude(load8(values, r)))
    result = total(lanes)
    for r in range(whole, n):
        result += abs(at(values, r))
    return result


@kernel
def dampening(size: float) -> float:
    """What the gradients of a query are multiplied with so that their absolute sum S becomes log2(1 + S)."""
    return math.log2(1.0 + size) / size if size > 0.0 else 1.0
