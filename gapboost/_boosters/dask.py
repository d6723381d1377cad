"""Dask collections: checks of a data set, and what a fit has to know of all its rows."""

from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from dask import delayed
from dask.base import is_dask_collection, tokenize

from gapboost.data import Array, DataSummary, RankingDataset, column_contents, pop_query_ids
from gapboost.data.features import check_columns
from gapboost.data.grades import GradeLimit
from gapboost.validation import short_repr

if TYPE_CHECKING:
    from dask import array, dataframe

DaskCollection: TypeAlias = "array.Array | dataframe.DataFrame | dataframe.Series"


class DaskDataset(NamedTuple):
    """A data set on a cluster, without empty partitions.

    Attributes
    ----------
    X, y : Dask collections
    queries : Dask collection
        Query ids, or the sizes of the queries.
    sample_weight, init_score : Dask collection or None
    ids : ndarray
        All query ids, ascending.
    summary : DataSummary
        Of all rows.
    """

    X: DaskCollection
    y: DaskCollection
    queries: DaskCollection
    sample_weight: "DaskCollection | None"
    init_score: "DaskCollection | None"
    ids: Array
    summary: DataSummary


def dask_data(
    client: Any,
    given: Mapping[str, object],
    limit: GradeLimit,
    names: Mapping[str, str] | None = None,
) -> DaskDataset:
    """Compute a data set on its workers, and check each partition as a local fit checks its rows.

    Parameters
    ----------
    client : distributed.Client
    given : mapping {argument of `RankingDataset.of`: Dask collection or None}
        `group` holds the sizes of the queries in each partition.
    limit : GradeLimit
        Grades for which all measures are defined.
    names : mapping, optional
        As in `RankingDataset.of`.

    Raises
    ------
    TypeError
        If a value is no Dask collection.
    ValueError
        If a value is unusable, or partitions differ in number, rows or categories, or cut queries.
    """
    of = {name: name for name in (*given, "group", "sample_weight")} | dict(names or {})
    # Once for all that follows, and for the booster. One by one: Dask 2026.8 confuses the results
    # of arrays and data frames in one call.
    values = {name: client.persist(value) for name, value in _collections(given, of).items()}
    looks = [
        delayed(_of_partition)(number, partition, limit, of)
        for number, partition in enumerate(_partitions(values, of))
    ]
    found = dict(enumerate(client.gather(client.compute(looks))))
    kept = {number: part for number, part in found.items() if part is not None}
    if not kept:
        raise ValueError(f"{of['y']} has no rows; expected at least one query")
    of_parts, summaries, columns = zip(*kept.values(), strict=True)
    _check_columns(columns, of["X"])
    summary = DataSummary.of_parts(summaries, of["sample_weight"])
    ids = np.unique(np.concatenate(of_parts))
    if "qid" in values and len(ids) < summary.n_queries:
        raise ValueError(
            f"{of['qid']} has queries with rows in several partitions; expected whole queries in "
            'each, such as those of a data frame after frame.shuffle("qid")'
        )
    # Neither booster takes a worker that has empty partitions only.
    filled = {name: value.partitions[list(kept)] for name, value in values.items()}
    return DaskDataset(
        X=filled["X"],
        y=filled["y"],
        queries=filled["qid" if "qid" in values else "group"],
        sample_weight=filled.get("sample_weight"),
        init_score=filled.get("init_score"),
        ids=ids,
        summary=summary,
    )


def _collections(given: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """Return the collections that are given, with query ids of the column ``qid`` if X has it."""
    X, qid = pop_query_ids(
        given["X"], given["qid"], names=(names["X"], names["qid"], names["group"])
    )
    group = given.get("group")
    if (qid is None) == (group is None):
        problem = "missing" if qid is None else f"given, and {names['group']} too"
        raise ValueError(f"{names['qid']} is {problem}; expected one query id a row")
    values = {
        name: value
        for name, value in {**given, "X": X, "qid": qid}.items()
        if value is not None or name in ("X", "y")
    }
    for name, value in values.items():
        if not is_dask_collection(value):
            kinds = "array or data frame" if name == "X" else "array or series"
            raise TypeError(f"{names[name]} is a {type(value).__name__}; expected a Dask {kinds}")
    return values


def _partitions(values: Mapping[str, Any], names: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return the delayed values of each partition."""
    parts = {name: np.ravel(value.to_delayed()).tolist() for name, value in values.items()}
    counts = {names[name]: len(of_value) for name, of_value in parts.items()}
    if len(set(counts.values())) > 1:
        raise ValueError(
            f"the numbers of partitions are {counts}; expected the same for all, with all columns "
            "in each"
        )
    return [
        dict(zip(parts, partition, strict=True)) for partition in zip(*parts.values(), strict=True)
    ]


def _of_partition(
    number: int, values: dict[str, Any], limit: GradeLimit, names: Mapping[str, str]
) -> tuple[Array, DataSummary, dict[Hashable, str | None]] | None:
    """Return query ids, summary and columns of a partition; None if it has no rows.

    Of columns, a dictionary has the categories, as one text, or None.
    """
    X, y = values["X"], values["y"]
    if X.shape[0] == y.shape[0] == 0:
        return None
    try:
        data = RankingDataset.of(**values, limit=limit, names=names, partial=True).query_data
        check_columns(X, names["X"])
    except (TypeError, ValueError) as error:
        error.add_note(f"in partition {number}, counted from 0")
        raise
    kinds = column_contents(X) or dict.fromkeys(range(X.shape[1]), "number")
    columns = {c: tokenize(X[c].dtype) if kind == "category" else None for c, kind in kinds.items()}
    return np.asarray(data.queries.ids), data.summary, columns


def _check_columns(partitions: Sequence[dict[Any, str | None]], name: str) -> None:
    """Raise ValueError if some partitions have other columns, or a column has other categories.

    Boosters train on positions of columns and codes of categories, which would mean others there.
    """
    first, different = partitions[0], set()
    for columns in partitions:
        if list(columns) != list(first):
            raise ValueError(
                f"{name} has other columns in some partitions: {short_repr(list(columns))} and "
                f"{short_repr(list(first))}; expected the same in all, in the same order"
            )
        different |= {column for column in first if columns[column] != first[column]}
    if different:
        raise ValueError(
            f"{name} has other categories in some partitions, in the columns {sorted(different)}; "
            f"expected the same in all, such as those of {name}.categorize().persist()"
        )


def is_same(a: object, b: object) -> bool:
    """Return True if two Dask collections hold the same data, which Dask gives the same name.

    A data frame without two columns has another name than the columns that remain, until its
    expression is simplified.
    """
    names = [
        tokenize(value.optimize(fuse=False) if hasattr(value, "optimize") else value)
        for value in (a, b)
    ]
    return bool(names[0] == names[1])
