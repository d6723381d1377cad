"""The rank distribution of a document: SoftRank's measures with a cut-off, or without pairs.

The other documents are above it independently of each other. For lists of n documents that costs
O(n^2 k) with a cut-off k.
"""

from typing import NamedTuple

import numpy as np

from gapboost._kernels import Array
from gapboost._kernels.jit import inner_kernel, kernel, summing_kernel
from gapboost._kernels.smooth.pairs import GAUSSIAN, above, add_pushes, slope
from gapboost._kernels.smooth.query import Documents, part


class Distribution(NamedTuple):
    """A weight of whole ranks, and working memory; float64.

    ``beats`` by document, ``states`` by document and rank, ``p`` and ``by_p`` by rank, and
    ``change`` for each query by pairs (i, m) of its documents: the derivative of the mean weight of
    document i by the probability that m is above it.
    """

    weight: Array
    beats: Array
    states: Array
    p: Array
    by_p: Array
    change: Array


def distribution_memory(weight: Array, depth: int, sizes: Array) -> Distribution:
    """Return working memory for queries of these sizes; only `change` grows with their number."""
    n = int(sizes.max())
    return Distribution(
        weight=weight, beats=np.empty(n), states=np.empty((n, depth)), p=np.empty(depth),
        by_p=np.empty(depth + 1), change=np.empty(int((sizes**2).sum())),
    )  # fmt: skip


@summing_kernel
def over_rank_distribution(
    beats: Array, skipped: int, depth: int, dist: Distribution, change: Array
) -> float:
    """Return the mean of ``dist.weight[rank - 1]`` over the rank distribution of a document.

    Beyond ``depth`` the weight is 0.

    ``beats[m]`` is the probability that document m is above it, ``skipped`` the document itself.
    Writes the derivative of the mean by each ``beats[m]`` to ``change``.

    Adding the others one by one, ``p(r) <- p(r) (1 - pi) + p(r - 1) pi``, costs len(beats) * depth;
    taking the same steps back with the derivative of the mean by p costs as much again. Taking each
    document out of the final distribution instead divides by 1 - pi, which loses all digits.
    """
    n = len(change)
    weight, states, p, by_p = dist.weight, dist.states, dist.p, dist.by_p
    for r in range(depth):
        p[r] = 0.0
    p[0] = 1.0
    for m in range(n):
        for r in range(depth):
            states[m, r] = p[r]
        if m != skipped:
            pi = beats[m]
            rest = 1.0 - pi
            for r in range(1, min(depth, m + 2)):
                p[r] = states[m, r] * rest + states[m, r - 1] * pi
            p[0] = states[m, 0] * rest
    mean = 0.0
    for r in range(depth):
        mean += p[r] * weight[r]
    # by_p[r]: the derivative of the mean by p(r) before the documents still to come; nothing
    # returns from beyond depth.
    for r in range(depth):
        by_p[r] = weight[r]
    by_p[depth] = 0.0
    change[skipped] = 0.0
    for m in range(n - 1, -1, -1):
        if m == skipped:
            continue
        pi = beats[m]
        steepness = 0.0
        for r in range(min(depth, m + 1)):  # m documents or fewer are above it so far
            step = by_p[r + 1] - by_p[r]
            steepness += states[m, r] * step
            by_p[r] += pi * step
        change[m] = steepness
    return mean


@kernel
def find_chances(
    starts: Array,
    all_x: Array,
    all_matter: Array,
    depth: int,
    dist: Distribution,
    all_chances: Array,
) -> None:
    """Write the mean weight of the rank of each relevant document, 1 for others.

    Fills ``change``.
    """
    first = 0
    for q in range(len(starts) - 1):
        queried = slice(starts[q], starts[q + 1])
        x, matters, chances = all_x[queried], all_matter[queried], all_chances[queried]
        n = len(x)
        for i in range(n):
            chances[i] = 1.0
            if matters[i]:
                for m in range(n):
                    dist.beats[m] = above(GAUSSIAN, x[m] - x[i])
                change = dist.change[first : first + n]
                chances[i] = over_rank_distribution(dist.beats, i, min(depth, n), dist, change)
            first += n


@kernel
def add_gradients_within(
    starts: Array, pairs: Array, matter: Array, worth: Array, dist: Distribution, every: Documents
) -> None:
    """Add to ``d_score`` and ``pushes``, with what the chances to be within the cut-off add.

    ``worth``, by document: what the measure gains with its chance.
    """
    by_grade, first = np.empty(pairs.shape[1]), 0
    for q in range(len(starts) - 1):
        begin, end = starts[q], starts[q + 1]
        n = end - begin
        change = dist.change[first : first + n * n].reshape(n, n)
        documents = part(every, begin, end)
        push_query(pairs[q], matter[begin:end], worth[begin:end], by_grade, change, documents)
        first += n * n


@inner_kernel
def push_query(
    pair: Array, matters: Array, worth: Array, by_grade: Array, change: Array, documents: Documents
) -> None:
    """Add to ``d_score`` and ``pushes`` of one query; ``by_grade`` is scratch."""
    grade, x, share, b = documents.grade, documents.x, documents.share, documents.by_rank
    for i in range(len(x)):
        for g in range(len(by_grade)):
            by_grade[g] = 0.0
        for j in range(len(x)):
            if j == i:
                continue
            gain = (
                b[j]
                - b[i]
                + share[j] * pair[grade[i], grade[j]]
                - share[i] * pair[grade[j], grade[i]]
            )
            if matters[i]:
                gain -= change[i, j] * worth[i]
            if matters[j]:
                gain += change[j, i] * worth[j]
            if gain != 0.0:
                by_grade[grade[j]] += gain * slope(GAUSSIAN, x[j] - x[i])
        add_pushes(i, by_grade, documents)
