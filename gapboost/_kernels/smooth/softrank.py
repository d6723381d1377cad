"""SoftRank: Gaussian scores, comparisons of them, and the chance to be within a cut-off."""

import math

from gapboost._kernels.jit import kernel
from gapboost._kernels.smooth.distribution import Distribution, chance_within, push_within
from gapboost._kernels.smooth.query import Documents, Gradients, Queries, take, value_of, write_scaled
from gapboost._kernels.smooth.sums import Room, Step, compare, push

STEEPEST = 1.0 / math.sqrt(math.pi)


@kernel
def find_shares(queries: Queries, q: int, n: int, depth: int, dist: Distribution, documents: Documents) -> None:
    """The share of each counted document, and its derivative by rank; with ``depth``, by the rank distribution."""
    begin = queries.starts[q]
    for r in range(n):
        a = documents.grade[r]
        if not queries.counted[q, a]:
            continue
        i = begin + queries.order[begin + r]
        inside = chance_within(r, n, depth, documents.x, dist) if depth > 0 else 1.0
        documents.total[r] = queries.own[q, a]
        documents.share[r] = inside * queries.discount[i]
        documents.by_rank[r] = inside * queries.slope[i]


@kernel
def softrank(
    queries: Queries,
    steepness: float,
    depth: int,
    normalize: bool,
    dist: Distribution,
    step: Step,
    room: Room,
    documents: Documents,
    out: Gradients,
) -> None:
    """Write the soft measure of each query and its gradient; positions are scores times ``steepness``, 1 / (2 sigma).

    The share of a document is its discount times the mean of ``dist.weight``, a weight of whole ranks, over its rank
    distribution. With
    ``depth`` 0 that mean is 1, and no rank distribution is computed.
    """
    for q in range(len(queries.starts) - 1):
        begin = queries.starts[q]
        pair = queries.pair[q]
        n = take(queries, q, steepness, documents)
        find_shares(queries, q, n, depth, dist, documents)
        compare(n, step, pair, room, documents, documents.rising, False)
        if depth > 0:
            for r in range(n):
                dist.beats[r] = queries.discount[begin + queries.order[begin + r]] * documents.total[r]
        out.values[q] = value_of(n, documents)
        if depth > 0:
            push_within(n, pair, queries.counted[q], dist.beats, room.by_grade[0], dist, documents)
        else:
            push(n, step, pair, True, room, documents)
        write_scaled(queries, q, steepness, steepness * STEEPEST, normalize, documents, out)
