"""Query-relative features of Dask collections, partition by partition."""

from collections.abc import Sequence
from typing import Any

from gapboost._optional import imported

for library in ("dask.array", "dask.dataframe"):
    imported(library, "dask", "by gapboost.dask.query_relative_features")

import dask  # noqa: E402
import dask.array as da  # noqa: E402
import numpy as np  # noqa: E402

from gapboost._boosters.data_set import DataSet  # noqa: E402
from gapboost._data.features import without_qid  # noqa: E402
from gapboost._data.queries import grouped_rows  # noqa: E402
from gapboost._kernels import Array  # noqa: E402
from gapboost.dask.collections import checked, flat_partitions, is_array, partitions  # noqa: E402
from gapboost.dask.layout import joined_ids  # noqa: E402
from gapboost.preprocessing import QueryRelativeFeatures  # noqa: E402


def query_relative_features(
    X: Any,
    qid: Any = None,
    *,
    kinds: Sequence[str] = ("zscore",),
    columns: Sequence[Any] | None = None,
) -> Any:
    """Return the columns of a Dask collection, followed by query-relative features.

    These are z-scores or percentile ranks within each query, those of
    `gapboost.preprocessing.query_relative_features`. They are lazy. Computing them
    reads the query ids of all partitions first, to check that no query is split.

    Parameters
    ----------
    X : Dask Array or DataFrame of shape (N, n_features)
        Each query is whole within one partition.
    qid : Dask Array or Series of shape (N,)
        Query id of each row, in any order of rows; or the column ``qid`` of a data frame `X`.
    kinds : sequence of {"zscore", "rank"}, default=("zscore",)
    columns : sequence of str or of int, optional
        Names or positions of the columns that get new features. None means all columns of numbers.

    Returns
    -------
    Dask Array or DataFrame of shape (N, n_features + n_new)
        With the partitions of `X`.

    Raises
    ------
    ValueError, TypeError
        If an argument is unusable. While the result is computed: if a query is split between
        partitions, or values are unusable.

    Examples
    --------
    >>> import dask.array as da
    >>> from gapboost.dask import query_relative_features
    >>> X = da.from_array([[1.0], [3.0], [8.0]], chunks=((2, 1), 1))
    >>> qid = da.from_array([1, 1, 2], chunks=((2, 1),))
    >>> query_relative_features(X, qid).compute()
    array([[ 1., -1.],
           [ 3.,  1.],
           [ 8.,  0.]])
    """
    _, column = without_qid(X)
    if qid is None and column is None:
        raise ValueError(
            "qid is missing; expected a Dask array or series with one query id a row, or a column "
            "'qid' of a data frame X"
        )
    given = checked(DataSet(X, None, qid).raveled())
    X = given.X if is_array(X) else X  # a data frame keeps its column qid
    transformer = QueryRelativeFeatures(kinds, columns, n_jobs=1)
    meta = transformer.fit_transform(_row(X), group=None if column is not None else [1])[:0]
    ids = flat_partitions(given.qid)
    distinct = [dask.delayed(_distinct)(part, number) for number, part in enumerate(ids)]
    whole = dask.delayed(_check_whole)(distinct)
    separate = [None] * len(ids) if column is not None else ids
    parts = [
        dask.delayed(_extended)(part, own, transformer, meta, whole, number)
        for number, (part, own) in enumerate(zip(partitions(X), separate, strict=True))
    ]
    if is_array(X):
        shapes = [(rows, meta.shape[1]) for rows in X.chunks[0]]
        arrays = zip(parts, shapes, strict=True)
        return da.concatenate([da.from_delayed(part, shape, meta=meta) for part, shape in arrays])
    import dask.dataframe as dd

    divisions = X.divisions if X.known_divisions else None
    return dd.from_delayed(parts, meta=meta, divisions=divisions, verify_meta=False)


def _row(X: Any) -> Any:
    """Return one row with the columns and types of `X`."""
    if is_array(X):
        return np.zeros((1, X.shape[1]), X.dtype)
    from dask.dataframe.dispatch import meta_nonempty

    return meta_nonempty(X._meta)[:1]


def _distinct(qid: Any, partition: int) -> Array:
    """Return the distinct query ids of a partition."""
    n_rows = len(qid)
    if n_rows == 0:
        return np.empty(0)
    return grouped_rows(
        qid, n_rows, f"qid in partition {partition}", f"X in partition {partition}"
    ).ids


def _check_whole(distinct: list[Array]) -> None:
    """Raise ValueError if a query is in several partitions; `distinct` holds the ids of each."""
    ids = joined_ids([one for one in distinct if len(one)])
    partition = np.repeat(np.arange(len(distinct)), list(map(len, distinct)))
    if not len(ids):
        return
    queries = grouped_rows(ids, len(ids), "qid", "X")
    split = np.flatnonzero(queries.sizes > 1)
    if len(split):
        first, second = partition[queries.codes == split[0]][:2]
        raise ValueError(
            f"qid has {len(split)} queries split between partitions, such as "
            f"{queries.ids[split].tolist()[0]!r} in partitions {first} and {second}; expected each "
            "query whole within one partition: X.shuffle('qid') of a data frame with a column "
            "'qid', or chunks that end where queries do"
        )


def _extended(
    X: Any, qid: Any, transformer: QueryRelativeFeatures, meta: Any, whole: None, partition: int
) -> Any:
    """Return a partition with its new columns; `whole` makes the check run before."""
    if len(X) == 0:
        return meta
    try:
        return transformer.fit_transform(X, qid=qid)
    except (ValueError, TypeError) as error:
        raise type(error)(f"in partition {partition}, {error}") from error
