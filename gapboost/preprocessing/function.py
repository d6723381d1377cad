"""Query-relative features of one table."""

from collections.abc import Sequence
from typing import Any

from gapboost.preprocessing.transformer import QueryRelativeFeatures


def query_relative_features(
    X: Any,
    qid: Any = None,
    *,
    group: Any = None,
    kinds: Sequence[str] = ("zscore",),
    columns: Sequence[Any] | None = None,
    n_jobs: int | None = None,
) -> Any:
    """Return the columns of a table, followed by z-scores or percentile ranks within each query.

    The result is that of `QueryRelativeFeatures.fit_transform`; that class describes the new
    columns.

    Parameters
    ----------
    X : array-like of shape (N, n_features), or data frame
    qid : array-like of shape (N,)
        Query id of each row, in any order of rows; or the column ``qid`` of a data frame `X`.
    group : array-like of shape (Q,), optional
        Sizes of the queries, instead of `qid`, if the rows come query by query.
    kinds : sequence of {"zscore", "rank"}, default=("zscore",)
    columns : sequence of str or of int, optional
        Names or positions of the columns that get new features. None means all columns of numbers.
    n_jobs : int, optional
        Number of threads. None means all cores that are available.

    Returns
    -------
    table of shape (N, n_features + n_new)
        An array, or a data frame of the library of `X`.

    Raises
    ------
    ValueError, TypeError
        If an argument is unusable; the message names it, what was found and what is expected.

    Examples
    --------
    >>> from gapboost.preprocessing import query_relative_features
    >>> query_relative_features([[1.0], [3.0], [8.0]], ["a", "a", "b"])
    array([[ 1., -1.],
           [ 3.,  1.],
           [ 8.,  0.]])
    """
    return QueryRelativeFeatures(kinds, columns, n_jobs=n_jobs).fit_transform(
        X, qid=qid, group=group
    )
