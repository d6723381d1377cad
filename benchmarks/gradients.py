"""Cost of one gradient pass against list length, beside the boosters' own objectives.

Usage: ``python -m benchmarks.gradients [--quick]``.

The boosters' objectives cannot be called alone, so every competitor trains trees of two leaves on few features, and the
time of the same training with a callback that returns constants is subtracted. Ours is measured the same way. Sorting
is numpy's argsort of the same scores, list by list, on one thread; ours beside it runs on one thread too.
"""

import argparse
from collections.abc import Callable
from dataclasses import dataclass

import lightgbm
import numpy as np
import xgboost

import gapboost as gb
import gapboost.lightgbm
import gapboost.xgboost
from benchmarks.workload import FIGURES, N_DOCUMENTS, conditions, medians, ranking_task, table
from gapboost._data.judged import judged
from gapboost._kernels.parallel.chunks import available_cores

UNIFORM = gb.GAP(g=(0.25, 0.25, 0.25, 0.25))
LIST_LENGTHS = (10, 100, 2_000, 100_000)
# Beyond this many pairs a peer's pass takes minutes; LightGBM also refuses lists above 10 000.
MOST_PAIRS = 5e8


@dataclass(frozen=True)
class Timed:
    """One training to be timed, of `rounds` rounds, and the no-op training that is subtracted."""

    run: Callable[[], object]
    rounds: int
    noop: str


def constant_gradients(n: int) -> Callable[..., tuple[np.ndarray, np.ndarray]]:
    """A callback that costs nothing: every tree fits the same noise."""
    grad = np.random.default_rng(0).standard_normal(n).astype(np.float32)
    hess = np.ones(n, dtype=np.float32)
    return lambda *_: (grad, hess)


def lightgbm_runs(X, y, sizes, threads: int, rounds: int) -> dict[str, Timed]:
    """LightGBM's objectives and ours, on one binned data set."""
    data = lightgbm.Dataset(X, label=y, group=sizes, params={"verbose": -1, "num_threads": threads}).construct()
    length = int(sizes[0])

    def train(n_rounds: int, **params: object) -> Callable[[], object]:
        stump = {"num_leaves": 2, "feature_fraction": 0.05, "verbose": -1, "num_threads": threads, "metric": "None"}
        return lambda: lightgbm.train({**stump, **params}, data, num_boost_round=n_rounds)

    ours = gapboost.lightgbm.objective(UNIFORM, n_jobs=threads)
    runs = {
        "LightGBM no-op": Timed(train(rounds, objective=constant_gradients(len(y))), rounds, ""),
        "gapboost (LightGBM)": Timed(train(rounds, objective=ours), rounds, "LightGBM no-op"),
    }
    if length <= 10_000:
        runs["LightGBM lambdarank, truncation 30"] = Timed(
            train(rounds, objective="lambdarank"), rounds, "LightGBM no-op"
        )
        few = rounds if length <= 100 else max(3, rounds // 10)
        runs["LightGBM lambdarank, all pairs"] = Timed(
            train(few, objective="lambdarank", lambdarank_truncation_level=length), few, "LightGBM no-op"
        )
    return runs


def xgboost_runs(X, y, sizes, threads: int, rounds: int) -> dict[str, Timed]:
    """XGBoost's objectives and ours, on one binned data set; rank:map on grades above 0."""
    qid = np.repeat(np.arange(len(sizes)), sizes)
    data = xgboost.QuantileDMatrix(X, label=y, qid=qid, nthread=threads)
    binary = xgboost.QuantileDMatrix(X, label=y > 0, qid=qid, nthread=threads)
    length = int(sizes[0])
    stump = {"max_leaves": 2, "grow_policy": "lossguide", "colsample_bytree": 0.05, "nthread": threads,
             "base_score": 0.0, "disable_default_eval_metric": 1, "verbosity": 0}  # fmt: skip

    def train(n_rounds: int, matrix=data, obj=None, **params: object) -> Callable[[], object]:
        return lambda: xgboost.train({**stump, **params}, matrix, num_boost_round=n_rounds, obj=obj)

    ours = gapboost.xgboost.objective(UNIFORM, n_jobs=threads)
    runs = {
        "XGBoost no-op": Timed(train(rounds, obj=constant_gradients(len(y))), rounds, ""),
        "gapboost (XGBoost)": Timed(train(rounds, obj=ours), rounds, "XGBoost no-op"),
        "XGBoost rank:ndcg, 32 pairs": Timed(train(rounds, objective="rank:ndcg"), rounds, "XGBoost no-op"),
    }
    if len(sizes) * length**2 <= MOST_PAIRS:
        few = rounds if length <= 100 else 3
        full = {"lambdarank_pair_method": "topk", "lambdarank_num_pair_per_sample": length}
        runs["XGBoost rank:ndcg, all pairs"] = Timed(train(few, objective="rank:ndcg", **full), few, "XGBoost no-op")
        runs["XGBoost rank:map, all pairs"] = Timed(
            train(few, matrix=binary, objective="rank:map", **full), few, "XGBoost no-op"
        )
    return runs


def pass_costs(length: int, threads: int, rounds: int, repetitions: int) -> dict[str, float]:
    """Milliseconds of one gradient pass for every competitor."""
    X, y, sizes = ranking_task(length)
    runs = lightgbm_runs(X, y, sizes, threads, rounds) | xgboost_runs(X, y, sizes, threads, rounds)
    for timed in runs.values():
        timed.run()  # compiles, and fills caches
    seconds = medians({name: timed.run for name, timed in runs.items()}, repetitions)
    return {
        name: 1e3 * (seconds[name] / timed.rounds - seconds[timed.noop] / runs[timed.noop].rounds)
        for name, timed in runs.items()
        if timed.noop
    }


def long_list_costs(threads: int, rounds: int, repetitions: int) -> dict[str, tuple[float, float]]:
    """Milliseconds of our pass over one list of all documents, and over lists of 100, measured in turns, by booster."""
    found = {}
    for booster, runs_of in (("LightGBM", lightgbm_runs), ("XGBoost", xgboost_runs)):
        runs = {}
        for length in (LIST_LENGTHS[-1], 100):
            made = runs_of(*ranking_task(length), threads, rounds)
            runs |= {(name, length): made[name].run for name in (f"{booster} no-op", f"gapboost ({booster})")}
        for run in runs.values():
            run()
        seconds = medians(runs, repetitions)
        long, short = (
            1e3 * (seconds[f"gapboost ({booster})", n] - seconds[f"{booster} no-op", n]) / rounds
            for n in (LIST_LENGTHS[-1], 100)
        )
        found[booster] = long, short
    return found


def sorting_costs(length: int, repetitions: int) -> tuple[float, float]:
    """Milliseconds of our whole pass and of numpy's argsort list by list, both on one thread, scores as in boosting."""
    X, y, sizes = ranking_task(length)
    scores = X[:, :10] @ np.random.default_rng(1).standard_normal(10)
    data = judged(y, np.repeat(np.arange(len(sizes)), sizes))
    prepared = gb.LambdaRank(UNIFORM).prepared(data, n_jobs=1)
    grad, hess = np.empty(len(y), dtype=np.float32), np.empty(len(y), dtype=np.float32)
    step = np.random.default_rng(2).standard_normal(31)[np.random.default_rng(3).integers(31, size=len(y))]
    lists = np.split(np.arange(len(y)), np.cumsum(sizes)[:-1])
    rows = [(int(rows[0]), int(rows[-1]) + 1) for rows in lists]
    state = {"scores": scores.astype(np.float64)}

    def ours() -> None:
        state["scores"] = state["scores"] + 0.05 * np.roll(step, 997)
        prepared(state["scores"], grad, hess)

    def sort() -> None:
        current = state["scores"]
        for begin, end in rows:
            np.argsort(current[begin:end])

    ours()
    seconds = medians({"ours": ours, "sort": sort}, repetitions)
    return 1e3 * seconds["ours"], 1e3 * seconds["sort"]


# Dashes and markers tell the lines apart without colour.
STYLES = (
    {"color": "#0072B2", "linestyle": "-", "marker": "o", "linewidth": 2.5},
    {"color": "#D55E00", "linestyle": "--", "marker": "s"},
    {"color": "#009E73", "linestyle": ":", "marker": "^"},
    {"color": "#555555", "linestyle": "-.", "marker": "D"},
)


def draw(costs: dict[int, dict[str, float]]) -> None:
    """Time a document against list length, log-log, a panel for each booster."""
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(1, 2, figsize=(10, 4.2), sharey=True)
    for axes, booster in zip(panels, ("LightGBM", "XGBoost"), strict=True):
        names = [name for name in next(iter(costs.values())) if booster in name]
        for name, style in zip(names, STYLES, strict=False):
            lengths = [n for n in costs if costs[n].get(name, 0) > 0]
            found = [1e6 * costs[n][name] / N_DOCUMENTS for n in lengths]
            label = name.removeprefix(f"{booster} ").replace(f" ({booster})", "")
            axes.loglog(lengths, found, label=label, **style)
        axes.set(xlabel="documents in a list", title=f"Inside {booster}")
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.18), ncol=2, frameon=False)
        axes.grid(which="major", alpha=0.3)
        axes.spines[["top", "right"]].set_visible(False)
    panels[0].set_ylabel("nanoseconds a document\n(wall, all threads)")
    figure.suptitle("One gradient pass over 100 000 documents")
    figure.tight_layout()
    FIGURES.mkdir(exist_ok=True)
    figure.savefig(FIGURES / "gradients.png", dpi=130)


