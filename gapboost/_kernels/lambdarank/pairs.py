"""The change of a measure by a swap, and the sums of a list pair by pair."""

import math
from typing import Any, NamedTuple

import numpy as np

from gapboost._kernels.jit import kernel
from gapboost._kernels.lambdarank.swaps import padded
from gapboost._kernels.vectors import (
    EIGHT,
    Pointer,
    decay,
    first,
    greater,
    load,
    pointer,
    store,
    total,
)

# Range of scores (times sigma) within which exp(range) and its inverse are far from overflow.
NEAR = 300.0


class Grouped(NamedTuple):
    """Documents of a list by grade, then by rank; each grade begins at a multiple of 8.

    ``begin`` of a grade, its documents ``seen`` in a visit by rank, and those
    ``within`` the truncation; ``place`` of the document at a rank. By place: ``s``, ``rise``
    (the exponential of the distance to the highest score), ``lam`` and ``eta``. By grade and place
    the parts of a swap, ``upper`` and ``lower``, ``room`` numbers for each grade. What lies between
    two grades is finite.
    """

    room: Any

    begin: Any
    seen: Any
    within: Any
    place: Any
    s: Any
    rise: Any
    lam: Any
    eta: Any
    upper: Any
    lower: Any


def make_grouped(longest: int, n_levels: int) -> Grouped:
    """Return memory for lists up to `longest`."""
    room = padded(longest) + n_levels * len(EIGHT)
    begin, seen, within = np.empty((3, n_levels), np.int64)
    s, rise, lam, eta = np.zeros((4, room))
    upper, lower = np.zeros((2, n_levels, room))
    return Grouped(
        room=room, begin=begin, seen=seen, within=within, place=np.empty(longest, np.int32),
        s=s, rise=rise, lam=lam, eta=eta, upper=upper.ravel(), lower=lower.ravel(),
    )  # fmt: skip


@kernel
def grouped_pointers(m: Grouped) -> Grouped:
    """Return the memory with a pointer for each array."""
    return Grouped(
        room=m.room, begin=pointer(m.begin, 0), seen=pointer(m.seen, 0),
        within=pointer(m.within, 0), place=pointer(m.place, 0), s=pointer(m.s, 0),
        rise=pointer(m.rise, 0), lam=pointer(m.lam, 0), eta=pointer(m.eta, 0),
        upper=pointer(m.upper, 0), lower=pointer(m.lower, 0),
    )  # fmt: skip


@kernel
def group(
    n: int, top: int, n_levels: int, width: int, sizes: Pointer, s: Pointer, grade: Pointer,
    upper: Pointer, lower: Pointer, m: Grouped,
) -> int:  # fmt: skip
    """Move the documents of a list to their places; return the end of the last grade."""
    end = 0
    for i in range(n_levels):
        m.begin[i], m.seen[i] = end, 0
        end += (sizes[i] + len(EIGHT) - 1) // len(EIGHT) * len(EIGHT)
    zero = 0.0 * load(m.s, 0, EIGHT)
    for y in range(0, end, len(EIGHT)):
        store(m.rise, y, zero)
        store(m.lam, y, zero)
        store(m.eta, y, zero)
    for r in range(n):
        if r == top:
            for i in range(n_levels):
                m.within[i] = m.seen[i]
        a = grade[r]
        y = m.begin[a] + m.seen[a]
        m.seen[a] += 1
        m.place[r] = y
        m.s[y] = s[r]
        m.rise[y] = s[0] - s[r]
    for i in range(1, n_levels):
        for r in range(n):
            m.upper[i * m.room + m.place[r]] = upper[r * width + i]
            m.lower[i * m.room + m.place[r]] = lower[r * width + i]
    return end


