"""New columns, on several threads: each task computes some columns for a chunk of queries."""

import numpy as np

from gapboost._data.queries import Queries
from gapboost._kernels import Array
from gapboost._kernels.parallel.chunks import chunks, run
from gapboost._kernels.query_relative import IN_ORDER, percentile_ranks, sorting_for, zscores

# Columns of one task: a cache line of a row or two. One long list has several tasks too.
COLUMNS_AT_ONCE = 16


def write_features(
    values: Array,
    sources: Array,
    queries: Queries,
    kinds: tuple[str, ...],
    output: Array,
    first: int,
    n_jobs: int,
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
    tasks = [
        (kind, part, int(sources[begin]), end - begin, first + number * len(sources) + begin)
        for number, kind in enumerate(kinds)
        for part in chunks(queries.offsets, n_jobs, 0)
        for begin, end in _blocks(sources)
    ]
    infinite = np.zeros(len(tasks), dtype=bool)

    def compute(task: int) -> None:
        kind, (begin, end), source, n, target = tasks[task]
        offsets = queries.offsets[begin : end + 1]
        longest = int(np.diff(offsets).max())
        memory = (
            [np.empty(longest)] if kind == "zscore" else [np.empty(longest), sorting_for(longest)]
        )
        write_block = zscores if kind == "zscore" else percentile_ranks
        infinite[task] = write_block(values, source, n, rows, offsets, output, target, *memory)

    run(compute, len(tasks), n_jobs)
    return bool(infinite.any())


def _blocks(sources: Array) -> list[tuple[int, int]]:
    """Cut the sources into ranges of neighboring columns, at most `COLUMNS_AT_ONCE` of them."""
    ranges = np.split(np.arange(len(sources)), np.flatnonzero(np.diff(sources) != 1) + 1)
    cut = [
        block
        for columns in ranges
        for block in np.split(columns, range(COLUMNS_AT_ONCE, len(columns), COLUMNS_AT_ONCE))
    ]
    return [(int(block[0]), int(block[-1]) + 1) for block in cut if len(block)]
