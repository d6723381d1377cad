"""The barrier stage of a fit: the tasks that it needs, and the errors of its workers."""

import re
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.sql import DataFrame

from gapboost.spark.training import SCHEMA, WorkerJob


def check_slots(session: Any, n_workers: int) -> None:
    """Raise if Spark cannot run all workers at once, for which it would wait."""
    context = session.sparkContext
    if context.getConf().get("spark.dynamicAllocation.enabled", "false").lower() == "true":
        raise ValueError(
            "spark.dynamicAllocation.enabled is true; expected false: all workers run at once, and "
            "Spark does not allocate executors for that"
        )
    # On a cluster executors may still be on their way; Spark itself waits for them, and gives up.
    slots = context.defaultParallelism
    if context._jsc.sc().isLocal() and n_workers > slots:
        raise ValueError(
            f"num_workers is {n_workers}; expected at most the {slots} tasks that this master runs "
            "at once"
        )


def run_stage(rows: DataFrame, job: WorkerJob) -> list[Any]:
    """Train in one barrier stage.

    Raises
    ------
    ValueError, TypeError
        If a worker raised one, as the local ranker does.
    RuntimeError
        If a worker failed otherwise.
    """
    try:
        return list(
            rows.mapInPandas(job.__call__, schema=SCHEMA)
            .rdd.barrier()
            .mapPartitions(iter)
            .collect()
        )
    except Py4JJavaError as error:
        cause = _error_of_worker(error.java_exception.getMessage() or str(error))
        for kind in (ValueError, TypeError):
            if cause.startswith(f"{kind.__name__}: "):
                raise kind(cause.partition(": ")[2]) from error
        raise RuntimeError(f"a worker failed, and Spark ended the fit: {cause}") from error


def _error_of_worker(report: str) -> str:
    """Return the Python error in Spark's report without tracebacks, or the whole report."""
    found = re.search(r"PythonException: (Traceback .*?)\n+\tat ", report, re.DOTALL)
    return report if found is None else re.split(r"\n  .*", found[1])[-1].strip()
