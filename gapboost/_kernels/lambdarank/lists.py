"""What the steps of a LambdaRank pass hand to each other: lists of documents in order, the form of a query, working memory."""

import itertools
from typing import Any, NamedTuple

import numpy as np

from gapboost._kernels import Array
from gapboost._kernels.jit import kernel
from gapboost._kernels.lambdarank.moments import LENGTH, TERMS
from gapboost._kernels.simd import LANES, Pointer, every8, pointer, store

# Documents whose tables are held at a time.
BLOCK = 128

# Scores times sigma are held within this: the difference of two must not overflow.
FARTHEST_SCORE = 8e307


class Lists(NamedTuple):
    """Documents in order of rank, list after list: whole queries, or strips of one long query.

    Attributes
    ----------
    starts : int64 ndarray of shape (L + 1,)
        List j is documents ``starts[j]..starts[j + 1] - 1``.
    above : int64 ndarray of shape (L,)
        Documents of the same query that are ranked above the list.
    weighed : int64 ndarray of shape (L,)
        Where the discount of the list begins among all discounts.
    query : int64 ndarray of shape (L,)
        Whose tables it is judged by.
    by_pairs : bool ndarray of shape (L,)
    s : float64 ndarray
        Scores times sigma, falling.
    grade : uint8 ndarray
        Grades, numbered among those that occur in the query.
    sizes : int64 ndarray of shape (L,)
        Number of grades that occur in the query.
    grade_of : uint8 ndarray of shape (L, c + 1)
        The grade of each number.
    """

    starts: Array
    above: Array
    weighed: Array
    query: Array
    by_pairs: Array
    s: Array
    grade: Array
    sizes: Array
    grade_of: Array


class Arriving(NamedTuple):
    """What arrives at each list of documents of the same query; no rows where they are whole queries.

    Attributes
    ----------
    above, below : float64 ndarrays of shape (L, ...)
        The `moments` of the documents above the list, at its first anchor, and below it, at its last. `sum_lists` adds those of
        the list itself, and leaves the sums at the other anchor.
    prefix : float64 ndarray of shape (L, ...)
        C and E above the list, see `tables`.
    anchor : float64 ndarray of shape (L,)
        Its last anchor.
    """

    above: Array
    below: Array
    prefix: Array
    anchor: Array


class Work(NamedTuple):
    """Working memory for one list after the other; float64.

    By document ``rise``, ``fall``, ``jump`` (see `exponents`); by document of a block, or of a list that is visited
    pair by pair, and by grade ``upper``, ``lower`` (see `tables`) and ``lower_by_grade``; ``powers`` by document of a
    block; ``prefixes`` by block; ``above`` and ``below``, the `moments` of the documents above and below; ``form``,
    room for a `Form`.
    """

    rise: Any
    fall: Any
    jump: Any
    upper: Any
    lower: Any
    lower_by_grade: Any
    powers: Any
    prefixes: Any
    above: Any
    below: Any
    form: Any


def working_memory(longest: int, held: int, n_grades: int) -> Work:
    """`Work` for lists up to `longest`, tables of up to `held` documents and grades ``0..n_grades - 1``."""
    width = padded(n_grades)
    rows = (max(held, BLOCK) + LANES) * width
    by_document = padded(longest) + LANES
    lengths = {
        "rise": by_document,
        "fall": by_document,
        "jump": by_document,
        "upper": rows,
        "lower": rows,
        "lower_by_grade": rows,
        "powers": BLOCK * TERMS,
        "prefixes": (longest // BLOCK + 2) * 2 * width,
        "above": LENGTH * width,
        "below": LENGTH * width,
        "form": (3 * width + 1) * width,
    }
    # One block that begins on a cache line, in pieces of whole lines: a vector across two lines loads at half speed.
    whole = np.empty(sum(lengths.values()) + LANES)
    whole[-lengths["form"] - LANES :] = 0.0  # lanes that no grade has stay finite
    ends = np.cumsum([-(whole.ctypes.data // 8) % LANES, *lengths.values()]).tolist()
    return Work(*[whole[first:end] for first, end in itertools.pairwise(ends)])


def padded(n: int) -> int:
    """`n` rounded up to whole vectors."""
    return -(-n // LANES) * LANES


@kernel
def pointers(work: Work) -> Work:
    """The same as pointers."""
    return Work(
        pointer(work.rise), pointer(work.fall), pointer(work.jump), pointer(work.upper), pointer(work.lower),
        pointer(work.lower_by_grade),
        pointer(work.powers), pointer(work.prefixes), pointer(work.above), pointer(work.below), pointer(work.form),
    )  # fmt: skip


@kernel
def clear(n: int, values: Pointer) -> None:
    """Set the first ``n`` elements, rounded up to whole vectors, to zero."""
    for i in range(0, n, LANES):
        store(values, i, every8(0.0))