@kernel
def add_pairs(
    n: int,
    top: int,
    n_levels: int,
    width: int,
    epsilon: float,
    sizes: Pointer,
    s: Pointer,
    grade: Pointer,
    upper: Pointer,
    lower: Pointer,
    m: Grouped,
    lam: Pointer,
    eta: Pointer,
) -> None:
    """Add what the first ``top`` documents and all documents below them do to each other.

    Each document visits those of lower grades, above and below it. If ``epsilon`` is not 0, changes
    are divided by ``epsilon`` and the distance of the two scores.
    """
    end = group(n, top, n_levels, width, sizes, s, grade, upper, lower, m)
    # One exponential a document instead of one a pair, unless it could overflow.
    near = s[0] - s[n - 1] < NEAR
    zero = 0.0 * load(m.s, 0, EIGHT)
    if near:
        for y in range(0, end, len(EIGHT)):
            store(m.rise, y, 1.0 / decay(load(m.rise, y, EIGHT)))
    for i in range(n_levels):
        m.seen[i] = 0
    for r in range(n):
        a, score, row = grade[r], s[r], r * width
        m.seen[a] += 1
        if a == 0:
            continue
        fall = 1.0 / m.rise[m.place[r]]
        pushes, curves = zero, zero
        for b in range(a):
            above = m.seen[b]
            visited = sizes[b] if r < top else min(above, m.within[b])
            own_upper, own_lower = upper[row + b], lower[row + b]
            for i in range(0, visited, len(EIGHT)):
                y = m.begin[b] + i
                right = own_upper + load(m.lower, a * m.room + y, EIGHT)
                wrong = -own_lower - load(m.upper, a * m.room + y, EIGHT)
                change = first(above - i, wrong, right)
                change = first(visited - i, change, zero)
                distance = score - load(m.s, y, EIGHT)
                if near:
                    e = fall * load(m.rise, y, EIGHT)
                else:
                    e = decay(greater(-NEAR - zero, -1.0 * greater(-NEAR - zero, distance)))
                t = 1.0 / (1.0 + e)
                push = change * t
                if epsilon != 0.0:
                    push = push / (epsilon + greater(distance, -1.0 * distance))
                curve = push * (e * t)
                pushes = pushes + push
                curves = curves + curve
                store(m.lam, y, load(m.lam, y, EIGHT) - push)
                store(m.eta, y, load(m.eta, y, EIGHT) - curve)
        # By rank: a load of a vector waits where it covers a number just stored.
        lam[r] = total(pushes)
        eta[r] = -total(curves)
    for r in range(n):
        lam[r] += m.lam[m.place[r]]
        eta[r] += m.eta[m.place[r]]


@kernel
def add_cascade(
    n: int,
    top: int,
    epsilon: float,
    s: Pointer,
    grade: Pointer,
    discount: Pointer,
    stops: Pointer,
    lam: Pointer,
    eta: Pointer,
) -> None:
    """Add what the pairs of a cascade do to each other: a swap changes a product.

    A user goes down the list and stops at a document with the probability R of its grade. With P
    the probability to reach rank p, V[q] = prod_{p<m<q} (1 - R_m) that to go on from p to q, and
    B[q] = sum_{p<m<q} discount[m] R_m prod_{p<l<m} (1 - R_l) what the documents between are worth
    to who goes on from p,

        Delta(p, q) = P (R_q - R_p) (discount[p] - B[q] - discount[q] V[q]).

    The last factor is never negative, as discounts fall. V and B are carried along.
    """
    reaching = 1.0
    for p in range(min(top, n - 1)):
        here = stops[grade[p]]
        between, passing = 0.0, reaching
        for q in range(p + 1, n):
            there = stops[grade[q]]
            if here != there:
                better = here - there
                change = -abs(better) * (reaching * discount[p] - between - passing * discount[q])
                if epsilon != 0.0:
                    change /= epsilon + (s[p] - s[q])
                u = math.exp(s[q] - s[p])
                t = u / (1.0 + u)
                push = change * (t if better > 0.0 else t - 1.0)
                curve = change * t / (1.0 + u)
                lam[p] += push
                lam[q] -= push
                eta[p] -= curve
                eta[q] -= curve
            between += passing * there * discount[q]
            passing *= 1.0 - there
        reaching *= 1.0 - here
        if reaching == 0.0:
            break
