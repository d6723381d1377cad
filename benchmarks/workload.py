"""Data, timing and tables that the benchmarks share."""

import platform
import statistics
import time
from collections.abc import Callable, Mapping
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import TypeVar

import joblib
import numpy as np

Name = TypeVar("Name")

CPUINFO = Path("/proc/cpuinfo")
FIGURES = Path(__file__).parent / "figures"

N_DOCUMENTS = 100_000
N_FEATURES = 50
GRADE_SHARES = (0.52, 0.32, 0.13, 0.023, 0.007)


def ranking_task(list_length: int, n_documents: int = N_DOCUMENTS, seed: int = 0) -> tuple[np.ndarray, ...]:
    """Features (float32), grades and group sizes: grades are a noisy function of some of the features."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_documents, N_FEATURES), dtype=np.float32)
    signal = X[:, :10] @ rng.standard_normal(10) + 0.5 * X[:, 10] * X[:, 11] + 2.0 * rng.standard_normal(n_documents)
    edges = np.quantile(signal, np.cumsum(GRADE_SHARES)[:-1])
    sizes = np.full(n_documents // list_length, list_length)
    return X, np.searchsorted(edges, signal).astype(np.int32), sizes


def medians(
    competitors: Mapping[Name, Callable[[], object]], repetitions: int, clock: Callable[[], float] = time.perf_counter
) -> dict[Name, float]:
    """Median seconds of each competitor; they take turns, so that a drifting machine is fair to all."""
    seconds: dict[Name, list[float]] = {name: [] for name in competitors}
    for _ in range(repetitions):
        for name, run in competitors.items():
            start = clock()
            run()
            seconds[name].append(clock() - start)
    return {name: statistics.median(times) for name, times in seconds.items()}


def table(head: list[str], rows: list[list[str]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def conditions(*packages: str) -> str:
    """Date, processor, threads and versions, for the line above a table."""
    model = platform.processor() or platform.machine()
    if CPUINFO.exists():
        names = [
            line.split(":", 1)[1]
            for line in CPUINFO.read_text(encoding="utf-8").splitlines()
            if line.startswith("model name")
        ]
        model = names[0].strip() if names else model
    versions = ", ".join(f"{name} {version(name)}" for name in ("numpy", "numba", *packages))
    return f"{date.today()}, {model}, {joblib.cpu_count()} cores, Python {platform.python_version()}, {versions}"
