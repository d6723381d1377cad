"""The LambdaRank gradients of one long query, by several threads.

    rank      the parts of the list (`gapboost._kernels.order.long`)
    take      scores and grades in order, strip by strip; then prefixes (`settle_prefixes`)
    collect   the moments of each strip by itself
    hand_on   what arrives at each strip: the moments of all documents above and below it
    sum       lam and eta, strip by strip
    scale     by what depends on the sum of all, in the order of the rows

Strips depend on the length of the list alone, and between the steps all threads meet: results are
the same, bit by bit, for any number of threads. Collecting costs half as much again as the sums
themselves.
"""

from dataclasses import dataclass

import numpy as np

from gapboost._kernels import Array
from gapboost._kernels.jit import kernel
from gapboost._kernels.lambdarank.exponents import decay
from gapboost._kernels.lambdarank.gradients import (
    HESSIAN_FLOOR,
    Setup,
    factors,
    reach,
    write_gradients,
)
from gapboost._kernels.lambdarank.lists import FARTHEST_SCORE, Arriving, Lists, list_memory, padded
from gapboost._kernels.lambdarank.moments import LENGTH, moments_at, scale_moments
from gapboost._kernels.lambdarank.sums import copy, sum_lists
from gapboost._kernels.order.long import Each, rank_long
from gapboost._kernels.order.short import Elements
from gapboost._kernels.parallel.scratch import Scratch
from gapboost._kernels.simd import LANES, load8, pointer, store

# Longest list that one thread ranks and sums in one go; a function of the length alone decides.
LONG = 16384

STRIP = 8192


@dataclass(frozen=True, kw_only=True)
class LongQuery:
    """One long query, and what stays the same between passes over it.

    Attributes
    ----------
    number : int
    rows : slice
    reached : int
        Ranks whose document can be the upper one of a pair that counts.
    pair, own : float64 ndarrays
        The tables of the query, with one more dimension in front.
    codes : uint8 ndarray
        Grade of each row, numbered among those that occur.
    grade_of : uint8 ndarray of shape (c + 1,)
        The grade of each number; padded.
    n_codes : int
        Number of grades that occur.
    """

    number: int
    rows: slice
    reached: int
    pair: Array
    own: Array
    codes: Array
    grade_of: Array
    n_codes: int


def long_query(
    grades: Array,
    offsets: Array,
    discount: Array,
    pair: Array,
    own: Array,
    truncation: int,
    number: int,
) -> LongQuery:
    """Prepare one long query for the passes over it.

    ``truncation`` > 0 keeps only the pairs whose upper document is among that many first ranks.
    """
    rows = slice(int(offsets[number]), int(offsets[number + 1]))
    occurring, codes = np.unique(grades[rows], return_inverse=True)
    grade_of = np.zeros(own.shape[1], np.uint8)
    grade_of[: len(occurring)] = occurring
    return LongQuery(
        number=number, rows=rows, reached=reach(discount, rows.stop - rows.start, truncation),
        pair=pair, own=own, codes=codes.astype(np.uint8), grade_of=grade_of, n_codes=len(occurring),
    )  # fmt: skip


@kernel
def hand_on(
    width: int, size: int, step: int, tops: Array, bottoms: Array, moments: Array, room: Array
) -> None:
    """Turn the moments of each strip into those of all documents above (step 1) or below (-1).

    A strip's own are at the last anchor that a sweep in that direction comes to, and what arrives
    is at the first. ``room`` is for two sets, the first of them zeros.
    """
    length = LENGTH * width
    so_far = pointer(room)
    mine = so_far + length
    last = len(tops) - 1
    left = tops[0] if step > 0 else bottoms[last]
    for k in range(len(tops)):
        j = k if step > 0 else last - k
        own = pointer(moments) + j * length
        first_anchor, last_anchor = (tops[j], bottoms[j]) if step > 0 else (bottoms[j], tops[j])
        scale_moments(width, size, decay(abs(left - first_anchor)), moments_at(so_far, width))
        copy(length, own, mine)
        copy(length, so_far, own)
        scale_moments(
            width, size, decay(abs(first_anchor - last_anchor)), moments_at(so_far, width)
        )
        for i in range(0, length, LANES):
            store(so_far, i, load8(so_far, i) + load8(mine, i))
        left = last_anchor


@kernel
def take_strip(
    scores: Array,
    codes: Array,
    order: Array,
    discount: Array,
    sigma: float,
    s: Array,
    grade: Array,
    tally: Array,
) -> None:
    """Fill scores times sigma and numbered grades of a strip; add to ``tally``.

    The tally has the number and the sum of discounts of each grade.
    """
    for r in range(len(order)):
        row = order[r]
        code = codes[row]
        s[r] = min(max(float(scores[row]) * sigma, -FARTHEST_SCORE), FARTHEST_SCORE)
        grade[r] = code
        tally[0, code] += 1.0
        tally[1, code] += discount[r]


