"""Working memory for one list after the other, and what the steps of a pass know of a list."""

from typing import NamedTuple

import numpy as np

from gapboost._kernels.jit import inner_kernel
from gapboost._kernels.order import Sorting, sorting_for, sorting_pointers
from gapboost._kernels.vectors import EIGHT, THIRTY_TWO, Pointer, pointer


class Shape(NamedTuple):
    """Numbers of a list.

    Attributes
    ----------
    n : int
        Documents.
    top : int
        First ranks, whose document can be the upper one of a pair.
    n_levels : int
        Grades that occur, numbered from 0.
    width : int
        Numbers in a row of swaps: `n_levels` rounded up to whole vectors.
    epsilon : float
        Changes are divided by it and the distance of two scores (times sigma); 0 if they are not.
    """

    n: int
    top: int
    n_levels: int
    width: int
    epsilon: float


class Grouped(NamedTuple):
    """Documents of a list by grade, then by rank; each grade begins at a multiple of 8.

    ``begin`` of a grade, its documents ``seen`` in a visit by rank, and those
    ``within`` the top; ``place`` of the document at a rank. By place: ``s``, ``rise`` (the
    exponential of the distance to the highest score), ``lam`` and ``eta``. By grade and place the
    parts of a swap, ``upper`` and ``lower``, ``stride`` numbers for each grade. What lies between
    two grades is finite.
    """

    stride: Pointer
    begin: Pointer
    seen: Pointer
    within: Pointer
    place: Pointer
    s: Pointer
    rise: Pointer
    lam: Pointer
    eta: Pointer
    upper: Pointer
    lower: Pointer


class Memory(NamedTuple):
    """Arrays or, in compiled code, pointers.

    By rank: ``s``, scores times sigma; ``grade`` (int32), numbered among those that occur in the
    query; ``lam`` and ``eta``; rows of the parts of a swap, ``upper`` and ``lower``. ``number``,
    ``levels`` and ``sizes`` (int64): numbers of all grades, and the grade and the documents of each
    number. ``form`` is for `read_form`, ``moments`` for `add_running_sums`.
    """

    s: Pointer
    grade: Pointer
    lam: Pointer
    eta: Pointer
    upper: Pointer
    lower: Pointer
    number: Pointer
    levels: Pointer
    sizes: Pointer
    form: Pointer
    moments: Pointer
    sorting: Sorting
    grouped: Grouped


def padded(n: int) -> int:
    """Return `n` rounded up to whole vectors."""
    return -(-n // len(EIGHT)) * len(EIGHT)


def make_memory(longest: int, longest_by_pairs: int, n_levels: int) -> Memory:
    """Return memory for lists up to `longest`, up to `longest_by_pairs` pair by pair."""
    width, stride = padded(n_levels), padded(longest_by_pairs) + n_levels * len(EIGHT)
    s, lam, eta = np.empty((3, longest))
    upper, lower = np.zeros((2, longest * width))
    number, levels, sizes, begin, seen, within = np.empty((6, n_levels), np.int64)
    placed = np.zeros((4, stride))
    placed_upper, placed_lower = np.zeros((2, n_levels * stride))
    return Memory(
        s=s, grade=np.empty(longest, np.int32), lam=lam, eta=eta, upper=upper, lower=lower,
        number=number, levels=levels, sizes=sizes, form=np.zeros((3 * width + 1) * width),
        moments=np.empty(3 * n_levels * len(THIRTY_TWO)), sorting=sorting_for(longest),
        grouped=Grouped(
            stride=stride, begin=begin, seen=seen, within=within,
            place=np.empty(longest_by_pairs, np.int32), s=placed[0], rise=placed[1], lam=placed[2],
            eta=placed[3], upper=placed_upper, lower=placed_lower,
        ),
    )  # fmt: skip


@inner_kernel
def pointers(m: Memory) -> Memory:
    """Return the memory with a pointer for each array."""
    at = m.grouped
    return Memory(
        s=pointer(m.s, 0), grade=pointer(m.grade, 0), lam=pointer(m.lam, 0),
        eta=pointer(m.eta, 0), upper=pointer(m.upper, 0), lower=pointer(m.lower, 0),
        number=pointer(m.number, 0), levels=pointer(m.levels, 0), sizes=pointer(m.sizes, 0),
        form=pointer(m.form, 0), moments=pointer(m.moments, 0),
        sorting=sorting_pointers(m.sorting),
        grouped=Grouped(
            stride=at.stride, begin=pointer(at.begin, 0), seen=pointer(at.seen, 0),
            within=pointer(at.within, 0), place=pointer(at.place, 0), s=pointer(at.s, 0),
            rise=pointer(at.rise, 0), lam=pointer(at.lam, 0), eta=pointer(at.eta, 0),
            upper=pointer(at.upper, 0), lower=pointer(at.lower, 0),
        ),
    )  # fmt: skip
