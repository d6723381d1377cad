"""LambdaRank sums of one long ranking, on several threads.

The sums over the documents above each document (`descend`) and those over the documents below it (`ascend`) are chains
through the ranking, in opposite directions. Up to `CHAINED` documents, one thread descends from the top while another
ascends from the bottom, segment by segment, until they meet; then each goes back over its own side in the other
direction, from the moments of the other. So a slower thread gets the smaller side. Longer rankings are cut into strips, for
more threads, each of which starts from the moments of all documents above or below it; collecting those first costs
about half as much again.

    collect           per strip           its own moments, only beyond `CHAINED`
    hand_on           once                the moments above and below each strip, likewise
    descend, ascend   per side or strip   what every document receives
    weigh             per segment         the sum of absolute values

Segments and strips depend on the length of the list alone, where two threads meet changes no operation, and sums over
segments are taken in one order: results are the same, bit by bit, for any number of threads. The state of a strip is one
row of float64: moments above, moments below, first and last anchor.
"""

from typing import Any

import numpy as np

from gapboost.kernels.compile import kernel
from gapboost.kernels.moments import LANES, MOMENTS, scale_moments
from gapboost.kernels.ordering import Share
from gapboost.kernels.parts import (
    BLOCK,
    aligned,
    carve,
    clear,
    mass,
    own_moments,
    room,
    sweep,
)  # fmt: skip
from gapboost.kernels.sweep import backward, exponentials, forward, tables
from gapboost.kernels.vectors import (
    add,
    at,
    claim,
    decay,
    load8,
    pointer,
    put,
    shift,
    store8,
)  # fmt: skip

Array = np.ndarray[Any, Any]
Pointer = Any
# What every strip reads: scores and grades in order, their number, discount, deep, size, width, shared, prefixes.
Known = tuple[Array, Array, int, Array, int, int, int, Array, Array]

SEGMENT = 1024

# Longest list without strips; two threads are all that it can keep busy.
CHAINED = 1 << 18
STRIP = 1 << 16

# Claims of a thread that has its segments for itself begin here.
NEVER_MET = -(1 << 62)


@kernel
def row_of(state: Array, width: int, j: int) -> Pointer:
    """The state of strip ``j``."""
    return shift(pointer(state), j * (2 * MOMENTS * width + LANES))


