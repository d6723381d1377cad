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
from gapboost._kernels.lambdarank.exponents import LOGISTIC, SLOPE
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


class Moments(NamedTuple):
    """One set of running sums."""

    plain: Any
    weighted: Any
    count: Any
    constant: Any


class Way(NamedTuple):
    """Directions: which exponentials and tables a document receives and adds with.

    A pass goes down a ranking (step 1) or up (step -1).
    """

    step: Any
    at_receiver: Any
    at_giver: Any
    receiver_tables: Any
    giver_tables: Any


class DocumentBlock(NamedTuple):
    """Documents ``lo..hi-1`` of a list, whose tables are in memory.

    Those with a number smaller than ``receivers_end`` receive, those with one smaller than
    ``givers_end`` add.
    """

    lo: Any
    hi: Any
    receivers_end: Any
    givers_end: Any
    grade: Any
    jump: Any


@kernel
def moments_at(start: Pointer, width: int) -> Moments:
    """The parts of a set, which lie one behind the other."""
    weighted = start + TERMS * width
    count = weighted + TERMS * width
    return Moments(plain=start, weighted=weighted, count=count, constant=count + width)


@kernel
def scale_moments(width: int, size: int, factor: float, moments: Moments) -> None:
    """Move moments to an anchor at a distance x, ``factor`` = exp(-x)."""
    factors = powers(factor)
    for i in range(0, TERMS * size, TERMS):
        store(moments.plain, i, factors * load16(moments.plain, i))
        store(moments.weighted, i, factors * load16(moments.weighted, i))


@kernel
def collect(way: Way, block: DocumentBlock, form: Form, room: Pointer, moments: Moments) -> None:
    """Add all documents of a block with one anchor, none of which receives.

    They come in any order, so that each sum stays in a register.

    ``room`` is for 16 powers of each document.
    """
    step, width = way.step, form.width
    givers = min(block.hi, block.givers_end) - block.lo
    for r in range(givers):
        a = block.grade[block.lo + r]
        power = powers(way.at_giver[block.lo + r])
        store(room, TERMS * r, power)
        store(moments.plain, TERMS * a, load16(moments.plain, TERMS * a) + power)
        add_constants(step, a, width, way.giver_tables + r * width, moments)
    for i in range(form.size):
        weighted = load16(moments.weighted, TERMS * i)
        for r in range(givers):
            weighted += way.giver_tables[r * width + i] * load16(room, TERMS * r)
        store(moments.weighted, TERMS * i, weighted)


@kernel
def add_constants(step: int, a: int, width: int, table: Pointer, moments: Moments) -> None:
    """Add one document of grade a to the count and the constants of ``moments``."""
    for i in range(0, width, LANES):
        grades = counting(i)
        store(moments.count, i, load8(moments.count, i) + (grades == a))
        against = step * grades > step * a
        store(moments.constant, i, load8(moments.constant, i) - against * load8(table, i))


@kernel
def carry(
    way: Way, block: DocumentBlock, form: Form, moments: Moments, lam: Pointer, eta: Pointer
) -> None:
    """Visit the documents of a block: each receives from the moments, then adds to them.

    Documents below ``block.receivers_end`` receive, those below ``block.givers_end`` add.
    """
    step, width, size = way.step, form.width, form.size
    logistic, slope = vector16(LOGISTIC), vector16(SLOPE)
    r = block.lo if step > 0 else block.hi - 1
    for _ in range(block.hi - block.lo):
        if step > 0 and block.jump[r] != 1.0:
            scale_moments(width, size, block.jump[r], moments)
        a = block.grade[r]
        if r < block.receivers_end:
            table = way.receiver_tables + (r - block.lo) * width
            received = load16(moments.weighted, TERMS * a)
            for i in range(size):
                received += table[i] * load16(moments.plain, TERMS * i)
            received *= powers(way.at_receiver[r])
            push = fold(received * logistic)
            for i in range(0, width, LANES):
                # the grades for which the factor is 1 - t: higher ones below, or lower ones above
                against = step * counting(i) < step * a
                push -= against * load8(moments.count, i) * load8(table, i)
            lam[r] -= step * (total(push) + moments.constant[a])
            eta[r] -= total(received * slope)
        if r < block.givers_end:
            table = way.giver_tables + (r - block.lo) * width
            power = powers(way.at_giver[r])
            store(moments.plain, TERMS * a, load16(moments.plain, TERMS * a) + power)
            for i in range(size):
                store(
                    moments.weighted,
                    TERMS * i,
                    load16(moments.weighted, TERMS * i) + table[i] * power,
                )
            add_constants(step, a, width, table, moments)
        if step < 0 and block.jump[r] != 1.0:
            scale_moments(width, size, block.jump[r], moments)
        r += step
