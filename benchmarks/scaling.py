"""Defaults against the number of training queries, on made tasks: `protocols/scaling.md`.

Trainings that `results/scaling_values.csv` holds are not repeated.
"""

import csv
import itertools
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
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
from gapboost.xgboost import XGBGAPRanker

VALUES = HERE / "results" / "scaling_values.csv"
N_TESTED = 1_000
TARGET = gb.GAP(g=(0.25,) * 4)
MEASURES = {"GAP": TARGET, "nDCG@10": gb.nDCG(k=10)}
QUIET: dict[str, Any] = {"n_jobs": 1, "verbose": -1}
NATIVE = 'objective("gap")'

RANKERS = {
    "LGBMRanker": lambda: lightgbm.LGBMRanker(**QUIET),
    "LGBMRanker(path_smooth=200)": lambda: lightgbm.LGBMRanker(path_smooth=200, **QUIET),
    "LGBMGAPRanker": lambda: LGBMGAPRanker(g=TARGET.g, **QUIET),
    NATIVE: lambda: lightgbm.LGBMRanker(objective=objective(TARGET), metric="None", **QUIET),
    "XGBRanker": lambda: xgboost.XGBRanker(n_jobs=1),
    "XGBRanker(reg_lambda=5)": lambda: xgboost.XGBRanker(reg_lambda=5, n_jobs=1),
    "XGBGAPRanker": lambda: XGBGAPRanker(g=TARGET.g, n_jobs=1),
}
PEERS = {
    name: "XGBRanker" if "XGB" in name else "LGBMRanker"
    for name in RANKERS
    if name not in ("XGBRanker", "LGBMRanker")
}
# Values of the second run, of sizes that the fourth has not trained.
PEERS["LGBMGAPRanker(max_bin=255)"] = "LGBMRanker"


class Cell(NamedTuple):
    """A made task; `noise` is in standard deviations of the teacher."""

    queries: int
    length: int
    teacher: str
    noise: float
    seed: int


class Task(NamedTuple):
    """A made task, and a ranker to train on it."""

    queries: int
    length: int
    teacher: str
    noise: float
    seed: int
    ranker: str


SEEDS = {(100, 50): 5, (300, 50): 5, (1_000, 50): 3, (1_000, 10): 3, (3_000, 50): 3}
SEEDS |= {(1_000, 200): 1, (10_000, 50): 1, (30_000, 50): 1}
CELLS = [
    Cell(*size, teacher, noise, 300 + seed)
    for size, seeds in SEEDS.items()
    for teacher, noise, seed in itertools.product(
        ("smooth", "trees"), (0.3, 0.7, 2.0), range(seeds)
    )
]
TASKS = [Task(*cell, ranker) for cell, ranker in itertools.product(CELLS, RANKERS)]


def made_task(cell: Cell | Task, n_queries: int, part: int) -> tuple[np.ndarray, ...]:
    """Return features, grades from 0 to 4 and query ids of the training or the test set."""
    fixed = np.random.default_rng([cell.seed, len(cell.teacher)])
    n = n_queries * cell.length
    rng = np.random.default_rng([cell.seed, part, int(10 * cell.noise), n_queries])
    X = rng.normal(size=(n, 40)).astype(np.float32)
    X[:, :6] += np.repeat(rng.normal(size=(n_queries, 6)), cell.length, 0)
    X[:, 6:12] = np.exp(X[:, 6:12])
    X[:, 12:20] = (X[:, 12:20] > 0.8) * rng.exponential(size=(n, 8))
    signal = sum((tree if cell.teacher == "trees" else smooth)(X, fixed) for _ in range(60))
    signal -= np.repeat(signal.reshape(-1, cell.length).mean(axis=1), cell.length)
    signal = signal / signal.std()
    if cell.teacher == "fine":
        signal = with_fine_features(X, signal, cell.length, rng)
    signal = signal + cell.noise * rng.normal(size=n)
    y = np.digitize(signal, np.quantile(signal, (0.52, 0.84, 0.97, 0.993)))
    return X, y, np.repeat(np.arange(n_queries), cell.length)


