"""`query_relative_features` beside pandas: time, and peak memory as a multiple of the output.

pandas in two forms: a function that it calls for each column of each query, as most people write
it, and operations on all groups at once. The values are compared before anything is timed.
"""

import tracemalloc
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
import pandas as pd

from benchmarks.harness import Row, Subject, race, with_ratios
from gapboost.preprocessing import query_relative_features

N_COLUMNS = 8
PEER = "pandas, all groups at once"
SLOW = "pandas, a function by column and query"


def by_function(frame: pd.DataFrame, qid: np.ndarray, kind: str) -> np.ndarray:
    """Return features by a function that pandas calls for each column of each query."""
    functions: dict[str, Callable[[pd.Series], pd.Series]] = {
        "zscore": lambda x: (x - x.mean()) / x.std(ddof=0),
        "rank": lambda x: (x.rank() - 1) / (x.count() - 1),
    }
    return frame.groupby(qid).transform(functions[kind]).to_numpy()


def vectorized(frame: pd.DataFrame, qid: np.ndarray, kind: str) -> np.ndarray:
    """Return features by operations on all groups at once."""
    groups = frame.groupby(qid)
    if kind == "zscore":
        found = (frame - groups.transform("mean")) / groups.transform("std", ddof=0)
    else:
        found = (groups.rank() - 1) / (groups.transform("count") - 1)
    return found.to_numpy()


def peak(call: Callable[[], np.ndarray]) -> float:
    """Return the peak memory of a call, the output included, as a multiple of its output."""
    tracemalloc.start()
    size = call().nbytes
    found = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return found / size


def costs(smoke: bool) -> Iterator[Row]:
    """Yield the costs for many short lists and for one long list."""
    n, repetitions = (1_000, 1) if smoke else (1_000_000, 3)
    X = np.random.default_rng(0).standard_normal((n, N_COLUMNS), dtype=np.float32)
    frame = pd.DataFrame(X)
    for length in (10, n):
        qid = np.arange(n) // length
        # By function: minutes for short lists, so a tenth of them, multiplied.
        size = n // 10 if length < n else n
        for kind in ("zscore", "rank"):
            ours = partial(query_relative_features, X, qid, kinds=[kind])
            peer = partial(vectorized, frame, qid, kind)
            slow = partial(by_function, frame[:size], qid[:size], kind)
            np.testing.assert_allclose(ours()[:, N_COLUMNS:], peer(), rtol=1e-3, atol=1e-4)
            runs = {"gapboost": ours, PEER: peer, SLOW: slow}
            rows = race(runs, repetitions=repetitions, unit="s", factor=1, once=[SLOW])
            for key in ("s", "processor s"):
                rows[-1][key] *= n / size
            for row in with_ratios(rows, PEER, "processor s"):
                memory = peak(ours) if row["contestant"] == "gapboost" else None
                yield {"lists": n // length, "kind": kind, **row, "peak memory / output": memory}


ABOUT = "z-scores and percentile ranks by query beside pandas"
SUBJECTS = [Subject("query_features", ABOUT, costs, ("pandas",))]
