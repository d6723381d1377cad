"""Choice of one document in each query, by a softmax over its scores."""

from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar

from gapboost._data.arguments import positive
from gapboost._data.columns import checked_scores, one_dimensional
from gapboost._data.queries import Queries, grouped_rows
from gapboost._kernels import Array

# The fitted temperature lies between the standard deviation of the scores divided by and multiplied
# with this.
WIDEST = 1000.0


def softmax(scores: Any, qid: Any, temperature: float = 1.0) -> Array:
    """Return the probability that each document is the one that a user of its query chooses.

    Parameters
    ----------
    scores : array-like of shape (N,)
    qid : array-like of shape (N,)
        Query id of each row, in any order of rows.
    temperature : float, default=1.0
        Scores are divided by it. A higher temperature gives probabilities that differ less.

    Returns
    -------
    float64 ndarray of shape (N,)
        The sum is 1 in each query.

    Raises
    ------
    ValueError
        If an argument is unusable; the message names it, what was found and what is expected.

    Notes
    -----
    The model of choice of Luce (1959), for the first choice. Scores that differ by the same
    constant in all documents of a query give the same probabilities: they are defined, although
    scores of ranking objectives are identified within a query only.

    Examples
    --------
    >>> from gapboost.calibration import softmax
    >>> softmax([2.0, 1.0, 0.0, 7.0], ["a", "a", "a", "b"]).round(2).tolist()
    [0.67, 0.24, 0.09, 1.0]
    """
    temperature = positive(temperature, "temperature")
    n_rows = len(one_dimensional(scores, "scores"))
    checked = checked_scores(scores, n_rows, "scores").astype(np.float64)
    queries = grouped_rows(qid, n_rows, rows_of="scores")
    return queries.ungrouped(np.exp(log_softmax(queries.grouped(checked) / temperature, queries)))


def log_softmax(scores: Array, queries: Queries) -> Array:
    """Return the logarithm of the softmax within each query.

    Scores and result are in grouped order.
    """
    starts = queries.offsets[:-1]
    centered = scores - np.repeat(np.maximum.reduceat(scores, starts), queries.sizes)
    normalizer = np.log(np.add.reduceat(np.exp(centered), starts))
    result: Array = centered - np.repeat(normalizer, queries.sizes)
    return result


def fitted_temperature(scores: Array, relevant: Array, queries: Queries) -> float:
    """Return the temperature with the highest likelihood.

    A user chooses one of the relevant documents of a query, each of them with the same probability.

    Parameters
    ----------
    scores : float64 ndarray of shape (N,)
    relevant : bool ndarray of shape (N,)
        Both are in grouped order. Some query has relevant documents and others.
    queries : Queries
    """
    counts = np.add.reduceat(relevant.astype(np.float64), queries.offsets[:-1])
    chosen = relevant / np.repeat(np.maximum(counts, 1.0), queries.sizes)
    scale = float(scores.std())

    def loss(logarithm: float) -> float:
        return -float(chosen @ log_softmax(scores / (scale * np.exp(logarithm)), queries))

    widest = float(np.log(WIDEST))
    return scale * float(
        np.exp(minimize_scalar(loss, bounds=(-widest, widest), method="bounded").x)
    )
