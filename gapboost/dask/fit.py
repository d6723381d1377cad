"""One fit on a cluster, from checked collections to a trained model."""

import copy
import itertools
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

import numpy as np
from dask.distributed import Future, futures_of

from gapboost.callbacks import no_contrast
from gapboost.dask.child import Job, Report
from gapboost.dask.collections import Collections, partition_keys, partitions
from gapboost.dask.exchange import Exchange
from gapboost.dask.layout import Census, census, homes, owners
from gapboost.dask.pieces import assemble, piece, survey
from gapboost.dask.session import Session
from gapboost.dask.training import open_hub, room, train
from gapboost.measures import Measure
from gapboost.measures.measure import known_grades
from gapboost.objectives import Objective
from gapboost.queries import Array, Whole, check_highest
from gapboost.ranker import GAPRanker

Ring = Callable[[Exchange, int, int, str], AbstractContextManager[dict[str, Any]]]


@dataclass(frozen=True, eq=False)
class Counted:
    """A data set whose queries are counted.

    Attributes
    ----------
    given : Collections
    y, qid, start : list of Future
        The partitions, in memory. Of `start`, None for each where there is none.
    census : Census
    """

    given: Collections
    y: list[Future]
    qid: list[Future]
    start: list[Future | None]
    census: Census


def fit_on_cluster(
    session: Session,
    train_set: Collections,
    eval_sets: Sequence[Collections],
    ranker: GAPRanker,
    requested: Objective,
    others: Sequence[Measure],
    ring: Ring,
    arguments: dict[str, Any],
) -> tuple[Report, Objective, Census]:
    """Train `ranker` on the cluster.

    Parameters
    ----------
    session : Session
        Entered.
    train_set : Collections
    eval_sets : sequence of Collections
        `train_set` itself stands for an evaluation set that is the training set.
    ranker : GAPRanker
        The local ranker, not fitted.
    requested : Objective
        g perhaps still open.
    others : sequence of Measure
        Reported beside its measure, g perhaps still open.
    ring, arguments
        As in `Job`.

    Returns
    -------
    report : Report
        With the fitted local ranker.
    objective : Objective
        With g filled in.
    census : Census
        Of the training set.
    """
    sets = [train_set, *(given for given in eval_sets if given is not train_set)]
    counted = dict(zip(sets, _counted(session, sets), strict=True))
    found = counted[train_set].census
    name = train_set.names[1]
    check_highest(found.occurring[-1], name, known_grades([requested.measure]))
    if found.n_contrasts == 0:
        raise no_contrast(name, len(found.sizes), found.n_rows, found.occurring)
    objective = requested.resolved(found.occurring)
    reported = [m for m in (other.resolved(found.occurring) for other in others) if m != objective.measure]
    known = known_grades([objective.measure, *reported])
    for i, given in enumerate(eval_sets):
        name = f"eval_set[{i}] y" if given is train_set else given.names[1]
        check_highest(counted[given].census.occurring[-1], name, known)
    # Whoever has no training row takes no part: boosters have no use for it.
    owner = _owners(session, counted[train_set], session.workers)
    used, owner = np.unique(owner, return_inverse=True)
    workers = [session.workers[w] for w in used.tolist()]
    session.needed = set(workers)
    owner_of = {given: _owners(session, counted[given], workers) for given in sets[1:]} | {train_set: owner}
    rooms = session.results([session.submit(room, session.fit, r, worker=w) for r, w in enumerate(workers)])
    placed = []
    for i, (given, owner) in enumerate(owner_of.items()):
        paths = [str(PurePath(place, f"rows-{i}")) for place in rooms]
        placed.append(_assembled(session, counted.pop(given), owner, workers, known, paths))
    files = [session.results(futures) for futures in placed]
    files_of = dict(zip(owner_of, files, strict=True))
    hub = None
    if len(workers) > 1:
        hub = session.results([session.submit(open_hub, session.fit, len(workers), worker=workers[0])])[0]
    futures = []
    for rank, worker in enumerate(workers):
        threads = session.threads[worker]
        own = copy.copy(ranker)
        asked: int | None = own.n_jobs
        own.n_jobs = threads if asked is None or asked <= 0 else min(asked, threads)
        job = Job(
            ranker=own,
            objective=objective,
            others=reported,
            rows=files_of[train_set][rank],
            evals=[files_of[given][rank] for given in eval_sets],
            arguments=arguments,
            ring=ring,
            hub=hub,
            rank=rank,
            n_peers=len(workers),
            host="",
        )
        futures.append(session.submit(train, session.fit, job, own.n_jobs, worker=worker))
    reports: list[Report] = session.results(futures)
    trained = sum(r.n_queries for r in reports), sum(r.n_rows for r in reports)
    if trained != (len(found.sizes), found.n_rows) or len({r.best_iteration for r in reports}) > 1:
        raise RuntimeError(
            f"the workers report (queries, documents, best iteration) {[r[1:] for r in reports]} for "
            f"{len(found.sizes)} queries and {found.n_rows} documents; expected sums and one best iteration"
        )
    return reports[0], objective, found


