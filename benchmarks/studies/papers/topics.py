"""Intervals of statistics of systems, over topics that are drawn with replacement."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

DRAWS = 2000


@lru_cache(maxsize=8)
def drawn(n: int, draws: int = DRAWS) -> Array:
    """Return how often each of n topics is drawn: (draws + 1, n); at first once each."""
    rng = np.random.default_rng(0)
    times = rng.multinomial(n, np.full(n, 1 / n), size=draws)
    return np.concatenate([np.ones((1, n)), times]).astype(np.float64)


def signs(values: Array) -> Array:
    """Return the better system of each pair, as a sign: int8 of shape (draws + 1, measures, pairs).

    `values` has the shape (measures, systems, topics).
    """
    times = drawn(values.shape[2])
    means = np.moveaxis(values @ times.T, 2, 0) / times.sum(axis=1)[:, None, None]
    first, second = np.triu_indices(values.shape[1], 1)
    apart = means[:, :, first] - means[:, :, second]
    apart[np.abs(apart) < 1e-12] = 0.0
    return np.sign(apart).astype(np.int8)


def tau(a: Array, b: Array) -> Array:
    """Return Kendall's tau-b of two measures by draw, from signs of shape (draws + 1, pairs)."""
    one, other = a.astype(np.float32), b.astype(np.float32)
    scale = np.sqrt((one**2).sum(axis=1) * (other**2).sum(axis=1))
    with np.errstate(invalid="ignore"):
        return np.asarray((one * other).sum(axis=1) / scale)


def interval(by_draw: Array, family: int = 1) -> tuple[float, float, float]:
    """Return the value itself and the ends of its 95 % interval over draws; NaN draws are left out.

    The intervals of a family of comparisons hold at once (Bonferroni).
    """
    tail = 2.5 / family
    low, high = np.nanpercentile(by_draw[1:], (tail, 100 - tail))
    return float(by_draw[0]), float(low), float(high)


def rows_of(quantities: Mapping[str, Array], **where: Any) -> list[dict[str, Any]]:
    """Return one row for each quantity; "family" in `where` is the number of comparisons."""
    family = where.get("family", 1)
    names = ("quantity", "value", "low", "high")
    return [
        where | dict(zip(names, (name, *interval(by_draw, family)), strict=True))
        for name, by_draw in quantities.items()
    ]
