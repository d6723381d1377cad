"""Dask collections: checks of a data set, and what a fit has to know of all its rows."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from dask import delayed
from dask.base import is_dask_collection, tokenize

from gapboost._boosters.rows import NAMES, ranking_rows
from gapboost._kernels import Array
from gapboost.data.features import column_contents, pop_query_ids
from gapboost.data.grades import GradeLimit
from gapboost.data.query_data import DataSummary
from gapboost.validation import short_repr


class DaskRows(NamedTuple):
    """A data set on a cluster, without empty partitions.

    Attributes
    ----------
    X, y : Dask collections
    queries : Dask collection
        Query ids, or the sizes of the queries.
    weight, start : Dask collection or None
    ids : ndarray
        All query ids, ascending.
    summary : DataSummary
        Of all rows.
    """

    X: Any
    y: Any
    queries: Any
    weight: Any
    start: Any
    ids: Array
    summary: DataSummary


def dask_rows(
    client: Any, limit: GradeLimit, *values: Any, names: Sequence[str] = NAMES
) -> DaskRows:
    """Compute a data set on its workers, and check each partition as a local fit checks its rows.

    Parameters
    ----------
    client : distributed.Client
    limit : GradeLimit
        Grades for which all measures are defined.
    *values : Dask collection or None
        X, y, query ids, sizes of the queries in each partition, weights and initial scores.
    names : sequence of str
        The caller's names of them.

    Raises
    ------
    TypeError
        If a value is no Dask collection.
    ValueError
        If a value is unusable, or partitions differ in number, rows or categories, or cut queries.
    """
    X, y, qid, group, weight, start = values
    X, qid = pop_query_ids(X, qid, names=(names[0], names[2], names[3]))
    if (qid is None) == (group is None):
        problem = "missing" if qid is None else f"given, and {names[3]} too"
        raise ValueError(f"{names[2]} is {problem}; expected one query id a row")
    numbered = enumerate((X, y, qid, group, weight, start))
    given = {i: value for i, value in numbered if value is not None or i < 2}
    for i, value in given.items():
        if not is_dask_collection(value):
            kinds = "array or data frame" if i == 0 else "array or series"
            raise TypeError(f"{names[i]} is a {type(value).__name__}; expected a Dask {kinds}")
    # Once for all that follows, and for the booster. One by one: Dask 2026.8 confuses the results
    # of arrays and data frames in one call.
    given = {i: client.persist(value) for i, value in given.items()}
    parts = {i: np.ravel(value.to_delayed()).tolist() for i, value in given.items()}
    counts = {names[i]: len(of_value) for i, of_value in parts.items()}
    if len(set(counts.values())) > 1:
        raise ValueError(
            f"the numbers of partitions are {counts}; expected the same for all, with all columns "
            "in each"
        )
    looks = [
        delayed(_of_partition)(number, limit, names, dict(zip(parts, of_partition, strict=True)))
        for number, of_partition in enumerate(zip(*parts.values(), strict=True))
    ]
    found = dict(enumerate(client.gather(client.compute(looks))))
    kept = {number: part for number, part in found.items() if part is not None}
    if not kept:
        raise ValueError(f"{names[1]} has no rows; expected at least one query")
    ids, summaries, columns = zip(*kept.values(), strict=True)
    _check_columns(columns, names[0])
    summary, every = DataSummary.of_parts(summaries, names[4]), np.unique(np.concatenate(ids))
    if group is None and len(every) < summary.n_queries:
        raise ValueError(
            f"{names[2]} has queries with rows in several partitions; expected whole queries in "
            'each, such as those of a data frame after frame.shuffle("qid")'
        )
    # Neither booster takes a worker that has empty partitions only.
    filled = {i: value.partitions[list(kept)] for i, value in given.items()}
    X, y, qid, group, weight, start = (filled.get(i) for i in range(6))
    return DaskRows(X, y, qid if group is None else group, weight, start, every, summary)


def _of_partition(
    number: int, limit: GradeLimit, names: Sequence[str], values: dict[int, Any]
) -> tuple[Array, DataSummary, dict[Any, str | None]] | None:
    """Return query ids, summary and columns of a partition; None if it has no rows.

    Of columns, a dictionary has the categories, as one text, or None.
    """
    X, y = values[0], values[1]
    others = [values.get(i) for i in range(2, 6)]
    if X.shape[0] == y.shape[0] == 0:
        return None
    try:
        rows = ranking_rows(X, y, *others, limit=limit, names=names, partial=True)
    except (TypeError, ValueError) as error:
        error.add_note(f"in partition {number}, counted from 0")
        raise
    kinds = column_contents(X) or dict.fromkeys(range(X.shape[1]), "number")
    columns = {c: tokenize(X[c].dtype) if kind == "category" else None for c, kind in kinds.items()}
    return np.asarray(rows.data.queries.ids), rows.data.summary, columns


def _check_columns(partitions: Sequence[dict[Any, str | None]], name: str) -> None:
    """Raise ValueError if some partitions have other columns, or a column has other categories.

    Boosters train on positions of columns and codes of categories, which would mean others there.
    """
    first = partitions[0]
    other = next((columns for columns in partitions if list(columns) != list(first)), None)
    if other is not None:
        raise ValueError(
            f"{name} has other columns in some partitions: {short_repr(list(other))} and "
            f"{short_repr(list(first))}; expected the same in all, in the same order"
        )
    different = {
        column
        for partition in partitions
        for column, categories in partition.items()
        if categories != first[column]
    }
    if different:
        raise ValueError(
            f"{name} has other categories in some partitions, in the columns {sorted(different)}; "
            f"expected the same in all, such as those of {name}.categorize().persist()"
        )


def is_same(a: Any, b: Any) -> bool:
    """Return True if two Dask collections hold the same data, which Dask gives the same name.

    A data frame without two columns has another name than the columns that remain, until its
    expression is simplified.
    """
    names = [
        tokenize(value.optimize(fuse=False) if hasattr(value, "optimize") else value)
        for value in (a, b)
    ]
    return bool(names[0] == names[1])
