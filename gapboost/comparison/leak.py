"""Features that alone rank like the grades: a label leaked into them."""

from collections.abc import Iterator, Sequence

import numpy as np
from scipy import sparse

from gapboost._data.features import column_names, feature_names
from gapboost._kernels import Array
from gapboost.analysis.leaks import rank_alone
from gapboost.comparison.data import Documents

MOST_QUERIES = 300


def find_leaks(documents: Documents) -> dict[str, float]:
    """Return the features that alone rank nearly all documents of a grade and higher ones first.

    Each feature ranks ascending and descending, with missing values first and last. Its average
    precision for grades from some grade on is the mean over the queries that have documents below
    and above. A leak has an interval above .95, or above nine tenths of the way from the average
    precision of a random order to 1, if that is more.

    Returns
    -------
    dict {feature: float}
        Lower ends of the intervals, the largest first. At most 300 queries are read.
    """
    step = -(-len(documents.sizes) // MOST_QUERIES)
    part = documents.select(np.arange(0, len(documents.sizes), step))
    names = feature_names(part.X) or tuple(f"x{place}" for place in range(part.X.shape[1]))
    found: dict[str, float] = {}
    for grades in part.labels:
        for alone in rank_alone(_columns(part, names), grades, part.numbers):
            if alone.low > max(alone.least, found.get(alone.feature, 0.0)):
                found[alone.feature] = alone.low
    return dict(sorted(found.items(), key=lambda item: -item[1]))


def _columns(part: Documents, names: Sequence[str]) -> Iterator[tuple[str, Array]]:
    """Yield the columns that hold numbers, as floats.

    A sparse column with few values is left out: it leaves most documents tied, and is no leak.
    """
    X, labels = part.X, column_names(part.X)
    if sparse.issparse(X):
        X = X.tocsc()
        for place in np.flatnonzero(np.diff(X.indptr) >= len(part.sizes) / 2).tolist():
            yield names[place], np.asarray(X[:, [place]].todense(), dtype=float).ravel()
        return
    for place, name in enumerate(names):
        column = X[labels[place]] if labels else X[:, place]
        if str(getattr(column, "dtype", "")) == "category":
            continue  # its order may mean nothing
        try:
            floats = np.asarray(column).astype(float)
        except (TypeError, ValueError):  # text
            continue
        yield name, floats
