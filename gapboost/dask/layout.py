"""Choice of a worker for each query, from plain arrays.

First each partition goes to a worker, balanced by documents. A query stays with the worker that
then has all of its rows. A query whose rows are with several workers goes as a whole to the worker
with the fewest documents. Where a worker has too many documents because of whole partitions, its
queries are dealt to all workers too. If partitions cut no query and can be balanced, no row leaves
its partition.
"""

import heapq
import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from gapboost._data.ids import objects
from gapboost._data.judged import Whole
from gapboost._data.positions import positions
from gapboost._data.queries import grouped_rows
from gapboost._data.summary import DataSummary
from gapboost._data.weights import check_total_weight
from gapboost._kernels import Array

# A worker may have this many times its fair share of documents; with more, queries are taken out of
# its partitions. Every round of boosting waits for the worker with the most documents.
LIMIT = 1.25


@dataclass(frozen=True, eq=False)
class Survey:
    """The queries of one partition.

    Attributes
    ----------
    ids : ndarray of shape (Q,)
        In the order in which they first occur in the partition.
    sizes : int64 ndarray of shape (Q,)
        Rows that the partition has of each.
    lowest, highest : ndarrays of shape (Q,)
        Their grades.
    grades : ndarray
        The distinct grades.
    weights : float64 ndarray of shape (3, Q) or None
        The least, the largest and the sum of those of its rows.
    positions : list or None
        The distinct positions, in the order in which they first occur in the partition.
    """

    ids: Array
    sizes: Array
    lowest: Array
    highest: Array
    grades: Array
    weights: Array | None
    positions: list[Any] | None = None


class WorkerQueries(NamedTuple):
    """The queries of one worker.

    Attributes
    ----------
    numbers : int64 ndarray of shape (Q,)
        Their numbers in the data set, ascending.
    weights : float64 ndarray of shape (Q,)
    varied : bool
        True if weights differ within any query of the whole data set.
    whole : Whole
    positions : list or None
        The distinct positions of the whole.
    """

    numbers: Array
    weights: Array
    varied: bool
    whole: Whole
    positions: list[Any] | None = None


class PartitionLayout(NamedTuple):
    """Queries and positions of one partition, by their numbers in the whole data set.

    Attributes
    ----------
    codes, sizes : int64 ndarrays of shape (Q,)
        Number of each of its queries in the data set, and rows of the query in the partition.
    places : int64 ndarray of shape (P,) or None
        Number of each of its distinct positions in the data set.
    """

    codes: Array
    sizes: Array
    places: Array | None


@dataclass(frozen=True, eq=False)
class DataLayout:
    """All queries of a data set, by the surveys of its partitions.

    An entry is a query in a partition.

    Attributes
    ----------
    partition, code, size : int64 ndarrays of shape (E,)
        Which partition and query each entry is of, and how many rows it has; queries are counted in
        the order in which they first occur, as a local ranker sees them.
    n_partitions : int
    sizes : int64 ndarray of shape (Q,)
        Documents of each query.
    weights : float64 ndarray of shape (Q,)
        Mean over the documents of each query.
    varied : bool
        True if weights differ within any query.
    occurring : ndarray
        The distinct grades, ascending.
    n_contrasts : int
        Queries that hold two different grades.
    positions : list or None
        The distinct positions.
    places : list of (int64 ndarray or None)
        `PartitionLayout.places` of each partition.
    """

    partition: Array
    code: Array
    size: Array
    n_partitions: int
    sizes: Array
    weights: Array
    varied: bool
    occurring: Array
    n_contrasts: int
    positions: list[Any] | None
    places: Sequence[Array | None]

    @property
    def begins(self) -> Array:
        """First row of each query in the grouped order of the data set, int64 of shape (Q,)."""
        return np.cumsum(self.sizes) - self.sizes

    @property
    def summary(self) -> DataSummary:
        """Counts and grades, for a fit."""
        return DataSummary(
            n_rows=self.n_rows,
            n_queries=len(self.sizes),
            n_contrasts=self.n_contrasts,
            weighted_size=float(self.weights @ self.sizes / self.weights.sum()),
            grades=tuple(self.occurring.tolist()),
            n_grades=len(self.occurring),
        )

    @property
    def n_rows(self) -> int:
        """Documents."""
        return int(self.sizes.sum())

    def by_partition(self) -> list[PartitionLayout]:
        """Return the layout of each partition."""
        edges = np.searchsorted(self.partition, np.arange(self.n_partitions + 1)).tolist()
        entries = [slice(first, last) for first, last in itertools.pairwise(edges)]
        return [
            PartitionLayout(self.code[here], self.size[here], places)
            for here, places in zip(entries, self.places, strict=True)
        ]

    def rows_by_worker(self, owner: Array, n_workers: int) -> Array:
        """Count the rows of each partition for each worker, int64 of shape (P, n_workers)."""
        cells = self.partition * n_workers + owner[self.code]
        counts = np.bincount(cells, self.size, minlength=self.n_partitions * n_workers)
        return counts.astype(np.int64).reshape(self.n_partitions, n_workers)

    def share(self, owner: Array, rank: int) -> WorkerQueries:
        """The queries that the worker of this rank owns."""
        own = np.flatnonzero(owner == rank)
        whole = Whole(self.begins[own], self.summary)
        return WorkerQueries(own, self.weights[own], self.varied, whole, self.positions)


