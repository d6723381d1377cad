"""Dask collections as partitions, checked before any work is sent."""

from dataclasses import dataclass
from typing import Any

import dask.array as da
import numpy as np
from dask.base import is_dask_collection
from dask.core import flatten

from gapboost._boosters.request import Given, Names


@dataclass(frozen=True, eq=False)
class Collections:
    """One data set as Dask holds it.

    Attributes
    ----------
    X : Array or DataFrame
    y, qid : Array or Series
    weight, start : Array, Series or None
    names : Names
    """

    X: Any
    y: Any
    qid: Any
    weight: Any
    start: Any
    names: Names

    @property
    def n_partitions(self) -> int:
        """Number of partitions."""
        return len(partitions(self.y))

    def named(self, partition: int) -> tuple[str, ...]:
        """What errors call the five in one of the partitions."""
        return tuple(f"{name} in partition {partition}" for name in self.names)


def checked(data: Given) -> Collections:
    """One data set whose parts have partitions that match, as far as they can be seen without computing.

    Raises
    ------
    TypeError
        Where something is no Dask array or dataframe.
    ValueError
        Where `qid` is missing, chunk sizes are unknown, partitions do not match, or categories are unknown.
    """
    X, names = data.X, data.names
    if data.qid is None:
        raise ValueError(f"{names.qid} is missing; expected a Dask array or series with one query id a row")
    given = {names.X: X, names.y: data.y, names.qid: data.qid, names.weight: data.weight, names.start: data.start}
    given = {name: value for name, value in given.items() if value is not None}
    for name, value in given.items():
        _check_kind(value, name, 2 if name == names.X else 1)
    for name, value in given.items():
        if is_array(value) and np.isnan(value.chunks[0]).any():
            raise ValueError(
                f"{name} has unknown chunk sizes; expected known ones: call {name}.compute_chunk_sizes(), or make the "
                "array by to_dask_array(lengths=True)"
            )
    for name, value in given.items():
        _check_match(X, names.X, value, name)
    _check_categories(X, names.X)
    if is_array(X) and X.numblocks[1] > 1:
        X = X.rechunk({1: -1})
    return Collections(X, data.y, data.qid, data.weight, data.start, names)


def is_array(value: Any) -> bool:
    """Whether it is a Dask array: otherwise it is a dataframe or series."""
    return isinstance(value, da.Array)


def partitions(value: Any) -> list[Any]:
    """The partitions of a collection, row by row, as delayed objects."""
    return list(flatten(value.to_delayed().tolist() if is_array(value) else value.to_delayed()))


def partition_keys(value: Any) -> list[Any]:
    """The keys of the partitions, where they are in memory already."""
    return list(flatten(value.__dask_keys__()))


def _check_kind(value: Any, name: str, ndim: int) -> None:
    frame = hasattr(value, "divisions") and hasattr(value, "npartitions")
    if not (is_dask_collection(value) and (is_array(value) or frame)):
        raise TypeError(
            f"{name} is a {type(value).__module__.partition('.')[0]}.{type(value).__name__}; expected a Dask array or "
            "dataframe, such as dask.array.from_array makes"
        )
    if value.ndim != ndim:
        wanted = "rows and features" if ndim == 2 else "one value a row"
        raise ValueError(f"{name} has {value.ndim} dimensions; expected {ndim}: {wanted}")


def _check_match(X: Any, x_name: str, value: Any, name: str) -> None:
    arrays = is_array(X) and is_array(value)
    here, there = (v.chunks[0] if arrays else v.numblocks[0] if is_array(v) else v.npartitions for v in (X, value))
    if here != there:
        kind = "row chunks" if arrays else "partitions"
        raise ValueError(
            f"{name} has {kind} {there} but {x_name} has {here}; expected the same: rechunk or repartition one"
        )
    known = not is_array(X) and not is_array(value) and X.known_divisions and value.known_divisions
    if known and X.divisions != value.divisions:
        raise ValueError(
            f"{name} has divisions {value.divisions} but {x_name} has {X.divisions}; expected the same: repartition one"
        )


def _check_categories(X: Any, name: str) -> None:
    if is_array(X):
        return
    # The codes of one worker would be other categories than those of another.
    for column, dtype in X.dtypes.items():
        if str(dtype) == "category" and not X[column].cat.known:
            raise ValueError(
                f"{name} has a column {column!r} of unknown categories; expected the same ones in every partition: call "
                f"{name}.categorize()"
            )
