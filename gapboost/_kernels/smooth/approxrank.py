"""ApproxRank: logistic ranks, and comparisons of these ranks."""

from gapboost._kernels.jit import kernel
from gapboost._kernels.smooth.query import Array, Documents, Gradients, Queries, take, value_of, write_scaled
from gapboost._kernels.smooth.steps import above, slope
from gapboost._kernels.smooth.sums import Room, Step, compare, push, smooth_ranks

STEEPEST = 0.25


@kernel
def find_ranks(queries: Queries, steepness: float, step: Step, room: Room, documents: Documents) -> None:
    """Write ``1 + sum_m F(steepness (s_m - s_n))`` to the ranks of all documents; for either objective."""
    for q in range(len(queries.starts) - 1):
        n = take(queries, q, steepness, documents)
        smooth_ranks(n, step, documents.x, room, documents.rising)
        begin = queries.starts[q]
        for r in range(n):
            queries.ranks[begin + queries.order[begin + r]] = documents.rising[r]


@kernel
def find_shares(queries: Queries, q: int, n: int, beta: float, cutoff: int, documents: Documents) -> None:
    """The share of each counted document, with the smooth truncation at the cut-off, and its derivative by rank."""
    begin = queries.starts[q]
    for r in range(n):
        a = documents.grade[r]
        if not queries.counted[q, a]:
            continue
        i = begin + queries.order[begin + r]
        documents.total[r] = queries.own[q, a]
        documents.share[r] = queries.discount[i]
        documents.by_rank[r] = queries.slope[i]
        if cutoff > 0:
            # Half a rank beyond it, so that the rank k itself counts fully when beta grows.
            x = beta * (cutoff + 0.5 - queries.ranks[i])
            inside = above(0, x)
            documents.share[r] *= inside
            documents.by_rank[r] = inside * queries.slope[i] - beta * slope(0, x) * queries.discount[i]


@kernel
def place_by_rank(queries: Queries, q: int, n: int, beta: float, documents: Documents) -> None:
    """Positions are smooth ranks, turned round: they are sorted as the scores are."""
    begin = queries.starts[q]
    for r in range(n):
        documents.x[r] = -beta * queries.ranks[begin + queries.order[begin + r]]


@kernel
def approxrank(
    queries: Queries,
    alpha: float,
    betas: Array,
    cutoff: int,
    normalize: bool,
    step: Step,
    room: Room,
    documents: Documents,
    out: Gradients,
) -> None:
    """Write the approximate measure of each query and its gradient.

    ``betas`` (Q,) is the steepness of comparisons between ranks; ``cutoff`` 0 is none.
    """
    for q in range(len(queries.starts) - 1):
        n = take(queries, q, alpha, documents)
        find_shares(queries, q, n, betas[q], cutoff, documents)
        place_by_rank(queries, q, n, betas[q], documents)
        # rising is free until the end
        compare(n, step, queries.pair[q], room, documents, documents.rising, True)
        out.values[q] = value_of(n, documents)
        begin = queries.starts[q]
        for r in range(n):
            documents.by_rank[r] += betas[q] * documents.rising[r]
            documents.rising[r] = 0.0
            documents.x[r] = queries.scores[begin + queries.order[begin + r]] * alpha
        push(n, step, queries.pair[q], False, room, documents)
        write_scaled(queries, q, alpha, alpha * STEEPEST, normalize, documents, out)