def with_fine_features(
    X: np.ndarray, signal: np.ndarray, length: int, rng: np.random.Generator
) -> np.ndarray:
    """Fill three columns that need fine thresholds, and return the signal with their part.

    They are the score of another model, a time stamp in seconds and a price. Queries differ by
    more than the documents of a query do.
    """
    of_query = np.repeat(rng.normal(size=(len(X) // length, 3)), length, 0)
    own = rng.normal(size=(len(X), 3))
    X[:, 20] = signal + 0.3 * own[:, 0] + of_query[:, 0]
    X[:, 21] = 1.7e9 + 1e7 * of_query[:, 1] + 2.5e6 * own[:, 1]
    X[:, 22] = np.exp(3 + 2 * of_query[:, 2] + 0.5 * own[:, 2])
    signal = signal + 0.4 * own[:, 1] - 0.4 * own[:, 2]
    return np.asarray(signal / signal.std())


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


def train(cell: Cell, rankers: Mapping[str, Callable[[], Any]]) -> list[dict[str, str]]:
    """Return the values of each ranker."""
    X, y, qid = made_task(cell, cell.queries, 0)
    tested = made_task(cell, N_TESTED, 1)
    rows = []
    for name, make in rankers.items():
        begun = time.process_time()
        ranker = fitted(make(), X, y, qid)
        spent = time.process_time() - begun
        scores = ranker.predict(tested[0])
        found = gb.evaluate(list(MEASURES.values()), tested[1], scores, tested[2], n_jobs=1)
        values = {key: f"{found[measure]:.5f}" for key, measure in MEASURES.items()}
        values["processor s"] = f"{spent:.3f}"
        rows.append(
            {**{key: str(v) for key, v in cell._asdict().items()}, "ranker": name, **values}
        )
    return rows


def train_one(task: Task) -> list[dict[str, str]]:
    """Return the values of the ranker of a task."""
    return train(Cell(*task[:-1]), {task.ranker: RANKERS[task.ranker]})


def trained(
    path: Path | None,
    cells: Sequence[Any],
    train: Callable[[Any], list[dict[str, str]]],
    n_jobs: int = -1,
) -> list[dict[str, str]]:
    """Train what the values in a file lack, add it to them, and return all of them.

    Without a path, nothing is read or written.
    """
    saved: list[dict[str, str]] = []
    if path and path.exists():
        with path.open(encoding="utf-8") as lines:
            saved = list(csv.DictReader(lines))
    known = {tuple(row[name] for name in cells[0]._fields) for row in saved}
    missing = [cell for cell in cells if tuple(map(str, cell)) not in known]
    work = joblib.Parallel(n_jobs, return_as="generator")(joblib.delayed(train)(c) for c in missing)
    for rows in work:
        saved += rows
        if path:
            with path.open("w", encoding="utf-8", newline="") as lines:
                writer = csv.DictWriter(lines, list(rows[0]), restval="", lineterminator="\n")
                writer.writeheader()
                writer.writerows(saved)
    return saved


def interval(values: Sequence[float]) -> tuple[float, float]:
    """Return Student's 95 % interval of the mean of some values; of one value all numbers."""
    if len(values) < 2:
        return -np.inf, np.inf
    return independent(np.array(values)).interval()


def with_interval(values: Sequence[float]) -> str:
    """Return the mean of values and its 95 % interval, if there are several values."""
    mean = signed(float(np.mean(values)))
    ends = " … ".join(map(signed, interval(values)))
    return mean if len(values) < 2 else f"{mean} ({ends})"


def differences(smoke: bool) -> Iterator[Row]:
    """Yield the differences from the booster's own ranker, for each size."""
    tasks = [task._replace(queries=20) for task in TASKS if task.queries == 100] if smoke else TASKS
    values = trained(None if smoke else VALUES, tasks, train_one)
    found = {(*(v[k] for k in Cell._fields), v["ranker"]): v for v in values}
    sizes = dict.fromkeys(key[:2] for key in found)
    for (queries, length), (name, peer) in itertools.product(sizes, PEERS.items()):
        row: dict[str, Any] = {"queries": queries, "length": length}
        row["difference"] = f"{name} − {peer}"
        for measure in MEASURES:
            cells: dict[tuple[str, str], list[float]] = {}
            for (*size, teacher, noise, seed, ranker), value in found.items():
                if size == [queries, length] and ranker == name:
                    base = found[queries, length, teacher, noise, seed, peer]
                    difference = float(value[measure]) - float(base[measure])
                    cells.setdefault((teacher, noise), []).append(difference)
            if not cells:
                continue
            lowest = min(cells, key=lambda cell: np.mean(cells[cell]))
            row[measure] = with_interval(np.mean(list(cells.values()), axis=0))
            row[f"{measure}, lowest cell"] = f"{' '.join(lowest)}: {with_interval(cells[lowest])}"
        if len(row) > 3:
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
