"""LambdaRank gradients of one chunk of queries: rank, take, sum, scale.

`long` does the same for one long query.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gapboost._kernels import Array
from gapboost._kernels.jit import kernel
from gapboost._kernels.lambdarank.form import number_grades
from gapboost._kernels.lambdarank.lists import FARTHEST_SCORE, Arriving, Lists, list_memory, padded
from gapboost._kernels.lambdarank.sums import sum_lists
from gapboost._kernels.order.short import Elements, rank, sorting
from gapboost._kernels.simd import LANES, pointer

# Longest list whose pairs may be visited one by one: that way keeps tables of the whole list.
LONGEST_BY_PAIRS = 4096

# Pairs one by one that take as long as a document in the running sums.
PAIRS_PER_DOCUMENT = 40

# Keeps the boosters from dividing by zero for documents that no pair has touched.
HESSIAN_FLOOR = 1e-16

NOTHING_ARRIVES = Arriving(
    above=np.empty((0, 0)), below=np.empty((0, 0)), prefix=np.empty((0, 0)), anchor=np.empty(0)
)


@dataclass(frozen=True, kw_only=True)
class Setup:
    """Inputs of a pass for all queries; they are the same in every call.

    Attributes
    ----------
    grades : int32 ndarray of shape (N,)
    turns : int32 ndarray of shape (N,)
        See `gapboost._kernels.order`.
    discount : float64 ndarray
    begins : int64 ndarray of shape (Q,)
        Where the discount of each query begins in it: at 0, where all share one.
    weights : float64 ndarray of shape (Q,)
    sigma : float
        Steepness of the logistic function.
    normalize : bool
        Whether the gradients of a query are multiplied by log2(1 + S) / S, where S is the sum of
        their absolute values.
    least_curvature : float
        The hessian of a document is at least its absolute gradient times this, in units of sigma.
        Where a swap may push the wrong way, the curvatures of its pairs can cancel while their
        pushes do not.
    """

    grades: Array
    turns: Array
    discount: Array
    begins: Array
    weights: Array
    sigma: float
    normalize: bool
    least_curvature: float


@dataclass(frozen=True, kw_only=True)
class ShortQueries:
    """Queries ``first..last-1``, and what stays the same between passes over them.

    Attributes
    ----------
    first, last : int
    rows : slice
    starts : int64 ndarray
        Where each query begins, counted from the first of `rows`, and where the last one ends.
    deep : int64 ndarray
        Ranks of each query whose document can be the upper one of a pair that counts.
    by_pairs : bool ndarray
        Whether the pairs of a query are visited one by one.
    longest, longest_by_pairs : int
        Documents of the longest query, and of the longest that is visited pair by pair.
    """

    first: int
    last: int
    rows: slice
    starts: Array
    deep: Array
    by_pairs: Array
    longest: int
    longest_by_pairs: int


def reach(discount: Array, longest: int, truncation: int) -> int:
    """Return the number of ranks whose document can be the upper one of a pair that counts."""
    deep = int(np.flatnonzero(discount[:longest]).max(initial=-1)) + 1
    return min(deep, truncation) if truncation > 0 else deep


def short_queries(
    offsets: Array,
    discount: Array,
    truncation: int,
    first: int,
    last: int,
    by_pairs: bool | None = None,
) -> ShortQueries:
    """Prepare queries ``first..last-1`` for the passes over them.

    ``truncation`` > 0 keeps only the pairs whose upper document is among that many first ranks.
    ``by_pairs`` selects one algorithm for all queries: True visits every pair, False uses running
    sums. With None each query gets the quicker one.
    """
    begin, end = int(offsets[first]), int(offsets[last])
    starts = offsets[first : last + 1] - begin
    sizes = np.diff(starts)
    longest = int(sizes.max(initial=0))
    deep = np.minimum(reach(discount, longest, truncation), sizes)
    quicker = (sizes <= LONGEST_BY_PAIRS) & (
        deep * (2 * sizes - deep) <= 2 * PAIRS_PER_DOCUMENT * sizes
    )
    direct = quicker if by_pairs is None else np.full(len(sizes), by_pairs)
    return ShortQueries(
        first=first, last=last, rows=slice(begin, end), starts=starts, deep=deep, by_pairs=direct,
        longest=longest, longest_by_pairs=int(sizes[direct].max(initial=0)),
    )  # fmt: skip


@kernel
def take(
    scores: Array, grades: Array, order: Array, sigma: float, code_of: Array, lists: Lists
) -> None:
    """Fill scores times sigma and numbered grades of ``lists``, and how each numbers grades.

    The lists are whole queries.
    """
    n_grades = len(code_of)
    for q in range(len(lists.starts) - 1):
        begin = lists.starts[q]
        n = lists.starts[q + 1] - begin
        grade_of = pointer(lists.grade_of) + q * n_grades
        lists.n_codes[q] = number_grades(
            n, pointer(grades) + begin, n_grades, pointer(code_of), grade_of
        )
        for r in range(begin, begin + n):
            row = begin + order[r]
            lists.s[r] = min(max(float(scores[row]) * sigma, -FARTHEST_SCORE), FARTHEST_SCORE)
            lists.grade[r] = code_of[grades[row]]


@kernel
def write_gradients(
    order: Array,
    starts: Array,
    lam: Array,
    eta: Array,
    push: Array,
    curve: Array,
    least: float,
    grad: Array,
    hess: Array,
) -> None:
    """Scale ``lam`` and ``eta`` by the factors of each list, and write them by row."""
    for q in range(len(starts) - 1):
        for r in range(starts[q], starts[q + 1]):
            row = starts[q] + order[r]
            grad[row] = lam[r] * push[q]
            hess[row] = max(max(eta[r], least * abs(lam[r])) * curve[q], HESSIAN_FLOOR)


def dampening(size: Array) -> Array:
    """Return the factor of each query that changes its absolute gradient sum S to log2(1 + S)."""
    return np.divide(np.log2(1.0 + size), size, out=np.ones(len(size)), where=size > 0.0)


def factors(mass: Array, weights: Array, setup: Setup) -> tuple[Array, Array]:
    """Return the factors of lam and eta of each query; ``mass`` is its sum of absolute lam."""
    factor = weights * dampening(setup.sigma * mass) if setup.normalize else weights
    return factor * setup.sigma, factor * setup.sigma**2


class ShortPass:
    """Passes over chunks of queries, one at a time, with memory for any of `chunks`."""

    def __init__(self, chunks: Sequence[ShortQueries], n_grades: int) -> None:
        n_queries = max((chunk.last - chunk.first for chunk in chunks), default=0)
        longest = max((chunk.longest for chunk in chunks), default=0)
        room = (
            padded(max((chunk.rows.stop - chunk.rows.start for chunk in chunks), default=0)) + LANES
        )
        self.order = np.empty(room, np.int32)
        self.s, self.lam, self.eta = np.empty((3, room))
        self.grade = np.empty(room, np.uint8)
        self.n_codes = np.empty(n_queries, np.int64)
        self.grade_of = np.empty((n_queries, n_grades), np.uint8)
        self.code_of = np.empty(n_grades, np.int64)
        # Ranking is done before the sums begin.
        rows, other_rows = self.s.view(np.int32).reshape(2, room)
        self.sorting = sorting(Elements(self.lam, rows), Elements(self.eta, other_rows), longest)
        self.memory = list_memory(
            longest, max((chunk.longest_by_pairs for chunk in chunks), default=0), n_grades
        )

    def write_gradients(
        self,
        queries: ShortQueries,
        pair: Array,
        own: Array,
        setup: Setup,
        scores: Array,
        grad: Array,
        hess: Array,
    ) -> None:
        """Write the gradients, to be minimized, of all pairs of `queries`.

        ``pair`` and ``own`` begin at the first of these.
        """
        rows, starts, numbers = queries.rows, queries.starts, slice(queries.first, queries.last)
        n, n_queries = rows.stop - rows.start, queries.last - queries.first
        scores = scores[rows].astype(np.float64, copy=False)
        order = self.order[:n]
        rank(scores, setup.turns[rows], starts, self.sorting, order)
        lists = Lists(
            starts=starts, begins=setup.begins[numbers], deep=queries.deep,
            by_pairs=queries.by_pairs, n_codes=self.n_codes[:n_queries],
            grade_of=self.grade_of[:n_queries], s=self.s, grade=self.grade, lam=self.lam,
            eta=self.eta,
        )  # fmt: skip
        take(scores, setup.grades[rows], order, setup.sigma, self.code_of, lists)
        sum_lists(lists, setup.discount, pair, own, True, NOTHING_ARRIVES, self.memory)
        mass = np.add.reduceat(np.abs(self.lam[:n]), starts[:-1])
        push, curve = factors(mass, setup.weights[numbers], setup)
        write_gradients(
            order,
            starts,
            self.lam,
            self.eta,
            push,
            curve,
            setup.least_curvature,
            grad[rows],
            hess[rows],
        )
