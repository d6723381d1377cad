"""Errors over topics: what a statistic of lists, or of systems, would be had other topics been drawn."""

from collections.abc import Mapping
from functools import lru_cache

import numpy as np
import pandas as pd

from benchmarks.studies.inference import bootstrapped
from benchmarks.studies.papers.rows import Interval
from gapboost._kernels import Array

DRAWS = 2000


def difference(rows: pd.DataFrame, weights: Mapping[str, float], column: str) -> tuple[float, Interval]:
    """A weighted sum of the means of measures over lists, as ``{"nDCG": 1, "GAP 0.5": -1}``; lists of a topic are drawn together.

    `rows` have columns "topic", "list" and "measure", beside `column`.
    """
    chosen = rows[rows["measure"].isin(weights)]
    one = chosen[column] * chosen["measure"].map(weights)
    of_topics = one.groupby(chosen["topic"]).sum().to_numpy()
    lists = chosen.groupby("topic")["list"].nunique().to_numpy()

    def mean(drawn: Array) -> float:
        return float(of_topics[drawn].sum() / lists[drawn].sum())

    return mean(np.arange(len(lists))), bootstrapped(mean, len(lists), DRAWS)


@lru_cache(maxsize=8)
def drawn(n: int, draws: int = DRAWS) -> Array:
    """How often each of n topics is drawn: float64 of shape (draws + 1, n); at first once each."""
    rng = np.random.default_rng(0)
    times = rng.multinomial(n, np.full(n, 1 / n), size=draws)
    return np.concatenate([np.ones((1, n)), times]).astype(np.float64)


def signs(values: Array) -> Array:
    """Which of two systems is better: int8 of shape (draws + 1, measures, pairs), from values of (measures, systems, topics)."""
    times = drawn(values.shape[2])
    means = np.moveaxis(values @ times.T, 2, 0) / times.sum(axis=1)[:, None, None]
    first, second = np.triu_indices(values.shape[1], 1)
    apart = means[:, :, first] - means[:, :, second]
    apart[np.abs(apart) < 1e-12] = 0.0
    return np.sign(apart).astype(np.int8)


def tau(a: Array, b: Array) -> Array:
    """Kendall's tau-b by draw, of the signs of two measures, each of shape (draws + 1, pairs)."""
    one, other = a.astype(np.float32), b.astype(np.float32)
    scale = np.sqrt((one**2).sum(axis=1) * (other**2).sum(axis=1))
    with np.errstate(invalid="ignore"):
        return np.asarray((one * other).sum(axis=1) / scale)


def interval(by_draw: Array) -> tuple[float, float, float]:
    """The value as it is, and from where to where it is in 95 % of the draws; those without a value are left out."""
    low, high = np.nanpercentile(by_draw[1:], (2.5, 97.5))
    return float(by_draw[0]), float(low), float(high)


def rows_of(quantities: Mapping[str, Array], **where: object) -> list[dict[str, object]]:
    """One row a quantity."""
    return [
        where | dict(zip(("quantity", "value", "low", "high"), (name, *interval(by_draw)), strict=True))
        for name, by_draw in quantities.items()
    ]


def read(rows: pd.DataFrame, quantity: str, **where: object) -> tuple[float, Interval]:
    """One saved quantity."""
    chosen = rows[rows["quantity"] == quantity]
    for column, value in where.items():
        chosen = chosen[chosen[column.replace("_", " ")] == value]
    (row,) = chosen.to_dict("records")
    return float(row["value"]), (float(row["low"]), float(row["high"]))
