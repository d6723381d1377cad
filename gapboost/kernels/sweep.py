"""LambdaRank sums of one stretch of a ranking in time linear in its length.

For ranks p < q with grades a, b the change by swapping is separable, Delta = Phi_b(p) + X_a(q), and so is every power
of u = exp(sigma (s_q - s_p)) in the polynomials for t = u / (1 + u) and t (1 - t) = u / (1 + u)**2. So what a document
receives from all documents below it comes from running sums of u**k per grade (a backward sweep), and what it receives
from those above from their mirror image (a forward sweep).

Tables of a document of grade a have one row over all grades i, with the sign of the pair's grade difference in them:

    upper[i] = sign(a - i) * (phi_i - phi_a)        lower[i] = sign(i - a) * (chi_i - chi_a)

Rows are ``width`` long, a multiple of 8; lanes beyond the query's own grades hold zeros. Running sums ("moments") are
``width`` rows of 16 powers for weight 1, ``width`` rows for the weights of the tables, and two rows over grades: the
number of documents, and the plain sum of Delta's own part over pairs whose lower document has the higher grade.

Exponentials are taken relative to an anchor, the highest score of a stretch of at most `REACH`, so that 16 powers of
them stay far from overflow; ``jump[r] < 1`` marks the first document of a stretch and moves the moments to its anchor.
"""

from typing import Any

from gapboost.kernels.compile import kernel
from gapboost.kernels.vectors import (
    FARTHEST,
    add,
    at,
    constant16,
    decay8,
    div,
    first_lane,
    fma,
    fold,
    load8,
    load16,
    mul,
    powers,
    put,
    shift,
    splat8,
    splat16,
    store8,
    store16,
    sub,
    total,
)

Pointer = Any

TERMS = 16
LANES = 8
REACH = 30.0