def _counted(session: Session, sets: Sequence[Collections]) -> list[Counted]:
    """Look at everything but X; what is looked at stays in memory until it is cut up."""
    vectors = [
        [session.compute(partitions(v)) if v is not None else None for v in (s.y, s.qid, s.weight, s.start)]
        for s in sets
    ]
    surveys = []
    for given, columns in zip(sets, vectors, strict=True):
        rows = zip(*(c or [None] * given.n_partitions for c in columns), strict=True)
        surveys.append([session.submit(survey, *row, given.named(p)[1:]) for p, row in enumerate(rows)])
    session.results([future for futures in surveys for future in futures])
    counted = []
    for given, (y, qid, _, start), futures in zip(sets, vectors, surveys, strict=True):
        found = census(session.results(futures), (given.names[1], given.names[2], given.names[3]))
        counted.append(Counted(given, y or [], qid or [], start or [None] * given.n_partitions, found))
    return counted


def _owners(session: Session, counted: Counted, workers: list[str]) -> Array:
    """The rank of the worker of each query."""
    found, X = counted.census, counted.given.X
    futures = futures_of(X)
    where = session.client.who_has(futures) if futures else {}
    ranks = {worker: rank for rank, worker in enumerate(workers)}
    holders = [next((ranks[w] for w in where.get(key, ()) if w in ranks), None) for key in partition_keys(X)]
    documents = np.bincount(found.partition, found.size, minlength=found.n_partitions).astype(np.int64)
    return owners(found, homes(documents, holders, len(workers)), len(workers))


def _assembled(
    session: Session,
    counted: Counted,
    owner: Array,
    workers: list[str],
    known: tuple[int, str] | None,
    paths: list[str],
) -> list[Future | None]:
    """A file with its rows on every worker; None for a worker that has none of the queries."""
    given, found = counted.given, counted.census
    edges = np.searchsorted(found.partition, np.arange(found.n_partitions + 1)).tolist()
    to = [np.unique(owner[found.code[a:b]]).tolist() for a, b in itertools.pairwise(edges)]
    # Each partition is computed where most of its rows stay.
    X: dict[int, Future] = {}
    delayed = partitions(given.X)
    for rank, worker in enumerate(workers):
        near = [p for p, ranks in enumerate(to) if ranks and _busiest(owner, found, edges[p], edges[p + 1]) == rank]
        X.update(zip(near, session.compute([delayed[p] for p in near], worker), strict=True))
    pieces: list[list[Future]] = [[] for _ in workers]
    for p, (a, b) in enumerate(itertools.pairwise(edges)):
        code, size, names = found.code[a:b], found.size[a:b], given.named(p)
        for rank in to[p]:
            kept = None if len(to[p]) == 1 else owner[code] == rank
            inputs = X[p], counted.y[p], counted.qid[p], counted.start[p]
            pieces[rank].append(session.submit(piece, *inputs, code, size, kept, names[:2]))
    weighted_size = float(found.weights @ found.sizes / found.weights.sum())
    files: list[Future | None] = []
    for rank, worker in enumerate(workers):
        own = np.flatnonzero(owner == rank)
        if not len(own):
            files.append(None)
            continue
        whole = Whole(found.begins[own], found.n_rows, len(found.sizes), weighted_size)
        weighted = given.weight is not None
        arguments = pieces[rank], own, found.weights[own], whole, weighted, known, paths[rank]
        files.append(session.submit(assemble, *arguments, worker=worker))
    # Only the files are to be left.
    starts = [future for future in counted.start if future is not None]
    session.release([*X.values(), *itertools.chain(*pieces), *counted.y, *counted.qid, *starts])
    return files


def _busiest(owner: Array, found: Census, first: int, last: int) -> int:
    return int(np.argmax(np.bincount(owner[found.code[first:last]], found.size[first:last])))
