"""The LambdaRank gradients of one chunk of queries: rank, take, sum, scale. A long query goes through `long` instead."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from gapboost._kernels import Array
from gapboost._kernels.jit import kernel
from gapboost._kernels.lambdarank.form import number_grades
from gapboost._kernels.lambdarank.lists import FARTHEST_SCORE, Arriving, Lists, Work, padded, working_memory
from gapboost._kernels.lambdarank.sums import sum_lists
from gapboost._kernels.order.short import Elements, Sorting, rank, sorting
from gapboost._kernels.simd import LANES, pointer

# Longest list whose pairs may be visited one by one: that way keeps tables of the whole list.
LONGEST_BY_PAIRS = 4096

# Pairs one by one that take as long as a document in the running sums.
PAIRS_PER_DOCUMENT = 40

# Keeps the boosters from dividing by zero for documents that no pair has touched.
HESSIAN_FLOOR = 1e-16

NOTHING_ARRIVES = Arriving(np.empty((0, 0)), np.empty((0, 0)), np.empty((0, 0)), np.empty(0))


@dataclass(frozen=True)
class Scale:
    """How sums become gradients.

    Attributes
    ----------
    sigma : float
        Steepness of the logistic function.
    normalize : bool
        Whether the gradients of a query are multiplied by log2(1 + S) / S, where S is the sum of their absolute values.
    least_curvature : float
        The hessian of a document is at least its absolute gradient times this, in units of sigma. Where a swap may push the wrong
        way, the curvatures of its pairs can cancel while their pushes do not.
    """

    sigma: float
    normalize: bool
    least_curvature: float


class Inputs(NamedTuple):
    """What a pass reads, of all queries.

    Attributes
    ----------
    scores : float ndarray of shape (N,)
    grades : int32 ndarray of shape (N,)
    turns : int32 ndarray of shape (N,)
        See `gapboost._kernels.order`.
    discount : float64 ndarray
    begins : int64 ndarray of shape (Q,)
        Where the discount of each query begins in it: at 0, where all share one.
    weights : float64 ndarray of shape (Q,)
    """

    scores: Array
    grades: Array
    turns: Array
    discount: Array
    begins: Array
    weights: Array


@dataclass(frozen=True)
class Chunk:
    """Queries ``first..last-1``, and what stays the same between passes over them.

    Attributes
    ----------
    first, last : int
    rows : slice
    starts : int64 ndarray
        Where each query begins, counted from the first of `rows`, and where the last one ends.
    by_pairs : bool ndarray
        Whether the pairs of a query are visited one by one.
    reached, longest, held : int
        Ranks whose document can be the upper one of a pair that counts, documents of the longest query, and of the longest that
        is visited pair by pair.
    """

    first: int
    last: int
    rows: slice
    starts: Array
    by_pairs: Array
    reached: int
    longest: int
    held: int


def reach(discount: Array, longest: int, truncation: int) -> int:
    """Ranks whose document can be the upper one of a pair that counts: deeper, no swap changes anything."""
    deep = int(np.flatnonzero(discount[:longest]).max(initial=-1)) + 1
    return min(deep, truncation) if truncation > 0 else deep


def quicker_by_pairs(sizes: Array, reached: int) -> Array:
    """For lists of these lengths, whether their pairs are visited one by one sooner than they are swept; bool."""
    deep = np.minimum(reached, sizes)
    quicker: Array = (sizes <= LONGEST_BY_PAIRS) & (deep * (2 * sizes - deep) <= 2 * PAIRS_PER_DOCUMENT * sizes)
    return quicker


def chunk(
    offsets: Array, discount: Array, truncation: int, first: int, last: int, by_pairs: bool | None = None
) -> Chunk:
    """What stays the same; with ``truncation`` > 0 only pairs whose upper document is among that many first ranks count.

    ``by_pairs`` forces one of the two ways on all queries.
    """
    begin, end = int(offsets[first]), int(offsets[last])
    starts = offsets[first : last + 1] - begin
    sizes = np.diff(starts)
    longest = int(sizes.max(initial=0))
    reached = reach(discount, longest, truncation)
    direct = quicker_by_pairs(sizes, reached) if by_pairs is None else np.full(len(sizes), by_pairs)
    held = int(sizes[direct].max(initial=0))
    return Chunk(first, last, slice(begin, end), starts, direct, reached, longest, held)


@kernel
def take(scores: Array, grades: Array, order: Array, starts: Array, sigma: float, code_of: Array, lists: Lists) -> None:
    """Fill the scores times sigma and the numbered grades of ``lists``, whole queries, and how each numbers its grades."""
    n_grades = len(code_of)
    for q in range(len(starts) - 1):
        begin = starts[q]
        n = starts[q + 1] - begin
        grade_of = pointer(lists.grade_of) + q * n_grades
        lists.sizes[q] = number_grades(n, pointer(grades) + begin, n_grades, pointer(code_of), grade_of)
        for r in range(begin, begin + n):
            row = begin + order[r]
            lists.s[r] = min(max(float(scores[row]) * sigma, -FARTHEST_SCORE), FARTHEST_SCORE)
            lists.grade[r] = code_of[grades[row]]


@kernel
def write(
    order: Array,
    starts: Array,
    base: Array,
    lam: Array,
    eta: Array,
    push: Array,
    curve: Array,
    least: float,
    grad: Array,
    hess: Array,
) -> None:
    """Scale ``lam`` and ``eta`` by the factors of each list, and write them in the order of the rows, from row ``base[j]`` on."""
    for q in range(len(starts) - 1):
        for r in range(starts[q], starts[q + 1]):
            row = base[q] + order[r]
            grad[row] = lam[r] * push[q]
            hess[row] = max(max(eta[r], least * abs(lam[r])) * curve[q], HESSIAN_FLOOR)


def dampening(size: Array) -> Array:
    """What the gradients of each query are multiplied with so that their absolute sum S becomes log2(1 + S)."""
    return np.divide(np.log2(1.0 + size), size, out=np.ones(len(size)), where=size > 0.0)


def factors(mass: Array, weights: Array, scale: Scale) -> tuple[Array, Array]:
    """What lam and eta of each query are multiplied by, where ``mass`` is its sum of absolute lam."""
    factor = weights * dampening(scale.sigma * mass) if scale.normalize else weights
    return factor * scale.sigma, factor * scale.sigma**2


class Memory(NamedTuple):
    """What the steps of one chunk after the other write to; `room_for` makes it.

    ``order`` int32, ``s``, ``lam``, ``eta`` float64 and ``grade`` uint8 by document; ``sizes`` int64 and ``grade_of``
    uint8 by query; ``code_of`` int64 by grade; ``sorting`` uses the memory of what comes later; ``work`` for the sums
    of one list.
    """

    order: Array
    s: Array
    lam: Array
    eta: Array
    grade: Array
    sizes: Array
    grade_of: Array
    code_of: Array
    sorting: Sorting
    work: Work


def room_for(chunks: Sequence[Chunk], n_grades: int) -> Memory:
    """`Memory` for any of these chunks."""
    n_queries = max((chunk.last - chunk.first for chunk in chunks), default=0)
    longest = max((chunk.longest for chunk in chunks), default=0)
    room = padded(max((chunk.rows.stop - chunk.rows.start for chunk in chunks), default=0)) + LANES
    s, lam, eta = np.empty((3, room))
    rows, other_rows = s.view(np.int32).reshape(2, room)
    return Memory(
        np.empty(room, np.int32), s, lam, eta, np.empty(room, np.uint8), np.empty(n_queries, np.int64),
        np.empty((n_queries, n_grades), np.uint8), np.empty(n_grades, np.int64),
        sorting(Elements(lam, rows), Elements(eta, other_rows), longest),
        working_memory(longest, max((chunk.held for chunk in chunks), default=0), n_grades),
    )  # fmt: skip


def write_gradients(
    inputs: Inputs, pair: Array, own: Array, scale: Scale, chunk: Chunk, memory: Memory, grad: Array, hess: Array
) -> None:
    """Write the gradients, to be minimised, of all pairs of the queries of `chunk`; ``pair`` and ``own`` begin at its first."""
    rows, starts = chunk.rows, chunk.starts
    n, n_queries = rows.stop - rows.start, chunk.last - chunk.first
    scores, grades = inputs.scores[rows].astype(np.float64, copy=False), inputs.grades[rows]
    order = memory.order[:n]
    rank(scores, inputs.turns[rows], starts, memory.sorting, order)

    alone, all_of_it = np.zeros(n_queries, np.int64), np.arange(n_queries)
    lists = Lists(
        starts,
        alone,
        inputs.begins[chunk.first : chunk.last],
        all_of_it,
        chunk.by_pairs,
        memory.s,
        memory.grade,
        memory.sizes[:n_queries],
        memory.grade_of[:n_queries],
    )
    take(scores, grades, order, starts, scale.sigma, memory.code_of, lists)
    sum_lists(
        lists, inputs.discount, pair, own, chunk.reached, True, NOTHING_ARRIVES, memory.work, memory.lam, memory.eta
    )
    mass = np.add.reduceat(np.abs(memory.lam[:n]), starts[:-1])
    push, curve = factors(mass, inputs.weights[chunk.first : chunk.last], scale)
    write(
        order, starts, starts[:-1], memory.lam, memory.eta, push, curve, scale.least_curvature, grad[rows], hess[rows]
    )
