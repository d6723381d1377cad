"""LambdaRank gradients of one long query, on several threads.

The sums over the documents above each document (`descend`) and those over the documents below it (`ascend`) are chains
through the ranking, in opposite directions. The ranking is cut into strips: one thread descends through the upper half of
them while another ascends through the lower half, then each goes on where the other has been. Up to `CHAINED` documents
these are two strips, and a chain hands its moments on from one to the other. Beyond, there are more strips for more
threads, each of which starts from the moments of all documents above or below it; collecting those first costs about half
as much again.

    gather     per block     scores and grades in order; the number of documents and the discount of each grade
    settle     once          the prefixes of the measure above each block
    collect    per strip     its own moments                     (only beyond `CHAINED`)
    hand_on    once          the moments above and below each strip       (likewise)
    descend, ascend   per strip
    weigh      per segment   the sum of absolute values
    finish     per segment   gradients, scaled by what depends on that sum, in the order of the rows

Segments and strips depend on the length of the list alone, and sums over them are taken in one order, so results are the
same, bit by bit, for any number of threads. The state of a strip is one row of float64: moments above, moments below,
first and last anchor.
"""

from typing import Any

import numpy as np

from gapboost.kernels.compile import kernel
from gapboost.kernels.ordering import Share, rank_shared
from gapboost.kernels.parts import (
    BLOCK,
    FARTHEST_SCORE,
    HESSIAN_FLOOR,
    MOMENTS,
    aligned,
    carve,
    clear,
    dampening,
    fill_constants,
    fill_masks,
    keep_grades,
    mass,
    own_moments,
    reach,
    room,
    sweep,
)  # fmt: skip
from gapboost.kernels.sweep import LANES, backward, exponentials, forward, scale_moments, tables
from gapboost.kernels.vectors import (
    add,
    at,
    decay8,
    first_lane,
    fma,
    load8,
    pointer,
    put,
    shift,
    splat8,
    store8,
)  # fmt: skip

Array = np.ndarray[Any, Any]
Pointer = Any
# Numbers of the grades, masks and constants, size, width.
Begun = tuple[Array, Array, int, int]
# What every strip reads: scores and grades in order, their number, discount, deep, size, width, shared, prefixes.
Known = tuple[Array, Array, int, Array, int, int, int, Array, Array]

# Longest list that one thread ranks in one go; a function of the length alone decides.
LONG = 16384
SEGMENT = 1024

# Longest list in two strips; two threads are all that it can keep busy.
CHAINED = 1 << 18
STRIP = 1 << 16


@kernel
def row_of(state: Array, width: int, j: int) -> Pointer:
    """The state of strip ``j``."""
    return shift(pointer(state), j * (2 * MOMENTS * width + LANES))


@kernel
def begin_query(grades: Array, pair: Array, own: Array, names: Array, shared: Array) -> tuple[int, int]:
    """Fill what every segment reads: the numbers of the grades, and masks and constants. Returns size and width."""
    n_grades = own.shape[1]
    kept = shift(pointer(names), n_grades)
    size = keep_grades(pointer(grades), len(grades), n_grades, pointer(names), kept)
    width = (size + LANES - 1) // LANES * LANES
    fill_masks(width, pointer(shared))
    fill_constants(pointer(pair), pointer(own), n_grades, kept, size, width, shift(pointer(shared), 3 * width * width))
    return size, width


