"""Expected value of each query from its `Worth`, over the orders of ties: O(log n) a document.

What the documents above bring, held between floor and cap of the one below, is the sum of what is
in between, plus floor and cap times how many bring less and more. A tree of sums over the levels
has each of these: its lowest layer holds, in nodes of eight, the sums so far within each node, and
every other layer has an entry for each node of the one before.
"""

from typing import Any, NamedTuple

import numpy as np

from gapboost._kernels import Array
from gapboost._kernels.expected_value import Ranked
from gapboost._kernels.jit import kernel
from gapboost._kernels.simd import LANES, Pointer, counting, every8, load8, pointer, store
from gapboost._kernels.worth import Worth


class Above(NamedTuple):
    """The documents above, and one query's numbers by level; pointers but for the first three.

    ``tree`` is one for their number, and one for each term, ``size`` long; ``low`` and ``high`` say
    for each level how many bring less than its floor, and how many no more than its cap. By term
    these and the numbers of `Worth` are ``step`` apart.
    """

    terms: Any
    step: Any
    size: Any
    tree: Any
    low: Any
    high: Any
    above: Any
    floor: Any
    cap: Any
    zero: Any
    factor: Any


def tree_size(n: int) -> int:
    """Number of elements of a tree over `n` levels."""
    nodes = -(-n // LANES)
    return LANES * nodes + (tree_size(nodes) if n > 1 else 0)


def evaluate_worth(
    ranked: Ranked, discount: Array, begins: Array, depth: int, worth: Worth, out: Array
) -> None:
    """Write the value of each query to ``out``; ``worth`` is by query and level.

    The other arguments are those of `gapboost._kernels.expected_value.evaluate_form`.
    """
    n_terms, _, n_levels = worth.above.shape
    cuts = np.empty((2, n_terms, *worth.own.shape), np.int32)
    trees = np.empty((1 + n_terms, tree_size(n_levels)))
    find_cuts(worth, cuts)
    evaluate_levels(ranked, discount, begins, depth, worth, cuts, trees, out)


@kernel
def find_cuts(worth: Worth, cuts: Array) -> None:
    """Count, for each term and level, the levels that bring less than its floor or at most its cap.

    ``cuts[0]`` holds the first count and ``cuts[1]`` the second, by term, query and level.
    """
    for k in range(cuts.shape[1]):
        for q in range(cuts.shape[2]):
            above, floor, cap = worth.above[k, q], worth.floor[k, q], worth.cap[k, q]
            low = 0
            high = 0
            for level in range(len(above)):
                while low < len(above) and above[low] < floor[level]:
                    low += 1
                while high < len(above) and above[high] <= cap[level]:
                    high += 1
                cuts[0, k, q, level] = low
                cuts[1, k, q, level] = high


@kernel
def add_to_tree(n: int, level: int, value: float, tree: Pointer) -> None:
    """Add to one of ``n`` levels."""
    while True:
        node = level // LANES * LANES
        store(tree, node, load8(tree, node) + value * (counting(node) > level - 1))
        if n == 1:
            break
        n = (n + LANES - 1) // LANES
        tree = tree + n * LANES
        level = level // LANES


@kernel
def sum_before(n: int, level: int, tree: Pointer) -> float:
    """The sum over the levels before this one, of ``n``."""
    total = 0.0
    while True:
        if level % LANES > 0:
            total += tree[level - 1]
        if n == 1:
            break
        n = (n + LANES - 1) // LANES
        tree = tree + n * LANES
        level = level // LANES
    return total


@kernel
def received(n: int, level: int, n_above: int, query: Above) -> float:
    """Return the worth of a document of this level below the ``n_above`` documents above it."""
    total = 0.0
    for k in range(query.terms):
        at = k * query.step + level
        if query.factor[at] != 0.0:
            tree = query.tree + (1 + k) * query.size
            low, high = query.low[at], query.high[at]
            held = query.cap[at] * (n_above - sum_before(n, high, query.tree)) + sum_before(
                n, high, tree
            )
            if low > 0:
                held += query.floor[at] * sum_before(n, low, query.tree) - sum_before(n, low, tree)
            total += query.factor[at] * (held - query.zero[at] * n_above)
    return total


@kernel
def add_document(n: int, level: int, query: Above) -> None:
    """One more document above."""
    if query.terms > 0:
        add_to_tree(n, level, 1.0, query.tree)
    for k in range(query.terms):
        add_to_tree(
            n, level, query.above[k * query.step + level], query.tree + (1 + k) * query.size
        )


@kernel
def with_itself(level: int, query: Above) -> float:
    """``pair[j, j]``."""
    total = 0.0
    for k in range(query.terms):
        at = k * query.step + level
        brought = min(max(query.above[at], query.floor[at]), query.cap[at])
        total += query.factor[at] * (brought - query.zero[at])
    return total


@kernel
def evaluate_levels(
    ranked: Ranked,
    discount: Array,
    begins: Array,
    depth: int,
    worth: Worth,
    cuts: Array,
    trees: Array,
    out: Array,
) -> None:
    """Run the loops of `evaluate_worth`; ``cuts`` is as `find_cuts` fills it, ``trees`` is scratch.

    The documents of a tied group are sorted by level: rounding must not depend on the order
    of the rows.
    """
    starts, grades, ends = ranked.starts, ranked.grades, ranked.ends
    n_queries, n = worth.own.shape
    for q in range(n_queries):
        begin = starts[q]
        end = min(starts[q + 1] - begin, depth)
        query = Above(
            terms=len(worth.above), step=n_queries * n, size=trees.shape[1], tree=pointer(trees),
            low=pointer(cuts) + q * n, high=pointer(cuts) + (len(worth.above) * n_queries + q) * n,
            above=pointer(worth.above) + q * n, floor=pointer(worth.floor) + q * n,
            cap=pointer(worth.cap) + q * n, zero=pointer(worth.zero) + q * n,
            factor=pointer(worth.factor) + q * n,
        )  # fmt: skip
        for i in range(0, trees.size, LANES):
            store(query.tree, i, every8(0.0))
        total = 0.0
        r = 0
        while r < end:
            stop = ends[begin + r]
            size = stop - r
            if size > 1:
                grades[begin + r : begin + stop].sort()
            alone = 0.0
            from_above = 0.0
            for m in range(begin + r, begin + stop):
                alone += worth.own[q, grades[m]]
                from_above += received(n, grades[m], r, query)
            for m in range(begin + r, begin + stop):
                add_document(n, grades[m], query)
            within = 0.0
            if size > 1:
                for m in range(begin + r, begin + stop):
                    within += received(n, grades[m], stop, query) - with_itself(grades[m], query)
                within = (within - from_above) / (size - 1)
            for m in range(r, min(stop, end)):
                total += discount[begins[q] + m] * (alone + from_above + (m - r) * within) / size
            r = stop
        out[q] = total
