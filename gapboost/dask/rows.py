"""Dask collections: what a fit has to know of all rows before the workers train."""

from typing import Any, NamedTuple

import numpy as np
from dask import delayed
from dask.base import is_dask_collection
from dask.dataframe import DataFrame

from gapboost._data.features import split
from gapboost._data.grades import GradeLimit
from gapboost._data.judged import DataSummary, judged
from gapboost._kernels import Array
from gapboost.evaluation import evaluate


class Rows(NamedTuple):
    """What is known of the rows of one partition, or of all.

    Attributes
    ----------
    summary : DataSummary
    ids : ndarray of shape (Q,)
        The query ids; empty if the queries are given by their sizes.
    weight : float
        Sum of the weights of the queries.
    """

    summary: DataSummary
    ids: Array
    weight: float


def whole_queries(
    client: Any, X: Any, qid: Any, group: Any, columns: dict[str, Any], limit: GradeLimit
) -> tuple[Any, dict[str, Any], Rows]:
    """Return the collections with each query in one partition, and what is known of all rows.

    The columns then hold ``qid`` or ``group`` too, and none that is None. Data frames whose
    partitions cut queries are shuffled by query.

    Parameters
    ----------
    client : distributed.Client
    X : Dask array or data frame
        May hold the query ids as the column ``qid``.
    qid, group : Dask array or series, or None
    columns : dict {name: Dask collection or None}
        ``y``, ``sample_weight`` and initial scores.
    limit : GradeLimit
        Grades for which all measures are defined.

    Raises
    ------
    TypeError
        If an argument is no Dask collection.
    ValueError
        If a value is unusable, the collections have different partitions, or partitions of arrays
        cut queries.
    """
    X, qid = split(X, qid)
    by_size = group is not None
    if by_size == (qid is not None):
        raise ValueError(
            "qid and group are both missing or both given; expected qid, with a query id for each "
            "row, or group, with the sizes of each partition's queries"
        )
    columns = {**columns, "qid": qid, "group": group}
    columns = {name: values for name, values in columns.items() if values is not None}
    rows = _survey(client, columns, limit)
    if by_size or len(rows.ids) == rows.summary.n_queries:
        return X, columns, rows
    if not isinstance(X, DataFrame):
        raise ValueError(
            "qid has queries with rows in several partitions; expected whole queries in each, or "
            "data frames, which are shuffled"
        )
    names = {name: f"{name} of gapboost" for name in columns}
    table = X.assign(**{names[name]: values for name, values in columns.items()})
    table = table.shuffle(on=names["qid"]).persist()
    columns = {name: table[names[name]] for name in columns}
    return table[list(X.columns)], columns, _survey(client, columns, limit)


def _survey(client: Any, columns: dict[str, Any], limit: GradeLimit) -> Rows:
    """Look once at all rows but their features."""
    parts = {}
    for name in columns.keys() & {"y", "qid", "group", "sample_weight"}:
        if not is_dask_collection(columns[name]):
            raise TypeError(
                f"{name} is a {type(columns[name]).__name__}; expected a Dask array, series or "
                "data frame"
            )
        parts[name] = list(np.ravel(columns[name].to_delayed()))
    counts = {name: len(values) for name, values in parts.items()}
    if len(set(counts.values())) > 1:
        raise ValueError(f"the numbers of partitions are {counts}; expected the same for all")
    look = delayed(_of_partition)
    looks = [
        look(dict(zip(parts, values, strict=True)), limit)
        for values in zip(*parts.values(), strict=True)
    ]
    found = [part for part in client.gather(client.compute(looks)) if part is not None]
    if not found:
        raise ValueError("y has no rows; expected at least one query")
    summaries, ids, weights = zip(*found, strict=True)
    summary = DataSummary(
        n_rows=sum(s.n_rows for s in summaries),
        n_queries=sum(s.n_queries for s in summaries),
        n_contrasts=sum(s.n_contrasts for s in summaries),
        weighted_size=np.average([s.weighted_size for s in summaries], weights=weights),
        grades=tuple(sorted({grade for s in summaries for grade in s.grades})),
    )
    return Rows(summary, np.unique(np.concatenate(ids)), sum(weights))


def _of_partition(columns: dict[str, Any], limit: GradeLimit) -> Rows | None:
    """Look at one partition; None if it has no rows."""
    if len(columns["y"]) == 0:
        return None
    sizes = columns.get("group")
    name = "qid" if sizes is None else "group"
    qid = columns["qid"] if sizes is None else np.repeat(np.arange(len(sizes)), sizes)
    weight, names = columns.get("sample_weight"), ("y", name, "sample_weight")
    data = judged(columns["y"], qid, sample_weight=weight, limit=limit, names=names, real=True)
    ids = np.asarray(data.queries.ids) if sizes is None else np.empty(0)
    return Rows(data.summary, ids, float(data.weights.sum()))


def score_on_client(ranker: Any, X: Any, y: Any, qid: Any, sample_weight: Any) -> float:
    """Return the mean of the ranker's measure over the queries of Dask collections."""
    table, qid = split(X, qid)
    columns = [y, ranker.predict(table), qid, sample_weight]
    y, scores, qid, weight = (None if c is None else np.asarray(c.compute()) for c in columns)
    return float(evaluate(ranker.measure_, y, scores, qid, sample_weight=weight)[ranker.measure_])