@kernel
def recall(rank: int, width: int, prefixes: Array, scratch: Pointer) -> None:
    """Copy the prefixes above the block that begins at ``rank``, for `tables` to carry on from."""
    prefix = shift(pointer(prefixes), rank // BLOCK * 2 * width)
    for i in range(0, 2 * width, LANES):
        store8(scratch, i, load8(prefix, i))


@kernel
def collect(
    s: Array,
    grade: Array,
    n: int,
    discount: Array,
    deep: int,
    size: int,
    width: int,
    shared: Array,
    prefixes: Array,
    row: Array,
    first: int,
    last: int,
    numbers: Array,
) -> None:
    """The moments of the documents in the strip of segments ``first..last-1``, at its last and at its first anchor."""
    _, fall, rise, jump, lam, eta, scratch, upper, lower, _, above, below, _, _ = carve(
        pointer(numbers), SEGMENT, BLOCK, width
    )
    masks = pointer(shared)
    constants = shift(masks, 3 * width * width)
    moments = MOMENTS * width
    own = pointer(row)
    falling = pointer(s)
    top = at(falling, first * SEGMENT)
    bottom = top
    for j in range(first, last):
        rank0 = j * SEGMENT
        m = min(n - rank0, SEGMENT)
        mine = shift(pointer(grade), rank0)
        begin = at(falling, rank0)
        anchor = exponentials(m, shift(falling, rank0), fall, rise, jump)
        recall(rank0, width, prefixes, scratch)
        clear(moments, above)
        clear(moments, below)
        here = min(max(deep - rank0, 0), m)
        if anchor == begin:
            own_moments(
                m, rank0, here, width, size, mine, pointer(discount), fall, rise, constants, masks, scratch, upper,
                lower, above, below,
            )  # fmt: skip
        else:
            sweep(
                m, rank0, here, False, width, size, mine, pointer(discount), fall, rise, jump, constants, masks, scratch,
                upper, lower, above, below, lam, eta,
            )  # fmt: skip
        scale_moments(width, size, decay(bottom - anchor), own)
        scale_moments(width, size, decay(top - begin), below)
        for i in range(0, moments, LANES):
            store8(own, i, add(load8(own, i), load8(above, i)))
            store8(own, moments + i, add(load8(own, moments + i), load8(below, i)))
        bottom = anchor
    put(own, 2 * moments, top)
    put(own, 2 * moments + 1, bottom)


@kernel
def hand_on(n_strips: int, width: int, size: int, state: Array, carried: Array) -> None:
    """Turn the moments of each strip into those of all documents above and below it."""
    moments = MOMENTS * width
    running = pointer(carried)
    for direction in range(2):
        clear(moments, running)
        for step in range(n_strips):
            j = step if direction == 0 else n_strips - 1 - step
            row = row_of(state, width, j)
            own = shift(row, direction * moments)
            top = at(row, 2 * moments)
            bottom = at(row, 2 * moments + 1)
            # moments of the documents above a strip arrive at its first anchor, those from below at its last
            if direction == 0 and j > 0:
                gap = at(row_of(state, width, j - 1), 2 * moments + 1) - top
                scale_moments(width, size, decay(gap), running)
            elif direction == 1 and j < n_strips - 1:
                gap = bottom - at(row_of(state, width, j + 1), 2 * moments)
                scale_moments(width, size, decay(gap), running)
            for i in range(0, moments, LANES):
                arrived = load8(running, i)
                store8(running, i + moments, load8(own, i))
                store8(own, i, arrived)
            scale_moments(width, size, decay(top - bottom), running)
            for i in range(0, moments, LANES):
                store8(running, i, add(load8(running, i), load8(running, i + moments)))


@kernel
def descend(
    s: Array,
    grade: Array,
    n: int,
    discount: Array,
    deep: int,
    size: int,
    width: int,
    shared: Array,
    prefixes: Array,
    arriving: Array,
    leaving: Array,
    fresh: bool,
    lam: Array,
    eta: Array,
    claims: Array,
    first: int,
    last: int,
    numbers: Array,
) -> int:
    """Add the sums over all documents above each of those in segments ``first..last-1``.

    The moments of those above the first are ``arriving``; at the end they are in ``leaving``. Another thread may ascend
    through the same segments: where these are claimed, before ``last``, the two have met. With ``fresh`` nothing has
    been added to ``lam`` and ``eta`` yet. Returns the segment after the last that was done.
    """
    _, fall, rise, jump, _, _, scratch, upper, lower, _, above, _, _, _ = carve(pointer(numbers), SEGMENT, BLOCK, width)
    masks = pointer(shared)
    constants = shift(masks, 3 * width * width)
    moments = MOMENTS * width
    for i in range(0, moments, LANES):
        store8(above, i, load8(pointer(arriving), i))
    j = first
    while j < last and claim(pointer(claims)) < last - first:
        rank0 = j * SEGMENT
        m = min(n - rank0, SEGMENT)
        mine = shift(pointer(grade), rank0)
        anchor = exponentials(m, shift(pointer(s), rank0), fall, rise, jump)
        here = min(max(deep - rank0, 0), m)
        for lo in range(0, m, BLOCK):
            hi = min(m, lo + BLOCK)
            if fresh:
                clear(hi - lo, shift(pointer(lam), rank0 + lo))
                clear(hi - lo, shift(pointer(eta), rank0 + lo))
            recall(rank0 + lo, width, prefixes, scratch)
            tables(lo, hi, width, mine, pointer(discount), rank0, constants, scratch, upper, lower)
            forward(
                lo, hi, here, True, width, size, mine, fall, rise, jump, masks, upper, lower, above,
                shift(pointer(lam), rank0), shift(pointer(eta), rank0),
            )  # fmt: skip
        if rank0 + m < n:
            gap = anchor - at(pointer(s), rank0 + m)
            scale_moments(width, size, decay(gap), above)
        j += 1
    for i in range(0, moments, LANES):
        store8(pointer(leaving), i, load8(above, i))
    return j


@kernel
def ascend(
    s: Array,
    grade: Array,
    n: int,
    discount: Array,
    deep: int,
    size: int,
    width: int,
    shared: Array,
    prefixes: Array,
    arriving: Array,
    leaving: Array,
    chained: bool,
    fresh: bool,
    lam: Array,
    eta: Array,
    claims: Array,
    first: int,
    last: int,
    numbers: Array,
) -> int:
    """Add the sums over all documents below each of those in segments ``first..last-1``, from the last; see `descend`.

    With ``chained`` the moments arrive from the segment after the last, else at its own last anchor. Returns the last
    segment that was done.
    """
    _, fall, rise, jump, _, _, scratch, upper, lower, _, _, below, _, _ = carve(pointer(numbers), SEGMENT, BLOCK, width)
    masks = pointer(shared)
    constants = shift(masks, 3 * width * width)
    moments = MOMENTS * width
    for i in range(0, moments, LANES):
        store8(below, i, load8(pointer(arriving), i))
    end = last
    while end > first and claim(pointer(claims)) < last - first:
        end -= 1
        j = end
        rank0 = j * SEGMENT
        m = min(n - rank0, SEGMENT)
        mine = shift(pointer(grade), rank0)
        anchor = exponentials(m, shift(pointer(s), rank0), fall, rise, jump)
        # moments that come from below arrive at the last anchor of a segment
        if (j < last - 1 or chained) and rank0 + m < n:
            gap = anchor - at(pointer(s), rank0 + m)
            scale_moments(width, size, decay(gap), below)
        here = min(max(deep - rank0, 0), m)
        for k in range((m - 1) // BLOCK, -1, -1):
            lo = k * BLOCK
            hi = min(m, lo + BLOCK)
            if fresh:
                clear(hi - lo, shift(pointer(lam), rank0 + lo))
                clear(hi - lo, shift(pointer(eta), rank0 + lo))
            recall(rank0 + lo, width, prefixes, scratch)
            tables(lo, hi, width, mine, pointer(discount), rank0, constants, scratch, upper, lower)
            backward(
                lo, hi, here, width, size, mine, fall, rise, jump, masks, upper, lower, below,
                shift(pointer(lam), rank0), shift(pointer(eta), rank0),
            )  # fmt: skip
    for i in range(0, moments, LANES):
        store8(pointer(leaving), i, load8(below, i))
    return end


@kernel
def weigh(lam: Array, n: int, masses: Array, first: int, last: int) -> None:
    """The sum of the absolute values of each of the segments ``first..last-1``."""
    for j in range(first, last):
        masses[j] = mass(min(n - j * SEGMENT, SEGMENT), shift(pointer(lam), j * SEGMENT))


def sums(known: Known, lam: Array, eta: Array, share: Share) -> Array:
    """Add to `lam` and `eta` what every document receives, and return the sum of absolute values of each segment."""
    _, _, n, *_, size, width, _, _ = known
    segments = -(-n // SEGMENT)
    chained = n <= CHAINED
    strips = 2 if chained else -(-n // STRIP)
    # The two chains decide where the second strip begins.
    cuts = [0, segments, segments] if chained else [*range(0, segments, STRIP // SEGMENT), segments]
    moments = MOMENTS * width
    state = aligned(strips * (2 * moments + LANES)).reshape(strips, -1)
    state[:] = 0.0
    above, below = state[:, :moments], state[:, moments : 2 * moments]
    claims = np.full(1, 0 if chained else NEVER_MET)
    masses = np.empty(segments)

    def numbers() -> Array:
        return aligned(room(SEGMENT, BLOCK, width))

    def collect_strips(first: int, last: int) -> None:
        for j in range(first, last):
            collect(*known, state[j], cuts[j], cuts[j + 1], numbers())

    def meet(first: int, last: int) -> None:
        for j in range(first, last):
            common = True, lam, eta, claims, 0, segments, numbers()
            if j == 0:
                cuts[1] = descend(*known, above[0], above[1], *common)
            else:
                ascend(*known, below[1], below[0], chained, *common)

    def one_way(first: int, last: int) -> None:
        for j in range(first, last):
            visit(j, j < strips // 2, True)

    def the_other_way(first: int, last: int) -> None:
        for j in range(first, last):
            visit(j, j >= strips // 2, False)
            weigh(lam, n, masses, cuts[j], cuts[j + 1])

    def visit(j: int, down: bool, fresh: bool) -> None:
        here = (above if down else below)[j]
        common = fresh, lam, eta, np.full(1, NEVER_MET), cuts[j], cuts[j + 1], numbers()
        if down:
            descend(*known, here, here, *common)
        else:
            ascend(*known, here, here, chained, *common)

    # Both ways add to the same sums, so they are never in one segment at the same time.
    if chained:
        share(meet, strips)
    else:
        share(collect_strips, strips)
        hand_on(strips, width, size, state, aligned(2 * moments))
        share(one_way, strips)
    share(the_other_way, strips)
    return masses
