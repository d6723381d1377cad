"""Running sums over a ranking, by grade: what a document receives from them, and what it adds.

With w_k = e^(k sigma s) of a document relative to the anchor, from the documents seen so far,

    plain[i, k]     sum of w_k over those of grade i
    weighted[a, k]  sum of w_k table[a], where the table is what they know of a swap with grade a
    count[i]        number of those of grade i
    constant[a]     sum of -table[a] over those whose pair with grade a has the factor t - 1

So a document of grade a, with a table of its own, receives for both polynomials the sums over k of

    coefficient_k v_k (weighted[a, k] + sum_i table[i] plain[i, k]),   v_k = e^(-k sigma s).

On the way up a ranking, documents receive from those below them; on the way down from those above
them, and w and v change roles.
"""

from typing import Any, NamedTuple

from gapboost._kernels.jit import kernel
from gapboost._kernels.lambdarank.exponents import LOGISTIC, SLOPE, decay
from gapboost._kernels.lambdarank.form import Form
from gapboost._kernels.simd import (
    LANES,
    Pointer,
    counting,
    fold,
    load8,
    load16,
    powers,
    store,
    total,
    vector16,
)

# The width of `load16`, `powers` and `vector16`. For fewer terms pad the coefficients with zeros:
# fewer lanes were slower.
TERMS = 16
assert TERMS == len(LOGISTIC) == len(SLOPE)

# Length of one set, by the width of its rows.
LENGTH = 2 * TERMS + 2


class Way(NamedTuple):
    """A sweep over documents ``lo..hi-1`` of a list, down (step 1) or up (step -1).

    Documents with a number smaller than ``receivers_end`` receive, those with one smaller than
    ``givers_end`` add. The tables and exponentials that they receive and add with; the tables begin
    at document ``lo``.
    """

    step: Any
    lo: Any
    hi: Any
    receivers_end: Any
    givers_end: Any
    at_receiver: Any
    at_giver: Any
    receiver_tables: Any
    giver_tables: Any


class Documents(NamedTuple):
    """Documents of a list by rank: grades, jumps of the anchor, and what the sums write."""

    grade: Any
    jump: Any
    lam: Any
    eta: Any


@kernel
def scale_moments(size: int, jump: float, plain: Pointer, weighted: Pointer) -> None:
    """Move moments to an anchor at the distance ``jump``."""
    factors = powers(decay(jump))
    for i in range(0, TERMS * size, TERMS):
        store(plain, i, factors * load16(plain, i))
        store(weighted, i, factors * load16(weighted, i))


@kernel
def carry(way: Way, form: Form, documents: Documents, moments: Pointer) -> None:
    """Visit documents: each receives from the moments, then adds to them."""
    step, width, size = way.step, form.width, form.size
    plain, weighted = moments, moments + TERMS * width
    count, constant = weighted + TERMS * width, weighted + (TERMS + 1) * width
    grade, jump, lam, eta = documents.grade, documents.jump, documents.lam, documents.eta
    logistic, slope = vector16(LOGISTIC), vector16(SLOPE)
    r = way.lo if step > 0 else way.hi - 1
    for _ in range(way.hi - way.lo):
        if step > 0 and jump[r] > 0.0:
            scale_moments(size, jump[r], plain, weighted)
        a = grade[r]
        if r < way.receivers_end:
            table = way.receiver_tables + (r - way.lo) * width
            received = load16(weighted, TERMS * a)
            for i in range(size):
                received += table[i] * load16(plain, TERMS * i)
            received *= powers(way.at_receiver[r])
            push = fold(received * logistic)
            for i in range(0, width, LANES):
                # the grades for which the factor is 1 - t: higher ones below, or lower ones above
                against = step * counting(i) < step * a
                push -= against * load8(count, i) * load8(table, i)
            lam[r] -= step * (total(push) + constant[a])
            eta[r] -= total(received * slope)
        if r < way.givers_end:
            table = way.giver_tables + (r - way.lo) * width
            power = powers(way.at_giver[r])
            store(plain, TERMS * a, load16(plain, TERMS * a) + power)
            for i in range(size):
                store(weighted, TERMS * i, load16(weighted, TERMS * i) + table[i] * power)
            for i in range(0, width, LANES):
                grades = counting(i)
                store(count, i, load8(count, i) + (grades == a))
                against = step * grades > step * a
                store(constant, i, load8(constant, i) - against * load8(table, i))
        if step < 0 and jump[r] > 0.0:
            scale_moments(size, jump[r], plain, weighted)
        r += step
