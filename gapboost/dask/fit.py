"""One fit on a cluster, from checked collections to a trained model: plan, place the rows, launch the training, reconcile."""

import copy
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any

from gapboost._boosters.ranker import GAPRanker
from gapboost._boosters.stopping import stopping_name
from gapboost.dask.child import Job, Report
from gapboost.dask.collections import Collections
from gapboost.dask.exchange import Exchange
from gapboost.dask.layout import Census
from gapboost.dask.place import place_rows
from gapboost.dask.plan import Plan, make_plan
from gapboost.dask.session import Session
from gapboost.dask.training import open_hub, train
from gapboost.measures import Measure
from gapboost.objectives import Objective

Ring = Callable[[Exchange, str], AbstractContextManager[dict[str, Any]]]


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
        One that consists of `train_set` is not surveyed and placed again.
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
    plan = make_plan(session, train_set, eval_sets, requested, others)
    stopping_name(ranker.stopping_metric, [plan.objective.measure, *plan.others])
    files = place_rows(session, plan)
    reports = _launch(session, plan, files, ranker, ring, arguments)
    census = plan.sets[0].census
    _reconcile(reports, census)
    return reports[0], plan.objective, census


def _launch(
    session: Session,
    plan: Plan,
    files: list[list[Any]],
    ranker: GAPRanker,
    ring: Ring,
    arguments: dict[str, Any],
) -> list[Report]:
    """Train on every worker of the plan."""
    hub = None
    if len(plan.workers) > 1:
        hub = session.results([session.submit(open_hub, session.fit, len(plan.workers), worker=plan.workers[0])])[0]
    futures = []
    for rank, worker in enumerate(plan.workers):
        n_threads = _threads(ranker.n_jobs, session.threads[worker])
        own = copy.copy(ranker)
        own.n_jobs = n_threads
        job = Job(
            ranker=own,
            objective=plan.objective,
            others=plan.others,
            rows=files[0][rank],
            evals=[files[i][rank] for i in plan.evals],
            arguments=arguments,
            ring=ring,
            hub=hub,
            rank=rank,
        )
        futures.append(session.submit(train, session.fit, job, n_threads, worker=worker))
    return session.results(futures)


def _threads(asked: int | None, at_most: int) -> int:
    return at_most if asked is None or asked <= 0 else min(asked, at_most)


def _reconcile(reports: list[Report], census: Census) -> None:
    """Raise RuntimeError unless the workers trained on every query and document, and agree on the best iteration."""
    trained = sum(r.n_queries for r in reports), sum(r.n_rows for r in reports)
    if trained != (len(census.sizes), census.n_rows) or len({r.best_iteration for r in reports}) > 1:
        raise RuntimeError(
            f"the workers report (queries, documents, best iteration) {[r[1:4] for r in reports]} for "
            f"{len(census.sizes)} queries and {census.n_rows} documents; expected sums and one best iteration"
        )
