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


def survey(client: Any, limit: GradeLimit, **columns: Any) -> tuple[DataSummary, Array]:
    """Check all rows but their features; return their summary and the query ids, ascending.

    Parameters
    ----------
    client : distributed.Client
    limit : GradeLimit
        Grades for which all measures are defined.
    **columns : Dask array or series, or None
        ``y``, either ``qid`` or ``group``, and ``sample_weight``.

    Raises
    ------
    TypeError
        If a column is no Dask collection.
    ValueError
        If a value is unusable, or partitions differ in number or cut queries.
    """
    given = {name: values for name, values in columns.items() if values is not None}
    if ("qid" in given) == ("group" in given):
        raise ValueError(
            "qid and group are both missing or both given; expected qid, with a query id for each "
            "row, or group, with the sizes of each partition's queries"
        )
    parts = {}
    for name, values in given.items():
        if not is_dask_collection(values):
            raise TypeError(f"{name} is a {type(values).__name__}; expected a Dask array or series")
        parts[name] = list(np.ravel(values.to_delayed()))
    counts = {name: len(values) for name, values in parts.items()}
    if len(set(counts.values())) > 1:
        raise ValueError(f"the numbers of partitions are {counts}; expected the same for all")
    looks = [
        delayed(_of_partition)(limit, **dict(zip(parts, values, strict=True)))
        for values in zip(*parts.values(), strict=True)
    ]
    found = [part for part in client.gather(client.compute(looks)) if part is not None]
    if not found:
        raise ValueError("y has no rows; expected at least one query")
    ids, summaries = zip(*found, strict=True)
    summary, every = DataSummary.of_parts(summaries), np.unique(np.concatenate(ids))
    if "qid" in given and len(every) < summary.n_queries:
        raise ValueError(
            "qid has queries with rows in several partitions; expected whole queries in each, such "
            'as those of a data frame after frame.shuffle("qid")'
        )
    return summary, every


def _of_partition(
    limit: GradeLimit, y: Any, qid: Any = None, group: Any = None, sample_weight: Any = None
) -> tuple[Array, DataSummary] | None:
    """Return query ids and summary of one partition; None if it has no rows."""
    if len(y) == 0:
        return None
    if qid is None:
        qid = ids_of_groups(group, len(y), "group", "y")
    data = judged(
        y,
        qid,
        sample_weight=sample_weight,
        limit=limit,
        names=("y", "qid", "sample_weight"),
        real=True,
    )
    return np.asarray(data.queries.ids), data.summary


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
