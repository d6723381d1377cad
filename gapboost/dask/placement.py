"""Transfer of the rows to the workers of a plan.

Each partition is computed once and cut into one shard for each worker that gets some of its rows.
"""

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
from dask.distributed import Future

from gapboost._data.features import feature_names
from gapboost._kernels import Array
from gapboost.dask.collections import partitions
from gapboost.dask.columns import Columns, categories_of, width_of
from gapboost.dask.plan import Plan, SurveyedSet
from gapboost.dask.session import Session
from gapboost.dask.shards import assemble, make_shard
from gapboost.dask.training import files_of_rows


def place_rows(session: Session, plan: Plan) -> list[list[Any]]:
    """Write the rows of each data set to one file per worker; return the paths.

    The path is None for a worker that has none of the queries.
    """
    n_sets = len(plan.sets)
    tasks = [
        session.submit(files_of_rows, session.fit, rank, n_sets, worker=worker)
        for rank, worker in enumerate(plan.workers)
    ]
    paths = zip(*session.results(tasks), strict=True)
    placed: list[list[Future | None]] = []
    width = 0
    for i, (counted, owner, of_set) in enumerate(
        zip(plan.sets, plan.query_workers, paths, strict=True)
    ):
        X = _computed_where_most_stays(session, counted, owner, plan.workers)
        width = width or _width(session, counted.given.X, X)
        placed.append(_assembled(session, plan, i, X, width, of_set))
    return [session.results(files) for files in placed]


def _assembled(
    session: Session, plan: Plan, i: int, X: dict[int, Future], width: int, paths: Sequence[str]
) -> list[Future | None]:
    """Return the futures of `place_rows` for data set `i`; `X` has `width` columns."""
    counted, owner = plan.sets[i], plan.query_workers[i]
    shards = _shards(session, counted, owner, X, len(plan.workers), width)
    files: list[Future | None] = []
    for rank, (worker, path) in enumerate(zip(plan.workers, paths, strict=True)):
        arguments = (
            counted.layout.share(owner, rank),
            counted.given.weight is not None,
            plan.task.limit,
            path,
        )
        files.append(
            session.submit(assemble, shards[rank], *arguments, worker=worker)
            if shards[rank]
            else None
        )
    # Once the files are written, nothing else of the data is needed.
    session.release(
        [
            *X.values(),
            *itertools.chain(*shards),
            *(future for column in counted.columns for future in column),
        ]
    )
    return files


def _computed_where_most_stays(
    session: Session, counted: SurveyedSet, owner: Array, workers: list[str]
) -> dict[int, Future]:
    """Return the partitions of X with rows, by number, each on the worker with most of them."""
    delayed = partitions(counted.given.X)
    rows = counted.layout.rows_by_worker(owner, len(workers))
    busiest = np.where(rows.any(axis=1), np.argmax(rows, axis=1), -1)
    X: dict[int, Future] = {}
    for rank, worker in enumerate(workers):
        near = np.flatnonzero(busiest == rank).tolist()
        X.update(zip(near, session.compute([delayed[p] for p in near], worker), strict=True))
    return X


def _width(session: Session, X: Any, futures: dict[int, Future]) -> int:
    """Return the number of columns of X, from its first partition if Dask does not know it."""
    width: float = X.shape[1]
    if np.isnan(width):
        width = session.results([session.submit(width_of, futures[min(futures)])])[0]
    return int(width)


def _shards(
    session: Session,
    counted: SurveyedSet,
    owner: Array,
    X: dict[int, Future],
    n_workers: int,
    width: int,
) -> list[list[Future]]:
    """Cut the partitions into shards; return those of each worker, in the order of partitions."""
    given = counted.given
    columns = Columns(width, feature_names(given.X), categories_of(given.X), given.names.X)
    shards: list[list[Future]] = [[] for _ in range(n_workers)]
    for p, known in enumerate(counted.layout.by_partition()):
        ranks = np.unique(owner[known.codes]).tolist()
        for rank in ranks:
            kept = None if len(ranks) == 1 else owner[known.codes] == rank
            inputs = (
                X[p],
                counted.y[p],
                counted.qid[p],
                counted.weight[p],
                counted.start[p],
                counted.position[p],
            )
            shards[rank].append(
                session.submit(make_shard, *inputs, known, kept, given.named(p)[:2], columns)
            )
    return shards
