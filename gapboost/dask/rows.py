"""Dask collections: what a fit has to know of all rows before the workers train."""

from typing import Any

import numpy as np
from dask import delayed
from dask.base import is_dask_collection

from gapboost._data.grades import GradeLimit
from gapboost._data.judged import DataSummary, judged
from gapboost._kernels import Array


def survey(client: Any, limit: GradeLimit, **columns: Any) -> tuple[DataSummary, Array]:
    """Check all rows but their features; return their summary and the query ids, ascending.

    Parameters
    ----------
    client : distributed.Client
    limit : GradeLimit
        Grades for which all measures are defined.
    **columns : Dask array or series, or None
        ``y``, ``qid`` and ``sample_weight``.

    Raises
    ------
    TypeError
        If a column is no Dask collection.
    ValueError
        If a value is unusable, or partitions differ in number or cut queries.
    """
    parts = {}
    for name, values in columns.items():
        if values is None and name == "sample_weight":
            continue
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
    if len(every) < summary.n_queries:
        raise ValueError(
            "qid has queries with rows in several partitions; expected whole queries in each, such "
            'as those of a data frame after frame.shuffle("qid")'
        )
    return summary, every


def _of_partition(
    limit: GradeLimit, y: Any, qid: Any, sample_weight: Any = None
) -> tuple[Array, DataSummary] | None:
    """Return query ids and summary of one partition; None if it has no rows."""
    if len(y) == 0:
        return None
    names = ("y", "qid", "sample_weight")
    data = judged(y, qid, sample_weight=sample_weight, limit=limit, names=names, real=True)
    return np.asarray(data.queries.ids), data.summary
