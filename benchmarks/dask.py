"""Fits on a Dask cluster: beside one process on the same cores, and as documents grow; memory of each worker.

Usage: ``python -m benchmarks.dask [--quick]``. The picture goes to ``figures/dask.png``.
"""

import argparse
import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

import dask.array as da
import matplotlib
import numpy as np
import psutil
from dask.distributed import Client, LocalCluster

from benchmarks.workload import FIGURES, N_FEATURES, conditions, table
from gapboost.dask import DaskLGBMGAPRanker, DaskXGBGAPRanker
from gapboost.lightgbm import LGBMGAPRanker
from gapboost.xgboost import XGBGAPRanker

matplotlib.use("Agg")
from matplotlib import pyplot as plt

WORKERS = 2
LIST = 100
BLOCK = 50_000
ROUNDS = 20
TREES = {
    "LightGBM": {"verbose": -1},
    "XGBoost": {"max_leaves": 31, "grow_policy": "lossguide", "max_depth": 0},
}
ON_CLUSTER = {"LightGBM": DaskLGBMGAPRanker, "XGBoost": DaskXGBGAPRanker}
LOCAL = {"LightGBM": LGBMGAPRanker, "XGBoost": XGBGAPRanker}


def signal(block: int) -> np.ndarray:
    """What the grades of a block depend on."""
    return np.random.default_rng((block, 0)).standard_normal(BLOCK, dtype=np.float32)


def features(ids: np.ndarray) -> np.ndarray:
    """A block of float32 features, some of which tell about the signal."""
    block = int(ids[0, 0])
    X = np.random.default_rng((block, 1)).standard_normal((BLOCK, N_FEATURES), dtype=np.float32)
    X[:, :5] += signal(block)[:, None]
    return X


def grades(ids: np.ndarray) -> np.ndarray:
    """The grades of a block."""
    return np.digitize(signal(int(ids[0])), [0.0, 1.0, 1.6, 2.2])


def collections(n_documents: int) -> tuple[da.Array, da.Array, da.Array]:
    """X, y and qid that workers make themselves; every partition boundary cuts a query."""
    n = n_documents // BLOCK
    blocks = da.arange(n, chunks=1)
    X = blocks[:, None].map_blocks(features, dtype=np.float32, chunks=((BLOCK,) * n, (N_FEATURES,)))
    y = blocks.map_blocks(grades, dtype=np.int64, chunks=((BLOCK,) * n,))
    qid = (da.arange(n_documents, chunks=BLOCK) + LIST // 2) // LIST
    return X, y, qid


class Peaks:
    """The largest memory of each worker and of its training process, in MB, without mapped files; a context."""

    def __init__(self, client: Client) -> None:
        self.workers = [psutil.Process(pid) for pid in client.run(lambda: __import__("os").getpid()).values()]
        self.before = [self._own(worker) for worker in self.workers]
        self.worker, self.training = [0.0] * len(self.workers), [0.0] * len(self.workers)
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._done.set()
        self._thread.join()

    @staticmethod
    def _own(process: psutil.Process) -> float:
        try:
            memory = process.memory_info()
            return float(memory.rss - memory.shared) / 1e6
        except psutil.NoSuchProcess:
            return 0.0

    def _watch(self) -> None:
        while not self._done.wait(0.1):
            for i, worker in enumerate(self.workers):
                self.worker[i] = max(self.worker[i], self._own(worker) - self.before[i])
                self.training[i] = max(self.training[i], *map(self._own, worker.children()), 0.0)


def seconds(fit: Callable[[], Any]) -> float:
    """Wall time."""
    begin = time.perf_counter()
    fit()
    return time.perf_counter() - begin


def main() -> None:
    """Measure and print the tables, and draw the picture."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="up to 500 000 documents, no picture")
    quick = parser.parse_args().quick
    sizes = [100_000, 500_000] if quick else [100_000, 500_000, 1_000_000, 5_000_000]
    compared = 1_000_000 if not quick else 100_000
    print(conditions("lightgbm", "xgboost", "dask"), f"; lists of {LIST}, {ROUNDS} rounds, 31 leaves\n", sep="")
    alone, grown, times = [], [], {name: [] for name in TREES}
    with (
        LocalCluster(n_workers=WORKERS, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        for name, trees in TREES.items():
            ranker = ON_CLUSTER[name](n_estimators=ROUNDS, client=client, **trees)
            for n in sizes:
                X, y, qid = collections(n)
                # Training processes start with the first fit, in a few seconds that are not of its size.
                if n == sizes[0]:
                    ranker.fit(X, y, qid=qid)
                with Peaks(client) as peaks:
                    took = seconds(lambda ranker=ranker, X=X, y=y, qid=qid: ranker.fit(X, y, qid=qid))
                times[name].append(took)
                worker, training = max(peaks.worker), max(peaks.training)
                grown.append(
                    [name, f"{n:,}", f"{took:.1f}", f"{took / n * 1e6:.1f}", f"{worker:.0f}", f"{training:.0f}"]
                )
                print(*grown[-1], flush=True)
    for name, trees in TREES.items():
        X, y, qid = (np.asarray(part) for part in collections(compared))
        local = LOCAL[name](n_estimators=ROUNDS, n_jobs=WORKERS, **trees)
        local.fit(X[:10_000], y[:10_000], qid=qid[:10_000])
        took = seconds(lambda local=local, X=X, y=y, qid=qid: local.fit(X, y, qid=qid))
        ours = times[name][sizes.index(compared)]
        alone.append([name, f"{took:.1f}", f"{ours:.1f}", f"{ours / took:.2f}"])
    print("\n" + table(["booster", "documents", "s", "µs a document", "worker, MB", "training process, MB"], grown))
    head = ["booster", f"1 process, {WORKERS} threads, s", f"{WORKERS} workers, 1 thread each, s", "ratio"]
    print(f"\n{compared:,} documents\n\n" + table(head, alone))
    if not quick:
        draw(sizes, times)


def draw(sizes: list[int], times: dict[str, list[float]]) -> None:
    """Seconds against documents."""
    figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
    for name, values in times.items():
        axes.loglog(sizes, values, "o-", label=name)
    slowest = max(values[-1] for values in times.values())
    axes.loglog(sizes, np.array(sizes) * slowest / sizes[-1], "k:", label="proportional")
    axes.set(
        xlabel="documents", ylabel=f"seconds for a fit of {ROUNDS} rounds", title=f"{WORKERS} workers of one thread"
    )
    axes.legend()
    FIGURES.mkdir(exist_ok=True)
    figure.savefig(FIGURES / "dask.png", dpi=130)


if __name__ == "__main__":
    main()
