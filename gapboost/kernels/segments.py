"""What one query needs before and after its sums: grades, worths, scores in order, and the scaled gradients."""

from typing import Any

import numpy as np

from gapboost.kernels.compile import kernel
from gapboost.kernels.sweep import LANES, backward, forward, tables
from gapboost.kernels.vectors import (
    add, at, decay8, div, gather8, greater8, keep8, load8, mul, put, shift, splat8, store8, sub, total,
)  # fmt: skip

Array = np.ndarray[Any, Any]
Pointer = Any

BLOCK = 128


@kernel
def aligned(n: int) -> Array:
    """Uninitialised float64 that begin on a cache line: vectors across two lines load at half speed."""
    raw = np.empty(n + LANES)
    start = (-(raw.ctypes.data >> 3)) & (LANES - 1)
    return raw[start : start + n]


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
def fill_constants(
    pair: Pointer, own: Pointer, n_grades: int, kept: Pointer, size: int, width: int, constants: Pointer
) -> None:
    """Copy the worth of the ``size`` grades in ``kept`` to the layout of `tables`; further lanes are zero."""
    square = width * width
    zero = splat8(0.0)
    for j in range(0, (3 * width + 2) * width, LANES):
        store8(constants, j, zero)
    for a in range(size):
        row = shift(pair, at(kept, a) * n_grades)
        for i in range(size):
            worth = at(row, at(kept, i))
            put(constants, a * width + i, worth)
            put(constants, square + i * width + a, worth)
            put(constants, 2 * square + a * width + i, 1.0 if a > i else (-1.0 if a < i else 0.0))
        put(constants, 3 * square + a, at(own, at(kept, a)))
        put(constants, 3 * square + width + a, at(row, at(kept, a)))


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
        put(s, r, at(scores, i) * sigma)
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
    lam: Pointer,
    eta: Pointer,
) -> None:
    """The same sums pair by pair: each of the first ``deep`` ranks with every rank below it.

    ``turned`` is room for ``size * (n + 8)``; the arrays by rank must have room for 8 elements beyond ``n``.
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
    for p in range(min(deep, n - 1)):
        a = at(grade, p)
        changes = shift(upper, p * width)
        theirs = shift(turned, a * stride)
        top = splat8(at(s, p))
        lam_p = zero
        eta_p = zero
        for q in range(p + 1, n, LANES):
            change = keep8(add(gather8(changes, grade, q), load8(theirs, q)), n - q)
            u = decay8(sub(top, load8(s, q)))
            v = div(one, add(one, u))
            t = mul(u, v)
            push = mul(change, sub(t, greater8(grade, q, a)))
            curve = mul(change, mul(t, v))
            lam_p = add(lam_p, push)
            eta_p = add(eta_p, curve)
            store8(lam, q, sub(load8(lam, q), push))
            store8(eta, q, sub(load8(eta, q), curve))
        put(lam, p, at(lam, p) + total(lam_p))
        put(eta, p, at(eta, p) - total(eta_p))