def main() -> None:
    """Measure, print the tables and draw."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer rounds and repetitions")
    quick = parser.parse_args().quick
    rounds, repetitions, threads = (20, 3, available_cores()) if quick else (30, 5, available_cores())

    print(conditions("lightgbm", "xgboost"), f"; {threads} threads\n", sep="")
    costs = {length: pass_costs(length, threads, rounds, repetitions) for length in LIST_LENGTHS}
    rows = []
    for length, by_name in costs.items():
        for name, ms in by_name.items():
            ours = by_name["gapboost (LightGBM)" if "LightGBM" in name else "gapboost (XGBoost)"]
            ratio = "" if name.startswith("gapboost") else f"{ours / ms:.3f}"
            rows.append(
                [f"{N_DOCUMENTS // length} x {length}", name, f"{ms:.2f}", f"{1e6 * ms / N_DOCUMENTS:.0f}", ratio]
            )
    print(table(["lists", "objective", "ms a pass", "ns a document", "gapboost / theirs"], rows), "\n")

    rows = [
        [booster, f"{long:.2f}", f"{short:.2f}", f"{long / short:.2f}"]
        for booster, (long, short) in long_list_costs(threads, rounds, 5 * repetitions).items()
    ]
    print(table(["in turns, inside", "1 x 100000, ms", "1000 x 100, ms", "ratio"], rows), "\n")

    rows = []
    for length in LIST_LENGTHS:
        ours, sort = sorting_costs(length, 3 * repetitions)
        rows.append([f"{N_DOCUMENTS // length} x {length}", f"{ours:.2f}", f"{sort:.2f}", f"{ours / sort:.2f}"])
    print(table(["lists", "our pass, 1 thread, ms", "numpy argsort, ms", "ratio"], rows))
    draw(costs)


if __name__ == "__main__":
    main()
