"""New columns, on several threads: each task computes some columns for a chunk of queries."""

from collections.abc import Sequence

import numpy as np

from gapboost._data.queries import Queries
from gapboost._kernels import Array
from gapboost._kernels.parallel.chunks import chunks, run
from gapboost._kernels.query_relative import IN_ORDER, percentile_ranks, sorting_for, zscores

# Columns of one task: a cache line of a row or two. One long list has several tasks too.
COLUMNS_AT_ONCE = 16


def write_features(
    values: Array,
    n_columns: int,
    queries: Queries,
    kinds: Sequence[str],
    output: Array,
    first: int,
    n_jobs: int,
) -> bool:
    """Write a column for each kind and column of `values` to `output`, all of a kind together.

    Parameters
    ----------
    values : float32 or float64 ndarray of shape (N, at least n_columns)
    n_columns : int
        The first so many columns of `values` are read.
    queries : Queries
    kinds : sequence of {"zscore", "rank"}
    output : ndarray of shape (N, first + len(kinds) * n_columns)
        Of the dtype of `values`; may be `values` itself.
    first : int
        The first column of `output` that is written.
    n_jobs : int
        Number of threads.

    Returns
    -------
    bool
        True if the columns hold an infinite value; `output` is then unusable.
    """
    rows = IN_ORDER if queries.rows is None else queries.rows
    tasks = [
        (kind, part, source, first + number * n_columns + source)
        for number, kind in enumerate(kinds)
        for part in chunks(queries.offsets, n_jobs, 0)
        for source in range(0, n_columns, COLUMNS_AT_ONCE)
    ]
    infinite = np.zeros(len(tasks), dtype=bool)

    def compute(task: int) -> None:
        kind, (begin, end), source, target = tasks[task]
        offsets = queries.offsets[begin : end + 1]
        n = min(COLUMNS_AT_ONCE, n_columns - source)
        longest = int(np.diff(offsets).max())
        given = (values, source, n, rows, offsets, output, target, np.empty(longest))
        infinite[task] = (
            zscores(*given) if kind == "zscore" else percentile_ranks(*given, sorting_for(longest))
        )

    run(compute, len(tasks), n_jobs)
    return bool(infinite.any())
