"""Processor seconds of compilation: the first `evaluate`, the first fits, each objective, everything.

Usage: ``python -m benchmarks.compilation [--repetitions N]``.

Every row is a fresh process: "compiled" by a copy of the package without compiled code, "from the cache" with what that process
has left beside it.
What comes before a call in the same process is not counted, and neither are imports. The data are small, so that what the
call itself takes is little.
"""

import argparse
import logging
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import gapboost as gb
from benchmarks.workload import conditions, table
from gapboost._kernels.lambdarank.long import LONG
from gapboost.lightgbm import LGBMGAPRanker
from gapboost.warmup import warm_up
from gapboost.xgboost import XGBGAPRanker

LISTS = (10, 200)


def rows(*lengths: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Grades, scores and query ids."""
    n = sum(lengths)
    return np.arange(n) % 3, np.linspace(0.0, 1.0, n), np.repeat(np.arange(len(lengths)), lengths)


def fit(ranker: LGBMGAPRanker | XGBGAPRanker) -> None:
    """Fit a ranker, which evaluates itself."""
    y, scores, qid = rows(*LISTS)
    ranker.fit(scores[:, None], y, qid=qid, eval_set=[(scores[:, None], y)], eval_qid=[qid])


def evaluate() -> None:
    """Two measures of two queries."""
    gb.evaluate([gb.GAP(), gb.nDCG(k=10)], *rows(*LISTS))


def lightgbm() -> None:
    """Fit LightGBM, of which each thread beyond one would wait and be counted."""
    fit(LGBMGAPRanker(n_estimators=2, n_jobs=1, verbose=-1))


def xgboost() -> None:
    """Fit XGBoost."""
    fit(XGBGAPRanker(n_estimators=2, n_jobs=1))


def gradients(objective: gb.objectives.Objective, *lengths: int) -> Callable[[], object]:
    """The gradients of an objective."""
    return lambda: objective.gradients(*rows(*lengths), n_jobs=1)


# What is measured, and what comes before it in the same process.
CALLS: dict[str, tuple[Callable[[], object], Callable[[], object] | None]] = {
    "the first `evaluate`": (evaluate, None),
    "then the first fit, LightGBM": (lightgbm, evaluate),
    "then the first fit, XGBoost": (xgboost, evaluate),
    "a fit of LightGBM alone": (lightgbm, None),
    "a fit of XGBoost alone": (xgboost, None),
    "`LambdaRank`, lists of 10 and 200": (gradients(gb.LambdaRank(gb.GAP()), *LISTS), None),
    f"`LambdaRank`, one list of {LONG + 1}": (gradients(gb.LambdaRank(gb.GAP()), LONG + 1), None),
    "`SoftRank`": (gradients(gb.SoftRank(gb.GAP()), 10), None),
    "`ApproxRank`": (gradients(gb.ApproxRank(gb.GAP()), 10), None),
    "everything, `gapboost.warmup`": (warm_up, None),
}


def copied(place: str) -> None:
    """Copy what a row needs, without compiled code."""
    for package in ("gapboost", "benchmarks"):
        source = Path(__file__).parents[1] / package
        shutil.copytree(source, Path(place, package), ignore=shutil.ignore_patterns("__pycache__"))


def seconds(name: str, place: str) -> float:
    """Processor seconds of a call in a process of its own, which takes the package in `place`."""
    command = [sys.executable, "-m", "benchmarks.compilation", "--call", name]
    return float(subprocess.run(command, cwd=place, check=True, stdout=subprocess.PIPE, text=True).stdout)


def call(name: str) -> None:
    """Print the processor seconds of a call in this process."""
    logging.disable(logging.WARNING)  # that something is being compiled
    measured, before = CALLS[name]
    if before is not None:
        before()
    begun = time.process_time()
    measured()
    print(time.process_time() - begun)


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repetitions", type=int, default=3, metavar="N", help="the medians of so many (3)")
    parser.add_argument("--call", choices=list(CALLS), help="one row, in this process and with its cache")
    arguments = parser.parse_args()
    if arguments.call:
        call(arguments.call)
        return
    cold: dict[str, list[float]] = {name: [] for name in CALLS}
    kept: dict[str, list[float]] = {name: [] for name in CALLS}
    for _ in range(arguments.repetitions):
        for name in CALLS:
            with tempfile.TemporaryDirectory() as place:
                copied(place)
                cold[name].append(seconds(name, place))
                kept[name].append(seconds(name, place))
    print(conditions("llvmlite", "lightgbm", "xgboost"), f"\nmedians of {arguments.repetitions}\n")
    lines = [[name, f"{statistics.median(cold[name]):.1f}", f"{statistics.median(kept[name]):.2f}"] for name in CALLS]
    print(table(["processor seconds", "compiled", "from the cache"], lines))


if __name__ == "__main__":
    main()
