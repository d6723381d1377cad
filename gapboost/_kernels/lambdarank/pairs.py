"""The sums of a short list pair by pair, each pair once."""

import math

from gapboost._kernels.jit import kernel
from gapboost._kernels.lambdarank.form import Form
from gapboost._kernels.lambdarank.memory import Memory
from gapboost._kernels.simd import LANES, Pointer, counting, every8, load8, store, total, where
from gapboost._kernels.simd.exponential import decay8

# Range of scores (times sigma) within which exp(range) and its inverse are far from overflow.
NEAR = 300.0


@kernel
def turn_by_grade(n: int, form: Form, lower: Pointer, by_grade: Pointer) -> int:
    """Write ``lower`` by grade and then document; returns the length of a row."""
    stride = n + LANES
    for q in range(n):
        for i in range(form.size):
            by_grade[i * stride + q] = lower[q * form.width + i]
    return stride


@kernel
def sum_pairs(n: int, form: Form, epsilon: float, memory: Memory) -> None:
    """Add what the first ``form.deep`` documents and all documents below them do to each other.

    If ``epsilon`` is not 0, changes are divided by ``epsilon`` and the distance of the two scores.
    Reads up to 7 elements of ``s`` and ``grade`` further.
    """
    s, grade, lam, eta = memory.s, memory.grade, memory.lam, memory.eta
    zero = every8(0.0)
    stride = turn_by_grade(n, form, memory.lower, memory.lower_by_grade)
    # one exponential a document instead of one a pair, unless it could overflow
    near = s[0] - s[n - 1] < NEAR
    if near:
        for q in range(0, n, LANES):
            e = decay8(s[0] - load8(s, q))
            store(memory.fall, q, e)
            store(memory.rise, q, 1.0 / e)
    # What documents receive as the upper ones is kept apart: a vector load waits where it covers an
    # element just stored.
    upper_lam, upper_eta = memory.lower, memory.lower + n
    top = min(form.deep, n - 1)
    for p in range(top):
        a = grade[p]
        push_up = zero
        curve_up = zero
        # from whole vectors on, for the same reason
        for q in range((p + 1) // LANES * LANES, n, LANES):
            grades = load8(grade, q)
            change = zero
            for i in range(form.size):
                change = where(grades == i, every8(memory.upper[p * form.width + i]), change)
            place = counting(q)
            change = where(place > p, change + load8(memory.lower_by_grade, a * stride + q), zero)
            change = where(place < n, change, zero)
            u = memory.rise[p] * load8(memory.fall, q) if near else decay8(s[p] - load8(s, q))
            if epsilon == 0.0:
                v = 1.0 / (1.0 + u)
            else:
                # one division for both factors; what is above p, or behind the list, may be at a
                # distance of -epsilon
                inside = (place > p) * (place < n)
                apart = where(inside, epsilon + (s[p] - load8(s, q)), every8(1.0))
                both = 1.0 / ((1.0 + u) * apart)
                v = both * apart
                change = change * (both * (1.0 + u))
            t = u * v
            push = change * (t - (grades > a))
            curve = change * t * v
            push_up += push
            curve_up += curve
            store(lam, q, load8(lam, q) - push)
            store(eta, q, load8(eta, q) - curve)
        upper_lam[p] = total(push_up)
        upper_eta[p] = total(curve_up)
    for p in range(top):
        lam[p] += upper_lam[p]
        eta[p] -= upper_eta[p]


@kernel
def sum_cascade(n: int, form: Form, epsilon: float, memory: Memory) -> None:
    """Add what the pairs of a cascade do to each other: a swap changes a product.

    A user goes down the list and stops at a document with the probability R of its grade. With P
    the probability to reach rank p, V[q] = prod_{p<m<q} (1 - R_m) that to go on from p to q, and
    B[q] = sum_{p<m<q} discount[m] R_m prod_{p<l<m} (1 - R_l) what the documents between are worth
    to who goes on from p,

        Delta(p, q) = P (R_q - R_p) (discount[p] - B[q] - discount[q] V[q]).

    The last factor is never negative, as discounts fall. V and B are carried along.
    """
    s, grade, lam, eta, discount = memory.s, memory.grade, memory.lam, memory.eta, form.discount
    reaching = 1.0
    for p in range(min(form.deep, n - 1)):
        here = form.own[grade[p]]
        between, passing = 0.0, reaching
        for q in range(p + 1, n):
            there = form.own[grade[q]]
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
