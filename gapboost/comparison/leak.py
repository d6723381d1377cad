"""Features that alone rank like the grades: a label leaked into them."""

from typing import Any

import numpy as np
from scipy import sparse

from gapboost._data.features import column_names, feature_names
from gapboost._kernels import Array
from gapboost.analysis.leaks import rank_alone
from gapboost.comparison.data import Documents

MOST_QUERIES = 1000


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
    columns = ((name, _column(part.X, place)) for place, name in enumerate(names))
    known = [(name, column) for name, column in columns if column is not None]
    found: dict[str, float] = {}
    for grades in part.labels:
        for alone in rank_alone(known, grades, part.numbers):
            if alone.low > max(alone.least, found.get(alone.feature, 0.0)):
                found[alone.feature] = alone.low
    return dict(sorted(found.items(), key=lambda item: -item[1]))


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