class LongPass:
    """Passes over one long query, one at a time, with memory for their steps by strip."""

    def __init__(self, query: LongQuery) -> None:
        n, width = query.rows.stop - query.rows.start, padded(query.n_codes)
        room = padded(n) + LANES
        self.query = query
        self.starts = np.append(np.arange(0, n, STRIP), n)
        self.n_strips = len(self.starts) - 1
        self.order = np.empty(n, np.int32)
        self.s, self.lam, self.eta = np.empty((3, room))
        self.grade = np.empty(room, np.uint8)
        # Ranking is done before the sums begin.
        self.elements = Elements(self.lam, self.eta.view(np.int32))
        self.mass = np.empty(self.n_strips)
        above, below = np.empty((2, self.n_strips, LENGTH * width))
        prefix, anchor = np.empty((self.n_strips, 2 * width)), np.empty(self.n_strips)
        self.arriving = Arriving(above=above, below=below, prefix=prefix, anchor=anchor)
        self.memory = Scratch(lambda: list_memory(STRIP, 0, width))

    def write_gradients(
        self, setup: Setup, scores: Array, grad: Array, hess: Array, each: Each
    ) -> None:
        """Write the gradients; ``each(task, n)`` calls ``task(0) ... task(n - 1)`` on threads."""
        query, n_strips = self.query, self.n_strips
        scores, turns, grad, hess = (a[query.rows] for a in (scores, setup.turns, grad, hess))
        discount = setup.discount[setup.begins[query.number] :]
        if query.n_codes < 2:
            grad[:] = 0.0
            hess[:] = HESSIAN_FLOOR
            return
        rank_long(scores, turns, self.elements, self.order, each)
        for what_arrives in self.arriving:
            what_arrives[:] = 0.0
        each(lambda j: self.take(j, scores, discount, setup.sigma), n_strips)
        self.settle_prefixes()
        each(lambda j: self.sum(j, discount, False), n_strips)
        self.hand_on()
        each(lambda j: self.sum(j, discount, True), n_strips)
        push, curve = factors(
            self.mass.sum(keepdims=True), setup.weights[query.number : query.number + 1], setup
        )
        each(lambda j: self.write(j, push, curve, setup.least_curvature, grad, hess), n_strips)

    def take(self, j: int, scores: Array, discount: Array, sigma: float) -> None:
        """Put scores and grades of strip j in order, and replace its prefix by its tally."""
        ranks = self._ranks(j)
        tally = self.arriving.prefix[j].reshape(2, -1)
        take_strip(
            scores,
            self.query.codes,
            self.order[ranks],
            discount[ranks],
            sigma,
            self.s[ranks],
            self.grade[ranks],
            tally,
        )

    def settle_prefixes(self) -> None:
        """Turn the tallies into C and E above each strip, see `fill_swaps`."""
        n_codes = self.query.n_codes
        tallies = self.arriving.prefix.reshape(self.n_strips, 2, -1)[:, :, :n_codes]
        above = np.cumsum(tallies, axis=0) - tallies
        grade_of = self.query.grade_of[:n_codes]
        worth = self.query.pair[0][np.ix_(grade_of, grade_of)]
        tallies[:, 0] = above[:, 0] @ worth
        tallies[:, 1] = above[:, 1] @ worth.T

    def hand_on(self) -> None:
        """Turn the moments of each strip into what arrives at it."""
        width = padded(self.query.n_codes)
        tops, bottoms = self.s[self.starts[:-1]], self.arriving.anchor
        for step, moments in ((1, self.arriving.above), (-1, self.arriving.below)):
            hand_on(
                width,
                self.query.n_codes,
                step,
                tops,
                bottoms,
                moments,
                np.zeros(2 * LENGTH * width),
            )

    def sum(self, j: int, discount: Array, receive: bool) -> None:
        """The moments of strip j by itself or, if its documents ``receive``, their lam and eta."""
        one, query, ranks = slice(j, j + 1), self.query, self._ranks(j)
        deep = min(max(query.reached - ranks.start, 0), ranks.stop - ranks.start)
        strip = Lists(
            starts=self.starts[j : j + 2], begins=self.starts[one], deep=np.array([deep], np.int64),
            by_pairs=np.zeros(1, bool), n_codes=np.array([query.n_codes]),
            grade_of=query.grade_of[None], s=self.s, grade=self.grade, lam=self.lam, eta=self.eta,
        )  # fmt: skip
        arriving = Arriving._make(of_all[one] for of_all in self.arriving)
        with self.memory.lent() as memory:
            sum_lists(strip, discount, query.pair, query.own, receive, arriving, memory)
        if receive:
            self.mass[j] = np.abs(self.lam[ranks]).sum()

    def write(
        self, j: int, push: Array, curve: Array, least: float, grad: Array, hess: Array
    ) -> None:
        """Gradients of strip j in the order of the rows."""
        ranks = self._ranks(j)
        ends = np.array([0, ranks.stop - ranks.start])
        write_gradients(
            self.order[ranks],
            ends,
            self.lam[ranks],
            self.eta[ranks],
            push,
            curve,
            least,
            grad,
            hess,
        )

    def _ranks(self, j: int) -> slice:
        return slice(self.starts[j], self.starts[j + 1])
