"""Training process of a worker: its start, the wait for its result, and its end."""

import atexit
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlparse

from distributed import Worker, get_worker
from distributed.utils import sync

from gapboost.dask.exchange import Coordinator, CoordinatorAddress, PeerLost
from gapboost.dask.storage import dump, load
from gapboost.dask.training_process import IDLE, JOB, LOST, RESULT, Job, WorkerResult

# What this process is doing, by fit. Several workers share one process where the cluster has
# processes=False.
_lock = threading.Lock()
_coordinators: dict[str, Coordinator] = {}
_processes: dict[str, list["subprocess.Popen[str]"]] = {}
_folders: dict[str, set[Path]] = {}
_stopped: set[str] = set()

# Training processes that wait for work, by the threads and the paths that they were started with.
_idle: dict[tuple[Any, ...], list["subprocess.Popen[str]"]] = {}

RESULT_POLL_SECONDS = 0.02

# A worker checks this often that the client of a fit is still there, and waits this long for the
# scheduler's answer.
WATCH_SECONDS, ANSWER_SECONDS = 1.0, 30.0


def host_of_worker() -> str:
    """The address under which other workers reach this one."""
    # Workers in the client's own process have addresses like inproc://10.0.0.1/4711/2. LightGBM
    # takes numbers, no names.
    return socket.gethostbyname(urlparse(get_worker().address).hostname or "127.0.0.1")


def folder(fit: str, rank: int) -> Path:
    """The worker's directory for the rows, the job and the result of one fit."""
    path = Path(get_worker().local_directory, f"gapboost-{fit}-{rank}")
    with _lock:
        _check_running(fit)
        _folders.setdefault(fit, set()).add(path)
    path.mkdir(parents=True, exist_ok=True)
    return path


def files_of_rows(fit: str, rank: int, n_sets: int) -> list[str]:
    """Return the path of the worker's rows for each data set.

    The paths are made on the worker: the client's operating system may be another one.
    """
    placement = folder(fit, rank)
    return [str(placement / f"rows-{i}") for i in range(n_sets)]


def watch_client(fit: str, turn: str, leases: Sequence[str]) -> None:
    """Start a thread that stops the fit in this process when its client is gone.

    The client must keep the future of this task until the fit ends.

    Parameters
    ----------
    fit : str
    turn : str
        Name of the semaphore by which fits take turns.
    leases : sequence of str
        Leases of this semaphore to release for the client.
    """
    worker = get_worker()
    arguments = worker, worker.get_current_task(), fit, turn, leases
    threading.Thread(
        target=_stop_without_client, args=arguments, name="gapboost-watch", daemon=True
    ).start()


def open_coordinator(fit: str, n_peers: int) -> CoordinatorAddress:
    """Open the coordinator of one fit in this worker."""
    with _lock:
        _check_running(fit)
        coordinator = _coordinators[fit] = Coordinator(host_of_worker(), n_peers)
    return coordinator.address


def train(fit: str, job: Job, n_threads: int) -> WorkerResult:
    """Train this worker's part in a process of its own.

    Raises
    ------
    PeerLost
        Where the process ended because another one of the fit did.
    RuntimeError
        If the process was killed.
    BaseException
        Whatever the process raised.
    """
    placement = folder(fit, job.rank)
    dump(replace(job, host=host_of_worker()), placement / JOB)
    code: int | None = IDLE
    while code == IDLE:
        # A process that has waited too long for work may end just when it gets some; then another
        # one trains.
        process = _begun(fit, placement, n_threads)
        code = _waited(process, placement / RESULT)
    if not (placement / RESULT).exists():
        _check_running(fit)
        if code == LOST:
            raise PeerLost("the training process ended because another one of the fit did")
        raise RuntimeError(
            f"the training process of worker {get_worker().address} ended with status {code} "
            "(negative: the signal that killed it; 9 is often the system's answer to a lack of "
            "memory)"
        )
    result: WorkerResult | BaseException = load(placement / RESULT)
    if isinstance(result, BaseException):
        raise result
    with _lock:
        if process in _processes.get(fit, []):
            _processes[fit].remove(process)
            _idle.setdefault(_kind(n_threads), []).append(process)
    return result


def stop(fit: str) -> None:
    """End the training processes and the coordinator of a fit here, and remove its files."""
    with _lock:
        _stopped.add(fit)
        processes, folders, coordinator = (
            _processes.pop(fit, []),
            _folders.pop(fit, set()),
            _coordinators.pop(fit, None),
        )
    _end(processes)
    if coordinator is not None:
        coordinator.close()
    for path in folders:
        shutil.rmtree(path, ignore_errors=True)


def _check_running(fit: str) -> None:
    if fit in _stopped:
        raise RuntimeError("the fit was stopped")


def _stop_without_client(
    worker: Worker, key: str, fit: str, turn: str, leases: Sequence[str]
) -> None:
    """Stop a fit when the scheduler no longer knows the task `key`.

    The client keeps the result of the task until the fit ends.
    """
    while fit not in _stopped:
        time.sleep(WATCH_SECONDS)
        # A result may also leave this worker because Dask moves it to another one.
        if key in worker.state.tasks:
            continue
        # The scheduler may be gone or busy. Then this worker ends too, or asks again.
        with suppress(OSError, RuntimeError):
            known = _ask_scheduler(worker, "get_task_status", keys=[key])
            if known[key] is None:
                stop(fit)
                for lease in leases:
                    _ask_scheduler(worker, "semaphore_release", name=turn, lease_id=lease)


def _ask_scheduler(worker: Worker, operation: str, **arguments: Any) -> Any:
    """Call an operation of the scheduler from a thread of the worker."""
    return sync(
        worker.loop,
        getattr(worker.scheduler, operation),
        callback_timeout=ANSWER_SECONDS,
        **arguments,
    )


def _begun(fit: str, placement: Path, n_threads: int) -> "subprocess.Popen[str]":
    """Return a process, idle or new, after it was sent the job in `placement`."""
    with _lock:
        waiting = _idle.get(_kind(n_threads), [])
        while waiting and waiting[-1].poll() is not None:
            _end([waiting.pop()])
        _check_running(fit)
        process = waiting.pop() if waiting else _started(n_threads)
        _processes.setdefault(fit, []).append(process)
    # The process may have just ended; `_waited` then returns its exit status. On Windows that is no
    # BrokenPipeError.
    with suppress(OSError):
        print(placement, file=process.stdin, flush=True)
    return process


def _waited(process: "subprocess.Popen[str]", result: Path) -> int | None:
    """The exit status of a process that ended, None once there is a result."""
    while not result.exists():
        code = process.poll()
        if code is not None:
            return code
        time.sleep(RESULT_POLL_SECONDS)
    return None


def _kind(n_threads: int) -> tuple[Any, ...]:
    return (n_threads, *(path or os.getcwd() for path in sys.path))


def _started(n_threads: int) -> "subprocess.Popen[str]":
    _, *paths = _kind(n_threads)
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(paths),
        "OMP_NUM_THREADS": str(n_threads),
    }
    code = "from gapboost.dask.training_process import serve; serve()"
    # However this worker ends, the pipe closes, and the process then ends too.
    return subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, env=environment, text=True
    )


def _end(processes: list["subprocess.Popen[str]"]) -> None:
    for process in processes:
        process.kill()
        process.wait()
        if process.stdin is not None:
            with suppress(OSError):
                process.stdin.close()


@atexit.register
def _end_idle() -> None:
    with _lock:
        for processes in _idle.values():
            _end(processes)
        _idle.clear()
