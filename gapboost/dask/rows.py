"""Dask collections: what a fit has to know of all rows before the workers train."""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from dask import delayed
from dask.base import is_dask_collection
from dask.dataframe import DataFrame

from gapboost._boosters.plan import Plan
from gapboost._data.features import QID, without_qid
from gapboost._data.grades import GradeLimit
from gapboost._data.judged import DataSummary, judged
from gapboost._kernels import Array
from gapboost.evaluation import evaluate


class Partition(NamedTuple):
    """What one partition adds to the summary of all rows.

    Attributes
    ----------
    ids : ndarray of shape (Q,)
        Its query ids; None if the partition has sizes of queries.
    summary : DataSummary
    weight : float
        Sum of the weights of its queries.
    """

    ids: Array | None
    summary: DataSummary
    weight: float


class AllRows(NamedTuple):
    """What a fit knows of all rows of Dask collections.

    Attributes
    ----------
    summary : DataSummary
    ids : ndarray of shape (Q,)
        The query ids, ascending; empty if the queries are given by their sizes.
    cut : object
        The id of a query with rows in several partitions, or None.
    """

    summary: DataSummary
    ids: Array
    cut: Any


def split(X: Any, qid: Any, group: Any = None) -> tuple[Any, Any, Any]:
    """Return features, query ids and group sizes; a data frame may have the ids as column ``qid``.

    Raises
    ------
    ValueError
        If queries are given twice, or not at all.
    """
    X, column = without_qid(X)
    given = {"qid": qid, "group": group, f"the column {QID!r} of X": column}
    named = [name for name, value in given.items() if value is not None]
    if len(named) != 1:
        raise ValueError(
            f"the queries are given by {' and '.join(named) or 'nothing'}; expected qid, with a "
            "query id for each row, or group, with the sizes of each partition's queries"
        )
    return X, qid if column is None else column, group


def whole_queries(
    client: Any, X: Any, columns: dict[str, Any], limit: GradeLimit
) -> tuple[Any, dict[str, Any], AllRows]:
    """Return the collections with each query in one partition, and what is known of all rows.

    Data frames whose partitions cut queries are shuffled by query.

    Parameters
    ----------
    client : distributed.Client
    X : Dask array or data frame
    columns : dict {name: Dask collection or None}
        ``y``, ``qid``, ``group``, ``sample_weight`` and initial scores.
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
    rows = _survey(client, columns, limit)
    if rows.cut is None:
        return X, columns, rows
    if not isinstance(X, DataFrame):
        raise ValueError(
            f"query {rows.cut!r} has rows in several partitions; expected whole queries in each, "
            "or data frames, which are shuffled"
        )
    given = {f"{name} of gapboost": c for name, c in columns.items() if c is not None}
    shuffled = X.assign(**given).shuffle(on="qid of gapboost").persist()
    columns = {
        name: shuffled[f"{name} of gapboost"] for name in columns if columns[name] is not None
    }
    return shuffled[list(X.columns)], columns, _survey(client, columns, limit)


def _survey(client: Any, columns: dict[str, Any], limit: GradeLimit) -> AllRows:
    """Look once at all rows but their features."""
    names = ("y", "qid", "group", "sample_weight")
    given = {name: _partitions(columns.get(name), name) for name in names}
    parts = {name: values for name, values in given.items() if values is not None}
    counts = {name: len(values) for name, values in parts.items()}
    if len(set(counts.values())) > 1:
        raise ValueError(f"the numbers of partitions are {counts}; expected the same for all")
    look = delayed(_summarize)
    looks = [
        look(dict(zip(parts, values, strict=True)), limit)
        for values in zip(*parts.values(), strict=True)
    ]
    found = [part for part in client.gather(client.compute(looks)) if part is not None]
    if not found:
        raise ValueError("y has no rows; expected at least one query")
    return _merged(found)


def _partitions(values: Any, name: str) -> list[Any] | None:
    if values is None:
        return None
    if not is_dask_collection(values):
        raise TypeError(
            f"{name} is a {type(values).__name__}; expected a Dask array, series or data frame"
        )
    return list(np.ravel(values.to_delayed()))


def _summarize(columns: dict[str, Any], limit: GradeLimit) -> Partition | None:
    """Look at one partition; None if it has no rows."""
    if len(columns["y"]) == 0:
        return None
    sizes = columns.get("group")
    name = "qid" if sizes is None else "group"
    qid = columns["qid"] if sizes is None else np.repeat(np.arange(len(sizes)), sizes)
    weight = columns.get("sample_weight")
    names = ("y", name, "sample_weight")
    data = judged(columns["y"], qid, sample_weight=weight, limit=limit, names=names, real=True)
    ids = np.asarray(data.queries.ids) if sizes is None else None
    return Partition(ids, data.summary, float(data.weights.sum()))


def _merged(parts: list[Partition]) -> AllRows:
    summaries = [part.summary for part in parts]
    grades = tuple(sorted({grade for summary in summaries for grade in summary.grades}))
    summary = DataSummary(
        n_rows=sum(s.n_rows for s in summaries),
        n_queries=sum(s.n_queries for s in summaries),
        n_contrasts=sum(s.n_contrasts for s in summaries),
        weighted_size=sum(part.weight * part.summary.weighted_size for part in parts)
        / sum(part.weight for part in parts),
        grades=grades,
    )
    named = [part.ids for part in parts if part.ids is not None]
    ids, counts = np.unique(np.concatenate(named) if named else np.empty(0), return_counts=True)
    cut = ids[counts > 1]
    return AllRows(summary, ids, cut[:1].tolist()[0] if len(cut) else None)


def resolved(plan: Plan, rows: AllRows) -> Plan:
    """Set every ``g=None`` from the grades of all rows.

    Raises
    ------
    ValueError
        If there is nothing to learn, or a metric is a function: it would see one worker's rows.
    """
    if plan.functions:
        raise ValueError(f"eval_metric is {plan.functions[0]!r}; expected measures on a cluster")
    rows.summary.check_contrasts("y")
    objective = plan.objective.resolved(rows.summary.occurring)
    extra = dict.fromkeys(metric.resolved(rows.summary.occurring) for metric in plan.extra)
    extra.pop(objective.measure, None)
    return replace(plan, objective=objective, extra=tuple(extra))


def score_on_client(ranker: Any, X: Any, y: Any, qid: Any, sample_weight: Any) -> float:
    """Return the mean of the ranker's measure over the queries of Dask collections."""
    table, qid, _ = split(X, qid)
    columns = [y, ranker.predict(table), qid, sample_weight]
    y, scores, qid, weight = (None if c is None else np.asarray(c.compute()) for c in columns)
    return float(evaluate(ranker.measure_, y, scores, qid, sample_weight=weight)[ranker.measure_])
