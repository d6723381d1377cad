"""The sums of LambdaRank for many different grades, pair by pair: O(n^2) time, O(n) memory.

With C_x[r] = sum_{m<=r} pair(m, x) and E_x[r] = sum_{n<=r} discount[n] pair(x, n) over the
documents m, n at the ranks, for any document x, a swap of the documents at p < q changes the
measure by

    Delta(p, q) = (phi_q - phi_p) + (chi_p - chi_q)
    phi_x = discount[p] (own[x] + C_x[p-1]) - E_x[p]
    chi_x = discount[q] (own[x] + C_x[q-1] + pair(q, x) - pair(x, x)) - E_x[q-1]

with the two pairs for x = p, and without them for x = q.

For one p after the other, C_x and E_x of all documents below it are carried along, and chi_p over
all q is a running sum.
"""

from typing import NamedTuple

import numpy as np

from gapboost._kernels import Array
from gapboost._kernels.jit import kernel, summing_kernel
from gapboost._kernels.simd import LANES, load8, pointer, store
from gapboost._kernels.simd.exponential import decay8
from gapboost._kernels.worth import Worth, pair_worth


class LevelLists(NamedTuple):
    """Documents in order of rank, list after list, most of which have grades of their own.

    Attributes
    ----------
    starts : int64 ndarray of shape (L + 1,)
        List j is documents ``starts[j]..starts[j + 1] - 1``.
    begins, deep : int64 ndarrays of shape (L,)
        As in `gapboost._kernels.lambdarank.lists.Lists`.
    s : float64 ndarray
        Scores times sigma, falling; with room for 8 more.
    levels : float64 ndarray of shape (N,)
        Numbers of the documents' grades.
    worth : Worth
        By document.
    lam, eta : float64 ndarrays of shape (N,)
        What the sums write.
    """

    starts: Array
    begins: Array
    deep: Array
    s: Array
    levels: Array
    worth: Worth
    lam: Array
    eta: Array


class Sums(NamedTuple):
    """Working memory by document of one list; float64, with room for 8 more.

    ``c``, ``e`` and ``chi`` as above, ``chi`` that of the document at its own rank; ``below``,
    ``upon``: what each document is worth below the one at p, and the one at p below it; ``change``
    of a swap with p; ``u`` as in `gapboost._kernels.lambdarank`.
    """

    c: Array
    e: Array
    chi: Array
    below: Array
    upon: Array
    change: Array
    u: Array


def sums_for(longest: int) -> Sums:
    """Working memory for lists up to `longest`."""
    return Sums(*np.empty((len(Sums._fields), longest + LANES)))


@summing_kernel
def fill_pairs(p: int, end: int, worth: Worth, sums: Sums) -> None:
    """Fill ``below`` and ``upon`` for the documents behind ``p``, numbered as in ``worth``."""
    below, upon = sums.below, sums.upon
    for x in range(end - p):
        below[x] = 0.0
        upon[x] = 0.0
    for k in range(len(worth.above)):
        above, floor, cap = worth.above[k, p:end], worth.floor[k, p:end], worth.cap[k, p:end]
        zero, factor = worth.zero[k, p:end], worth.factor[k, p:end]
        above_p, floor_p, cap_p, zero_p, factor_p = above[0], floor[0], cap[0], zero[0], factor[0]
        for x in range(1, end - p):
            below[x] += factor[x] * (min(max(above_p, floor[x]), cap[x]) - zero[x])
            upon[x] += factor_p * (min(max(above[x], floor_p), cap_p) - zero_p)


@summing_kernel
def add_to_those_below(p: int, n: int, discount: float, sums: Sums) -> None:
    """Add the document at ``p`` to C and E of those below it."""
    c, e, below, upon = sums.c[p:n], sums.e[p:n], sums.below, sums.upon
    for x in range(1, n - p):
        c[x] += below[x]
        e[x] += discount * upon[x]


@kernel
def fill_changes(p: int, n: int, discount: Array, own: Array, itself: float, sums: Sums) -> None:
    """Fill ``change`` for all documents behind ``p``; ``itself`` is pair(p, p)."""
    c, e, chi, d, own = sums.c[p:n], sums.e[p:n], sums.chi[p:n], discount[p:n], own[p:n]
    below, upon, change = sums.below, sums.upon, sums.change
    phi = d[0] * (own[0] + c[0] - itself) - e[0]
    for x in range(1, n - p):
        change[x] = (
            d[0] * (own[x] + c[x] - upon[x]) - e[x] - phi - chi[x] + d[x] * (upon[x] - itself)
        )
    c_p, e_p = own[0] + c[0] + itself, e[0] + d[0] * itself
    for x in range(1, n - p):
        change[x] += d[x] * c_p - e_p
        c_p += upon[x]
        e_p += d[x] * below[x]


@summing_kernel
def push_pairs(p: int, n: int, level: Array, sums: Sums, lam: Array, eta: Array) -> None:
    """Add what the document at ``p`` and those below it do to each other."""
    levels, lams, etas, change, us = level[p:n], lam[p:n], eta[p:n], sums.change, sums.u
    own_level = levels[0]
    push_up = 0.0
    curve_up = 0.0
    for x in range(1, n - p):
        ahead = 1.0 if levels[x] < own_level else 0.0
        behind = 1.0 if levels[x] > own_level else 0.0
        v = 1.0 / (1.0 + us[x])
        t = us[x] * v
        signed = (ahead + behind) * change[x]
        push = signed * (t * ahead + v * behind)
        curve = (ahead - behind) * signed * t * v
        push_up += push
        curve_up += curve
        lams[x] -= push
        etas[x] -= curve
    lams[0] += push_up
    etas[0] -= curve_up


@kernel
def fill_u(p: int, n: int, s: Array, sums: Sums) -> None:
    """Fill ``u`` for all documents behind ``p``; reads up to 7 elements of ``s`` further."""
    scores, u = pointer(s) + p, pointer(sums.u)
    for x in range(0, n - p, LANES):
        store(u, x, decay8(scores[0] - load8(scores, x)))


@kernel
def sum_levels(lists: LevelLists, discount: Array, sums: Sums) -> None:
    """Write ``lam`` and ``eta`` of each document of each list."""
    worth = lists.worth
    for q in range(len(lists.starts) - 1):
        begin, end = lists.starts[q], lists.starts[q + 1]
        n = end - begin
        d, own = discount[lists.begins[q] : lists.begins[q] + n], worth.own[begin:end]
        lam, eta = lists.lam[begin:end], lists.eta[begin:end]
        lam[:] = 0.0
        eta[:] = 0.0
        sums.c[:n] = 0.0
        sums.e[:n] = 0.0
        # Nothing counts below the last rank that weighs anything.
        reached = n
        while reached > 0 and d[reached - 1] == 0.0:
            reached -= 1
        for p in range(n):
            sums.chi[p] = d[p] * (own[p] + sums.c[p]) - sums.e[p]
            if p < reached:
                fill_pairs(begin + p, end, worth, sums)
                add_to_those_below(p, n, d[p], sums)
        sums.c[:n] = 0.0
        sums.e[:n] = 0.0
        for p in range(min(lists.deep[q], reached, n - 1)):
            fill_pairs(begin + p, end, worth, sums)
            fill_changes(p, n, d, own, pair_worth(worth, begin + p, begin + p), sums)
            fill_u(p, n, lists.s[begin:], sums)
            push_pairs(p, n, lists.levels[begin:end], sums, lam, eta)
            add_to_those_below(p, n, d[p], sums)
