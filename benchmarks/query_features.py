"""Time and memory of `query_relative_features` beside pandas' groupby: 100 000 queries, and one list of a million.

Usage: ``python -m benchmarks.query_features [--quick]``.

Two forms of pandas: one transform by a function of a column, as most people write it, and
vectorized operations of the groups. Seconds are processor seconds of one thread. The values are
compared before anything is timed. Memory is the peak of what numpy allocates in a call, the output
included.
"""

import argparse
import time
import tracemalloc
from collections.abc import Callable

import numpy as np
import pandas as pd

from benchmarks.workload import conditions, medians, table
from gapboost.preprocessing import query_relative_features

N_COLUMNS = 8


def by_function(frame: pd.DataFrame, qid: np.ndarray, kind: str) -> pd.DataFrame:
    """Return features by a function that pandas calls for each column of each query."""
    functions: dict[str, Callable[[pd.Series], pd.Series]] = {
        "zscore": lambda x: (x - x.mean()) / x.std(ddof=0),
        "rank": lambda x: (x.rank() - 1) / (x.count() - 1),
    }
    return frame.groupby(qid).transform(functions[kind])


def vectorized(frame: pd.DataFrame, qid: np.ndarray, kind: str) -> pd.DataFrame:
    """Return features by operations on all groups at once."""
    groups = frame.groupby(qid)
    if kind == "zscore":
        return (frame - groups.transform("mean")) / groups.transform("std", ddof=0)
    return (groups.rank() - 1) / (groups.transform("count") - 1)


def peak(call: Callable[[], np.ndarray]) -> float:
    """Return the peak memory of a call, as a multiple of its output."""
    tracemalloc.start()
    size = call().nbytes
    found = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return found / size


def measured(kind: str, n_queries: int, n: int, repetitions: int) -> list[str]:
    """Return one row of the table."""
    X = np.random.default_rng(0).standard_normal((n, N_COLUMNS), dtype=np.float32)
    qid = np.repeat(np.arange(n_queries), n // n_queries)
    frame = pd.DataFrame(X)

    def ours() -> np.ndarray:
        return query_relative_features(X, qid, kinds=[kind], n_jobs=1)

    def theirs() -> pd.DataFrame:
        return vectorized(frame, qid, kind)

    np.testing.assert_allclose(ours()[:, N_COLUMNS:], theirs(), rtol=1e-3, atol=1e-4)
    seconds = medians({"ours": ours, "theirs": theirs}, repetitions, time.process_time)
    # Minutes at full size: once, for a tenth of many queries.
    size = n // 10 if n_queries > 1 else n
    once = medians({"": lambda: by_function(frame[:size], qid[:size], kind)}, 1, time.process_time)[""] * n / size
    return [
        f"{n_queries} x {n // n_queries}",
        kind,
        *(f"{s:.2f}" for s in (seconds["ours"], seconds["theirs"], once)),
        f"{seconds['theirs'] / seconds['ours']:.1f}",
        f"{once / seconds['ours']:.0f}",
        f"{peak(ours):.2f}",
    ]


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a hundredth of the documents, more repetitions")
    quick = parser.parse_args().quick
    n, repetitions = (10_000, 5) if quick else (1_000_000, 3)
    rows = [measured(kind, n_queries, n, repetitions) for n_queries in (n // 10, 1) for kind in ("zscore", "rank")]
    print(conditions("pandas"), f"\n{n} documents, {N_COLUMNS} columns of float32, one thread\n")
    head = ["lists", "kind", "ours, s", "vectorized, s", "by function, s", "vectorized / ours", "by function / ours"]
    print(table([*head, "peak / output"], rows))


if __name__ == "__main__":
    main()
