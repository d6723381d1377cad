"""Weights of queries and of documents."""

from typing import Any, NamedTuple

import numpy as np

from gapboost._data.columns import check_finite, numeric_column
from gapboost._data.ids import keys_of
from gapboost._data.queries import Queries
from gapboost._kernels import Array

# What weights sum to. Boosters keep gradients and gains as float32 and take no split that gains
# less than some constant: beyond these limits they train on noise, or not at all.
LEAST_WEIGHT, MOST_WEIGHT = 1e-5, 1e15


class Weights(NamedTuple):
    """Weights of queries, and of documents where these differ within a query.

    Attributes
    ----------
    by_query : float64 ndarray of shape (Q,)
        The mean over the documents of the query.
    factors : float64 ndarray of shape (N,) or None
        Of each document, in grouped order: its weight over that of its query. None where they are
        all 1.
    """

    by_query: Array
    factors: Array | None


def query_weights(sample_weight: Any, queries: Queries, name: str = "sample_weight") -> Weights:
    """Weights of the queries, from weights of the queries or of the rows.

    Raises
    ------
    ValueError
        If there is neither one for each query nor one for each row, or one is negative, NaN or
        infinite.
    """
    if sample_weight is None:
        return Weights(np.ones(len(queries)), None)
    expected = "finite weights >= 0"
    given = numeric_column(_in_order_of(sample_weight, queries, name), name, expected)
    weights = given.astype(np.float64)
    check_finite(weights, name, expected)
    if (weights < 0).any():
        raise ValueError(f"{name} holds the negative weight {weights.min():g}; expected {expected}")
    if len(weights) == queries.n_rows:
        found = weights_of_rows(queries.grouped(weights), queries)
    elif len(weights) == len(queries):
        found = Weights(np.ascontiguousarray(weights), None)
    else:
        raise ValueError(
            f"{name} has {len(weights)} values; expected one a query ({len(queries)}) or one a row "
            f"({queries.n_rows})"
        )
    check_total_weight(found.by_query, name)
    return found


def _in_order_of(sample_weight: Any, queries: Queries, name: str) -> Any:
    """Return one weight a query in the order of the queries, by the index of pandas.

    Anything without an index, and weights of the rows, are returned as they are.

    Raises
    ------
    ValueError
        If the index does not have exactly the query ids.
    """
    if not hasattr(sample_weight, "iloc") or len(sample_weight) != len(queries) != queries.n_rows:
        return sample_weight
    row_of = {query: row for row, query in enumerate(sample_weight.index.tolist())}
    keys = keys_of(row_of, queries.ids)
    if set(keys) != set(row_of):
        raise ValueError(
            f"{name} has an index with other values than the query ids; expected the ids, or an "
            f"array in the order in which the queries first occur: {name}.to_numpy()"
        )
    return sample_weight.iloc[[row_of[key] for key in keys]]


def weights_of_rows(weights: Array, queries: Queries) -> Weights:
    """Split weights of rows, in grouped order, into weights of queries and factors of rows.

    A weight that is constant in a query becomes the weight of the query, bit for bit.
    """
    begins, sizes = queries.offsets[:-1], queries.sizes
    first = weights[begins]
    if np.array_equal(np.repeat(first, sizes), weights):
        return Weights(first, None)
    constant = np.minimum.reduceat(weights, begins) == np.maximum.reduceat(weights, begins)
    mean = np.where(constant, first, np.add.reduceat(weights, begins) / sizes)
    by_row = np.repeat(mean, sizes)
    return Weights(mean, np.divide(weights, by_row, out=np.ones(len(weights)), where=by_row > 0))


def check_total_weight(weights: Array, name: str) -> None:
    """Refuse weights of queries that are all 0, or so small or large that gradients are lost."""
    if not (weights > 0).any():
        raise ValueError(f"{name} is zero for every query; expected at least one positive weight")
    with np.errstate(over="ignore"):
        total = weights.sum()
    if not LEAST_WEIGHT <= total <= MOST_WEIGHT:
        raise ValueError(
            f"{name} has the sum {total:g} over the queries; expected one from {LEAST_WEIGHT:g} to "
            f"{MOST_WEIGHT:g}: multiply all weights by the same number"
        )