# f(u) / u for f = u / (1 + u) and f = u / (1 + u)**2, interpolated at the 16 Chebyshev nodes of [0, 1], by powers of u.
# Largest errors on [0, 1]: 1.2e-12 and 1.4e-11; with 14 terms 4e-11 and 4e-10, with 12 terms 1e-9 and 1e-8.
# fmt: off
LOGISTIC = (
    0.9999999999988722, -0.9999999994214706, 0.9999999503423298, -0.9999983012831976, 0.999969207168507,
    -0.9996588699451417, 0.9974865093815845, -0.9869827879753738, 0.9507449491239466, -0.8597950790654627,
    0.6922558447472031, -0.46596908670695636, 0.24460160601541056, -0.09202832701569903, 0.021796182714244505,
    -0.0024217980793605006,
)
SLOPE = (
    0.9999999999861133, -1.9999999928750298, 2.999999387950267, -3.9999790322591444, 4.999619077095007,
    -5.995766882158609, 6.968675937369417, -7.836822683200376, 8.377583286926091, -8.208398048129325,
    7.005163833656636, -4.910990502715944, 2.6511049610325683, -1.016963684711258, 0.24417385954021228,
    -0.027399517513285867,
)
# fmt: on


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
            put(jump, r, first_lane(decay8(splat8(distance))) if distance < FARTHEST else 0.0)
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

    ``constants`` are, by rows of ``width``: pair, its transpose, its diagonal once per row, sign(a - i), own.
    """
    square = width * width
    if width == LANES:
        # the same with the prefixes in registers instead of memory
        alone = load8(constants, 3 * square)
        diagonal = load8(constants, 3 * square + width)
        c = load8(prefix, 0)
        e = load8(prefix, width)
        for r in range(lo, hi):
            g = at(grade, r)
            a = g * LANES
            d = splat8(at(discount, rank0 + r))
            here = (r - lo) * LANES
            row = load8(constants, a)
            base = mul(d, add(alone, c))
            chi = fma(d, sub(row, diagonal), sub(base, e))
            e = fma(d, load8(constants, square + a), e)
            phi = sub(base, e)
            c = add(c, row)
            store8(upper, here, phi)
            store8(lower, here, chi)
            sign = load8(constants, 2 * square + a)
            phi_a = splat8(at(upper, here + g))
            chi_a = splat8(at(lower, here + g))
            store8(upper, here, mul(sign, sub(phi, phi_a)))
            store8(lower, here, mul(sign, sub(chi_a, chi)))
        store8(prefix, 0, c)
        store8(prefix, width, e)
        return
    for r in range(lo, hi):
        a = at(grade, r) * width
        d = splat8(at(discount, rank0 + r))
        here = (r - lo) * width
        for i in range(0, width, LANES):
            row = load8(constants, a + i)
            c = load8(prefix, i)
            e = load8(prefix, width + i)
            base = mul(d, add(load8(constants, 3 * square + i), c))
            chi = fma(d, sub(row, load8(constants, 3 * square + width + i)), sub(base, e))
            e = fma(d, load8(constants, square + a + i), e)
            store8(prefix, i, add(c, row))
            store8(prefix, width + i, e)
            store8(upper, here + i, sub(base, e))
            store8(lower, here + i, chi)
        g = at(grade, r)
        phi_a = splat8(at(upper, here + g))
        chi_a = splat8(at(lower, here + g))
        for i in range(0, width, LANES):
            sign = load8(constants, 2 * square + a + i)
            store8(upper, here + i, mul(sign, sub(load8(upper, here + i), phi_a)))
            store8(lower, here + i, mul(sign, sub(chi_a, load8(lower, here + i))))


@kernel
def scale_moments(width: int, size: int, factor: float, moments: Pointer) -> None:
    """Move moments to an anchor at a distance x, ``factor`` = exp(-x)."""
    f = powers(factor)
    for i in range(size):
        store16(moments, TERMS * i, mul(f, load16(moments, TERMS * i)))
        store16(moments, TERMS * (width + i), mul(f, load16(moments, TERMS * (width + i))))


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
    square = width * width
    weighted = TERMS * width
    plain = 2 * TERMS * width
    c1 = constant16(LOGISTIC)
    c2 = constant16(SLOPE)
    for r in range(hi - 1, lo - 1, -1):
        a = at(grade, r)
        here = (r - lo) * width
        if r < deep:
            m = load16(moments, weighted + TERMS * a)
            for i in range(size):
                m = fma(splat16(at(upper, here + i)), load16(moments, TERMS * i), m)
            m = mul(m, powers(at(rise, r)))
            side = fold(mul(m, c1))
            for i in range(0, width, LANES):
                count = mul(load8(moments, plain + i), load8(masks, a * width + i))
                side = sub(side, mul(count, load8(upper, here + i)))
            put(lam, r, at(lam, r) + (total(side) + at(moments, plain + width + a)))
            put(eta, r, at(eta, r) - total(fold(mul(m, c2))))
        u = powers(at(fall, r))
        store16(moments, TERMS * a, add(load16(moments, TERMS * a), u))
        for i in range(size):
            j = weighted + TERMS * i
            store16(moments, j, fma(splat16(at(lower, here + i)), u, load16(moments, j)))
        for i in range(0, width, LANES):
            j = plain + i
            store8(moments, j, add(load8(moments, j), load8(masks, 2 * square + a * width + i)))
            j += width
            change = mul(load8(masks, square + a * width + i), load8(lower, here + i))
            store8(moments, j, sub(load8(moments, j), change))
        if at(jump, r) != 1.0:
            scale_moments(width, size, at(jump, r), moments)


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
    square = width * width
    weighted = TERMS * width
    plain = 2 * TERMS * width
    c1 = constant16(LOGISTIC)
    c2 = constant16(SLOPE)
    for r in range(lo, hi):
        a = at(grade, r)
        here = (r - lo) * width
        if at(jump, r) != 1.0:
            scale_moments(width, size, at(jump, r), moments)
        if wanted:
            m = load16(moments, weighted + TERMS * a)
            for i in range(size):
                m = fma(splat16(at(lower, here + i)), load16(moments, TERMS * i), m)
            m = mul(m, powers(at(fall, r)))
            side = fold(mul(m, c1))
            for i in range(0, width, LANES):
                count = mul(load8(moments, plain + i), load8(masks, square + a * width + i))
                side = sub(side, mul(count, load8(lower, here + i)))
            put(lam, r, at(lam, r) - (total(side) + at(moments, plain + width + a)))
            put(eta, r, at(eta, r) - total(fold(mul(m, c2))))
        if r < deep:
            v = powers(at(rise, r))
            store16(moments, TERMS * a, add(load16(moments, TERMS * a), v))
            for i in range(size):
                j = weighted + TERMS * i
                store16(moments, j, fma(splat16(at(upper, here + i)), v, load16(moments, j)))
            for i in range(0, width, LANES):
                j = plain + i
                store8(moments, j, add(load8(moments, j), load8(masks, 2 * square + a * width + i)))
                j += width
                change = mul(load8(masks, a * width + i), load8(upper, here + i))
                store8(moments, j, sub(load8(moments, j), change))


@kernel
def collect(
    lo: int,
    hi: int,
    width: int,
    size: int,
    grade: Pointer,
    exponential: Pointer,
    mask: Pointer,
    same: Pointer,
    table: Pointer,
    moments: Pointer,
) -> None:
    """Add the moments of documents ``lo..hi-1``, all at one anchor, in four documents at a time.

    For `backward` give ``fall``, rows 1{i < a} and ``lower``; for `forward` ``rise``, rows 1{i > a} and ``upper``.
    """
    weighted = TERMS * width
    plain = 2 * TERMS * width
    r = lo
    while r < hi:
        here = shift(table, (r - lo) * width)
        if r + 4 <= hi:
            step = 4
            w0 = powers(at(exponential, r))
            w1 = powers(at(exponential, r + 1))
            w2 = powers(at(exponential, r + 2))
            w3 = powers(at(exponential, r + 3))
            for i in range(size):
                j = weighted + TERMS * i
                m = fma(splat16(at(here, i)), w0, load16(moments, j))
                n = mul(splat16(at(here, width + i)), w1)
                m = fma(splat16(at(here, 2 * width + i)), w2, m)
                n = fma(splat16(at(here, 3 * width + i)), w3, n)
                store16(moments, j, add(m, n))
            j = TERMS * at(grade, r)
            store16(moments, j, add(load16(moments, j), w0))
            j = TERMS * at(grade, r + 1)
            store16(moments, j, add(load16(moments, j), w1))
            j = TERMS * at(grade, r + 2)
            store16(moments, j, add(load16(moments, j), w2))
            j = TERMS * at(grade, r + 3)
            store16(moments, j, add(load16(moments, j), w3))
        else:
            step = 1
            w0 = powers(at(exponential, r))
            for i in range(size):
                j = weighted + TERMS * i
                store16(moments, j, fma(splat16(at(here, i)), w0, load16(moments, j)))
            j = TERMS * at(grade, r)
            store16(moments, j, add(load16(moments, j), w0))
        for i in range(0, width, LANES):
            count = load8(moments, plain + i)
            change = load8(moments, plain + width + i)
            for k in range(step):
                a = at(grade, r + k) * width + i
                count = add(count, load8(same, a))
                change = sub(change, mul(load8(mask, a), load8(here, k * width + i)))
            store8(moments, plain + i, count)
            store8(moments, plain + width + i, change)
        r += step
