"""LambdaRank gradients and values of measures on a GPU: kernels by numba-cuda, arrays by CuPy.

They are for every measure that is (discount, pair, own). With ``NUMBA_ENABLE_CUDASIM=1`` the same
kernels run on any machine, with numpy in CuPy's place. Swap tables and sums are float64, because
their differences lose digits; the pairs are float32.
"""

import math
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np
from numba import config, cuda, float32, float64

from gapboost._data.judged import Judged
from gapboost._kernels import Array
from gapboost._kernels.lambdarank.gradients import HESSIAN_FLOOR
from gapboost.measures import Measure
from gapboost.measures.form import tables_of
from gapboost.objectives import LambdaRank
from gapboost.objectives.lambdarank import CURVATURE_OF_A_PUSH
from gapboost.objectives.tie_order import tie_order

# CuPy, or numpy in its place.
xp: Any = np if config.ENABLE_CUDASIM else import_module("cupy")

THREADS = 128
MOST_LEVELS = 64


@cuda.jit
def fill_tables(starts, grade, discount, pair, own, upper, lower):
    """Fill what a swap changes at a rank, up to a term of the document's own grade.

    One block a query, one thread a level. `gapboost.measures.swaps` has the formula.
    """
    q, level = cuda.blockIdx.x, cuda.threadIdx.x
    if level >= own.shape[1]:
        return
    above, below = 0.0, 0.0
    for r in range(starts[q], starts[q + 1]):
        a, d = grade[r], discount[r - starts[q]]
        here = d * (own[q, level] + above)
        lower[r, level] = here + d * (pair[q, a, level] - pair[q, level, level]) - below
        below += d * pair[q, level, a]
        upper[r, level] = here - below
        above += pair[q, a, level]


@cuda.jit
def sum_pairs(starts, query, row, s, grade, upper, lower, first, distance, factors, push, curve):
    """Add the pairs of each document to its push and curvature, at its row. One thread a document.

    `factors` are those of pushes and curvatures, and the least curvature of a push.
    """
    i = cuda.grid(1)
    if i >= s.shape[0]:
        return
    q = query[i]
    begin, end = starts[q], starts[q + 1]
    apart = distance > float32(0.0) and s[begin] > s[end - 1]
    if i - begin >= first:  # only with documents among the first ranks
        end = begin + first
    one = float32(1.0)
    total, bend = 0.0, 0.0
    for j in range(begin, end):
        if grade[j] != grade[i]:
            p, r = min(i, j), max(i, j)  # ranks of the upper and the lower document
            change = upper[p, grade[r]] + lower[r, grade[p]]
            x = s[p] - s[r]
            if apart:
                change /= distance + x
            e = math.exp(-x * factors[3])
            t = e / (one + e)
            force = change * (t if grade[p] > grade[r] else one - t)
            total += force if i == p else -force
            bend += (-change if grade[p] > grade[r] else change) * t * (one - t)
    push[row[i]] += total * factors[0]
    curve[row[i]] += max(bend, factors[2] * abs(total)) * factors[1]


@cuda.jit
def scale(starts, weights, normalize, unit, push, curve, grad, hess):
    """Scale the gradients of each query, by a sum in a fixed order. One block a query."""
    q, k = cuda.blockIdx.x, cuda.threadIdx.x
    parts = cuda.shared.array(THREADS, float64)
    own = 0.0
    for i in range(starts[q] + k, starts[q + 1], THREADS):
        own += abs(push[i])
    parts[k] = own
    cuda.syncthreads()
    factor = weights[q]
    if normalize:
        mass = 0.0
        for other in range(THREADS):
            mass += parts[other]
        factor *= math.log2(1.0 + mass) / mass if mass > 0.0 else 1.0
    for i in range(starts[q] + k, starts[q + 1], THREADS):
        grad[i] = push[i] * factor * unit
        hess[i] = max(curve[i] * factor, HESSIAN_FLOOR)


@cuda.jit
def evaluate_queries(starts, s, grade, discount, pair, own, weight, values):
    """Add a measure of each query, with ties at their expected value. One thread a query."""
    q = cuda.grid(1)
    if q >= values.shape[0]:
        return
    n_levels = own.shape[1]
    above = cuda.local.array(MOST_LEVELS, float64)
    tied = cuda.local.array(MOST_LEVELS, float64)
    for level in range(n_levels):
        above[level] = 0.0
    begin, end = starts[q], starts[q + 1]
    value, r = 0.0, begin
    while r < end:
        for level in range(n_levels):
            tied[level] = 0.0
        until = r
        while until < end and s[until] == s[r]:
            tied[grade[until]] += 1.0
            until += 1
        n = until - r
        alone, inside = 0.0, 0.0
        for b in range(n_levels):
            share = tied[b] / n
            if share > 0.0:
                alone += share * own[q, b]
                for a in range(n_levels):
                    alone += share * above[a] * pair[q, a, b]
                    if n > 1:
                        others = tied[a] - (1.0 if a == b else 0.0)
                        inside += share * others * pair[q, a, b] / (n - 1)
        for k in range(n):
            value += discount[r - begin + k] * (alone + k * inside)
        for level in range(n_levels):
            above[level] += tied[level]
        r = until
    values[q] += weight * value


