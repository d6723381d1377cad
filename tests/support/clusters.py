"""Data for clusters, and processes of tests."""

import os
import subprocess
import sys
import time
from pathlib import Path

import dask.array as da
import numpy as np
import psutil
from distributed import Client
from in_training import watched

from gapboost.dask import DaskLGBMGAPRanker, DaskXGBGAPRanker


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


def written(folder):
    """Return what the training processes wrote, by process id."""
    return {int(path.stem): dict(np.load(path)) for path in Path(folder).glob("*.npz")}


def python(*arguments):
    """A Python process that finds the modules of this one."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.Popen([sys.executable, *arguments], env=environment)


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
