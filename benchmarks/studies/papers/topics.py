"""Errors over topics: a statistic of lists, or of systems, had other topics been drawn."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.studies.papers.claims import Result
from gapboost._kernels import Array
from gapboost.analysis.estimates import Estimate, clustered

DRAWS = 2000


def difference(rows: pd.DataFrame, first: str, second: str, column: str) -> Estimate:
    """Return the mean over lists of the difference of two measures; the topics are clusters.

    `rows` have columns "topic", "list" and "measure", beside `column`.
    """
    wide = rows.pivot(index=["topic", "list"], columns="measure", values=column)
    apart = wide[first] - wide[second]
    return clustered([of_topic.to_numpy() for _, of_topic in apart.groupby(level="topic")])


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


def read(rows: pd.DataFrame, quantity: str, **where: object) -> Result:
    """Return one saved quantity."""
    chosen = rows[rows["quantity"] == quantity]
    for column, value in where.items():
        chosen = chosen[chosen[column] == value]
    (row,) = chosen.to_dict("records")
    return Result(row["value"], row["low"], row["high"], int(row.get("family", 1)))
