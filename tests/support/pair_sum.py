"""LambdaRank's gradients of one list as the sum over all its pairs, in numpy."""

import itertools

import numpy as np
import oracle

import gapboost as gb
from gapboost.measures import RecallBase

PAIRS_AT_ONCE = 1 << 17  # arrays that stay in cache
FLOOR = 1e-16  # of a hessian


def top_grade(measure):
    """Return the highest grade of a measure, 0 where it has no limit."""
    return 0 if measure.highest_grade == np.inf else int(np.ceil(measure.highest_grade))


def swap_changes(measure, ranked, counts=None):
    """Return the changes by swaps of two ranks, of shape (n, n): each swapped list is a query."""
    n, pairs = len(ranked), [(0, 0), *itertools.combinations(range(len(ranked)), 2)]
    lists = np.tile(ranked, (len(pairs), 1))
    for swapped, (p, q) in zip(lists, pairs, strict=True):
        swapped[[p, q]] = swapped[[q, p]]
    values = gb.evaluate(
        measure,
        lists.ravel(),
        np.tile(-np.arange(n), len(pairs)),
        np.repeat(np.arange(len(pairs)), n),
        recall_base=None if counts is None else np.tile(counts, (len(pairs), 1)),
        per_query=True,
    )[measure]
    changes = np.zeros((n, n))
    changes[tuple(zip(*pairs, strict=True))] = values - values[0]
    return changes + changes.T


def swap_parts(measure, grades):
    """Return what is known of a swap at the upper and at the lower rank, by rank and grade."""
    counts = np.bincount(grades, minlength=top_grade(measure) + 1)
    (pair,), (own,) = measure.tables(RecallBase.of_integer_grades(counts[None]))
    rank, discount = np.arange(len(grades)), measure.discount(len(grades))[:, None]
    above = np.cumsum(pair[grades], axis=0) - pair[grades]
    change = np.cumsum(discount * pair[:, grades].T, axis=0)
    here = discount * (own + above)
    upper = here - change
    lower = here + discount * (pair[grades] - np.diagonal(pair)) - change
    lower += discount * pair[:, grades].T
    return tuple(part - part[rank, grades][:, None] for part in (upper, lower))


def changes_by_parts(measure, ranked):
    """Return a function of ranks p, shape (P, 1), and q, (Q,): changes by their swaps, (P, Q)."""
    parts = []
    for weight, part in measure.terms:
        upper, lower = swap_parts(part, ranked)
        parts.append((weight * upper, weight * lower))
    return lambda p, q: sum(upper[p, ranked[q]] + lower[q, ranked[p]] for upper, lower in parts)


def changes_by_loops(value, ranked):
    """Return the same function, from the values of the oracle before and after each swap."""
    grades, changes = [*map(int, ranked)], np.zeros((len(ranked), len(ranked)))
    for p, q in itertools.combinations(range(len(grades)), 2):
        if grades[p] != grades[q]:
            changes[p, q] = oracle.swap_change(value, grades, p + 1, q + 1)
    return lambda p, q: changes[p, q]


def summed_pairs(
    measure, grades, scores, sigma=1.0, truncation=None, score_distance=None, value=None, order=None
):
    """Return gradient and hessian by row, not normalized.

    For ranks p < q, t = 1 / (1 + e^(sigma (s_p - s_q))) and Delta = the change by a swap: lambda =
    Delta t if the upper grade is higher, and Delta (1 - t) if it is lower; the curvature is Delta t
    (1 - t), below 0 for the higher one. The upper row gets sigma lambda, the lower row the
    opposite, both sigma^2 times the curvature. Only pairs with p <= `truncation` count.

    `order` lists the rows best first: by default equal scores stay in the order of the rows. With
    `value`, a function of the oracle, changes are differences of its values.
    """
    grades, scores = np.asarray(grades), np.asarray(scores, float)
    order = np.argsort(-scores, kind="stable") if order is None else np.asarray(order)
    n, ranked, s = len(order), grades[order], scores[order]
    changes = changes_by_loops(value, ranked) if value else changes_by_parts(measure, ranked)
    lam, eta = np.zeros((2, n))
    last, rows_at_once = min(n, truncation or n), max(1, PAIRS_AT_ONCE // n)
    for first in range(0, last, rows_at_once):
        p = np.arange(first, min(first + rows_at_once, last))[:, None]
        q = np.arange(first, n)
        change = np.where(q > p, changes(p, q), 0.0)
        distance = np.where(q > p, s[p] - s[q], 0.0)
        if score_distance is not None and s[0] > s[-1]:
            change /= score_distance + distance
        t = 1.0 / (1.0 + np.exp(np.minimum(sigma * distance, 700.0)))
        right, wrong = ranked[p] > ranked[q], ranked[p] < ranked[q]
        push = change * np.where(right, t, np.where(wrong, 1.0 - t, 0.0))
        curve = change * (wrong * 1.0 - right) * t * (1.0 - t)
        lam[p[:, 0]] += push.sum(axis=1)
        eta[p[:, 0]] += curve.sum(axis=1)
        lam[q] -= push.sum(axis=0)
        eta[q] += curve.sum(axis=0)
    grad, hess = np.empty((2, n))
    grad[order], hess[order] = sigma * lam, sigma**2 * eta
    # Curvatures of pairs may cancel where the measure is not monotone: steps are at most 4 / sigma.
    least = FLOOR if measure.monotone else sigma / 4 * np.abs(grad)
    return grad, np.maximum(np.maximum(hess, least), FLOOR)
