"""Training process of one worker's part of a fit.

It ends when its worker or any other process of the fit ends.

Boosters wait for each other inside compiled code that nothing interrupts; a process can always be
ended. Starting one takes seconds, so after a fit without errors it waits a while for the next fit.
"""

import gc
import logging
import os
import queue
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from gapboost._boosters.ranker import GAPRanker
from gapboost._boosters.rows import stand_in
from gapboost._boosters.task import Task
from gapboost._boosters.training import prepare
from gapboost.dask.exchange import CoordinatorAddress, Exchange, PeerLost
from gapboost.dask.storage import dump, load, load_rows

# The exit status of a process that ended because its worker or another process of the fit did.
LOST = 75

# The exit status of a process that wrote an error in place of a report.
FAILED = 1

# When another process is gone, the booster may raise an error of its network before the exchange
# notices the loss. The process waits so long before it reports an error: the exchange then ends it
# as lost, and the error of the network is not reported.
SETTLE_SECONDS = 1.0

# The exit status of a process that has reported all its work: it had no more for this time, or
# could not leave the network.
IDLE, IDLE_SECONDS = 0, 60.0

# Leaving the booster's network takes milliseconds, once the process of rank 0 has written the
# model. The next fit waits so long for a process that hangs there.
LEAVE_SECONDS = 10.0

JOB, RESULT = "job", "result"


@dataclass(frozen=True, eq=False)
class Job:
    """Training job of one worker.

    Attributes
    ----------
    ranker : GAPRanker
        The local ranker, not fitted, with the number of threads of the worker.
    task : Task
        For the threads of the worker.
    rows : str
        File with the worker's `RankingRows`.
    evals : list of (str or None)
        Such files of the evaluation sets: `rows` itself for the training set, None where the worker
        has none of the queries.
    of_booster : dict
        Arguments of `fit` that only one booster has.
    network : callable
        ``network(exchange, host)`` joins the booster's own network: a context that gives further
        arguments.
    coordinator : CoordinatorAddress or None
        None where the worker trains alone.
    rank : int
    host : str
        The address under which the other workers reach this one. The worker fills it in.
    """

    ranker: GAPRanker
    task: Task
    rows: str
    evals: list[str | None]
    of_booster: dict[str, Any]
    network: Callable[[Exchange, str], AbstractContextManager[dict[str, Any]]]
    coordinator: CoordinatorAddress | None
    rank: int
    host: str = ""


class WorkerResult(NamedTuple):
    """Result of the training of one worker.

    Attributes
    ----------
    ranker : GAPRanker or None
        The fitted local ranker, from the worker of rank 0 alone.
    n_queries, n_rows : int
        Numbers of training queries and rows of the worker.
    best_iteration : int
        The same for all workers.
    warning : str or None
        The same for all workers.
    """

    ranker: Any
    n_queries: int
    n_rows: int
    best_iteration: int
    warning: str | None


def serve() -> None:
    """Train the jobs in the folders on standard input, one a line; write reports and errors."""
    # Ctrl-C in a terminal reaches this process too. It is the client's, which ends what trains for
    # it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
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
    """Train one job; end the process after an error.

    The booster's network is in an unknown state then.
    """
    try:
        report, network = train_job(load(folder / JOB))
        dump(report, folder / RESULT)
    except PeerLost:
        _end_lost()
    except BaseException as error:
        time.sleep(SETTLE_SECONDS)
        error.add_note("In the training process:\n" + traceback.format_exc())
        dump(error, folder / RESULT)
        os._exit(FAILED)
    leave(network)
    sys.stdout.flush()


def train_job(job: Job) -> tuple[WorkerResult, AbstractContextManager[Any]]:
    """Train the model, the same in every process; the booster's network stays open."""
    if job.coordinator is None:
        return _fitted(job, None, {}), nullcontext()
    exchange = Exchange(job.coordinator, job.rank, _end_lost)
    network = job.network(exchange, job.host)
    report = _fitted(job, exchange, network.__enter__())
    exchange.finish()
    # There is no `with`, because it would leave the network after an error too: the other processes
    # would then report a broken network before this one has reported the error. After an error the
    # process ends, and its network with it.
    return report, network


def leave(network: AbstractContextManager[Any]) -> None:
    """Leave the booster's network.

    All processes have trained, so an error ends this process but not the fit.
    """
    limit = threading.Timer(LEAVE_SECONDS, _give_up, [f"not within {LEAVE_SECONDS} s"])
    limit.daemon = True
    limit.start()
    try:
        network.__exit__(None, None, None)
    except Exception as error:
        _give_up(error)
    limit.cancel()


def _fitted(job: Job, exchange: Exchange | None, network: dict[str, Any]) -> WorkerResult:
    rows = load_rows(job.rows)
    evals = [
        rows if path == job.rows else stand_in(rows) if path is None else load_rows(path)
        for path in job.evals
    ]
    ranker: Any = job.ranker
    total = None if exchange is None else exchange.total
    training = prepare(ranker._library, job.task, rows, evals, total)
    ranker._train(training, {**job.of_booster, **network})
    model = ranker if job.rank == 0 else None
    return WorkerResult(
        model, len(rows.sizes), len(rows.y), int(ranker.best_iteration_), training.warning
    )


def _listen(folders: "queue.SimpleQueue[str]") -> None:
    for line in sys.stdin:
        folders.put(line.rstrip("\n"))
    # The worker holds the other end of this pipe, which closes however the worker ends.
    os._exit(LOST)


def _end_lost() -> NoReturn:
    os._exit(LOST)


def _give_up(reason: object) -> NoReturn:
    logging.getLogger("gapboost").warning(
        "a training process could not leave the network of its fit, and ends: %s", reason
    )
    os._exit(IDLE)
