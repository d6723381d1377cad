"""Defaults against the number of training queries, on made tasks: `protocols/scaling.md`.

Trainings that `results/scaling_values.csv` holds are not repeated.
"""

import csv
import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import joblib
import lightgbm
import numpy as np
import xgboost

import gapboost as gb
from benchmarks.harness import BOOSTERS, HERE, Row, Subject, first_number, signed
from gapboost.analysis.standard_errors import independent
from gapboost.lightgbm import LGBMGAPRanker, objective
from gapboost.lightgbm._compat import default_trees
from gapboost.xgboost import XGBGAPRanker

VALUES = HERE / "results" / "scaling_values.csv"
N_TESTED = 1_000
TARGET = gb.GAP(g=(0.25,) * 4)
MEASURES = {"GAP": TARGET, "nDCG@10": gb.nDCG(k=10)}
QUIET: dict[str, Any] = {"n_jobs": 1, "verbose": -1}
NATIVE = 'objective("gap")'

# Rankers for a number of training documents.
RANKERS: dict[str, Callable[[int], Any]] = {
    "LGBMRanker": lambda _: lightgbm.LGBMRanker(**QUIET),
    "LGBMRanker, our trees": lambda n: lightgbm.LGBMRanker(**default_trees(n), **QUIET),
    "LGBMGAPRanker": lambda _: LGBMGAPRanker(g=TARGET.g, **QUIET),
    NATIVE: lambda _: lightgbm.LGBMRanker(objective=objective(TARGET), metric="None", **QUIET),
    "XGBRanker": lambda _: xgboost.XGBRanker(n_jobs=1),
    "XGBRanker(reg_lambda=5)": lambda _: xgboost.XGBRanker(reg_lambda=5, n_jobs=1),
    "XGBGAPRanker": lambda _: XGBGAPRanker(g=TARGET.g, n_jobs=1),
}
PEERS = {
    name: "XGBRanker" if "XGB" in name else "LGBMRanker"
    for name in RANKERS
    if name not in ("XGBRanker", "LGBMRanker")
}


class Task(NamedTuple):
    """A made task, and a ranker to train on it; `noise` is in deviations of the teacher."""

    queries: int
    length: int
    teacher: str
    noise: float
    seed: int
    ranker: str


SEEDS = {(100, 50): 5, (300, 50): 5, (1_000, 50): 3, (1_000, 10): 3, (3_000, 50): 3}
SEEDS |= {(1_000, 200): 1, (10_000, 50): 1, (30_000, 50): 1}
TASKS = [
    Task(*size, teacher, noise, 300 + seed, ranker)
    for size, seeds in SEEDS.items()
    for teacher, noise, seed, ranker in itertools.product(
        ("smooth", "trees"), (0.3, 0.7, 2.0), range(seeds), RANKERS
    )
]


def made_task(task: Task, n_queries: int, part: int) -> tuple[np.ndarray, ...]:
    """Return features, grades from 0 to 4 and query ids of the training or the test set."""
    fixed = np.random.default_rng([task.seed, len(task.teacher)])
    n = n_queries * task.length
    rng = np.random.default_rng([task.seed, part, int(10 * task.noise), n_queries])
    X = rng.normal(size=(n, 40)).astype(np.float32)
    X[:, :6] += np.repeat(rng.normal(size=(n_queries, 6)), task.length, 0)
    X[:, 6:12] = np.exp(X[:, 6:12])
    X[:, 12:20] = (X[:, 12:20] > 0.8) * rng.exponential(size=(n, 8))
    signal = sum((tree if task.teacher == "trees" else smooth)(X, fixed) for _ in range(60))
    signal -= np.repeat(signal.reshape(-1, task.length).mean(axis=1), task.length)
    signal = signal / signal.std()
    signal = signal + task.noise * rng.normal(size=n)
    y = np.digitize(signal, np.quantile(signal, (0.52, 0.84, 0.97, 0.993)))
    return X, y, np.repeat(np.arange(n_queries), task.length)


