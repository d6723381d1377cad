"""What `compare_rankers` costs beside the bare fits that it makes.

    python -m benchmarks.comparison [--quick]

20 000 documents of 1 000 queries with 20 features, five rankers as they come, one thread each, five folds and one seed. The bare
fits are those of the same rankers on the same rows, and their predictions, in a plain loop. By the processor's time, which tells
more than the clock where other processes come and go; and by the clock in two processes, which tells where none do.
"""

import argparse
import os
import time
import warnings
from collections.abc import Callable
from typing import Any

import lightgbm
import numpy as np
import xgboost
from sklearn.model_selection import GroupKFold

from benchmarks.workload import conditions, table
from gapboost.comparison import compare_rankers
from gapboost.lightgbm import LGBMGAPRanker
from gapboost.xgboost import XGBGAPRanker

N_DOCS, N_FEATURES, N_FOLDS = 20, 20, 5


def made(n_queries: int) -> tuple[Any, Any, Any]:
    """Features, grades 0 to 4 that follow some of them, and query ids."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_queries * N_DOCS, N_FEATURES))
    y = np.digitize(X[:, :5].sum(axis=1) + 2 * rng.standard_normal(len(X)), (1, 2.5, 4, 5.5))
    return X, y, np.repeat(np.arange(n_queries), N_DOCS)


def rankers() -> dict[str, Any]:
    """As they come, but for one thread."""
    return {
        "LightGBM lambdarank": lightgbm.LGBMRanker(n_jobs=1, verbose=-1),
        "LightGBM regression": lightgbm.LGBMRegressor(n_jobs=1, verbose=-1),
        "LightGBM GAP": LGBMGAPRanker(n_jobs=1, verbose=-1),
        "XGBoost rank:ndcg": xgboost.XGBRanker(n_jobs=1),
        "XGBoost GAP": XGBGAPRanker(n_jobs=1),
    }


def bare(X: Any, y: Any, qid: Any) -> None:
    """Fit and predict, nothing else."""
    for train, test in GroupKFold(N_FOLDS).split(X, y, qid):
        for name, ranker in rankers().items():
            given = {"group": np.full(len(train) // N_DOCS, N_DOCS)} if "lambdarank" in name else {"qid": qid[train]}
            ranker.set_params(random_state=1).fit(X[train], y[train], **({} if "regression" in name else given))
            ranker.predict(X[test])


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="100 queries, once")
    quick = parser.parse_args().quick
    X, y, qid = made(100 if quick else 1000)
    compare_rankers(X[:400], y[:400], qid[:400], rankers(), cv=2, repeats=1)  # compiles the kernels
    pairs = []
    for _ in range(1 if quick else 3):  # in turns
        pairs.append([processor_seconds(bare, X, y, qid), processor_seconds(compare, X, y, qid)])
    alone, compared = np.median(pairs, axis=0)
    more = float(np.median([after / before - 1 for before, after in pairs]))
    compare(X, y, qid, n_jobs=2)  # starts the processes
    start = time.perf_counter()
    compare(X, y, qid, n_jobs=2)
    clock = time.perf_counter() - start
    print(conditions("lightgbm", "xgboost"), f"load {os.getloadavg()[0]:.0f}", sep=", ")
    print(
        table(
            ["documents", "bare fits, s", "compare_rankers, s", "more", "two processes, by the clock, s"],
            [[str(len(X)), f"{alone:.2f}", f"{compared:.2f}", f"{more:+.1%}", f"{clock:.2f}"]],
        )
    )


def compare(X: Any, y: Any, qid: Any, n_jobs: int = 1) -> None:
    """The same by the call."""
    compare_rankers(X, y, qid, rankers(), cv=N_FOLDS, repeats=1, n_jobs=n_jobs, progress=False)


def processor_seconds(work: Callable[[Any, Any, Any], None], X: Any, y: Any, qid: Any) -> float:
    """Of this process."""
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        work(X, y, qid)
    return time.process_time() - start


if __name__ == "__main__":
    main()
