"""A training process: it trains one worker's part of a fit, and ends when its worker or any other process of the fit does.

Boosters wait for each other inside compiled code that nothing interrupts; a process can always be ended. Starting one takes
seconds, so after a fit without errors it waits a while for the next fit.
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
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from gapboost._boosters.ranker import GAPRanker
from gapboost._boosters.rows import stand_in
from gapboost._boosters.training import Task
from gapboost.dask.exchange import Exchange, HubAddress, PeerLost
from gapboost.dask.storage import dump, load, load_rows
from gapboost.measures import Measure
from gapboost.objectives import Objective

# The exit status of a process that ended because its worker or another process of the fit did.
LOST = 75

# The exit status of a process that wrote an error in place of a report.
FAILED = 1

# When another process is gone, the booster may raise an error of its network before the exchange notices the loss. The process
# waits so long before it reports an error: the exchange then ends it as lost, and the error of the network is not reported.
SETTLE_SECONDS = 1.0

# The exit status of a process that had no work for this time.
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
        Such files of the evaluation sets: `rows` itself for the training set, None where the worker has none of the queries.
    arguments : dict
        Further arguments of the ranker's `_boost`.
    ring : callable
        ``ring(exchange, host)`` joins the booster's own network: a context that gives further arguments.
    hub : HubAddress or None
        None where the worker trains alone.
    rank : int
    host : str
        The address under which the other workers reach this one. The worker fills it in.
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
    host: str = ""


class Report(NamedTuple):
    """What one worker trained.

    Attributes
    ----------
    ranker : GAPRanker or None
        The fitted local ranker, from the worker of rank 0 alone.
    n_queries, n_rows : int
        What the worker trained on.
    best_iteration : int
        The same for all workers.
    """

    ranker: Any
    n_queries: int
    n_rows: int
    best_iteration: int


def main() -> None:
    """Train the jobs in the folders that standard input names, one a line; write reports and errors there."""
    folders: queue.SimpleQueue[str] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(folders,), daemon=True).start()
    while True:
        try:
            folder = folders.get(timeout=IDLE_SECONDS)
        except queue.Empty:
            os._exit(IDLE)
        work(Path(folder))
        gc.collect()


def work(folder: Path) -> None:
    """Train one job. An error ends the process, since it leaves the booster's network in an unknown state."""
    try:
        dump(train(load(folder / JOB)), folder / RESULT)
    except PeerLost:
        _end_lost()
    except BaseException as error:
        time.sleep(SETTLE_SECONDS)
        error.add_note("In the training process:\n" + traceback.format_exc())
        dump(error, folder / RESULT)
        os._exit(FAILED)
    sys.stdout.flush()


def train(job: Job) -> Report:
    """Train the model, which comes out the same in every process of the fit."""
    if job.hub is None:
        return _fitted(job, None, {})
    exchange = Exchange(job.hub, job.rank, _end_lost)
    ring = job.ring(exchange, job.host)
    report = _fitted(job, exchange, ring.__enter__())
    exchange.finish()
    # There is no `with`, because it would leave the ring after an error too: the other processes would then report a broken
    # network before this one has reported the error. After an error the process ends, and the ring with it.
    ring.__exit__(None, None, None)
    return report


def _fitted(job: Job, exchange: Exchange | None, network: dict[str, Any]) -> Report:
    rows = load_rows(job.rows)
    evals = [rows if path == job.rows else stand_in(rows) if path is None else load_rows(path) for path in job.evals]
    ranker: Any = job.ranker
    total = None if exchange is None else exchange.total
    task = Task(job.objective, rows, evals, job.others)
    ranker._train(task, ranker._booster_parameters(), {**job.arguments, **network}, total)
    return Report(ranker if job.rank == 0 else None, len(rows.sizes), len(rows.y), int(ranker.best_iteration_))


def _listen(folders: "queue.SimpleQueue[str]") -> None:
    for line in sys.stdin:
        folders.put(line.rstrip("\n"))
    # The worker holds the other end of this pipe, which closes however the worker ends.
    os._exit(LOST)


def _end_lost() -> None:
    os._exit(LOST)
