"""Features that alone rank like the grades: a label leaked into them."""

from typing import Any

import numpy as np
from scipy import sparse

from gapboost._data.features import column_names, feature_names
from gapboost._kernels import Array
from gapboost.analysis.estimates import independent
from gapboost.comparison.data import Documents
from gapboost.evaluation import evaluate
from gapboost.measures import AP

# Smallest average precision of a leak, as the lower end of its interval; and so many queries.
LEAK, FEW_QUERIES, MOST_QUERIES = 0.95, 20, 1000


def find_leaks(documents: Documents) -> dict[str, float]:
    """Return the features that alone rank nearly all documents of a grade and higher ones first.

    Each feature ranks ascending and descending, with missing values first and last. Its average
    precision for grades from some grade on is the mean over the queries that have documents below
    and above. A leak has an interval above .95, or above nine tenths of the way from the average
    precision of a random order to 1, if that is more.

    Returns
    -------
    dict {feature: float}
        Lower ends of the intervals, the largest first. At most 1,000 queries are read.
    """
    step = -(-len(documents.sizes) // MOST_QUERIES)
    part = documents.select(np.arange(0, len(documents.sizes), step))
    names = feature_names(part.X) or tuple(f"x{place}" for place in range(part.X.shape[1]))
    found: dict[str, float] = {}
    for grades in part.labels:
        mixed = _mixed_queries(grades, part.numbers, part.sizes)
        chance = _precisions(mixed, grades, np.zeros(len(grades)), part.numbers)
        for place, name in enumerate(names):
            for order in _orders(_column(part.X, place)) if mixed else ():
                values = _precisions(mixed, grades, order, part.numbers)
                for of_feature, of_chance in zip(values, chance, strict=True):
                    low = independent(of_feature).interval(family=len(names))[0]
                    least = max(LEAK, 0.9 + 0.1 * float(of_chance.mean()))
                    if low > max(least, found.get(name, 0.0)):
                        found[name] = low
    return dict(sorted(found.items(), key=lambda item: -item[1]))


def _mixed_queries(grades: Array, numbers: Array, sizes: Array) -> dict[float, Array]:
    """Return the queries with documents below and from some grade on, for each grade."""
    mixed = {}
    for threshold in np.unique(grades[grades > 0])[:10].tolist():
        above = np.bincount(numbers, grades >= threshold)
        chosen = (above > 0) & (above < sizes)
        if chosen.sum() >= FEW_QUERIES:
            mixed[threshold] = chosen
    return mixed


def _precisions(
    mixed: dict[float, Array], grades: Array, scores: Array, numbers: Array
) -> list[Array]:
    """Return the average precision of each query in `mixed`, for each of its grades."""
    measures = [AP(rel=threshold) for threshold in mixed]
    found = evaluate(measures, grades, scores, numbers, per_query=True, n_jobs=1)
    return [found[one][mixed[one.rel]] for one in measures]


def _column(X: Any, place: int) -> Array | None:
    """Return a column as floats; None if it holds no numbers."""
    if sparse.issparse(X):
        return np.asarray(X[:, [place]].todense(), dtype=float).ravel()
    column = X[column_names(X)[place]] if column_names(X) else X[:, place]
    if str(getattr(column, "dtype", "")).lower() in ("category", "categorical", "enum"):
        return None
    try:
        return np.asarray(column).astype(float)
    except (TypeError, ValueError):
        return None


def _orders(column: Array | None) -> list[Array]:
    """Return scores that rank by a column in each direction, missing values first or last."""
    if column is None:
        return []
    missing = np.isnan(column)
    ranks = np.unique(column, return_inverse=True)[1].reshape(-1) + 1.0
    ends = (0.0, len(column) + 2.0) if missing.any() else (0.0,)
    return [sign * np.where(missing, end, ranks) for end in ends for sign in (1.0, -1.0)]
