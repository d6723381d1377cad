"""Choice of worker and task for each query, from y, qid and weights, before X is read."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from dask.distributed import Future, futures_of

from gapboost._boosters.request import TrainingRequest
from gapboost._boosters.task import Task, make_task
from gapboost._data.grades import check_highest
from gapboost._kernels import Array
from gapboost.dask.collections import Collections, flat_partitions, partition_keys
from gapboost.dask.layout import DataLayout, layout_of, partition_workers, query_workers
from gapboost.dask.session import Session
from gapboost.dask.shards import survey


@dataclass(frozen=True, eq=False)
class SurveyedSet:
    """A data set whose queries are counted.

    Attributes
    ----------
    given : Collections
    y, qid, weight, start, position : list of Future
        The partitions, in memory. Of the last three, None for each where there are none, and of
        weights that are constant in every query.
    layout : DataLayout
    """

    given: Collections
    y: list[Future]
    qid: list[Future]
    weight: list[Future | None]
    start: list[Future | None]
    position: list[Future | None]
    layout: DataLayout

    @property
    def columns(self) -> list[list[Future | None]]:
        """All that is in memory."""
        return [[*self.y], [*self.qid], self.weight, self.start, self.position]


@dataclass(frozen=True, eq=False)
class Plan:
    """Workers, the queries of each, and the task.

    Attributes
    ----------
    workers : list of str
        By rank; each has at least one training row.
    sets : list of SurveyedSet
        The training set, then the evaluation sets that are not the training set.
    query_workers : list of int64 ndarrays of shape (Q,)
        Of each set: the rank of each query's worker.
    evals : list of int
        The number of each evaluation set among `sets`; 0 for one that is the training set.
    task : Task
    """

    workers: list[str]
    sets: list[SurveyedSet]
    query_workers: list[Array]
    evals: list[int]
    task: Task


def make_plan(
    session: Session,
    train_set: Collections,
    eval_sets: Sequence[Collections],
    request: TrainingRequest,
) -> Plan:
    """Plan a fit; arguments as in `gapboost.dask.fit.fit_on_cluster`.

    Raises
    ------
    ValueError, TypeError
        If something else than X is unusable in a set.
    """
    # `eval_sets` already hold the metadata of the training set where they inherit it.
    same = [one.is_training_set(train_set, inherits=False) for one in eval_sets]
    given = [train_set, *itertools.compress(eval_sets, np.logical_not(same))]
    numbers = [
        0 if is_train else given.index(one) for one, is_train in zip(eval_sets, same, strict=True)
    ]
    sets = _surveyed(session, given)
    train, rest = sets[0], sets[1:]
    name, summary = train_set.names.y, train.layout.summary
    summary.check_grades(name, request.limit)
    task = make_task(request, summary, name)
    for one, number in zip(eval_sets, numbers, strict=True):
        found = sets[number].layout.summary
        if number == 0:
            check_highest(found.grades[-1], one.names.y, task.limit)
        else:
            found.check_grades(one.names.y, task.limit)
    # Boosters cannot use a worker that has no training row, so only the others take part.
    used, train_owners = np.unique(
        _query_workers(session, train, session.workers), return_inverse=True
    )
    workers = [session.workers[w] for w in used.tolist()]
    session.needed = set(workers)
    all_owners = [train_owners, *(_query_workers(session, one, workers) for one in rest)]
    return Plan(workers, sets, all_owners, numbers, task)


def _surveyed(session: Session, sets: Sequence[Collections]) -> list[SurveyedSet]:
    """Count the queries of each set; its columns then stay in memory until they are cut."""
    columns = [_columns(session, given) for given in sets]
    surveys = [
        [
            session.submit(survey, *row, given.named(p)[1:6])
            for p, row in enumerate(zip(*of_set, strict=True))
        ]
        for given, of_set in zip(sets, columns, strict=True)
    ]
    # All partitions of all sets are surveyed before the first layout.
    session.results(list(itertools.chain(*surveys)))
    counted = []
    for given, (y, qid, weight, start, position), futures in zip(
        sets, columns, surveys, strict=True
    ):
        found = layout_of(session.results(futures), given.names[1:6])
        session.release(futures)
        if not found.varied:
            session.release(weight)
            weight = [None] * given.n_partitions
        counted.append(SurveyedSet(given, y, qid, weight, start, position, found))
    return counted


def _columns(session: Session, given: Collections) -> list[list[Any]]:
    """Return the partitions of y, qid, weight, start and position; None for missing ones."""
    return [
        [None] * given.n_partitions if column is None else session.compute(flat_partitions(column))
        for column in (given.y, given.qid, given.weight, given.start, given.position)
    ]


def _query_workers(session: Session, counted: SurveyedSet, workers: list[str]) -> Array:
    """The rank of the worker of each query."""
    found, X = counted.layout, counted.given.X
    futures = futures_of(X)
    where = session.client.who_has(futures) if futures else {}
    ranks = {worker: rank for rank, worker in enumerate(workers)}
    holders = [
        next((ranks[w] for w in where.get(key, ()) if w in ranks), None)
        for key in partition_keys(X)
    ]
    documents = np.bincount(found.partition, found.size, minlength=found.n_partitions).astype(
        np.int64
    )
    return query_workers(found, partition_workers(documents, holders, len(workers)), len(workers))
