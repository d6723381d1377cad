"""Clusters, and objectives that tell what happened inside training processes."""

import json
import logging
import os
import signal
import socket
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import dask.array as da
import numpy as np
import psutil
from distributed import Client

import gapboost as gb
from gapboost.dask import DaskLGBMGAPRanker, DaskXGBGAPRanker, booster_network, training_process


def ranking(n_queries, seed, longest=20):
    """X, y and qid of queries of 3 to `longest` documents, query by query."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(3, longest, n_queries)
    X = rng.standard_normal((sizes.sum(), 10)).astype(np.float32)
    signal_ = X[:, 0] + 0.5 * X[:, 1] + 0.5 * rng.standard_normal(len(X))
    return X, np.digitize(signal_, [0.5, 1.3]), np.repeat(np.arange(n_queries) * 7 + 10**12, sizes)


def cut(values, chunks):
    """A Dask array with these row chunks; an int for equal ones."""
    rows = chunks if isinstance(chunks, tuple) else (chunks,) * (len(values) // chunks)
    rows += (len(values) - sum(rows),) * (sum(rows) < len(values))
    return da.from_array(values, chunks=(rows, *((n,) for n in values.shape[1:])))


@dataclass(frozen=True, repr=False)
class Watched(gb.LambdaRank):
    """LambdaRank that writes down its first gradients, and may do something in a later round."""

    folder: str = ""
    then: str = ""

    def prepared(self, data, n_jobs=None):
        return WatchedPass(self, data, super().prepared(data, n_jobs))


class WatchedPass(gb.objectives.Pass):
    def __init__(self, objective, data, inner):
        self.objective, self.data, self.inner = objective, data, inner
        self.calls = 0
        # Every worker but one has queries beyond the first.
        self.first = data.whole is None or data.whole.begins[0] == 0
        self.file = Path(objective.folder, f"{os.getpid()}.npz")

    def __call__(self, scores, grad, hess):
        self.inner(scores, grad, hess)
        if self.calls == 0:
            begins = self.data.whole.begins
            # What a booster gets: weights of documents are applied to what a pass leaves.
            factors = 1.0 if self.data.factors is None else self.data.factors
            own = {"begins": begins, "sizes": self.data.queries.sizes, "scores": scores}
            own |= {"grad": grad * factors, "hess": hess * factors}
            threads = {"n_jobs": self.inner.threads, "threads": int(os.environ["OMP_NUM_THREADS"])}
            # The file appears when it is complete: a test may already wait for it.
            unfinished = self.file.with_suffix(".part")
            with unfinished.open("wb") as file:
                np.savez(file, **own, **threads)
            unfinished.replace(self.file)
        self.calls += 1
        if self.calls == 2 and self.objective.then == "wait":
            time.sleep(3600)
        if self.calls == 5 and not self.first:
            if self.objective.then == "raise":
                raise ArithmeticError("the fifth round")
            if self.objective.then == "die":
                os.kill(os.getpid(), signal.SIGKILL)
            if self.objective.then == "interrupt":
                os.kill(os.getpid(), signal.SIGINT)
            if self.objective.then == "kill the worker":
                os.kill(os.getppid(), signal.SIGKILL)


def watched(folder, then=""):
    return Watched(gb.GAP(g=(0.5, 0.5)), folder=str(folder), then=then)


def written(folder):
    """Return what the training processes wrote, by process id."""
    return {int(path.stem): dict(np.load(path)) for path in Path(folder).glob("*.npz")}


def alive(process):
    """True if a process with this id runs."""
    try:
        return psutil.Process(int(process)).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def wait_until(condition, seconds=180):
    """Wait until a condition is true; fail if it does not become true in this time."""
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.05)


def endless(booster, client, folder):
    """A ranker that waits for an hour in the second round, and the arguments of its `fit`."""
    kind = {"lightgbm": DaskLGBMGAPRanker, "xgboost": DaskXGBGAPRanker}[booster]
    X, y, qid = ranking(40, 0)
    ranker = kind(client=client, n_estimators=5, objective=watched(folder, "wait"))
    return ranker, {"X": cut(X, 200), "y": cut(y, 200), "qid": cut(qid, 200)}


def fit_from_another_process(booster, address, folder):
    """Call `fit` of an endless ranker, as a client of the scheduler at an address."""
    with Client(address) as client:
        ranker, given = endless(booster, client, folder)
        ranker.fit(**given)


# Rings that break when they are left, where each process of the fit has trained. What the processes
# log goes to a file.
NETWORKS = {"lightgbm": booster_network.lightgbm_network, "xgboost": booster_network.xgboost_network}


class Overheard:
    """An exchange, and what the process of rank 0 told the others first."""

    def __init__(self, exchange):
        self.rank, self.n_peers, self._exchange = exchange.rank, exchange.n_peers, exchange

    def gather(self, message):
        answers = self._exchange.gather(message)
        self.first = answers[0]
        return answers


@contextmanager
def without_a_tracker(log, ring, exchange, host):
    """XGBoost's network, whose tracker ends with it.

    XGBoost would try to reach the tracker for some seconds.
    """
    overheard = Overheard(exchange)
    with _impatient(log), ring(overheard, host) as arguments:
        yield arguments
        port = json.loads(overheard.first)["dmlc_tracker_port"]
        for connection in psutil.Process().net_connections("tcp"):
            if connection.laddr.port == port and connection.status == psutil.CONN_LISTEN:
                with socket.socket(fileno=os.dup(connection.fd)) as listening:
                    listening.shutdown(socket.SHUT_RDWR)


@contextmanager
def broken(log, ring, exchange, host):
    """A ring that cannot be left."""
    with _impatient(log), ring(exchange, host) as arguments:
        yield arguments
        raise OSError("Broken pipe")


@contextmanager
def stuck(log, ring, exchange, host):
    """A ring that is being left for ever."""
    with _impatient(log), ring(exchange, host) as arguments:
        yield arguments
        time.sleep(3600)


@contextmanager
def unjoinable(ring, exchange, host):
    """A ring that the process of rank 0 cannot join."""
    if exchange.rank == 0:
        raise OSError("Address already in use")
    with ring(exchange, host) as arguments:
        yield arguments


@contextmanager
def _impatient(log):
    training_process.LEAVE_SECONDS = 0.5
    logging.getLogger("gapboost").addHandler(logging.FileHandler(log))
    yield
