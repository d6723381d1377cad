"""The change of a measure by a swap, and the sums of a list pair by pair."""

import math

from gapboost._kernels.jit import inner_kernel
from gapboost._kernels.lambdarank.memory import Memory, Shape
from gapboost._kernels.vectors import EIGHT, Pointer, decay, first, greater, load, store, total

# Range of scores (times sigma) within which exp(range) and its inverse are far from overflow.
NEAR = 300.0


@inner_kernel
def group(shape: Shape, m: Memory) -> int:
    """Move the documents of a list to their places; return the end of the last grade."""
    at, end = m.grouped, 0
    for i in range(shape.n_levels):
        at.begin[i], at.seen[i] = end, 0
        end += (m.sizes[i] + len(EIGHT) - 1) // len(EIGHT) * len(EIGHT)
    zero = 0.0 * load(at.s, 0, EIGHT)
    for y in range(0, end, len(EIGHT)):
        store(at.rise, y, zero)
        store(at.lam, y, zero)
        store(at.eta, y, zero)
    for r in range(shape.n):
        if r == shape.top:
            for i in range(shape.n_levels):
                at.within[i] = at.seen[i]
        a = m.grade[r]
        y = at.begin[a] + at.seen[a]
        at.seen[a] += 1
        at.place[r] = y
        at.s[y] = m.s[r]
        at.rise[y] = m.s[0] - m.s[r]
    for i in range(1, shape.n_levels):
        for r in range(shape.n):
            at.upper[i * at.stride + at.place[r]] = m.upper[r * shape.width + i]
            at.lower[i * at.stride + at.place[r]] = m.lower[r * shape.width + i]
    return end


@inner_kernel
def add_pairs(shape: Shape, m: Memory) -> None:
    """Add what the top documents and all documents below them do to each other.

    Each document visits those of lower grades, above and below it.
    """
    n, top, n_levels, width, epsilon = shape
    s, at, end = m.s, m.grouped, group(shape, m)
    # One exponential a document instead of one a pair, unless it could overflow.
    near = s[0] - s[n - 1] < NEAR
    zero = 0.0 * load(at.s, 0, EIGHT)
    if near:
        for y in range(0, end, len(EIGHT)):
            store(at.rise, y, 1.0 / decay(load(at.rise, y, EIGHT)))
    for i in range(n_levels):
        at.seen[i] = 0
    for r in range(n):
        a, score, row = m.grade[r], s[r], r * width
        at.seen[a] += 1
        if a == 0:
            continue
        fall = 1.0 / at.rise[at.place[r]]
        grads, hesses = zero, zero
        for b in range(a):
            above = at.seen[b]
            visited = m.sizes[b] if r < top else min(above, at.within[b])
            own_upper, own_lower = m.upper[row + b], m.lower[row + b]
            for i in range(0, visited, len(EIGHT)):
                y = at.begin[b] + i
                right = own_upper + load(at.lower, a * at.stride + y, EIGHT)
                wrong = -own_lower - load(at.upper, a * at.stride + y, EIGHT)
                change = first(above - i, wrong, right)
                change = first(visited - i, change, zero)
                distance = score - load(at.s, y, EIGHT)
                if near:
                    e = fall * load(at.rise, y, EIGHT)
                else:
                    e = decay(greater(-NEAR - zero, -1.0 * greater(-NEAR - zero, distance)))
                t = 1.0 / (1.0 + e)
                grad = change * t
                if epsilon != 0.0:
                    grad = grad / (epsilon + greater(distance, -1.0 * distance))
                hess = grad * (e * t)
                grads = grads + grad
                hesses = hesses + hess
                store(at.lam, y, load(at.lam, y, EIGHT) - grad)
                store(at.eta, y, load(at.eta, y, EIGHT) - hess)
        # By rank: a load of a vector waits where it covers a number just stored.
        m.lam[r] = total(grads)
        m.eta[r] = -total(hesses)
    for r in range(n):
        m.lam[r] += at.lam[at.place[r]]
        m.eta[r] += at.eta[at.place[r]]


@inner_kernel
def add_cascade(shape: Shape, discount: Pointer, stops: Pointer, m: Memory) -> None:
    """Add what the pairs of a cascade do to each other: a swap changes a product.

    A user goes down the list and stops at a document with the probability R of its grade. With P
    the probability to reach rank p, V[q] = prod_{p<m<q} (1 - R_m) that to go on from p to q, and
    B[q] = sum_{p<m<q} discount[m] R_m prod_{p<l<m} (1 - R_l) what the documents between are worth
    to who goes on from p,

        Delta(p, q) = P (R_q - R_p) (discount[p] - B[q] - discount[q] V[q]).

    The last factor is never negative, as discounts fall. V and B are carried along.
    """
    n, top, _, _, epsilon = shape
    s, grade, levels, lam, eta = m.s, m.grade, m.levels, m.lam, m.eta
    reaching = 1.0
    for p in range(min(top, n - 1)):
        here = stops[levels[grade[p]]]
        between, passing = 0.0, reaching
        for q in range(p + 1, n):
            there = stops[levels[grade[q]]]
            if here != there:
                better = here - there
                change = -abs(better) * (reaching * discount[p] - between - passing * discount[q])
                if epsilon != 0.0:
                    change /= epsilon + (s[p] - s[q])
                u = math.exp(s[q] - s[p])
                t = u / (1.0 + u)
                grad = change * (t if better > 0.0 else t - 1.0)
                hess = change * t / (1.0 + u)
                lam[p] += grad
                lam[q] -= grad
                eta[p] -= hess
                eta[q] -= hess
            between += passing * there * discount[q]
            passing *= 1.0 - there
        reaching *= 1.0 - here
        if reaching == 0.0:
            break
