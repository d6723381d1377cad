"""LambdaRank gradients and values of measures on a GPU, for a data set."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from gapboost._boosters.gradients import Gradients
from gapboost._kernels.cuda import (
    MOST_LEVELS,
    THREADS,
    evaluate_queries,
    fill_tables,
    scale,
    sum_pairs,
    xp,
)
from gapboost._kernels.cuda_sums import add_tiles, fill_moments, receive
from gapboost._kernels.lambdarank.exponentials import fitted_exponentials
from gapboost._kernels.lambdarank.gradients import count_active_ranks
from gapboost.data import Array, QueryData
from gapboost.measures import Measure
from gapboost.measures.base import tables_of
from gapboost.objectives import LambdaRank
from gapboost.objectives.lambdarank import CURVATURE_OF_A_PUSH, tie_order

# Longest list that goes pair by pair, and documents of a tile of longer ones.
LONGEST_BY_PAIRS, TILE = 2048, 128


class DeviceQueries:
    """Queries of a data set on the device, and their order by scores.

    Parameters
    ----------
    data : QueryData
    seed : int
        Of the keys that order documents with equal scores.
    """

    def __init__(self, data: QueryData, seed: int = 0) -> None:
        offsets, sizes = data.queries.offsets, data.queries.sizes
        self.n, self.n_queries = int(offsets[-1]), len(sizes)
        self.longest = int(sizes.max())
        self.starts = xp.asarray(offsets.astype(np.int32))
        self.query = xp.asarray(np.repeat(np.arange(len(sizes), dtype=np.int32), sizes))
        self.ties = xp.asarray(tie_order(seed, data) + np.repeat(offsets[:-1], sizes))
        self.codes = xp.asarray(data.codes.astype(np.int32))

    def ranked(self, scores: object) -> tuple[Any, Any, Any]:
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

    def __init__(self, weight: float, measure: Measure, data: QueryData, longest: int) -> None:
        pair, own = tables_of(measure, data.base[:])
        self.weight = weight
        self.monotone = measure.monotone
        discount = measure.discount(longest)
        self.active_ranks = int(count_active_ranks(discount, np.array([longest]), None)[0])
        self.discount = xp.asarray(discount)
        self.pair, self.own = xp.asarray(pair), xp.asarray(own)


class DeviceTiles:
    """Tiles of the long lists of a data set, and what documents receive from other tiles."""

    def __init__(self, objective: LambdaRank, data: QueryData, queries: DeviceQueries) -> None:
        sizes, sigma = data.queries.sizes, objective.sigma
        self.queries = queries
        self.distance = objective.score_distance or 0.0
        n_tiles = np.where(sizes > LONGEST_BY_PAIRS, -(-sizes // TILE), 0)
        if objective.truncation is not None:
            n_tiles[:] = 0
        self.query = xp.asarray(np.repeat(np.arange(len(sizes), dtype=np.int32), n_tiles))
        self.starts = xp.asarray(np.append(0, np.cumsum(n_tiles)).astype(np.int32))
        fitted = fitted_exponentials(sigma * self.distance)
        rates, right, wrong, slope = fitted.numbers.swapaxes(0, 1).reshape(4, -1)
        unit = sigma if self.distance else 1.0  # distances are times sigma
        decays = np.stack([rates * sigma, right * unit, slope * unit, (right + wrong) * unit])
        self.farthest = fitted.farthest / sigma
        self.decays = xp.asarray(decays)
        self.far = xp.empty((2, queries.n if len(self.query) else 1))

    def receive(self, s: Any, codes: Any, upper: Any, lower: Any) -> None:
        """Fill `far` with what each document receives from the other tiles of its query."""
        queries, rates = self.queries, self.decays[0]
        moments = xp.empty((len(self.query), 2, 3, len(rates), upper.shape[1]))
        fill_moments[len(self.query), THREADS](
            queries.starts, self.starts, self.query, TILE, s, codes, upper, lower, rates, moments
        )
        add_tiles[(queries.n_queries, queries.blocks(moments[0].size)), THREADS](
            queries.starts, self.starts, TILE, s, rates, moments
        )
        receive[queries.blocks(queries.n), THREADS](
            queries.starts, self.starts, queries.query, TILE, s, codes, upper, lower,
            self.distance, self.decays, moments, self.far,
        )  # fmt: skip


class DeviceGradients:
    """Gradients of LambdaRank: ``(scores) -> (grad, hess)``, float32 arrays on the device."""

    def __init__(self, gradients: Gradients) -> None:
        self.gradients, data = gradients, gradients.data
        objective: Any = gradients.objective
        self.objective: LambdaRank = objective
        self.queries = DeviceQueries(data, objective.random_state)
        self.forms = [
            DeviceForm(weight, part, data, self.queries.longest)
            for weight, part in objective.measure.terms
        ]
        self.tiles = DeviceTiles(objective, data, self.queries)
        self.unit = gradients.scale[0]
        self.weights = xp.asarray(data.weights)
        factors = data.row_factors
        self.row_factors = None if factors is None else xp.asarray(factors, xp.float32)

    def __call__(self, scores: object) -> tuple[Any, Any]:
        """Return gradient and hessian at host or device `scores`, by row in grouped order."""
        queries, objective, tiles = self.queries, self.objective, self.tiles
        rows, s, codes = queries.ranked(scores)
        grad_sums, hess_sums = xp.zeros(queries.n), xp.zeros(queries.n)
        for form in self.forms:
            upper, lower = self._tables(form, codes)
            sigma = objective.sigma
            least_curvature = 0.0 if form.monotone else CURVATURE_OF_A_PUSH
            by_sums = len(tiles.query) > 0 and form.active_ranks > LONGEST_BY_PAIRS
            if by_sums:
                tiles.receive(s, codes, upper, lower)
            factors = (
                form.weight * sigma, form.weight * sigma**2, least_curvature, np.float32(sigma),
                tiles.farthest if by_sums else 0.0,
            )  # fmt: skip
            sum_pairs[queries.blocks(queries.n), THREADS](
                queries.starts, queries.query, tiles.starts, TILE, tiles.far, rows, s, codes,
                upper, lower, min(form.active_ranks, objective.truncation or form.active_ranks),
                np.float32(tiles.distance), factors, grad_sums, hess_sums,
            )  # fmt: skip
        grad, hess = xp.empty((2, queries.n), dtype=xp.float32)
        scale[queries.n_queries, THREADS](
            queries.starts,
            self.weights,
            objective.normalize,
            self.unit,
            grad_sums,
            hess_sums,
            grad,
            hess,
        )
        if self.row_factors is not None:
            grad, hess = grad * self.row_factors, hess * self.row_factors
        self.gradients.check_first_round(grad, hess)
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

    def __init__(self, measures: Sequence[Measure], data: QueryData) -> None:
        self.queries = DeviceQueries(data)
        self.forms = [
            [DeviceForm(weight, part, data, self.queries.longest) for weight, part in one.terms]
            for one in measures
        ]

    def __call__(self, scores: object) -> list[Array]:
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