def smooth(X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return a smooth function of three features."""
    columns, weights, shift, size = (
        rng.integers(20, size=3), rng.normal(size=3), rng.normal(), rng.normal(),
    )  # fmt: skip
    return np.asarray(size * np.tanh(X[:, columns] @ weights + shift))


def tree(X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return a tree of depth four with random thresholds."""
    leaf = np.zeros(len(X), dtype=np.int64)
    for _ in range(4):
        column = rng.integers(20)
        leaf = 2 * leaf + (X[:, column] > np.quantile(X[:10_000, column], rng.uniform(0.1, 0.9)))
    return np.asarray(rng.normal(size=16)[leaf])


def fitted(ranker: Any, X: np.ndarray, y: np.ndarray, qid: np.ndarray) -> Any:
    """Train; LightGBM's own ranker takes sizes of queries."""
    if type(ranker) is lightgbm.LGBMRanker:
        return ranker.fit(X, y, group=np.bincount(qid))
    return ranker.fit(X, y, qid=qid)


def train(task: Task) -> dict[str, str]:
    """Return the values of the ranker of a task."""
    X, y, qid = made_task(task, task.queries, 0)
    tested = made_task(task, N_TESTED, 1)
    begun = time.process_time()
    ranker = fitted(RANKERS[task.ranker](len(y)), X, y, qid)
    spent = time.process_time() - begun
    scores = ranker.predict(tested[0])
    found = gb.evaluate(list(MEASURES.values()), tested[1], scores, tested[2], n_jobs=1)
    values = {key: f"{found[measure]:.5f}" for key, measure in MEASURES.items()}
    row = {key: str(value) for key, value in task._asdict().items()}
    return {**row, **values, "processor s": f"{spent:.3f}"}


def trained(
    path: Path | None,
    tasks: Sequence[Any],
    train: Callable[[Any], dict[str, str]],
    n_jobs: int = -1,
) -> list[dict[str, str]]:
    """Train what the values in a file lack, add it to them, and return all of them.

    Without a path, nothing is read or written.
    """
    saved: list[dict[str, str]] = []
    if path and path.exists():
        with path.open(encoding="utf-8") as lines:
            saved = list(csv.DictReader(lines))
    known = {tuple(row[name] for name in tasks[0]._fields) for row in saved}
    missing = [task for task in tasks if tuple(map(str, task)) not in known]
    work = joblib.Parallel(n_jobs, return_as="generator")(joblib.delayed(train)(t) for t in missing)
    for row in work:
        saved.append(row)
        if path:
            with path.open("w", encoding="utf-8", newline="") as lines:
                writer = csv.DictWriter(lines, list(row), restval="", lineterminator="\n")
                writer.writeheader()
                writer.writerows(saved)
    return saved


def with_interval(values: Sequence[float]) -> str:
    """Return the mean of values and Student's 95 % interval, if there are several values."""
    mean = signed(float(np.mean(values)))
    if len(values) < 2:
        return mean
    return f"{mean} ({' … '.join(map(signed, independent(np.array(values)).interval()))})"


def differences(smoke: bool) -> Iterator[Row]:
    """Yield the differences from the booster's own ranker, for each size."""
    tasks = [task._replace(queries=20) for task in TASKS if task.queries == 100] if smoke else TASKS
    values = trained(None if smoke else VALUES, tasks, train)
    found = {Task._make(row[name] for name in Task._fields): row for row in values}
    sizes = dict.fromkeys(task[:2] for task in found)
    for (queries, length), (name, peer) in itertools.product(sizes, PEERS.items()):
        row: dict[str, Any] = {"queries": queries, "length": length}
        row["difference"] = f"{name} − {peer}"
        ours = [t for t in found if t[:2] == (queries, length) and t.ranker == name]
        if not ours:
            continue
        for measure in MEASURES:
            cells: dict[tuple[Any, ...], list[float]] = {}
            for task in ours:
                value, base = found[task], found[task._replace(ranker=peer)]
                difference = float(value[measure]) - float(base[measure])
                cells.setdefault((task.teacher, task.noise), []).append(difference)
            lowest = min(cells, key=lambda cell: np.mean(cells[cell]))
            row[measure] = with_interval(np.mean(list(cells.values()), axis=0))
            row[f"{measure}, lowest cell"] = f"{' '.join(lowest)}: {with_interval(cells[lowest])}"
        yield row


def draw(rows: Sequence[Row]) -> Any:
    """Return the mean difference in GAP and nDCG@10 against the number of training queries."""
    from benchmarks.pictures import legend_below, line, panels

    figure, axes = panels(2, sharey=True)
    for ax, measure in zip(axes, MEASURES, strict=True):
        ax.axhline(0, color="black", linewidth=1)
        for number, (name, peer) in enumerate(PEERS.items()):
            points = [
                (float(row["queries"]), first_number(row[measure]))
                for row in rows
                if row["difference"].startswith(f"{name} ") and row["length"] == "50"
            ]
            if points:
                ax.semilogx(*zip(*points, strict=True), label=f"{name} − {peer}", **line(number))
        ax.set(title=f"difference in {measure}", xlabel="training queries")
    legend_below(figure, axes[0], columns=2)
    return figure


ABOUT = "our defaults beside the boosters' own, by number of training queries"
PAGE = HERE / "EFFECTIVENESS.md"
SUBJECTS = [Subject("scaling", ABOUT, differences, BOOSTERS, draw=draw, page=PAGE)]