def layout_of(surveys: Sequence[Survey], names: Sequence[str]) -> DataLayout:
    """Join the surveys of all partitions; `names` are the caller's argument names.

    Raises
    ------
    ValueError
        If there are no rows, no weight is positive, or positions of two partitions are equal but
        of different types.
    """
    ids = joined_ids([s.ids for s in surveys if len(s.ids)])
    if not len(ids):
        raise ValueError(f"{names[0]} is empty; expected at least one document")
    queries = grouped_rows(ids, len(ids), names[1], names[1])
    code = queries.codes
    size = np.concatenate([s.sizes for s in surveys])
    sizes = np.bincount(code, size).astype(np.int64)
    lowest, highest = np.full(len(queries), np.inf), np.zeros(len(queries))
    np.minimum.at(lowest, code, np.concatenate([s.lowest for s in surveys]))
    np.maximum.at(highest, code, np.concatenate([s.highest for s in surveys]))
    weights, varied = np.ones(len(queries)), False
    parts = [s.weights for s in surveys if s.weights is not None]
    if parts:
        least, largest, total = np.concatenate(parts, axis=1)
        lightest, heaviest = np.full(len(queries), np.inf), np.zeros(len(queries))
        np.minimum.at(lightest, code, least)
        np.maximum.at(heaviest, code, largest)
        varied = bool((lightest != heaviest).any())
        weights = np.where(lightest == heaviest, lightest, np.bincount(code, total) / sizes)
        check_total_weight(weights, names[2])
    shown, places = _places(surveys, names)
    return DataLayout(
        partition=np.repeat(np.arange(len(surveys)), [len(s.ids) for s in surveys]),
        code=code,
        size=size,
        n_partitions=len(surveys),
        sizes=sizes,
        weights=weights,
        varied=varied,
        occurring=np.unique(np.concatenate([s.grades for s in surveys])),
        n_contrasts=int(np.count_nonzero(lowest != highest)),
        positions=shown,
        places=places,
    )


def _places(
    surveys: Sequence[Survey], names: Sequence[str]
) -> tuple[list[Any] | None, Sequence[Array | None]]:
    """The distinct positions, and the numbers that those of each partition have among them."""
    parts = [s.positions for s in surveys if s.positions is not None]
    if not parts:
        return None, [None] * len(surveys)
    joined = list(itertools.chain(*parts))
    found = positions(joined, len(joined), names[4], names[4])
    return found.ids, np.split(found.codes, np.cumsum([len(part) for part in parts])[:-1])


def joined_ids(parts: list[Array]) -> Array:
    """Concatenate the query ids of several partitions, with every value and its type."""
    kinds = {part.dtype for part in parts}
    # numpy joins signed and unsigned integers as floats, and numbers and strings as strings;
    # distinct ids would become equal.
    if len(kinds) > 1 and {kind.kind for kind in kinds} - {"U"}:
        parts = [objects(part) for part in parts]
    return np.concatenate(parts) if parts else np.empty(0)


def partition_workers(sizes: Array, holders: Sequence[int | None], n_workers: int) -> Array:
    """Choose a worker for each partition, balanced by documents.

    A partition in a worker's memory stays there if the balance allows it.

    Parameters
    ----------
    sizes : int64 ndarray of shape (P,)
        Documents of each partition.
    holders : sequence of P (int or None)
        The worker that has the partition in memory.
    n_workers : int

    Returns
    -------
    home : int64 ndarray of shape (P,)
    """
    home = np.zeros(len(sizes), dtype=np.int64)
    loads = np.zeros(n_workers)
    share = sizes.sum() / n_workers
    for p in np.argsort(-sizes, kind="stable").tolist():
        holder = holders[p]
        stays = holder is not None and loads[holder] + sizes[p] <= max(share, sizes[p])
        home[p] = holder if stays else int(np.argmin(loads))
        loads[home[p]] += sizes[p]
    return home


def query_workers(layout: DataLayout, home: Array, n_workers: int) -> Array:
    """The worker of each query, int64 of shape (Q,); `home` is the worker of each partition."""
    entry_home = home[layout.partition]
    owner = np.zeros(len(layout.sizes), dtype=np.int64)
    owner[layout.code] = entry_home
    dealt = np.zeros(len(layout.sizes), dtype=bool)
    dealt[layout.code[owner[layout.code] != entry_home]] = True
    limit = LIMIT * layout.n_rows / n_workers
    while True:
        loads = np.bincount(owner[~dealt], layout.sizes[~dealt], minlength=n_workers)
        _distribute(owner, np.flatnonzero(dealt), layout.sizes, loads)
        loads = np.bincount(owner, layout.sizes, minlength=n_workers)
        busiest = int(np.argmax(loads))
        more = ~dealt & (owner == busiest)
        if loads[busiest] <= limit or not more.any():
            break
        dealt |= more
    # LightGBM does not train on a single row. It goes to the worker that has the fewest rows among
    # those with several; where no worker has several, all single rows go to one worker.
    single = np.flatnonzero(loads == 1)
    if len(single):
        several = np.where(loads > 1, loads, np.iinfo(np.int64).max)
        owner[np.isin(owner, single)] = np.argmin(several) if (loads > 1).any() else single[0]
    return owner


def _distribute(owner: Array, dealt: Array, sizes: Array, loads: Array) -> None:
    """Give each of the queries `dealt`, longest first, to the worker with fewest documents."""
    heap = [(load, worker) for worker, load in enumerate(loads.tolist())]
    heapq.heapify(heap)
    for q in dealt[np.argsort(-sizes[dealt], kind="stable")].tolist():
        load, worker = heap[0]
        owner[q] = worker
        heapq.heapreplace(heap, (load + int(sizes[q]), worker))
