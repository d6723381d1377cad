"""Work of the workers before training: survey and cut partitions, assemble a worker's rows."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import _safe_indexing

from gapboost._boosters.data_set import DataSet
from gapboost._boosters.rows import ranking_rows
from gapboost._data.columns import checked_scores
from gapboost._data.grades import GradeLimit, checked_grades
from gapboost._data.positions import Positions, positions
from gapboost._data.queries import grouped_rows
from gapboost._data.weights import checked_weights, factors_of
from gapboost._kernels import Array
from gapboost.dask.columns import Columns
from gapboost.dask.layout import PartitionLayout, Survey, WorkerQueries
from gapboost.dask.storage import dump_rows


@dataclass(frozen=True, eq=False)
class Shard:
    """Rows of one partition for one worker.

    Attributes
    ----------
    X : array-like of shape (n, n_features)
    y : ndarray of shape (n,)
    code : int64 ndarray of shape (n,)
        The number of each row's query in the data set.
    start, weight : ndarrays of shape (n,) or None
    placement : int64 ndarray of shape (n,) or None
        The number of each row's position in the data set.
    """

    X: Any
    y: Array
    code: Array
    start: Array | None
    weight: Array | None = None
    placement: Array | None = None

    def rows(self, rows: Array) -> "Shard":
        """Some of them."""
        X = _safe_indexing(self.X.tocsr() if sparse.issparse(self.X) else self.X, rows)
        start, weight, placement = (
            None if v is None else v[rows] for v in (self.start, self.weight, self.placement)
        )
        return Shard(X, self.y[rows], self.code[rows], start, weight, placement)


def survey(
    y: Any, qid: Any, weight: Any, start: Any, position: Any, names: Sequence[str]
) -> Survey:
    """The queries of one partition; checks everything but X."""
    if len(y) == len(qid) == 0:
        none = np.empty(0, dtype=np.int64)
        weights = None if weight is None else np.empty((3, 0))
        return Survey(
            np.empty(0), none, none, none, none, weights, None if position is None else []
        )
    grades = checked_grades(y, names[0], real=True)
    queries = grouped_rows(qid, len(grades), names[1], names[0])
    begins = queries.offsets[:-1]
    weights = None
    if weight is not None:
        of_rows = checked_weights(weight, names[2])
        _check_length(of_rows, names[2], len(grades), names[0])
        of_rows = queries.grouped(of_rows)
        weights = np.array([f.reduceat(of_rows, begins) for f in (np.minimum, np.maximum, np.add)])
    if start is not None:
        checked_scores(start, len(grades), names[3], names[0])
    shown = None if position is None else positions(position, len(grades), names[4], names[0]).ids
    grouped = queries.grouped(grades)
    lowest, highest = np.minimum.reduceat(grouped, begins), np.maximum.reduceat(grouped, begins)
    return Survey(queries.ids, queries.sizes, lowest, highest, np.unique(grades), weights, shown)


def make_shard(
    X: Any,
    y: Any,
    qid: Any,
    weight: Any,
    start: Any,
    position: Any,
    known: PartitionLayout,
    kept: Array | None,
    names: Sequence[str],
    columns: Columns,
) -> Shard:
    """The rows of some queries of a partition, in their order.

    Parameters
    ----------
    X, y, qid, weight, start, position : array-likes
        The partition.
    known : PartitionLayout
    kept : bool ndarray of shape (Q,) or None
        True for each of these queries that the shard takes; None takes all.
    names : tuple of str
        The caller's names of `X` and `y`.
    columns : Columns
    """
    columns.check(X, names[0])
    _check_length(X, names[0], len(y), names[1])
    queries = grouped_rows(qid, len(y))
    if not np.array_equal(queries.sizes, known.sizes):
        raise ValueError(
            f"{names[1]} came out different when it was computed again; expected the same rows: "
            "call persist()"
        )
    code = queries.ungrouped(np.repeat(known.codes, known.sizes))
    placement = None if known.places is None else known.places[positions(position, len(y)).codes]
    start, weight = (None if values is None else np.asarray(values) for values in (start, weight))
    whole = Shard(X, np.asarray(y), code, start, weight, placement)
    return (
        whole
        if kept is None
        else whole.rows(np.flatnonzero(queries.ungrouped(np.repeat(kept, known.sizes))))
    )


def assemble(
    shards: Sequence[Shard],
    share: WorkerQueries,
    weighted: bool,
    limit: GradeLimit | None,
    path: str,
) -> str:
    """Put all rows of one worker, in grouped order, into the file `path`.

    Parameters
    ----------
    shards : sequence of Shard
        In the order of the partitions: rows and queries keep the order that a local ranker sees.
    share : WorkerQueries
        The queries that these must be.
    weighted : bool
        True if weights were given.
    limit : GradeLimit, optional
    path : str
    """
    y, code = np.concatenate([p.y for p in shards]), np.concatenate([p.code for p in shards])
    start = (
        None
        if shards[0].start is None
        else np.concatenate([p.start for p in shards if p.start is not None])
    )
    rows = ranking_rows(DataSet(_stacked([p.X for p in shards]), y, code, start=start), limit)
    shown = None
    if share.positions is not None:
        placement = np.concatenate([p.placement for p in shards if p.placement is not None])
        shown = Positions(share.positions, rows.data.queries.grouped(placement))
    if not np.array_equal(rows.data.queries.ids, share.numbers):
        raise RuntimeError(
            f"{len(share.numbers)} queries were to come together but {len(rows.data.queries)} did"
        )
    factors = None
    if share.varied:
        weight = rows.data.queries.grouped(
            np.concatenate([p.weight for p in shards if p.weight is not None])
        )
        factors = factors_of(weight, share.weights, rows.sizes)
    data = replace(rows.data, weights=share.weights, whole=share.whole, factors=factors)
    dump_rows(replace(rows, data=data, weighted=weighted, positions=shown), path)
    return path


def _stacked(parts: list[Any]) -> Any:
    if len(parts) == 1:
        return parts[0]
    if sparse.issparse(parts[0]):
        return sparse.vstack(parts, format="csr")
    if hasattr(parts[0], "iloc"):
        import pandas as pd

        return pd.concat(parts, ignore_index=True)
    return np.concatenate(parts)


def _check_length(values: Any, name: str, n_rows: int, rows_of: str) -> None:
    length = values.shape[0]  # sparse matrices have no len
    if length != n_rows:
        raise ValueError(
            f"{name} has {length} rows but {rows_of} has {n_rows}; expected the same number"
        )
