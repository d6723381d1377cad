"""What workers do to train: start a training process, wait for it, and end it when told to."""

import os
import shutil
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlparse

from distributed import get_worker

from gapboost.dask.child import JOB, LOST, RESULT, Job, Report
from gapboost.dask.exchange import Hub, HubAddress, PeerLost
from gapboost.dask.storage import dump, load

# What this worker process has going, by fit. Several workers share a process where the cluster has processes=False.
_lock = threading.Lock()
_hubs: dict[str, Hub] = {}
_children: dict[str, list["subprocess.Popen[bytes]"]] = {}
_rooms: dict[str, set[Path]] = {}
_stopped: set[str] = set()


def host_of_worker() -> str:
    """The address under which other workers reach this one."""
    # Workers in the client's own process have addresses like inproc://10.0.0.1/4711/2.
    return urlparse(get_worker().address).hostname or "127.0.0.1"


def room(fit: str, rank: int) -> Path:
    """This worker's directory for the rows, the job and the result of one fit."""
    path = Path(get_worker().local_directory, f"gapboost-{fit}-{rank}")
    with _lock:
        if fit in _stopped:
            raise RuntimeError("the fit was stopped")
        _rooms.setdefault(fit, set()).add(path)
    path.mkdir(parents=True, exist_ok=True)
    return path


def open_hub(fit: str, n_peers: int) -> HubAddress:
    """Open the hub of one fit in this worker."""
    hub = Hub(host_of_worker(), n_peers)
    with _lock:
        _hubs[fit] = hub
    return hub.address


def train(fit: str, job: Job, n_threads: int) -> Report:
    """Train this worker's part in a process of its own.

    Raises
    ------
    PeerLost
        Where it ended because another one did.
    RuntimeError
        Where it was killed; and whatever it raised itself.
    """
    place = room(fit, job.rank)
    dump(replace(job, host=host_of_worker()), place / JOB)
    process = _start(place, n_threads)
    with _lock:
        # Either `stop` sees this process, or it was there before.
        _children.setdefault(fit, []).append(process)
        stopped = fit in _stopped
    if stopped:
        process.kill()
    code = process.wait()
    if not (place / RESULT).exists():
        if code == LOST:
            raise PeerLost("the training process ended because another one of the fit did")
        raise RuntimeError(
            f"the training process of worker {get_worker().address} ended with status {code} (negative: the signal that "
            "killed it; 9 is often the system's answer to a lack of memory)"
        )
    result: Report | BaseException = load(place / RESULT)
    if isinstance(result, BaseException):
        raise result
    return result


def stop(fit: str) -> None:
    """End whatever this worker process has going for a fit, and remove its files."""
    with _lock:
        _stopped.add(fit)
        children, rooms, hub = _children.pop(fit, []), _rooms.pop(fit, set()), _hubs.pop(fit, None)
    for process in children:
        process.kill()
        process.wait()
        if process.stdin is not None:
            process.stdin.close()
    if hub is not None:
        hub.close()
    for path in rooms:
        shutil.rmtree(path, ignore_errors=True)


def _start(place: Path, n_threads: int) -> "subprocess.Popen[bytes]":
    code = f"from gapboost.dask.child import main; main({str(place)!r})"
    paths = [path or os.getcwd() for path in sys.path]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "OMP_NUM_THREADS": str(n_threads)}
    # The pipe closes when this worker ends, however it does, and the process with it.
    return subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, env=environment)
