"""Dask collections: what a fit has to know of all rows before the workers train."""

from typing import Any

import numpy as np
from dask import delayed
from dask.base import is_dask_collection

from gapboost._data.features import split
from gapboost._data.grades import GradeLimit
from gapboost._data.judged import DataSummary, judged
from gapboost._data.queries import ids_of_groups
from gapboost._kernels import Array
from gapboost.evaluation import evaluate


def survey(client: Any, columns: dict[str, Any], limit: GradeLimit) -> tuple[DataSummary, Array]:
    """Check all rows but their features; return their summary and the query ids, ascending.

    Parameters
    ----------
    client : distributed.Client
    columns : dict {name: Dask array or series}
        ``y``, ``qid`` or ``group``, and ``sample_weight`` if there are weights.
    limit : GradeLimit
        Grades for which all measures are defined.

    Raises
    ------
    TypeError
        If a column is no Dask collection.
    ValueError
        If a value is unusable, or partitions differ in number or cut queries.
    """
    by_qid = "qid" in columns
    if by_qid == ("group" in columns):
        raise ValueError(
            "qid and group are both missing or both given; expected qid, with a query id for each "
            "row, or group, with the sizes of each partition's queries"
        )
    parts = {}
    for name, values in columns.items():
        if not is_dask_collection(values):
            raise TypeError(
                f"{name} is a {type(values).__name__}; expected a Dask array, series or data frame"
            )
        parts[name] = list(np.ravel(values.to_delayed()))
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
    ids, summaries = zip(*found, strict=True)
    summary = DataSummary.of_parts(summaries)
    every = np.unique(np.concatenate(ids))
    if by_qid and len(every) < summary.n_queries:
        raise ValueError(
            "qid has queries with rows in several partitions; expected whole queries in each, such "
            'as those of a data frame after frame.shuffle("qid")'
        )
    return summary, every


def _of_partition(
    columns: dict[str, Any], limit: GradeLimit
) -> tuple[Array, tuple[DataSummary, float]] | None:
    """Return query ids, summary and weight of one partition; None if it has no rows."""
    if len(columns["y"]) == 0:
        return None
    name = "qid" if "qid" in columns else "group"
    qid = columns[name]
    if name == "group":
        qid = ids_of_groups(qid, len(columns["y"]), name, "y")
    weight, names = columns.get("sample_weight"), ("y", name, "sample_weight")
    data = judged(columns["y"], qid, sample_weight=weight, limit=limit, names=names, real=True)
    return np.asarray(data.queries.ids), (data.summary, float(data.weights.sum()))


class ScoredByClient:
    """`score` of rankers on Dask."""

    def score(self, X: Any, y: Any, qid: Any = None, sample_weight: Any = None) -> float:
        """Mean of `measure_` over the queries of Dask collections, computed by the client."""
        ranker: Any = self
        table, qid = split(X, qid)
        columns = (y, ranker.predict(table), qid, sample_weight)
        y, scores, qid, weight = (None if c is None else np.asarray(c.compute()) for c in columns)
        measure = ranker.measure_
        return float(evaluate(measure, y, scores, qid, sample_weight=weight)[measure])
