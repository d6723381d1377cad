"""Dask collections as partitions, checked before any work is sent."""

from typing import Any

import dask
import dask.array as da
import numpy as np
from dask.base import is_dask_collection
from dask.core import flatten

from gapboost._boosters.data_set import ArgumentNames, DataSet
from gapboost._data.columns import only_column
from gapboost._data.features import split
from gapboost._data.queries import GroupSizes
from gapboost._kernels import Array


class Collections(DataSet):
    """One data set as Dask holds it, with one query id a row."""

    @property
    def n_partitions(self) -> int:
        """Number of partitions."""
        return len(partitions(self.y))

    def named(self, partition: int) -> tuple[str, ...]:
        """Return the names of the arguments in one partition, for error messages."""
        return tuple(f"{name} in partition {partition}" for name in self.names)


def checked(data: DataSet) -> Collections:
    """One data set whose parts have matching partitions, as far as is known uncomputed.

    Raises
    ------
    TypeError
        If something is no Dask array or dataframe.
    ValueError
        If there are neither ids nor sizes of queries or several, chunk sizes are unknown,
        partitions do not match, or categories are unknown.
    """
    names, grouped = data.names, data.group is not None
    X, qid = split(data.X, data.qid, data.group, (names.X, names.qid, names.group))
    if qid is None:
        raise ValueError(
            f"{names.qid} is missing; expected a Dask array or series with one query id a row, or "
            f"{names.group} with the sizes of the queries in each partition"
        )
    parts = (X, data.y, None if grouped else qid, data.weight, data.start, data.position)
    given = dict(zip(names, parts, strict=False))
    given = {name: value for name, value in given.items() if value is not None}
    for name, value in given.items():
        _check_kind(value, name, 2 if name == names.X else 1)
    for name, value in given.items():
        if is_array(value) and np.isnan(value.chunks[0]).any():
            raise ValueError(
                f"{name} has unknown chunk sizes; expected known ones: call "
                f"{name}.compute_chunk_sizes(), or make the array by to_dask_array(lengths=True)"
            )
    for name, value in given.items():
        _check_match(X, names.X, value, name)
    _check_categories(X, names.X)
    if is_array(X) and X.numblocks[1] > 1:
        X = X.rechunk({1: -1})
    if grouped:
        qid = _ids_of_groups(data.y, data.group, names)
    return Collections(X, data.y, qid, data.weight, data.start, data.position, names=names)


def _ids_of_groups(y: Any, group: Any, names: ArgumentNames) -> Any:
    """One query id a row, from the sizes of the queries in each partition."""
    _check_kind(group, names.group, 1)
    if len(partitions(group)) != len(partitions(y)):
        raise ValueError(
            f"{names.group} has {len(partitions(group))} partitions but {names.y} has "
            f"{len(partitions(y))}; expected the same: the sizes of the queries in each partition "
            "of rows"
        )
    if is_array(y):
        sizes = group if is_array(group) else group.to_dask_array()
        none = np.empty(0, dtype=np.int64)
        return da.map_blocks(
            _ids_in_block, sizes, y, names=names, dtype=none.dtype, chunks=y.chunks, meta=none
        )
    import dask.dataframe as dd
    import pandas as pd

    ids = [
        dask.delayed(_ids_in_series)(sizes, rows, p, names)
        for p, (sizes, rows) in enumerate(zip(partitions(group), partitions(y), strict=True))
    ]
    return dd.from_delayed(ids, meta=pd.Series([], dtype=np.int64), verify_meta=False)


def _ids_in_block(sizes: Any, rows: Any, names: ArgumentNames, block_id: tuple[int]) -> Array:
    return _ids_in_partition(sizes, rows, block_id[0], names)


def _ids_in_series(sizes: Any, rows: Any, partition: int, names: ArgumentNames) -> Any:
    import pandas as pd

    return pd.Series(_ids_in_partition(sizes, rows, partition, names), index=rows.index)


def _ids_in_partition(sizes: Any, rows: Any, partition: int, names: ArgumentNames) -> Array:
    """Return one query id a row, int64, from the numbers of partition and query."""
    group = GroupSizes(sizes, f"{names.group} in partition {partition}")
    queries = group.queries(len(rows), f"{names.y} in partition {partition}")
    return (np.int64(partition) << 32) + np.repeat(queries.ids, queries.sizes)


def is_array(value: Any) -> bool:
    """Return True for a Dask array, False for a Dask dataframe or series."""
    return isinstance(value, da.Array)


def partitions(value: Any) -> list[Any]:
    """The partitions of a collection, row by row, as delayed objects."""
    return list(flatten(value.to_delayed().tolist() if is_array(value) else value.to_delayed()))


def flat_partitions(column: Any) -> list[Any]:
    """Return the partitions of a collection with one value for each row, each of shape (n,).

    A block that a function has made may have shape (n, 1), whatever the array says.
    """
    flat = dask.delayed(only_column)
    return [flat(part) for part in partitions(column)]


def partition_keys(value: Any) -> list[Any]:
    """The keys of the partitions, where they are in memory already."""
    return list(flatten(value.__dask_keys__()))


def _check_kind(value: Any, name: str, ndim: int) -> None:
    frame = hasattr(value, "divisions") and hasattr(value, "npartitions")
    if not (is_dask_collection(value) and (is_array(value) or frame)):
        raise TypeError(
            f"{name} is a {type(value).__module__.partition('.')[0]}.{type(value).__name__}; "
            "expected a Dask array or dataframe, such as dask.array.from_array makes"
        )
    if value.ndim != ndim:
        wanted = "rows and features" if ndim == 2 else "one value a row"
        raise ValueError(f"{name} has {value.ndim} dimensions; expected {ndim}: {wanted}")


def _check_match(X: Any, x_name: str, value: Any, name: str) -> None:
    arrays = is_array(X) and is_array(value)
    here, there = (
        v.chunks[0] if arrays else v.numblocks[0] if is_array(v) else v.npartitions
        for v in (X, value)
    )
    if here != there:
        kind = "row chunks" if arrays else "partitions"
        raise ValueError(
            f"{name} has {kind} {there} but {x_name} has {here}; expected the same: rechunk or "
            "repartition one"
        )
    known = not is_array(X) and not is_array(value) and X.known_divisions and value.known_divisions
    if known and X.divisions != value.divisions:
        raise ValueError(
            f"{name} has divisions {value.divisions} but {x_name} has {X.divisions}; expected the "
            "same: repartition one"
        )


def _check_categories(X: Any, name: str) -> None:
    if is_array(X):
        return
    # The codes of one worker would be other categories than those of another.
    for column, dtype in X.dtypes.items():
        if str(dtype) == "category" and not X[column].cat.known:
            raise ValueError(
                f"{name} has a column {column!r} of unknown categories; expected the same ones in "
                f"every partition: call {name}.categorize()"
            )
