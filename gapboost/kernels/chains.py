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
from gapboost.kernels.parts import (
    BLOCK,
    carve,
    clear,
    mass,
    own_moments,
    sweep,
)  # fmt: skip
from gapboost.kernels.phases import APART, done, first, following, wait_for
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
# What every strip reads: scores and grades in order, their number, discount, deep, size, width, masks and constants, prefixes.
Known = tuple[Pointer, Pointer, int, Pointer, int, int, int, Pointer, Pointer]
Arrays = tuple[Array, Array, int, Array, int, int, int, Array, Array]

SEGMENT = 1024

# Longest list without strips; two threads are all that it can keep busy. Longer ones have more than two strips.
CHAINED = 1 << 18
STRIP = 1 << 16
CHAINS = 2

# Claims of a thread that has its segments for itself begin here.
NEVER_MET = -(1 << 62)

COLLECT, HAND_ON = range(2)
ONE_WAY, THE_OTHER_WAY = range(2)


def strips(n: int) -> Array:
    """The first segment of each strip, and the end of the last; int64. The second of two chains begins where they meet."""
    segments = -(-n // SEGMENT)
    return np.array([0, segments, segments] if n <= CHAINED else [*range(0, segments, STRIP // SEGMENT), segments])


@kernel
def row_of(state: Pointer, width: int, j: int) -> Pointer:
    """The state of strip ``j``."""
    return shift(state, j * state_length(width))


@kernel
def state_length(width: int) -> Any:
    """Length of the state of a strip."""
    return 2 * MOMENTS * width + LANES


@kernel
def recall(rank: int, width: int, prefixes: Pointer, scratch: Pointer) -> None:
    """Copy the prefixes above the block that begins at ``rank``, for `tables` to carry on from."""
    prefix = shift(prefixes, rank // BLOCK * 2 * width)
    for i in range(0, 2 * width, LANES):
        store8(scratch, i, load8(prefix, i))


@kernel
def collect(known: Known, row: Pointer, begin: int, end: int, numbers: Pointer) -> None:
    """The moments of the documents in the strip of segments ``begin..end-1``, at its last and at its first anchor."""
    s, grade, n, discount, deep, size, width, masks, prefixes = known
    _, fall, rise, jump, lam, eta, scratch, upper, lower, _, above, below, _, _ = carve(numbers, SEGMENT, BLOCK, width)
    constants = shift(masks, 3 * width * width)
    moments = MOMENTS * width
    top = at(s, begin * SEGMENT)
    bottom = top
    for j in range(begin, end):
        rank0 = j * SEGMENT
        m = min(n - rank0, SEGMENT)
        mine = shift(grade, rank0)
        start = at(s, rank0)
        anchor = exponentials(m, shift(s, rank0), fall, rise, jump)
        recall(rank0, width, prefixes, scratch)
        clear(moments, above)
        clear(moments, below)
        here = min(max(deep - rank0, 0), m)
        if anchor == start:
            own_moments(
                m, rank0, here, width, size, mine, discount, fall, rise, constants, masks, scratch, upper,
                lower, above, below,
            )  # fmt: skip
        else:
            sweep(
                m, rank0, here, False, width, size, mine, discount, fall, rise, jump, constants, masks, scratch,
                upper, lower, above, below, lam, eta,
            )  # fmt: skip
        scale_moments(width, size, decay(bottom - anchor), row)
        scale_moments(width, size, decay(top - start), below)
        for i in range(0, moments, LANES):
            store8(row, i, add(load8(row, i), load8(above, i)))
            store8(row, moments + i, add(load8(row, moments + i), load8(below, i)))
        bottom = anchor
    put(row, 2 * moments, top)
    put(row, 2 * moments + 1, bottom)


@kernel
def hand_on(n_strips: int, width: int, size: int, state: Pointer, running: Pointer) -> None:
    """Turn the moments of each strip into those of all documents above and below it; ``running`` is scratch."""
    moments = MOMENTS * width
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
    known: Known,
    arriving: Pointer,
    leaving: Pointer,
    fresh: bool,
    lam: Pointer,
    eta: Pointer,
    claims: Pointer,
    begin: int,
    end: int,
    numbers: Pointer,
) -> int:
    """Add the sums over all documents above each of those in segments ``begin..end-1``.

    The moments of those above the first are ``arriving``; at the end they are in ``leaving``. Another thread may ascend
    through the same segments: where these are claimed, before ``end``, the two have met. With ``fresh`` nothing has
    been added to ``lam`` and ``eta`` yet. Returns the segment after the last that was done.
    """
    s, grade, n, discount, deep, size, width, masks, prefixes = known
    _, fall, rise, jump, _, _, scratch, upper, lower, _, above, _, _, _ = carve(numbers, SEGMENT, BLOCK, width)
    constants = shift(masks, 3 * width * width)
    moments = MOMENTS * width
    for i in range(0, moments, LANES):
        store8(above, i, load8(arriving, i))
    j = begin
    while j < end and claim(claims) < end - begin:
        rank0 = j * SEGMENT
        m = min(n - rank0, SEGMENT)
        mine = shift(grade, rank0)
        anchor = exponentials(m, shift(s, rank0), fall, rise, jump)
        here = min(max(deep - rank0, 0), m)
        for lo in range(0, m, BLOCK):
            hi = min(m, lo + BLOCK)
            if fresh:
                clear(hi - lo, shift(lam, rank0 + lo))
                clear(hi - lo, shift(eta, rank0 + lo))
            recall(rank0 + lo, width, prefixes, scratch)
            tables(lo, hi, width, mine, discount, rank0, constants, scratch, upper, lower)
            forward(
                lo, hi, here, True, width, size, mine, fall, rise, jump, masks, upper, lower, above,
                shift(lam, rank0), shift(eta, rank0),
            )  # fmt: skip
        if rank0 + m < n:
            gap = anchor - at(s, rank0 + m)
            scale_moments(width, size, decay(gap), above)
        j += 1
    for i in range(0, moments, LANES):
        store8(leaving, i, load8(above, i))
    return j


@kernel
def ascend(
    known: Known,
    arriving: Pointer,
    leaving: Pointer,
    chained: bool,
    fresh: bool,
    lam: Pointer,
    eta: Pointer,
    claims: Pointer,
    begin: int,
    end: int,
    numbers: Pointer,
) -> int:
    """Add the sums over all documents below each of those in segments ``begin..end-1``, from the last; see `descend`.

    With ``chained`` the moments arrive from the segment after the last, else at its own last anchor. Returns the last
    segment that was done.
    """
    s, grade, n, discount, deep, size, width, masks, prefixes = known
    _, fall, rise, jump, _, _, scratch, upper, lower, _, _, below, _, _ = carve(numbers, SEGMENT, BLOCK, width)
    constants = shift(masks, 3 * width * width)
    moments = MOMENTS * width
    for i in range(0, moments, LANES):
        store8(below, i, load8(arriving, i))
    j = end
    while j > begin and claim(claims) < end - begin:
        j -= 1
        rank0 = j * SEGMENT
        m = min(n - rank0, SEGMENT)
        mine = shift(grade, rank0)
        anchor = exponentials(m, shift(s, rank0), fall, rise, jump)
        # moments that come from below arrive at the last anchor of a segment
        if (j < end - 1 or chained) and rank0 + m < n:
            gap = anchor - at(s, rank0 + m)
            scale_moments(width, size, decay(gap), below)
        here = min(max(deep - rank0, 0), m)
        for k in range((m - 1) // BLOCK, -1, -1):
            lo = k * BLOCK
            hi = min(m, lo + BLOCK)
            if fresh:
                clear(hi - lo, shift(lam, rank0 + lo))
                clear(hi - lo, shift(eta, rank0 + lo))
            recall(rank0 + lo, width, prefixes, scratch)
            tables(lo, hi, width, mine, discount, rank0, constants, scratch, upper, lower)
            backward(
                lo, hi, here, width, size, mine, fall, rise, jump, masks, upper, lower, below,
                shift(lam, rank0), shift(eta, rank0),
            )  # fmt: skip
    for i in range(0, moments, LANES):
        store8(leaving, i, load8(below, i))
    return j


@kernel
def weigh(lam: Pointer, n: int, masses: Pointer, begin: int, end: int) -> None:
    """The sum of the absolute values of each of the segments ``begin..end-1``."""
    for j in range(begin, end):
        put(masses, j, mass(min(n - j * SEGMENT, SEGMENT), shift(lam, j * SEGMENT)))


@kernel
def pointers(known: Arrays) -> Known:
    """The same as pointers."""
    s, grade, n, discount, deep, size, width, shared, prefixes = known
    return pointer(s), pointer(grade), n, pointer(discount), deep, size, width, pointer(shared), pointer(prefixes)


@kernel
def collect_strips(known: Arrays, cuts: Array, state: Array, progress: Array, numbers: Array) -> None:
    """Fill ``state``, which holds zeros, with the moments of the documents above and below each strip; see `sums`."""
    here = pointers(known)
    size, width = here[5], here[6]
    n_strips = len(cuts) - 1
    j = first(pointer(progress), COLLECT, n_strips)
    while j < n_strips:
        collect(here, row_of(pointer(state), width, j), cuts[j], cuts[j + 1], pointer(numbers))
        j = following(pointer(progress), COLLECT, n_strips)
    j = first(pointer(progress), HAND_ON, 1)
    while j < 1:
        hand_on(n_strips, width, size, pointer(state), pointer(numbers))
        j = following(pointer(progress), HAND_ON, 1)


@kernel
def sums(
    known: Arrays,
    cuts: Array,
    taken: Array,
    claims: Array,
    state: Array,
    lam: Array,
    eta: Array,
    masses: Array,
    progress: Array,
    numbers: Array,
) -> None:
    """Set `lam` and `eta` to what every document receives, and `masses` to the sum of absolute values of each segment.

    Strip j is segments ``cuts[j]..cuts[j + 1] - 1``, see `strips`; ``taken`` and ``claims`` are as `reset` leaves them, and
    ``state`` for two chains too, else as `collect_strips` does. Any number of threads may come, each with its own
    ``numbers`` as working memory.
    """
    here = pointers(known)
    n, width = here[2], here[6]
    moments = MOMENTS * width
    n_strips = len(cuts) - 1
    chained = n_strips == CHAINS
    meeting = pointer(claims)
    alone = shift(meeting, APART)
    mine = 0
    j = first(pointer(progress), ONE_WAY, n_strips)
    while j < n_strips:
        mine = j
        down = j < n_strips // 2
        # two chains begin with all segments each
        begin, end = (0, cuts[CHAINS]) if chained else (cuts[j], cuts[j + 1])
        arriving = row_of(pointer(state), width, j)
        leaving = row_of(pointer(state), width, 1 - j) if chained else arriving
        if down:
            met = descend(
                here, arriving, leaving, True, pointer(lam), pointer(eta), meeting if chained else alone, begin, end,
                pointer(numbers),
            )  # fmt: skip
            if chained:
                cuts[1] = met
        else:
            ascend(
                here, shift(arriving, moments), shift(leaving, moments), chained, True, pointer(lam), pointer(eta),
                meeting if chained else alone, begin, end, pointer(numbers),
            )  # fmt: skip
        j = following(pointer(progress), ONE_WAY, n_strips)
    # Each from its own side on, which is in its cache. Both ways add to the same sums, so they are never in one segment
    # at the same time.
    for step in range(n_strips):
        j = (mine + step) % n_strips
        if claim(shift(pointer(taken), j)) == 0:
            above = row_of(pointer(state), width, j)
            below = shift(above, moments)
            if j < n_strips // 2:
                ascend(
                    here, below, below, chained, False, pointer(lam), pointer(eta), alone, cuts[j], cuts[j + 1],
                    pointer(numbers),
                )  # fmt: skip
            else:
                descend(
                    here, above, above, False, pointer(lam), pointer(eta), alone, cuts[j], cuts[j + 1], pointer(numbers)
                )  # fmt: skip
            weigh(pointer(lam), n, pointer(masses), cuts[j], cuts[j + 1])
            done(pointer(progress), THE_OTHER_WAY)
    wait_for(pointer(progress), THE_OTHER_WAY, n_strips)


def reset(state: Array, taken: Array, claims: Array) -> None:
    """Before `collect_strips` and `sums`, once."""
    state[:] = 0.0
    taken[:] = 0
    claims[0] = 0
    claims[APART] = NEVER_MET
