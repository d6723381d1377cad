"""Training on long lists: six made queries of 20 000 documents, on which smooth objectives were out of reach pair by pair.

Usage: ``python -m benchmarks.objectives_long``.
"""

import time

import lightgbm
import numpy as np

import gapboost as gb
import gapboost.lightgbm
from benchmarks.workload import conditions, ranking_task, table
from gapboost._kernels.parallel.chunks import available_cores

LENGTH, TRAINED, TESTED, ROUNDS = 20_000, 4, 2, 100
UNIFORM = gb.GAP(g=(0.25, 0.25, 0.25, 0.25))
OBJECTIVES = (gb.LambdaRank(UNIFORM), gb.SoftRank(UNIFORM), gb.ApproxRank(UNIFORM), gb.ApproxRank(gb.nDCG()))
MEASURES = (UNIFORM, gb.AP(), gb.nDCG(), gb.nDCG(k=10))


def main() -> None:
    """Train with each objective, and print seconds and test means."""
    X, y, _ = ranking_task(LENGTH, (TRAINED + TESTED) * LENGTH)
    cut = TRAINED * LENGTH
    params = {"learning_rate": 0.1, "verbose": -1, "num_threads": available_cores(), "metric": "None"}
    data = lightgbm.Dataset(X[:cut], label=y[:cut], group=[LENGTH] * TRAINED, params=params).construct()
    qid = np.repeat(np.arange(TESTED), LENGTH)
    rows = []
    for objective in OBJECTIVES:
        callback = gapboost.lightgbm.objective(objective)
        lightgbm.train({**params, "objective": callback}, data, num_boost_round=1)  # compiles
        start = time.perf_counter()
        booster = lightgbm.train({**params, "objective": callback}, data, num_boost_round=ROUNDS)
        seconds = time.perf_counter() - start
        means = gb.evaluate(MEASURES, y[cut:], booster.predict(X[cut:]), qid)
        rows.append([repr(objective), f"{seconds:.1f}", *(f"{value:.4f}" for value in means.values())])
    print(conditions("lightgbm"), "\n")
    print(table(["objective", "s", *map(str, MEASURES)], rows))


if __name__ == "__main__":
    main()
