"""Objectives and networks of tests that run inside training processes.

A training process imports this module, so it imports little: no Dask.
"""

import json
import logging
import os
import signal
import socket
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import psutil

import gapboost as gb
from gapboost.dask import booster_network, training_process


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
            if self.objective.then == f"kill {os.getppid()}":
                os.kill(os.getppid(), signal.SIGKILL)


def watched(folder, then=""):
    return Watched(gb.GAP(g=(0.5, 0.5)), folder=str(folder), then=then)


# Rings that break when they are left, where each process of the fit has trained. What the processes
# log goes to a file.
NETWORKS = {
    "lightgbm": booster_network.lightgbm_network,
    "xgboost": booster_network.xgboost_network,
}


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
    """A ring that the process of rank 0 is leaving for ever."""
    with _impatient(log), ring(exchange, host) as arguments:
        yield arguments
        if exchange.rank == 0:
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
