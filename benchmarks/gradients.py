"""Gradient passes beside the boosters' own objectives.

The boosters' objectives cannot be called alone. Each contestant trains trees of two leaves on few
features, less the time of the same training with a callback that returns constants.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import lightgbm
import numpy as np
import xgboost

import gapboost as gb
import gapboost.lightgbm
import gapboost.xgboost
from benchmarks.harness import (
    BOOSTERS,
    N_DOCUMENTS,
    THREADS,
    Row,
    Run,
    Subject,
    race,
    ranking_task,
    with_ratios,
)
from gapboost.data.query_data import group_by_query

UNIFORM = gb.GAP(g=(0.25, 0.25, 0.25, 0.25))
LENGTHS = (10, 100, 2_000, 100_000)
# LightGBM refuses longer lists. With all pairs of one, XGBoost takes minutes for a pass.
LONGEST = 10_000
FEW = 3
NS = "ns a document"
DEFAULTS = {
    "LightGBM": "LightGBM lambdarank, truncation 30",
    "XGBoost": "XGBoost rank:ndcg, 32 pairs",
}

Trainings = dict[str, Callable[[int], object]]  # functions of the number of rounds


def kernel_pass(objective: gb.objectives.Objective, y: Any, scores: Any, qid: Any) -> Run:
    """Return one pass of the kernels without a booster, on one thread."""
    prepared = objective.prepared(group_by_query(y, qid, real=True), n_jobs=1)
    grad, hess = np.empty((2, len(y)))
    return lambda: prepared(scores, grad, hess)


def constant_gradients(n: int) -> Callable[..., tuple[np.ndarray, np.ndarray]]:
    """Return a callback that costs nothing."""
    grad = np.random.default_rng(0).standard_normal(n).astype(np.float32)
    hess = np.ones(n, dtype=np.float32)
    return lambda *_: (grad, hess)


def lightgbm_trainings(X: Any, y: Any, qid: Any, length: int) -> Trainings:
    """Return LightGBM's objectives and ours, on one binned data set."""
    quiet = {"verbose": -1, "num_threads": THREADS}
    data = lightgbm.Dataset(X, label=y, group=np.bincount(qid), params=quiet).construct()
    stump = {**quiet, "num_leaves": 2, "feature_fraction": 0.05, "metric": "None"}

    def train(**params: Any) -> Callable[[int], object]:
        return lambda rounds: lightgbm.train({**stump, **params}, data, rounds)

    ours = gapboost.lightgbm.objective(UNIFORM, n_jobs=THREADS)
    constant = constant_gradients(len(y))
    trainings = {
        "constant": train(objective=constant),
        "gapboost (LightGBM)": train(objective=ours),
    }
    if length <= LONGEST:
        full = train(objective="lambdarank", lambdarank_truncation_level=length)
        trainings[DEFAULTS["LightGBM"]] = train(objective="lambdarank")
        trainings["LightGBM lambdarank, all pairs"] = full
    return trainings


def xgboost_trainings(X: Any, y: Any, qid: Any, length: int) -> Trainings:
    """Return XGBoost's objectives and ours, on one binned data set; rank:map on grades above 0."""
    data = xgboost.QuantileDMatrix(X, label=y, qid=qid, nthread=THREADS)
    binary = xgboost.QuantileDMatrix(X, label=y > 0, qid=qid, nthread=THREADS)
    stump = {
        "max_leaves": 2, "grow_policy": "lossguide", "colsample_bytree": 0.05, "nthread": THREADS,
        "base_score": 0.0, "disable_default_eval_metric": 1, "verbosity": 0,
    }  # fmt: skip

    def train(matrix: Any = data, obj: Any = None, **params: Any) -> Callable[[int], object]:
        return lambda rounds: xgboost.train({**stump, **params}, matrix, rounds, obj=obj)

    trainings = {
        "constant": train(obj=constant_gradients(len(y))),
        "gapboost (XGBoost)": train(obj=gapboost.xgboost.objective(UNIFORM, n_jobs=THREADS)),
        DEFAULTS["XGBoost"]: train(objective="rank:ndcg"),
    }
    if length <= LONGEST:
        full = {"lambdarank_pair_method": "topk", "lambdarank_num_pair_per_sample": length}
        trainings["XGBoost rank:ndcg, all pairs"] = train(objective="rank:ndcg", **full)
        trainings["XGBoost rank:map, all pairs"] = train(binary, objective="rank:map", **full)
    return trainings


def passes(smoke: bool) -> Iterator[Row]:
    """Yield the costs of a pass: those of a round less those of a round with constants."""
    n, rounds, repetitions = (2_000, 2, 1) if smoke else (N_DOCUMENTS, 30, 5)
    for length in LENGTHS[: 2 if smoke else None]:
        task = ranking_task(length, n)
        for booster, made in (("LightGBM", lightgbm_trainings), ("XGBoost", xgboost_trainings)):
            trainings = made(*task, length)
            slow = "all pairs" if length > 100 else "none"
            rounds_of = {name: FEW if slow in name else rounds for name in trainings}
            runs = {name: lambda t=t, r=rounds_of[name]: t(r) for name, t in trainings.items()}
            empty, *rows = (
                {"contestant": row["contestant"], "ms": row["ms"] / rounds_of[row["contestant"]]}
                for row in race(runs, repetitions=repetitions)
            )
            for row in rows:
                row["ms"] -= empty["ms"]
                row[NS] = 1e6 * row["ms"] / n
            for row in with_ratios(rows, DEFAULTS[booster], "ms"):
                yield {"lists": n // length, "documents in each": length, **row}


def draw(rows: Sequence[Row]) -> Any:
    """Return time a document against list length, a panel for each booster."""
    from benchmarks.pictures import log_log

    points = []
    for row in rows:
        booster = "LightGBM" if "LightGBM" in row["contestant"] else "XGBoost"
        panel = f"Inside {booster}", "ns a document, all threads"
        label = row["contestant"].removeprefix(f"{booster} ").replace(f" ({booster})", "")
        points.append((*panel, label, row["documents in each"], row[NS]))
    return log_log(points, "documents in a list")


BESIDE = "a gradient pass beside the boosters' own, by list length"
SUBJECTS = [Subject("gradients", BESIDE, passes, BOOSTERS, draw=draw)]
