"""LambdaRank sums of one stretch of a ranking in time linear in its length.

For ranks p < q with grades a, b the change by swapping is separable, Delta = Phi_b(p) + X_a(q), and so is every power
of u = exp(sigma (s_q - s_p)) in the polynomials for t = u / (1 + u) and t (1 - t) = u / (1 + u)**2. So what a document
receives from all documents below it comes from running sums of u**k per grade (a backward sweep), and what it receives
from those above from their mirror image (a forward sweep).

Tables of a document of grade a have one row over all grades i, with the sign of the pair's grade difference in them:

    upper[i] = sign(a - i) * (phi_i - phi_a)        lower[i] = sign(i - a) * (chi_i - chi_a)

Rows are ``width`` long, a multiple of 8; lanes beyond the query's own grades hold zeros.

Exponentials are taken relative to an anchor, the highest score of a stretch of at most `REACH`, so that 16 powers of
them stay far from overflow; ``jump[r] < 1`` marks the first document of a stretch and moves the moments to its anchor.
"""

from typing import Any

from gapboost.kernels.compile import kernel
from gapboost.kernels.moments import LANES, carry
from gapboost.kernels.vectors import (
    FARTHEST,
    add,
    at,
    decay,
    decay8,
    div,
    load8,
    mul,
    put,
    shift,
    splat8,
    store8,
    sub,
)

Pointer = Any

REACH = 30.0


@kernel
def exponentials(n: int, s: Pointer, fall: Pointer, rise: Pointer, jump: Pointer) -> Any:
    """Fill the exponentials of a segment from its falling scores ``s`` (times sigma); return the last anchor.

    ``fall`` is exp(score - anchor), ``rise`` its inverse. All arrays have room for 8 elements beyond ``n``.
    """
    anchor = at(s, 0)
    one = splat8(1.0)
    if anchor - at(s, n - 1) <= REACH:
        top = splat8(anchor)
        for r in range(0, n, LANES):
            e = decay8(sub(top, load8(s, r)))
            store8(jump, r, one)
            store8(fall, r, e)
            store8(rise, r, div(one, e))
        return anchor
    for r in range(n):
        distance = anchor - at(s, r)
        put(jump, r, 1.0)
        if distance > REACH:
            put(jump, r, decay(distance) if distance < FARTHEST else 0.0)
            anchor = at(s, r)
            distance = 0.0
        put(fall, r, distance)
    for r in range(0, n, LANES):
        e = decay8(load8(fall, r))
        store8(fall, r, e)
        store8(rise, r, div(one, e))
    return anchor


@kernel
def tables(
    lo: int,
    hi: int,
    width: int,
    grade: Pointer,
    discount: Pointer,
    rank0: int,
    constants: Pointer,
    prefix: Pointer,
    upper: Pointer,
    lower: Pointer,
) -> None:
    """Rows of documents ``lo..hi-1`` of a segment whose first rank is ``rank0``; carries ``prefix`` (C, E) along.

    ``constants`` are as `fill_constants` leaves them. As chi and phi differ by the discount times a constant,
    lower[i] = discount * bend[a, i] - upper[i].
    """
    square = width * width
    if width == LANES:
        # the same with the prefixes in registers instead of memory
        c = add(load8(constants, 4 * square), load8(prefix, 0))
        e = load8(prefix, width)
        for r in range(lo, hi):
            g = at(grade, r)
            a = g * LANES
            d = splat8(at(discount, rank0 + r))
            here = (r - lo) * LANES
            added = mul(d, load8(constants, square + a))
            phi = sub(sub(mul(d, c), e), added)
            c = add(c, load8(constants, a))
            e = add(e, added)
            # from here it is read again, as no instruction finds a lane by number
            store8(upper, here, phi)
            difference = mul(load8(constants, 2 * square + a), sub(phi, splat8(at(upper, here + g))))
            store8(upper, here, difference)
            store8(lower, here, sub(mul(d, load8(constants, 3 * square + a)), difference))
        store8(prefix, 0, sub(c, load8(constants, 4 * square)))
        store8(prefix, width, e)
        return
    for r in range(lo, hi):
        g = at(grade, r)
        a = g * width
        d = splat8(at(discount, rank0 + r))
        here = (r - lo) * width
        for i in range(0, width, LANES):
            c = load8(prefix, i)
            e = load8(prefix, width + i)
            added = mul(d, load8(constants, square + a + i))
            store8(upper, here + i, sub(sub(mul(d, add(load8(constants, 4 * square + i), c)), e), added))
            store8(prefix, i, add(c, load8(constants, a + i)))
            store8(prefix, width + i, add(e, added))
        phi_a = splat8(at(upper, here + g))
        for i in range(0, width, LANES):
            difference = mul(load8(constants, 2 * square + a + i), sub(load8(upper, here + i), phi_a))
            store8(upper, here + i, difference)
            store8(lower, here + i, sub(mul(d, load8(constants, 3 * square + a + i)), difference))


@kernel
def backward(
    lo: int,
    hi: int,
    deep: int,
    width: int,
    size: int,
    grade: Pointer,
    fall: Pointer,
    rise: Pointer,
    jump: Pointer,
    masks: Pointer,
    upper: Pointer,
    lower: Pointer,
    moments: Pointer,
    lam: Pointer,
    eta: Pointer,
) -> None:
    """From the last document up: add the sums over all documents below it to each of the first ``deep``.

    ``masks`` are, by rows of ``width``: 1{i > a}, 1{i < a}, 1{i = a}.
    """
    smaller = shift(masks, width * width)
    same = shift(smaller, width * width)
    carry(
        hi - 1, -1, hi - lo, deep, hi, width, size, grade, rise, fall, jump, masks, smaller, same,
        shift(upper, -lo * width), shift(lower, -lo * width), moments, 1.0, lam, eta,
    )  # fmt: skip


@kernel
def forward(
    lo: int,
    hi: int,
    deep: int,
    wanted: bool,
    width: int,
    size: int,
    grade: Pointer,
    fall: Pointer,
    rise: Pointer,
    jump: Pointer,
    masks: Pointer,
    upper: Pointer,
    lower: Pointer,
    moments: Pointer,
    lam: Pointer,
    eta: Pointer,
) -> None:
    """From the first document down: add the sums over those of the first ``deep`` that are above it to each document.

    With ``wanted`` false only the moments are carried.
    """
    smaller = shift(masks, width * width)
    same = shift(smaller, width * width)
    carry(
        lo, 1, hi - lo, hi if wanted else lo, deep, width, size, grade, fall, rise, jump, smaller, masks, same,
        shift(lower, -lo * width), shift(upper, -lo * width), moments, -1.0, lam, eta,
    )  # fmt: skip
