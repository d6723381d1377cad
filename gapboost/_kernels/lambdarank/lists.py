"""Lists of documents in order of rank, the sums that enter each list, and memory for one list."""

import itertools
from typing import Any, NamedTuple

import numpy as np

from gapboost._kernels import Array
from gapboost._kernels.jit import kernel
from gapboost._kernels.lambdarank.moments import LENGTH, TERMS
from gapboost._kernels.simd import LANES, Pointer, every8, pointer, store

# Documents whose swaps are held at a time.
BLOCK = 128

# Scores times sigma are held within this: the difference of two must not overflow.
FARTHEST_SCORE = 8e307


class Lists(NamedTuple):
    """Documents in order of rank, list after list: whole queries, or a strip of one long query.

    Attributes
    ----------
    starts : int64 ndarray of shape (L + 1,)
        List j is documents ``starts[j]..starts[j + 1] - 1``.
    begins : int64 ndarray of shape (L,)
        Where the discount of the list begins among all discounts.
    deep : int64 ndarray of shape (L,)
        Swaps change nothing unless the upper document is among the first ``deep[j]`` of the list.
    by_pairs : bool ndarray of shape (L,)
        Whether its pairs are visited one by one.
    n_codes : int64 ndarray of shape (L,)
        Number of grades that occur in the query.
    grade_of : uint8 ndarray of shape (L, c + 1)
        The grade of each number.
    s : float64 ndarray
        Scores times sigma, falling.
    grade : uint8 ndarray
        Grades, numbered among those that occur in the query.
    lam, eta : float64 ndarrays
        What the sums write.
    """

    starts: Array
    begins: Array
    deep: Array
    by_pairs: Array
    n_codes: Array
    grade_of: Array
    s: Array
    grade: Array
    lam: Array
    eta: Array


class Arriving(NamedTuple):
    """Sums that enter each list from the rest of its query; no rows if the lists are whole queries.

    Attributes
    ----------
    above, below : float64 ndarrays of shape (L, ...)
        The `moments` of the documents above the list, at its first anchor, and below it, at its
        last. `sum_lists` adds those of the list itself, and leaves the sums at the other anchor.
    prefix : float64 ndarray of shape (L, ...)
        C and E above the list, see `fill_swaps`.
    anchor : float64 ndarray of shape (L,)
        Its last anchor.
    """

    above: Array
    below: Array
    prefix: Array
    anchor: Array


class ListMemory(NamedTuple):
    """Working memory for one list after the other; float64.

    By document ``rise``, ``fall``, ``jump`` (see `exponents`); by document of a block, or of a list
    that is visited pair by pair, and by grade ``upper``, ``lower`` (see `fill_swaps`) and
    ``lower_by_grade``; ``powers`` by document of a block; ``prefixes`` by block; ``above`` and
    ``below``, the `moments` of the documents above and below; ``form``, memory for a `Form`.
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


def list_memory(longest: int, longest_by_pairs: int, n_grades: int) -> ListMemory:
    """Memory for lists up to `longest`, up to `longest_by_pairs` pair by pair.

    Grades are ``0..n_grades - 1``.
    """
    width = padded(n_grades)
    rows = (max(longest_by_pairs, BLOCK) + LANES) * width
    by_document = padded(longest) + LANES
    lengths = ListMemory(
        rise=by_document,
        fall=by_document,
        jump=by_document,
        upper=rows,
        lower=rows,
        lower_by_grade=rows,
        powers=BLOCK * TERMS,
        prefixes=(longest // BLOCK + 2) * 2 * width,
        above=LENGTH * width,
        below=LENGTH * width,
        form=(3 * width + 1) * width,
    )
    # One block that begins on a cache line, in pieces of whole lines: a vector across two lines
    # loads at half speed.
    whole = np.empty(sum(lengths) + LANES)
    whole[-lengths.form - LANES :] = 0.0  # lanes that no grade has stay finite
    ends = np.cumsum([-(whole.ctypes.data // 8) % LANES, *lengths]).tolist()
    return ListMemory._make(whole[first:end] for first, end in itertools.pairwise(ends))


def padded(n: int) -> int:
    """`n` rounded up to whole vectors."""
    return -(-n // LANES) * LANES


@kernel
def pointers(memory: ListMemory) -> ListMemory:
    """Return the memory with a pointer for each array."""
    return ListMemory(
        rise=pointer(memory.rise), fall=pointer(memory.fall), jump=pointer(memory.jump),
        upper=pointer(memory.upper), lower=pointer(memory.lower),
        lower_by_grade=pointer(memory.lower_by_grade), powers=pointer(memory.powers),
        prefixes=pointer(memory.prefixes), above=pointer(memory.above), below=pointer(memory.below),
        form=pointer(memory.form),
    )  # fmt: skip


@kernel
def set_zero(n: int, values: Pointer) -> None:
    """Set the first ``n`` elements, rounded up to whole vectors, to zero."""
    for i in range(0, n, LANES):
        store(values, i, every8(0.0))
