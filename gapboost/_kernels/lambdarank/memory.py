"""Working memory for one list after the other."""

from typing import Any, NamedTuple

import numpy as np

from gapboost._kernels.jit import kernel
from gapboost._kernels.lambdarank.moments import LENGTH, TERMS
from gapboost._kernels.order import COUNTED, FILL
from gapboost._kernels.simd import LANES, pointer

# Documents whose swaps are held at a time.
BLOCK = 128


class Memory(NamedTuple):
    """Arrays or, in compiled code, their addresses; float64 if not said otherwise.

    By document, in order of rank: ``s``, scores times sigma; ``grade`` (uint8), numbered among
    those that occur in the query; ``order`` (int32), positions in the query; ``lam`` and ``eta``;
    ``rise``, ``fall``, ``jump`` (see `exponents`). By document of a block, or of a list that is
    visited pair by pair, and by grade ``upper``, ``lower`` (see `fill_swaps`) and
    ``lower_by_grade``; ``powers`` by document of a block (see `distance`); ``prefixes`` by block;
    ``above`` and ``below``, the `moments` of the documents above and below; ``form``, memory for a
    `Form`. ``rows``, ``other_rows`` (int32), ``ends`` and ``pieces`` (int64) are for sorting,
    ``code_of`` and ``grade_of`` (int64) for `number_grades`.
    """

    s: Any
    lam: Any
    eta: Any
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
    grade: Any
    order: Any
    rows: Any
    other_rows: Any
    ends: Any
    pieces: Any
    code_of: Any
    grade_of: Any


INTEGERS = {"grade": np.uint8, "order": np.int32, "rows": np.int32, "other_rows": np.int32}


def make_memory(longest: int, longest_by_pairs: int, n_grades: int, terms: int = 0) -> Memory:
    """Return memory for lists up to `longest`, up to `longest_by_pairs` pair by pair.

    Grades are ``0..n_grades - 1``; `terms` are those of `distance`, if any.
    """
    width, by_document = padded(n_grades), padded(longest) + LANES
    rows = (max(longest_by_pairs, BLOCK) + LANES) * width
    moments = max(LENGTH, 3 * terms) * width
    floats = {
        "s": by_document, "lam": by_document, "eta": by_document, "rise": by_document,
        "fall": by_document, "jump": by_document, "upper": rows, "lower": rows,
        "lower_by_grade": rows, "powers": BLOCK * max(TERMS, 2 * terms),
        "prefixes": (longest // BLOCK + 2) * 2 * width, "above": moments, "below": moments,
        "form": (3 * width + 1) * width,
    }  # fmt: skip
    # One block that begins on a cache line, in pieces of whole lines: a vector across two lines
    # loads at half speed. Zeros, because lanes that no grade has stay finite.
    block = np.zeros(sum(floats.values()) + LANES)
    start = -(block.ctypes.data // 8) % LANES
    pieces = {}
    for name, length in floats.items():
        pieces[name] = block[start : start + length]
        start += length
    return Memory(
        **pieces,
        **{name: np.zeros(by_document, dtype) for name, dtype in INTEGERS.items()},
        ends=np.empty(longest // FILL + 2, np.int64),
        pieces=np.empty((longest // COUNTED + 2) * 3, np.int64),
        code_of=np.empty(n_grades, np.int64),
        grade_of=np.empty(n_grades, np.int64),
    )


def padded(n: int) -> int:
    """`n` rounded up to whole vectors."""
    return -(-n // LANES) * LANES


@kernel
def pointers(m: Memory) -> Memory:
    """Return the memory with a pointer for each array."""
    return Memory(
        s=pointer(m.s), lam=pointer(m.lam), eta=pointer(m.eta), rise=pointer(m.rise),
        fall=pointer(m.fall), jump=pointer(m.jump), upper=pointer(m.upper), lower=pointer(m.lower),
        lower_by_grade=pointer(m.lower_by_grade), powers=pointer(m.powers),
        prefixes=pointer(m.prefixes), above=pointer(m.above), below=pointer(m.below),
        form=pointer(m.form), grade=pointer(m.grade), order=pointer(m.order), rows=pointer(m.rows),
        other_rows=pointer(m.other_rows), ends=pointer(m.ends), pieces=pointer(m.pieces),
        code_of=pointer(m.code_of), grade_of=pointer(m.grade_of),
    )  # fmt: skip
