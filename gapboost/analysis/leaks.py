"""Features that alone rank like the grades: a label leaked into them."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
from scipy import sparse

from gapboost.analysis.standard_errors import Estimate, independent
from gapboost.data import Array, column_contents, column_places, feature_names
from gapboost.evaluation import evaluate
from gapboost.measures import AP

# Smallest average precision of a leak, as the lower end of its interval. Where nearly all documents
# are relevant, a random order has a high one too: a leak is so far on the way from there to 1.
LEAK = 0.95
LEAK_OF_CHANCE = 0.9

# Queries that hold documents below a grade and others, to say something about that grade.
FEW_QUERIES = 20

# The highest of many grades are read.
MOST_GRADES = 8

LARGEST = np.finfo(np.float64).max


class Alone(NamedTuple):
    """Best ranking by one feature alone.

    Attributes
    ----------
    feature : str
    low : float
        Lower end of the interval of its average precision for grades from `grade` on.
    limit : float
        The feature is a leak if `low` is larger.
    grade : float
    """

    feature: str
    low: float
    limit: float
    grade: float


def number_columns(X: Any, least_values: float = 0) -> Iterator[tuple[str, Array]]:
    """Yield name and values of each column that holds numbers, float64 of shape (N,).

    Parameters
    ----------
    X : table of shape (N, n_features)
        Missing values become NaN. Columns of text and categories are left out.
    least_values : float, default=0
        Columns of a sparse matrix that store fewer values are left out.
    """
    names = feature_names(X) or column_places(X)
    if contents := column_contents(X):
        for name, (column, content) in zip(names, contents.items(), strict=True):
            if content == "number":
                series = nw.from_native(X[column], series_only=True)
                yield name, series.cast(nw.Float64).to_numpy()
        return
    is_sparse = sparse.issparse(X)
    X = X.tocsc() if is_sparse else X
    for place, name in enumerate(names):
        if is_sparse and X.indptr[place + 1] - X.indptr[place] < least_values:
            continue
        column = X[:, [place]].toarray() if is_sparse else X[:, place]
        with suppress(TypeError, ValueError):  # text
            yield name, np.ravel(column).astype(np.float64)


def orders(column: Array) -> dict[str, Array]:
    """Return scores that rank by a column, by direction: missing values last, then first."""
    found = {"descending": (1, -LARGEST), "ascending": (-1, -LARGEST)}
    if np.isnan(column).any():
        found["descending, missing values first"] = (1, LARGEST)
        found["ascending, missing values first"] = (-1, LARGEST)
    return {words: np.nan_to_num(sign * column, nan=end) for words, (sign, end) in found.items()}


def rank_alone(columns: Iterable[tuple[str, Array]], grades: Array, numbers: Array) -> list[Alone]:
    """Rank documents by one feature alone, and compare the ranking with the grades.

    Parameters
    ----------
    columns : iterable of (name, float64 ndarray of shape (N,))
        NaN is a missing value.
    grades : ndarray of shape (N,)
    numbers : int64 ndarray of shape (N,)
        Number of the query of each document, from 0.

    Returns
    -------
    list of Alone
        One for each feature, the most suspicious first. Empty if few queries hold documents of
        different grades.
    """
    mixed, sizes = {}, np.bincount(numbers)
    for grade in np.unique(grades[grades > 0])[-MOST_GRADES:].tolist():
        above = np.bincount(numbers, grades >= grade)
        queries = (above > 0) & (above < sizes)
        if queries.sum() >= FEW_QUERIES:
            mixed[AP(rel=grade)] = queries
    if not mixed:
        return []

    def estimates(scores: Array) -> list[Estimate]:
        found = evaluate(list(mixed), grades, scores, numbers, per_query=True)
        return [independent(found[measure][queries]) for measure, queries in mixed.items()]

    limits = [
        max(LEAK, LEAK_OF_CHANCE + (1 - LEAK_OF_CHANCE) * chance.mean)
        for chance in estimates(np.zeros(len(grades)))
    ]
    ranked = [
        (name, estimates(scores)) for name, column in columns for scores in orders(column).values()
    ]
    found = [
        Alone(name, estimate.interval(family=len(ranked))[0], limit, measure.rel)
        for name, of_scores in ranked
        for measure, limit, estimate in zip(mixed, limits, of_scores, strict=True)
    ]
    best: dict[str, Alone] = {}
    for alone in sorted(found, key=lambda alone: alone.limit - alone.low):
        best.setdefault(alone.feature, alone)
    return list(best.values())
