"""Defaults against the number of training queries, on made tasks: `protocols/scaling.md`.

Trainings that `results/scaling_values.csv` holds are not repeated.
"""

import csv
import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import joblib
import lightgbm
import numpy as np
import xgboost

import gapboost as gb
from benchmarks.harness import BOOSTERS, HERE, Row, Subject, signed
from gapboost.lightgbm import LGBMGAPRanker
from gapboost.xgboost import XGBGAPRanker

VALUES = HERE / "results" / "scaling_values.csv"
HEAD = ["teacher", "noise", "queries", "seed", "ranker", "GAP", "nDCG@10"]
SEEDS = {100: 5, 300: 5, 1_000: 3, 3_000: 3}
LENGTH, N_TESTED = 50, 1_000
TARGET = gb.GAP(g=(0.25,) * 4)
MEASURES = (TARGET, gb.nDCG(k=10))
APART = gb.LambdaRank(TARGET, score_distance=0.1)
QUIET: dict[str, Any] = {"n_jobs": 1, "verbose": -1}
RANKERS = {
    "LGBMRanker": lambda: lightgbm.LGBMRanker(**QUIET),
    "LGBMGAPRanker": lambda: LGBMGAPRanker(g=TARGET.g, **QUIET),
    "LightGBM, score distance": lambda: LGBMGAPRanker(objective=APART, extra_trees=False, **QUIET),
    "XGBRanker": lambda: xgboost.XGBRanker(n_jobs=1),
    "XGBGAPRanker": lambda: XGBGAPRanker(g=TARGET.g, n_jobs=1),
    "XGBoost, score distance": lambda: XGBGAPRanker(objective=APART, n_jobs=1),
}
PEERS = {name: "LGBMRanker" if name.startswith("L") else "XGBRanker" for name in RANKERS}

Cell = tuple[str, float, int, int]  # teacher, noise, training queries, seed


def made_task(cell: Cell, n_queries: int, part: int) -> tuple[np.ndarray, ...]:
    """Return features, grades from 0 to 4 and query ids of the training or the test set."""
    teacher, noise, _, seed = cell
    fixed = np.random.default_rng([seed, len(teacher)])
    n = n_queries * LENGTH
    rng = np.random.default_rng([seed, part, int(10 * noise), n_queries])
    X = rng.normal(size=(n, 40)).astype(np.float32)
    X[:, :6] += np.repeat(rng.normal(size=(n_queries, 6)), LENGTH, 0)
    X[:, 6:12] = np.exp(X[:, 6:12])
    X[:, 12:20] = (X[:, 12:20] > 0.8) * rng.exponential(size=(n, 8))
    signal = sum((smooth if teacher == "smooth" else tree)(X, fixed) for _ in range(60))
    signal -= np.repeat(signal.reshape(-1, LENGTH).mean(axis=1), LENGTH)
    signal = signal / signal.std() + noise * rng.normal(size=n)
    y = np.digitize(signal, np.quantile(signal, (0.52, 0.84, 0.97, 0.993)))
    return X, y, np.repeat(np.arange(n_queries), LENGTH)


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


def train(cell: Cell) -> list[list[Any]]:
    """Return a row of `VALUES` for each ranker."""
    X, y, qid = made_task(cell, cell[2], 0)
    tested = made_task(cell, N_TESTED, 1)
    rows = []
    for name, make in RANKERS.items():
        queries = {"group": np.bincount(qid)} if name == "LGBMRanker" else {"qid": qid}
        scores = make().fit(X, y, **queries).predict(tested[0])
        found = gb.evaluate(MEASURES, tested[1], scores, tested[2], n_jobs=1)
        rows.append([*cell, name, *(f"{found[measure]:.5f}" for measure in MEASURES)])
    return rows


def trained(smoke: bool) -> list[dict[str, str]]:
    """Train what the saved values lack, and return all of them."""
    sizes = {20: 2} if smoke else SEEDS
    cells = [
        (teacher, noise, n, seed)
        for n, seeds in sizes.items()
        for teacher, noise, seed in itertools.product(
            ("smooth", "trees"), (0.3, 0.7, 2.0), range(100, 100 + seeds)
        )
    ]
    saved: list[dict[str, str]] = []
    if VALUES.exists() and not smoke:
        with VALUES.open(encoding="utf-8") as lines:
            saved = list(csv.DictReader(lines))
    known = {tuple(row[name] for name in HEAD[:4]) for row in saved}
    missing = [cell for cell in cells if tuple(map(str, cell)) not in known]
    work = joblib.Parallel(-1, return_as="generator")(joblib.delayed(train)(c) for c in missing)
    for rows in work:
        saved += [dict(zip(HEAD, map(str, row), strict=True)) for row in rows]
        if not smoke:
            with VALUES.open("w", encoding="utf-8", newline="") as lines:
                writer = csv.DictWriter(lines, HEAD, lineterminator="\n")
                writer.writeheader()
                writer.writerows(saved)
    return saved


def differences(smoke: bool) -> Iterator[Row]:
    """Yield the differences from the booster's own ranker, for each size."""
    values = trained(smoke)
    for n, name in itertools.product(dict.fromkeys(row["queries"] for row in values), RANKERS):
        if name == PEERS[name]:
            continue
        row: dict[str, Any] = {"training queries": n, "ranker": name, "baseline": PEERS[name]}
        for measure in HEAD[5:]:
            found = {tuple(v[key] for key in HEAD[:5]): float(v[measure]) for v in values}
            cells: dict[Any, list[float]] = {}
            for (teacher, noise, queries, seed, ranker), value in found.items():
                if (queries, ranker) == (n, name):
                    peer = found[teacher, noise, queries, seed, PEERS[name]]
                    cells.setdefault((teacher, noise), []).append(value - peer)
            means = {cell: float(np.mean(each)) for cell, each in cells.items()}
            lowest = min(means, key=means.__getitem__)
            row[measure] = signed(float(np.mean(list(means.values()))))
            row[f"{measure}, cells below 0"] = f"{sum(m < 0 for m in means.values())} of 6"
            row[f"{measure}, lowest cell"] = f"{signed(means[lowest])} ({' '.join(lowest)})"
        yield row


def draw(rows: Sequence[Row]) -> Any:
    """Return the mean difference in GAP against the number of training queries."""
    from benchmarks.pictures import legend_below, line, panels

    figure, axes = panels(2, sharey=True)
    for ax, peer in zip(axes, ("LGBMRanker", "XGBRanker"), strict=True):
        names = [name for name in RANKERS if PEERS[name] == peer != name]
        ax.axhline(0, color="black", linewidth=1)
        for number, name in enumerate(names):
            points = [
                (float(row["training queries"]), float(row["GAP"].replace("−", "-")))
                for row in rows
                if row["ranker"] == name
            ]
            label = "defaults" if "GAP" in name else "score distance"
            ax.semilogx(*zip(*points, strict=True), label=label, **line(number))
        ax.set(title=f"GAP, minus {peer}()", xlabel="training queries")
    legend_below(figure, axes[0])
    return figure


ABOUT = "our defaults and score distance, by number of training queries"
PAGE = HERE / "EFFECTIVENESS.md"
SUBJECTS = [Subject("scaling", ABOUT, differences, BOOSTERS, draw=draw, page=PAGE)]
