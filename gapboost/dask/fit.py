"""One fit on a cluster: plan, place the rows, launch the training, reconcile."""

import copy
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any

from gapboost._boosters.ranker import GAPRanker
from gapboost._boosters.request import TrainingRequest
from gapboost._data.summary import DataSummary
from gapboost.dask.collections import Collections
from gapboost.dask.exchange import Exchange
from gapboost.dask.placement import place_rows
from gapboost.dask.plan import Plan, make_plan
from gapboost.dask.session import Session
from gapboost.dask.training import open_coordinator, train
from gapboost.dask.training_process import Job, WorkerResult

BoosterNetwork = Callable[[Exchange, str], AbstractContextManager[dict[str, Any]]]


def fit_on_cluster(
    session: Session,
    train_set: Collections,
    eval_sets: Sequence[Collections],
    ranker: GAPRanker,
    request: TrainingRequest,
    network: BoosterNetwork,
    of_booster: dict[str, Any],
) -> WorkerResult:
    """Train `ranker` on the cluster.

    Parameters
    ----------
    session : Session
        Entered.
    train_set : Collections
    eval_sets : sequence of Collections
        One that is the training set is not surveyed and placed again.
    ranker : GAPRanker
        The local ranker, not fitted.
    request : TrainingRequest
    network, of_booster
        As in `Job`.

    Returns
    -------
    WorkerResult
        With the fitted local ranker.
    """
    plan = make_plan(session, train_set, eval_sets, request)
    files = place_rows(session, plan)
    reports = _launch(session, plan, files, ranker, network, of_booster)
    _reconcile(reports, plan.task.summary)
    return reports[0]


def _launch(
    session: Session,
    plan: Plan,
    files: list[list[Any]],
    ranker: GAPRanker,
    network: BoosterNetwork,
    of_booster: dict[str, Any],
) -> list[WorkerResult]:
    """Train on every worker of the plan."""
    coordinator = None
    if len(plan.workers) > 1:
        coordinator = session.results(
            [
                session.submit(
                    open_coordinator, session.fit, len(plan.workers), worker=plan.workers[0]
                )
            ]
        )[0]
    futures = []
    for rank, worker in enumerate(plan.workers):
        n_threads = _threads(ranker.n_jobs, session.threads[worker])
        own = copy.copy(ranker)
        own.n_jobs = n_threads
        job = Job(
            ranker=own,
            task=replace(plan.task, request=plan.task.request.with_threads(n_threads)),
            rows=files[0][rank],
            evals=[files[i][rank] for i in plan.evals],
            of_booster=of_booster,
            network=network,
            coordinator=coordinator,
            rank=rank,
        )
        futures.append(session.submit(train, session.fit, job, n_threads, worker=worker))
    return session.results(futures)


def _threads(asked: int | None, at_most: int) -> int:
    return at_most if asked is None or asked <= 0 else min(asked, at_most)


def _reconcile(reports: list[WorkerResult], summary: DataSummary) -> None:
    """Raise RuntimeError unless workers trained on all rows, and agree on the best iteration."""
    trained = sum(r.n_queries for r in reports), sum(r.n_rows for r in reports)
    if (
        trained != (summary.n_queries, summary.n_rows)
        or len({r.best_iteration for r in reports}) > 1
    ):
        raise RuntimeError(
            f"the workers report (queries, documents, best iteration) {[r[1:4] for r in reports]} "
            f"for {summary.n_queries} queries and {summary.n_rows} documents; expected sums and "
            "one best iteration"
        )
