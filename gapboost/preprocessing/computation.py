"""New columns, on several threads: each task computes some columns for a chunk of queries."""

from collections.abc import Callable
from typing import Any

import numpy as np

from gapboost._data.queries import Queries
from gapboost._kernels import Array
from gapboost._kernels.parallel.chunks import chunks, run
from gapboost._kernels.query_relative import IN_ORDER, percentile_ranks, sorting_for, zscores

# Columns of one task: a cache line of a row or two. One long list has several tasks too.
BLOCK = 16


def write_features(
    values: Array, sources: Array, queries: Queries, kinds: tuple[str, ...], output: Array, first: int, n_jobs: int
) -> bool:
    """Write one column for each kind and source to `output`, from the column `first` on.

    Parameters
    ----------
    values : float ndarray of shape (N, n_columns)
    sources : int64 ndarray
        Columns of `values` to compute features of.
    queries : Queries
    kinds : tuple of str
    output : float ndarray of shape (N, n_outputs)
        May be `values` itself.
    first : int
    n_jobs : int
        Number of threads.

    Returns
    -------
    bool
        True if the sources hold an infinite value; `output` is then unusable.
    """
    rows = IN_ORDER if queries.rows is None else queries.rows
    parts = chunks(queries.offsets, n_jobs, 0)
    tasks = [
        (kind, part, begin, first + number * len(sources) + begin)
        for number, kind in enumerate(kinds)
        for part in parts
        for begin in range(0, len(sources), BLOCK)
    ]
    infinite = np.zeros(len(tasks), dtype=bool)

    def compute(task: int) -> None:
        kind, (begin, end), column, target = tasks[task]
        offsets = queries.offsets[begin : end + 1]
        infinite[task] = _KERNELS[kind](values, sources[column : column + BLOCK], rows, offsets, output, target)

    run(compute, len(tasks), n_jobs)
    return bool(infinite.any())


def _ranks(values: Array, sources: Array, rows: Array, offsets: Array, output: Array, first: int) -> bool:
    work = sorting_for(int(np.diff(offsets).max()))
    return percentile_ranks(values, sources, rows, offsets, output, first, work)


_KERNELS: dict[str, Callable[..., Any]] = {"zscore": zscores, "rank": _ranks}
