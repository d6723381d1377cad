"""LambdaRank pair by pair, with weights that depend on the score distance of a pair. Quadratic: for studies alone."""

import math
from collections.abc import Callable
from typing import Any

import numba
import numpy as np

import gapboost as gb
from gapboost._data.queries import Array, Judged
from gapboost.measures.measure import tables_of
from gapboost.objectives.lambdarank import LEAST_CURVATURE, tie_keys

# ``nearness(distance, scale)`` is the weight of a pair.
Nearness = Callable[[float, float], float]
Gradients = Callable[[Array, Array, Array], None]


@numba.njit
def inverse(distance: float, scale: float) -> float:
    """As both boosters weigh pairs by default, with 0.01 for ``scale``."""
    return 1.0 / (scale + distance)


@numba.njit
def inverse_root(distance: float, scale: float) -> float:
    """A milder form."""
    return 1.0 / math.sqrt(scale + distance)


@numba.njit
def falling(distance: float, scale: float) -> float:
    """Exponential."""
    return math.exp(-scale * distance)


def weighted(measure: gb.Measure, data: Judged, nearness: Nearness, scale: float, relative: bool) -> Gradients:
    """Gradients of `measure` at given scores, unscaled; with `relative`, ``scale`` is in ranges of the query's scores."""
    tables = [np.ascontiguousarray(table) for table in tables_of(measure, data.counts)]
    discount = measure.discount(int(data.queries.sizes.max()))
    keys = tie_keys(0, data)
    queries = np.repeat(np.arange(len(data.queries)), data.queries.sizes)

    def gradients(scores: Array, grad: Array, hess: Array) -> None:
        order = np.lexsort((keys, -scores, queries))
        moved = every_pair(
            scores[order], data.grades[order], data.queries.offsets, *tables, discount, nearness, scale, relative
        )
        grad[order], hess[order] = moved
        if not measure.monotone:
            np.maximum(hess, LEAST_CURVATURE * np.abs(grad), out=hess)

    return gradients


@numba.njit
def every_pair(
    scores: Array,
    grades: Array,
    offsets: Array,
    pair: Array,
    own: Array,
    discount: Array,
    nearness: Any,
    scale: float,
    relative: bool,
) -> tuple[Array, Array]:
    """Gradients of documents in the order of their ranks, query after query."""
    n_grades = own.shape[1]
    grad, hess = np.zeros(len(scores)), np.zeros(len(scores))
    for q in range(len(offsets) - 1):
        begin, n = offsets[q], offsets[q + 1] - offsets[q]
        s, c = scores[begin : begin + n], grades[begin : begin + n]
        g, h = grad[begin : begin + n], hess[begin : begin + n]
        above, passed = np.zeros((n + 1, n_grades)), np.zeros((n + 1, n_grades))
        for r in range(n):
            above[r + 1] = above[r] + pair[q, c[r]]
            passed[r + 1] = passed[r] + discount[r] * pair[q, :, c[r]]
        unit = scale * (s[0] - s[n - 1]) if relative and s[0] > s[n - 1] else scale
        for p in range(n):
            for r in range(p + 1, n):
                a, b = c[p], c[r]
                if a == b:
                    continue
                change = discount[p] * (own[q, b] - own[q, a] + above[p, b] - above[p, a])
                change += discount[r] * (
                    own[q, a] - own[q, b] + above[r, a] - above[r, b] + pair[q, b, a] - pair[q, a, a]
                )
                change += passed[r, b] - passed[p + 1, b] - passed[r, a] + passed[p + 1, a]
                distance = s[p] - s[r]
                sign = 1.0 if a > b else -1.0
                weight = -sign * change * nearness(distance, unit)
                t = 1.0 / (1.0 + math.exp(min(sign * distance, 700.0)))
                g[p] -= sign * weight * t
                g[r] += sign * weight * t
                h[p] += weight * t * (1.0 - t)
                h[r] += weight * t * (1.0 - t)
    return grad, hess
