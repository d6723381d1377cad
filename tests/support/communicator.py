"""Workers of XGBoost's communicator without Dask or Spark: one process for each data part."""

import pickle
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import xgboost
from xgboost.collective import CommunicatorContext
from xgboost.tracker import RabitTracker

from gapboost.xgboost import eval_metric, objective

PARAMS = {
    "base_score": 0.0,
    "disable_default_eval_metric": 1,
    "eta": 0.1,
    "max_depth": 3,
    "nthread": 1,
}


def ranking(n_queries, seed, longest=9):
    """Return X, y, sizes and weights of the queries, and initial scores.

    X has few distinct values, so that workers agree on the bins. No two initial scores are equal,
    as the order of ties would depend on the order of the rows.
    """
    rng = np.random.default_rng(seed)
    sizes = rng.integers(3, longest, n_queries)
    X = rng.integers(0, 40, (sizes.sum(), 4)).astype(np.float32)
    y = np.digitize(X[:, 0] + X[:, 1] + 12 * rng.standard_normal(len(X)), [45, 60])
    return (
        X,
        y,
        sizes,
        rng.integers(1, 4, n_queries).astype(float),
        rng.permutation(len(X)) / (4 * len(X)),
    )


def queries(data, chosen):
    """Some queries of X, y, sizes, weights of the queries and scores to start from."""
    X, y, sizes, weight, start = data
    rows = np.isin(np.repeat(np.arange(len(sizes)), sizes), chosen)
    return X[rows], y[rows], sizes[chosen], weight[chosen], start[rows]


def trained(train, valid, measures, how, rounds, arguments=None):
    """Train one worker; return the metrics by round, the best round, and the model.

    The weight of a document grows with its initial score.
    """
    with CommunicatorContext(**arguments) if arguments else nullcontext():
        matrices = []
        for X, y, sizes, weight, start in (train, valid):
            matrix = xgboost.DMatrix(X, label=y, nthread=1)
            matrix.set_group(sizes)
            if len(sizes):
                matrix.set_weight(weight)
                matrix.set_base_margin(start)
            matrices.append(matrix)
        history = {}
        booster = xgboost.train(
            PARAMS,
            matrices[0],
            rounds,
            evals=[(matrices[0], "train"), (matrices[1], "valid")],
            obj=objective(how, weight=np.repeat(train[3], train[2]) * (1.0 + train[4])),
            custom_metric=eval_metric(measures),
            early_stopping_rounds=3,
            evals_result=history,
            verbose_eval=False,
        )
        return history, booster.best_iteration, booster.save_raw("json")


def trained_by(cases, folder, limit=120):
    """Train each case with one worker for each of its parts; return the reports, by case.

    Parts are arguments of `trained`. All cases have two parts, and the same two processes train
    them one after the other.
    """
    trackers = [RabitTracker(n_workers=2, host_ip="127.0.0.1", sortby="task") for _ in cases]
    for tracker in trackers:
        tracker.start()
    arguments = [tracker.worker_args() for tracker in trackers]
    workers = []
    for rank in range(2):
        work = [
            (parts[rank], {**of_case, "dmlc_task_id": str(rank)})
            for parts, of_case in zip(cases, arguments, strict=True)
        ]
        (folder / f"work-{rank}").write_bytes(pickle.dumps(work))
        workers.append(subprocess.Popen([sys.executable, __file__, str(folder), str(rank)]))
    try:
        for worker in workers:
            assert worker.wait(timeout=limit) == 0
    finally:
        for worker in workers:
            worker.kill()
    for tracker in trackers:
        tracker.wait_for()
    reports = [pickle.loads((folder / f"reports-{rank}").read_bytes()) for rank in range(2)]
    return list(zip(*reports, strict=True))


if __name__ == "__main__":
    folder, rank = Path(sys.argv[1]), sys.argv[2]
    work = pickle.loads((folder / f"work-{rank}").read_bytes())
    reports = [trained(*part, arguments=arguments) for part, arguments in work]
    (folder / f"reports-{rank}").write_bytes(pickle.dumps(reports))