class DeviceQueries:
    """Queries of a data set on the device, and their order by scores.

    Parameters
    ----------
    data : Judged
    seed : int
        Of the keys that order documents with equal scores.
    """

    def __init__(self, data: Judged, seed: int = 0) -> None:
        offsets, sizes = data.queries.offsets, data.queries.sizes
        self.n, self.n_queries = int(offsets[-1]), len(sizes)
        self.longest = int(sizes.max())
        self.starts = xp.asarray(offsets.astype(np.int32))
        self.query = xp.asarray(np.repeat(np.arange(len(sizes), dtype=np.int32), sizes))
        self.ties = xp.asarray(tie_order(seed, data) + np.repeat(offsets[:-1], sizes))
        self.codes = xp.asarray(data.codes.astype(np.int32))

    def ranked(self, scores: Any) -> tuple[Any, Any, Any]:
        """Return rows, scores (float32) and codes of the documents by query and rank."""
        s = xp.asarray(scores, dtype=xp.float32)[self.ties] + xp.float32(0.0)  # no negative zero
        bits = s.view(xp.int32)
        ascending = xp.where(bits >= 0, bits, bits ^ 0x7FFFFFFF).astype(xp.int64)
        keys = (self.query.astype(xp.int64) << 32) - ascending
        order = xp.argsort(keys, kind="stable")
        rows = self.ties[order]
        return rows, s[order], self.codes[rows]

    def blocks(self, n: int) -> int:
        """Return the number of blocks for `n` threads."""
        return (n + THREADS - 1) // THREADS


class DeviceForm:
    """Arrays (discount, pair, own) of a measure for the queries of a data set, and its weight."""

    def __init__(self, weight: float, measure: Measure, data: Judged, longest: int) -> None:
        pair, own = tables_of(measure, data.base[:])
        self.weight = weight
        self.monotone = measure.monotone
        self.discount = xp.asarray(measure.discount(longest))
        self.pair, self.own = xp.asarray(pair), xp.asarray(own)


class DeviceGradients:
    """Gradients of LambdaRank: ``(scores) -> (grad, hess)``, float32 arrays on the device."""

    def __init__(self, objective: LambdaRank, data: Judged, unit: float) -> None:
        self.objective = objective
        self.queries = DeviceQueries(data, objective.random_state)
        self.forms = [
            DeviceForm(weight, part, data, self.queries.longest)
            for weight, part in objective.measure.terms
        ]
        self.unit = unit
        self.weights = xp.asarray(data.weights)
        self.factors = None if data.factors is None else xp.asarray(data.factors, xp.float32)

    def __call__(self, scores: Any) -> tuple[Any, Any]:
        """Return gradient and hessian at host or device `scores`, by row in grouped order."""
        queries, objective = self.queries, self.objective
        rows, s, codes = queries.ranked(scores)
        push, curve = xp.zeros(queries.n), xp.zeros(queries.n)
        for form in self.forms:
            upper, lower = self._tables(form, codes)
            sigma = objective.sigma
            least = 0.0 if form.monotone else CURVATURE_OF_A_PUSH
            factors = (form.weight * sigma, form.weight * sigma**2, least, np.float32(sigma))
            sum_pairs[queries.blocks(queries.n), THREADS](
                queries.starts, queries.query, rows, s, codes, upper, lower,
                objective.truncation or queries.longest,
                np.float32(objective.score_distance or 0.0), factors, push, curve,
            )  # fmt: skip
        grad, hess = xp.empty((2, queries.n), dtype=xp.float32)
        scale[queries.n_queries, THREADS](
            queries.starts, self.weights, objective.normalize, self.unit, push, curve, grad, hess
        )
        if self.factors is not None:
            grad, hess = grad * self.factors, hess * self.factors
        return grad, hess

    def _tables(self, form: DeviceForm, codes: Any) -> list[Any]:
        """Return what a swap changes at each rank, as the upper and as the lower document."""
        queries = self.queries
        tables = xp.empty((2, queries.n, form.own.shape[1]))
        fill_tables[queries.n_queries, MOST_LEVELS](
            queries.starts, codes, form.discount, form.pair, form.own, tables[0], tables[1]
        )
        own_level = codes[:, None].astype(xp.int64)
        return [
            (table - xp.take_along_axis(table, own_level, axis=1)).astype(xp.float32)
            for table in tables
        ]


class DeviceValues:
    """Values of measures on the device: ``(scores) -> list of host arrays of shape (Q,)``."""

    def __init__(self, measures: Sequence[Measure], data: Judged) -> None:
        self.queries = DeviceQueries(data)
        self.forms = [
            [DeviceForm(weight, part, data, self.queries.longest) for weight, part in one.terms]
            for one in measures
        ]

    def __call__(self, scores: Any) -> list[Array]:
        """Return one value a query for each measure, with ties at their expected value."""
        queries = self.queries
        _, s, codes = queries.ranked(scores)
        values = xp.zeros((len(self.forms), queries.n_queries))
        for forms, out in zip(self.forms, values, strict=True):
            for form in forms:
                evaluate_queries[queries.blocks(queries.n_queries), THREADS](
                    queries.starts, s, codes, form.discount, form.pair, form.own, form.weight, out
                )
        return list(values if xp is np else xp.asnumpy(values))