@kernel
def gather(
    scores: Array,
    grades: Array,
    order: Array,
    discount: Array,
    sigma: float,
    names: Array,
    width: int,
    s: Array,
    grade: Array,
    prefixes: Array,
    begin: int,
    end: int,
) -> None:
    """Scores (times sigma) and grades of ranks ``begin..end-1``, which are whole blocks, and the tallies of the blocks."""
    for lo in range(begin, end, BLOCK):
        tally = shift(pointer(prefixes), lo // BLOCK * 2 * width)
        clear(2 * width, tally)
        for r in range(lo, min(lo + BLOCK, end)):
            i = at(pointer(order), r)
            a = at(pointer(names), at(pointer(grades), i))
            x = float(at(pointer(scores), i)) * sigma
            put(pointer(s), r, min(max(x, -FARTHEST_SCORE), FARTHEST_SCORE))
            put(pointer(grade), r, a)
            put(tally, a, at(tally, a) + 1.0)
            put(tally, width + a, at(tally, width + a) + at(pointer(discount), r))


@kernel
def settle(n: int, width: int, size: int, shared: Array, prefixes: Array, carried: Array) -> None:
    """Turn the tallies into the prefixes C and E above each block."""
    square = width * width
    constants = shift(pointer(shared), 3 * square)
    running = pointer(carried)
    clear(2 * width, running)
    for k in range((n + BLOCK - 1) // BLOCK):
        here = shift(pointer(prefixes), k * 2 * width)
        for i in range(0, width, LANES):
            c = load8(running, i)
            e = load8(running, width + i)
            for a in range(size):
                c = fma(splat8(at(here, a)), load8(constants, a * width + i), c)
                e = fma(splat8(at(here, width + a)), load8(constants, square + a * width + i), e)
            store8(running, 2 * width + i, c)
            store8(running, 3 * width + i, e)
        for i in range(0, 2 * width, LANES):
            store8(here, i, load8(running, i))
            store8(running, i, load8(running, 2 * width + i))


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
    step: int,
    state: Array,
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
    row = row_of(state, width, first // step)
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
        scale_moments(width, size, first_lane(decay8(splat8(bottom - anchor))), row)
        scale_moments(width, size, first_lane(decay8(splat8(top - begin))), below)
        for i in range(0, moments, LANES):
            store8(row, i, add(load8(row, i), load8(above, i)))
            store8(row, moments + i, add(load8(row, moments + i), load8(below, i)))
        bottom = anchor
    put(row, 2 * moments, top)
    put(row, 2 * moments + 1, bottom)


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
                scale_moments(width, size, first_lane(decay8(splat8(gap))), running)
            elif direction == 1 and j < n_strips - 1:
                gap = bottom - at(row_of(state, width, j + 1), 2 * moments)
                scale_moments(width, size, first_lane(decay8(splat8(gap))), running)
            for i in range(0, moments, LANES):
                arrived = load8(running, i)
                store8(running, i + moments, load8(own, i))
                store8(own, i, arrived)
            scale_moments(width, size, first_lane(decay8(splat8(top - bottom))), running)
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
    step: int,
    state: Array,
    chained: bool,
    fresh: bool,
    lam: Array,
    eta: Array,
    first: int,
    last: int,
    numbers: Array,
) -> None:
    """Add the sums over all documents above each of those in the strip of segments ``first..last-1``.

    With ``fresh`` nothing has been added to ``lam`` and ``eta`` yet.
    """
    _, fall, rise, jump, _, _, scratch, upper, lower, _, above, _, _, _ = carve(pointer(numbers), SEGMENT, BLOCK, width)
    masks = pointer(shared)
    constants = shift(masks, 3 * width * width)
    moments = MOMENTS * width
    for i in range(0, moments, LANES):
        store8(above, i, load8(row_of(state, width, first // step), i))
    for j in range(first, last):
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
            scale_moments(width, size, first_lane(decay8(splat8(gap))), above)
    if chained and last * SEGMENT < n:
        for i in range(0, moments, LANES):
            store8(row_of(state, width, last // step), i, load8(above, i))


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
    step: int,
    state: Array,
    chained: bool,
    fresh: bool,
    lam: Array,
    eta: Array,
    first: int,
    last: int,
    numbers: Array,
) -> None:
    """Add the sums over all documents below each of those in the strip of segments ``first..last-1``.

    With ``fresh`` nothing has been added to ``lam`` and ``eta`` yet.
    """
    _, fall, rise, jump, _, _, scratch, upper, lower, _, _, below, _, _ = carve(pointer(numbers), SEGMENT, BLOCK, width)
    masks = pointer(shared)
    constants = shift(masks, 3 * width * width)
    moments = MOMENTS * width
    for i in range(0, moments, LANES):
        store8(below, i, load8(row_of(state, width, first // step), moments + i))
    for j in range(last - 1, first - 1, -1):
        rank0 = j * SEGMENT
        m = min(n - rank0, SEGMENT)
        mine = shift(pointer(grade), rank0)
        anchor = exponentials(m, shift(pointer(s), rank0), fall, rise, jump)
        # moments that come from below arrive at the last anchor of a segment
        if (j < last - 1 or chained) and rank0 + m < n:
            gap = anchor - at(pointer(s), rank0 + m)
            scale_moments(width, size, first_lane(decay8(splat8(gap))), below)
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
    if chained and first > 0:
        for i in range(0, moments, LANES):
            store8(row_of(state, width, first // step - 1), moments + i, load8(below, i))


@kernel
def weigh(lam: Array, n: int, masses: Array, first: int, last: int) -> None:
    """The sum of the absolute values of each of the segments ``first..last-1``."""
    for j in range(first, last):
        masses[j] = mass(min(n - j * SEGMENT, SEGMENT), shift(pointer(lam), j * SEGMENT))


@kernel
def finish(
    lam: Array,
    eta: Array,
    order: Array,
    sigma: float,
    weight: float,
    normalize: bool,
    masses: Array,
    grad: Array,
    hess: Array,
    first: int,
    last: int,
) -> None:
    """Write the scaled gradients of segments ``first..last-1`` in the order of the rows."""
    factor = weight
    if normalize:
        size = 0.0
        for part in masses:
            size += part
        factor *= dampening(sigma * size)
    for r in range(first * SEGMENT, min(len(order), last * SEGMENT)):
        i = order[r]
        grad[i] = lam[r] * (sigma * factor)
        hess[i] = max(eta[r] * (sigma * sigma * factor), HESSIAN_FLOOR)


def begin(grades: Array, pair: Array, own: Array) -> Begun:
    """What stays the same between passes over one long query: numbers of its grades, masks and constants, size, width."""
    n_grades = own.shape[1]
    names = np.empty(2 * n_grades + 1, np.int64)
    widest = n_grades + LANES
    shared = aligned((6 * widest + 2) * widest)
    return names, shared, *begin_query(grades, pair, own, names, shared)


def long_query(
    scores: Array,
    grades: Array,
    offsets: Array,
    keys: Array,
    order: Array,
    discount: Array,
    weights: Array,
    sigma: float,
    truncation: int,
    normalize: bool,
    grad: Array,
    hess: Array,
    first: int,
    begun: Begun,
    share: Share,
    room_to_rank: tuple[Array, Array, Array, int],
) -> None:
    """`gapboost.kernels.lambdarank.lambdarank` for the one query ``first``, longer than `LONG`.

    ``begun`` is what `begin` makes of it once. ``room_to_rank`` is a `workspace` for a list of this length or longer:
    fresh memory of this size would cost more than the ranking, as every page of it faults at its first touch.
    """
    rows = slice(int(offsets[first]), int(offsets[first + 1]))
    scores, grades, keys, order, grad, hess = (a[rows] for a in (scores, grades, keys, order, grad, hess))
    n = len(order)
    names, shared, size, width = begun
    if size < 2:
        grad[:] = 0.0
        hess[:] = HESSIAN_FLOOR
        return
    prefixes = aligned(-(-n // BLOCK) * 2 * width)
    numbers, whole, _, half = room_to_rank
    # What is ranked makes room for the documents in order and their sums.
    end = n + LANES
    s, grade = whole[:end].view(np.float64), whole[half : half + end]
    lam, eta = numbers[:end], numbers[half : half + end]
    seams: list[int] = []

    def fill(begin: int, end: int) -> None:
        gather(scores, grades, order, discount, sigma, names, width, s, grade, prefixes, begin, end)

    def fill_inside(begin: int, end: int) -> None:
        inside = -(-begin // BLOCK) * BLOCK, end if end == n else end // BLOCK * BLOCK
        if begin < end:
            seams.extend((begin // BLOCK, (end - 1) // BLOCK))
        if inside[0] < inside[1]:
            fill(*inside)

    rank_shared(scores, keys, order, room_to_rank, share, fill_inside)
    for block in set(seams):
        fill(block * BLOCK, min((block + 1) * BLOCK, n))
    settle(n, width, size, shared, prefixes, aligned(4 * width))
    deep = reach(discount, n, truncation)
    known = s, grade, n, discount, deep, size, width, shared, prefixes
    masses = sums(known, lam, eta, share)
    weight = float(weights[first])
    share(lambda i, j: finish(lam, eta, order, sigma, weight, normalize, masses, grad, hess, i, j), len(masses))


def sums(known: Known, lam: Array, eta: Array, share: Share) -> Array:
    """Add to `lam` and `eta` what every document receives, and return the sum of absolute values of each segment."""
    _, _, n, *_, size, width, _, _ = known
    segments = -(-n // SEGMENT)
    chained = n <= CHAINED
    step = -(-n // (2 * SEGMENT)) if chained else STRIP // SEGMENT
    strips = -(-segments // step)
    state = aligned(strips * (2 * MOMENTS * width + LANES))
    state[:] = 0.0
    masses = np.empty(segments)

    def with_room(first: int, last: int) -> list[tuple[int, int, Array]]:
        numbers = aligned(room(SEGMENT, BLOCK, width))
        return [(j * step, min((j + 1) * step, segments), numbers) for j in range(first, last)]

    def collect_strips(first: int, last: int) -> None:
        for strip in with_room(first, last):
            collect(*known, step, state, *strip)

    def one_way(first: int, last: int) -> None:
        for j, strip in enumerate(with_room(first, last), first):
            (descend if j < strips // 2 else ascend)(*known, step, state, chained, True, lam, eta, *strip)

    def the_other_way(first: int, last: int) -> None:
        for j, strip in enumerate(with_room(first, last), first):
            (ascend if j < strips // 2 else descend)(*known, step, state, chained, False, lam, eta, *strip)
            weigh(lam, n, masses, *strip[:2])

    if not chained:
        share(collect_strips, strips)
        hand_on(strips, width, size, state, aligned(2 * MOMENTS * width))
    # Both ways add to the same sums, so they never meet in a strip.
    share(one_way, strips)
    share(the_other_way, strips)
    return masses
