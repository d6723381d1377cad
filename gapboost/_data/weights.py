"""Weights of queries."""

from typing import Any

import numpy as np

from gapboost._data.columns import numeric_column
from gapboost._data.queries import Queries
from gapboost._kernels import Array

# What weights sum to. Boosters keep gradients and gains as float32 and take no split that gains less than some constant:
# beyond these limits they train on noise, or not at all.
LEAST_WEIGHT, MOST_WEIGHT = 1e-5, 1e15


def query_weights(sample_weight: Any, queries: Queries, name: str = "sample_weight") -> Array:
    """Weights of the queries as float64 of shape (Q,), from weights of the queries or of the rows."""
    if sample_weight is None:
        return np.ones(len(queries))
    given = checked_weights(sample_weight, name)
    if len(given) == queries.n_rows:
        weights = constant_weights(given, queries, name)
    elif len(given) == len(queries):
        weights = given
    else:
        raise ValueError(
            f"{name} has {len(given)} values; expected one a query ({len(queries)}) or one a row ({queries.n_rows})"
        )
    check_total_weight(weights, name)
    return np.ascontiguousarray(weights)


def check_total_weight(weights: Array, name: str) -> None:
    """Refuse weights of queries that are all 0, or so small or large that gradients and means would be lost."""
    if not (weights > 0).any():
        raise ValueError(f"{name} is zero for every query; expected at least one positive weight")
    with np.errstate(over="ignore"):
        total = weights.sum()
    if not LEAST_WEIGHT <= total <= MOST_WEIGHT:
        raise ValueError(
            f"{name} has the sum {total:g} over the queries; expected one from {LEAST_WEIGHT:g} to {MOST_WEIGHT:g}: multiply "
            "all weights by the same number"
        )


def checked_weights(sample_weight: Any, name: str) -> Array:
    """Finite weights >= 0 as float64."""
    given = numeric_column(sample_weight, name, "finite weights >= 0").astype(np.float64)
    if not np.isfinite(given).all() or (given < 0).any():
        raise ValueError(f"{name} holds a negative, NaN or infinite value; expected finite weights >= 0")
    return given


def constant_weights(given: Array, queries: Queries, name: str) -> Array:
    """Weights of the queries from weights of the rows, of shape (Q,)."""
    by_row = queries.grouped(given)
    weights = by_row[queries.offsets[:-1]]
    differing = np.repeat(weights, queries.sizes) != by_row
    if differing.any():
        q = int(np.searchsorted(queries.offsets, int(np.argmax(differing)), side="right")) - 1
        raise varying_weight(queries.ids[q], name)
    return weights


def varying_weight(query: Any, name: str) -> ValueError:
    """The error about a query whose rows have different weights."""
    found = query.item() if isinstance(query, np.generic) else query
    return ValueError(
        f"{name} varies within query {found!r}; expected one weight a query, or one a row that is the same for all rows "
        "of a query"
    )
