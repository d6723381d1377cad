"""Running sums over a ranking, per grade: what a document receives from them, and what it adds.

Moments are ``width`` rows of 16 powers for weight 1, ``width`` rows for the weights of the tables, and two rows over grades:
the number of documents, and the plain sum of Delta's own part over pairs whose lower document has the higher grade. See
`sweep` for the sums that they stand for.
"""

from typing import Any

from gapboost.kernels.compile import kernel
from gapboost.kernels.vectors import (
    add,
    at,
    constant16,
    fma,
    fold,
    lane,
    load8,
    load16,
    mul,
    powers,
    put,
    shift,
    splat16,
    store8,
    store16,
    sub,
    total,
    totals,
)

Pointer = Any

TERMS = 16
LANES = 8

# Length of one set of moments, by the width of its rows.
MOMENTS = 2 * TERMS + 2

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
def scale_moments(width: int, size: int, factor: float, moments: Pointer) -> None:
    """Move moments to an anchor at a distance x, ``factor`` = exp(-x)."""
    f = powers(factor)
    for i in range(size):
        store16(moments, TERMS * i, mul(f, load16(moments, TERMS * i)))
        store16(moments, TERMS * (width + i), mul(f, load16(moments, TERMS * (width + i))))


@kernel
def carry(
    first: int,
    step: int,
    n: int,
    receiving: int,
    giving: int,
    width: int,
    size: int,
    grade: Pointer,
    inward: Pointer,
    outward: Pointer,
    jump: Pointer,
    before: Pointer,
    after: Pointer,
    same: Pointer,
    gained: Pointer,
    given: Pointer,
    moments: Pointer,
    sign: float,
    lam: Pointer,
    eta: Pointer,
) -> None:
    """Visit ``n`` documents from ``first`` on, in steps of 1 or -1: each receives from the moments, then adds to them.

    Documents below ``receiving`` receive, those below ``giving`` add. ``inward`` and ``gained`` are the exponentials and
    tables of receiving, ``outward`` and ``given`` those of adding, ``before`` and ``after`` the masks of the two.
    """
    r = first
    left = n
    while left > 0:
        if step > 0 and at(jump, r) != 1.0:
            scale_moments(width, size, at(jump, r), moments)
        if left >= 4 and max(r, r + 3 * step) < min(receiving, giving) and smooth(jump, r, step):
            four(
                r,
                step,
                width,
                size,
                grade,
                inward,
                outward,
                before,
                after,
                same,
                gained,
                given,
                moments,
                sign,
                lam,
                eta,
            )
            r += 3 * step
            left -= 4
        else:
            one(
                r, r < receiving, r < giving, width, size, grade, inward, outward, before, after, same, gained, given,
                moments, sign, lam, eta,
            )  # fmt: skip
            left -= 1
        if step < 0 and at(jump, r) != 1.0:
            scale_moments(width, size, at(jump, r), moments)
        r += step


@kernel
def smooth(jump: Pointer, r: int, step: int) -> bool:
    """Whether the four documents from ``r`` on are in one stretch."""
    low = r + 1 if step > 0 else r - 2
    return bool(at(jump, low) == 1.0 and at(jump, low + 1) == 1.0 and at(jump, low + 2) == 1.0)


@kernel
def one(
    r: int,
    receives: bool,
    gives: bool,
    width: int,
    size: int,
    grade: Pointer,
    inward: Pointer,
    outward: Pointer,
    before: Pointer,
    after: Pointer,
    same: Pointer,
    gained: Pointer,
    given: Pointer,
    moments: Pointer,
    sign: float,
    lam: Pointer,
    eta: Pointer,
) -> None:
    """Let one document receive and add."""
    weighted = TERMS * width
    plain = 2 * TERMS * width
    a = at(grade, r)
    mine = shift(gained, r * width)
    theirs = shift(given, r * width)
    if receives:
        m = load16(moments, weighted + TERMS * a)
        for i in range(size):
            m = fma(splat16(at(mine, i)), load16(moments, TERMS * i), m)
        m = mul(m, powers(at(inward, r)))
        side = fold(mul(m, constant16(LOGISTIC)))
        for i in range(0, width, LANES):
            count = mul(load8(moments, plain + i), load8(before, a * width + i))
            side = sub(side, mul(count, load8(mine, i)))
        put(lam, r, at(lam, r) + sign * (total(side) + at(moments, plain + width + a)))
        put(eta, r, at(eta, r) - total(fold(mul(m, constant16(SLOPE)))))
    if gives:
        w = powers(at(outward, r))
        store16(moments, TERMS * a, add(load16(moments, TERMS * a), w))
        for i in range(size):
            j = weighted + TERMS * i
            store16(moments, j, fma(splat16(at(theirs, i)), w, load16(moments, j)))
        for i in range(0, width, LANES):
            j = plain + i
            store8(moments, j, add(load8(moments, j), load8(same, a * width + i)))
            j += width
            store8(moments, j, sub(load8(moments, j), mul(load8(after, a * width + i), load8(theirs, i))))


