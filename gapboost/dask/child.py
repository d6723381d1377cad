"""A training process: it trains one worker's part of a fit, and is gone with its worker and with any of its peers.

Boosters wait for their peers inside compiled code that nothing interrupts; a process can always be ended. After a fit that went
well it waits a while for the next one, since starting it takes seconds.
"""

import gc
import os
import queue
import sys
import threading
import time
import traceback
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import _safe_indexing

from gapboost.dask.exchange import Exchange, HubAddress, PeerLost
from gapboost.dask.storage import dump, load, load_rows
from gapboost.measures import Measure
from gapboost.objectives import Objective
from gapboost.queries import Queries
from gapboost.ranker import GAPRanker, RankingRows

# The exit status of a process whose peers are gone.
LOST = 75

# The exit status of a process that left an error.
FAILED = 1

# A booster may notice that a peer is gone before the exchange does; the exchange's word is the one that counts.
SETTLE_SECONDS = 1.0

# The exit status of one that had no work for so long.
IDLE, IDLE_SECONDS = 0, 60.0

JOB, RESULT = "job", "result"


@dataclass(frozen=True, eq=False)
class Job:
    """What one worker is to train.

    Attributes
    ----------
    ranker : GAPRanker
        The local ranker, not fitted, with the number of threads of the worker.
    objective : Objective
        With g filled in from all labels.
    others : list of Measure
        What to report beside its measure.
    rows : str
        File with the worker's `RankingRows`.
    evals : list of (str or None)
        Those of the evaluation sets: `rows` itself for the training set, None where the worker has none of the queries.
    arguments : dict
        What else `_fit_on` of the ranker takes.
    ring : callable
        ``ring(exchange, host)`` joins the booster's own network: a context with more arguments.
    hub : HubAddress or None
        None where the worker trains alone.
    rank : int
    host : str
        Under which the other workers reach this one.
    """

    ranker: GAPRanker
    objective: Objective
    others: list[Measure]
    rows: str
    evals: list[str | None]
    arguments: dict[str, Any]
    ring: Callable[[Exchange, str], AbstractContextManager[dict[str, Any]]]
    hub: HubAddress | None
    rank: int
    host: str


class Report(NamedTuple):
    """What one worker trained: the fitted local ranker from one of them, and what all must add up to and agree on."""

    ranker: Any
    n_queries: int
    n_rows: int
    best_iteration: int


def main() -> None:
    """Train the jobs in the directories that standard input names, one a line; leave reports and errors there."""
    rooms: queue.SimpleQueue[str] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(rooms,), daemon=True).start()
    while True:
        try:
            room = rooms.get(timeout=IDLE_SECONDS)
        except queue.Empty:
            os._exit(IDLE)
        work(Path(room))
        gc.collect()


def work(room: Path) -> None:
    """Train one job; after an error nobody knows the state of the booster's network, and the process ends."""
    try:
        dump(train(load(room / JOB)), room / RESULT)
    except PeerLost:
        _end_lost()
    except BaseException as error:
        time.sleep(SETTLE_SECONDS)
        error.add_note("In the training process:\n" + traceback.format_exc())
        dump(error, room / RESULT)
        os._exit(FAILED)
    sys.stdout.flush()


def train(job: Job) -> Report:
    """Train: the same model in every process of the fit."""
    if job.hub is None:
        return _fitted(job, None, {})
    exchange = Exchange(job.hub, job.rank, _end_lost)
    ring = job.ring(exchange, job.host)
    report = _fitted(job, exchange, ring.__enter__())
    exchange.finish()
    # No `with`: after an error the ring is not left but dropped with the process, once the error is on its way. The others
    # would report a broken network otherwise.
    ring.__exit__(None, None, None)
    return report


def _fitted(job: Job, exchange: Exchange | None, network: dict[str, Any]) -> Report:
    rows = load_rows(job.rows)
    evals = [rows if path == job.rows else stand_in(rows) if path is None else load_rows(path) for path in job.evals]
    ranker: Any = job.ranker
    total = None if exchange is None else exchange.total
    training = ranker._training(job.objective, rows, evals, job.others, ranker._least_hessian(), total)
    ranker._fit_on(training, **job.arguments, **network)
    return Report(ranker if job.rank == 0 else None, len(rows.sizes), len(rows.y), int(ranker.best_iteration_))


def stand_in(rows: RankingRows) -> RankingRows:
    """One training row of weight 0, for an evaluation set of which a worker has no query: boosters take no empty ones."""
    data = rows.data
    first = Queries(data.queries.ids[:1], np.array([0, 1], dtype=np.int64), None)
    one = replace(data, queries=first, grades=data.grades[:1], counts=data.counts[:1], weights=np.zeros(1), whole=None)
    return RankingRows(_safe_indexing(rows.X, [0]), one, None if rows.start is None else rows.start[:1], True)


def _listen(rooms: "queue.SimpleQueue[str]") -> None:
    for line in sys.stdin:
        rooms.put(line.rstrip("\n"))
    # The worker holds the other end of this pipe, and lets go of it however it ends.
    os._exit(LOST)


def _end_lost() -> None:
    os._exit(LOST)