@kernel
def four(
    r: int,
    step: int,
    width: int,
    size: int,
    grade: Pointer,
    inward: Pointer,
    outward: Pointer,
    before: Pointer,
    after: Pointer,
    same: Pointer,
    gained: Pointer,
    given: Pointer,
    moments: Pointer,
    sign: float,
    lam: Pointer,
    eta: Pointer,
) -> None:
    """Let four documents receive and add, ``r`` first: the same as `one` by one, loading all moments once instead.

    What document k receives from document j before it comes from no moments but from their pair, with weight c_jk.
    """
    weighted = TERMS * width
    plain = 2 * TERMS * width
    c1 = constant16(LOGISTIC)
    c2 = constant16(SLOPE)
    r1 = r + step
    r2 = r1 + step
    r3 = r2 + step
    a0 = at(grade, r)
    a1 = at(grade, r1)
    a2 = at(grade, r2)
    a3 = at(grade, r3)
    in0 = shift(gained, r * width)
    in1 = shift(gained, r1 * width)
    in2 = shift(gained, r2 * width)
    in3 = shift(gained, r3 * width)
    out0 = shift(given, r * width)
    out1 = shift(given, r1 * width)
    out2 = shift(given, r2 * width)
    out3 = shift(given, r3 * width)
    b0 = shift(before, a0 * width)
    b1 = shift(before, a1 * width)
    b2 = shift(before, a2 * width)
    b3 = shift(before, a3 * width)
    w0 = powers(at(outward, r))
    w1 = powers(at(outward, r1))
    w2 = powers(at(outward, r2))
    w3 = powers(at(outward, r3))
    c01 = at(out0, a1) + at(in1, a0)
    c02 = at(out0, a2) + at(in2, a0)
    c03 = at(out0, a3) + at(in3, a0)
    c12 = at(out1, a2) + at(in2, a1)
    c13 = at(out1, a3) + at(in3, a1)
    c23 = at(out2, a3) + at(in3, a2)
    p0 = at(moments, plain + width + a0)
    p1 = at(moments, plain + width + a1) - c01 * at(b1, a0)
    p2 = at(moments, plain + width + a2) - (c02 * at(b2, a0) + c12 * at(b2, a1))
    p3 = at(moments, plain + width + a3) - (c03 * at(b3, a0) + c13 * at(b3, a1) + c23 * at(b3, a2))
    m0 = load16(moments, weighted + TERMS * a0)
    m1 = fma(splat16(c01), w0, load16(moments, weighted + TERMS * a1))
    m2 = fma(splat16(c02), w0, load16(moments, weighted + TERMS * a2))
    m3 = fma(splat16(c03), w0, load16(moments, weighted + TERMS * a3))
    m2 = fma(splat16(c12), w1, m2)
    m3 = fma(splat16(c13), w1, m3)
    m3 = fma(splat16(c23), w2, m3)
    for i in range(size):
        x = load16(moments, TERMS * i)
        y = load16(moments, weighted + TERMS * i)
        m0 = fma(splat16(at(in0, i)), x, m0)
        m1 = fma(splat16(at(in1, i)), x, m1)
        m2 = fma(splat16(at(in2, i)), x, m2)
        m3 = fma(splat16(at(in3, i)), x, m3)
        y = fma(splat16(at(out0, i)), w0, y)
        y = fma(splat16(at(out1, i)), w1, y)
        y = fma(splat16(at(out2, i)), w2, y)
        y = fma(splat16(at(out3, i)), w3, y)
        store16(moments, weighted + TERMS * i, y)
    store16(moments, TERMS * a0, add(load16(moments, TERMS * a0), w0))
    store16(moments, TERMS * a1, add(load16(moments, TERMS * a1), w1))
    store16(moments, TERMS * a2, add(load16(moments, TERMS * a2), w2))
    store16(moments, TERMS * a3, add(load16(moments, TERMS * a3), w3))
    m0 = mul(m0, powers(at(inward, r)))
    m1 = mul(m1, powers(at(inward, r1)))
    m2 = mul(m2, powers(at(inward, r2)))
    m3 = mul(m3, powers(at(inward, r3)))
    s0 = fold(mul(m0, c1))
    s1 = fold(mul(m1, c1))
    s2 = fold(mul(m2, c1))
    s3 = fold(mul(m3, c1))
    for i in range(0, width, LANES):
        count = load8(moments, plain + i)
        s0 = sub(s0, mul(mul(count, load8(b0, i)), load8(in0, i)))
        s1 = sub(s1, mul(mul(count, load8(b1, i)), load8(in1, i)))
        s2 = sub(s2, mul(mul(count, load8(b2, i)), load8(in2, i)))
        s3 = sub(s3, mul(mul(count, load8(b3, i)), load8(in3, i)))
        more = add(load8(same, a0 * width + i), load8(same, a1 * width + i))
        more = add(more, add(load8(same, a2 * width + i), load8(same, a3 * width + i)))
        store8(moments, plain + i, add(count, more))
        change = mul(load8(after, a0 * width + i), load8(out0, i))
        change = fma(load8(after, a1 * width + i), load8(out1, i), change)
        change = fma(load8(after, a2 * width + i), load8(out2, i), change)
        change = fma(load8(after, a3 * width + i), load8(out3, i), change)
        j = plain + width + i
        store8(moments, j, sub(load8(moments, j), change))
    sums = totals(s0, s1, s2, s3, fold(mul(m0, c2)), fold(mul(m1, c2)), fold(mul(m2, c2)), fold(mul(m3, c2)))
    put(lam, r, at(lam, r) + sign * (lane(sums, 0) + p0))
    put(lam, r1, at(lam, r1) + sign * (lane(sums, 1) + p1))
    put(lam, r2, at(lam, r2) + sign * (lane(sums, 2) + p2))
    put(lam, r3, at(lam, r3) + sign * (lane(sums, 3) + p3))
    put(eta, r, at(eta, r) - lane(sums, 4))
    put(eta, r1, at(eta, r1) - lane(sums, 5))
    put(eta, r2, at(eta, r2) - lane(sums, 6))
    put(eta, r3, at(eta, r3) - lane(sums, 7))


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
