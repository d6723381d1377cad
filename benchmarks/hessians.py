"""How the smooth objectives train on OHSUMED with one hessian or another, and with one beta or another.

    python -m benchmarks.hessians [--quick] [--data DIR]

Prints a table of the choices.
"""

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import lightgbm
import numpy as np
import xgboost

import gapboost as gb
from benchmarks.papers.training import DATA, FOLDS, GAP, per_query_range
from benchmarks.workload import conditions, table
from gapboost._data.queries import judged
from gapboost.datasets import RankingSplit, load_letor_fold

BOOSTERS = ("LightGBM", "XGBoost")


def query_means(hess: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Each document gets the mean over its query."""
    begins = np.concatenate(([0], np.cumsum(sizes)[:-1]))
    return np.repeat(np.add.reduceat(hess, begins) / sizes, sizes).astype(np.float32)


# From a gradient and the hessian that the library gives, and the lengths of the queries.
HESSIANS: dict[str, Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]] = {
    "pushes": lambda grad, hess, sizes: hess,
    "4 x pushes (bounds the curvature)": lambda grad, hess, sizes: 4 * hess,
    "mean pushes of the query": lambda grad, hess, sizes: query_means(hess, sizes),
    "constant": lambda grad, hess, sizes: np.full_like(hess, hess.mean()),
    "absolute gradient": lambda grad, hess, sizes: np.maximum(np.abs(grad) / 4, 1e-6),
    "squared gradient": lambda grad, hess, sizes: np.maximum(grad**2, 1e-6),
}
BETAS = (0.03, 0.1, 0.3, 1.0, 10.0)


def rounds(
    booster: str, how: Any, hessian: Any, split: RankingSplit, X: list[np.ndarray], n: int
) -> Iterator[list[np.ndarray]]:
    """Scores of training, validation and test documents after each round; leaf floors are the boosters' defaults."""
    train = split.train
    data = judged(train.y, train.qid)
    sizes, prepared = data.queries.sizes, how.prepared(data, 1)

    def ours(preds: np.ndarray, _: Any) -> tuple[np.ndarray, np.ndarray]:
        grad, hess = np.empty((2, len(preds)), dtype=np.float32)
        prepared(preds, grad, hess)
        return grad, hessian(grad, hess, sizes)

    if booster == "LightGBM":
        binned = lightgbm.Dataset(X[0], train.y, group=sizes, params={"verbose": -1})
        parameters = {"objective": "none", "metric": "None", "num_leaves": 15, "num_threads": 1, "verbose": -1}
        model = lightgbm.Booster(parameters, binned)
        for _ in range(n):
            model.update(fobj=ours)
            yield [model.predict(part, num_threads=1) for part in X]
    else:
        matrix = xgboost.QuantileDMatrix(X[0], train.y, group=sizes, nthread=1)
        model = xgboost.Booster({"nthread": 1, "eta": 0.1, "max_depth": 4, "base_score": 0.0}, [matrix])
        for number in range(n):
            model.update(matrix, number, fobj=ours)
            yield [model.inplace_predict(part) for part in X]


def trained(booster: str, how: Any, hessian: Any, folds: list[Any], n: int) -> list[float]:
    """The numbers of one row of the table, means over folds."""
    row = []
    for split, X in folds:
        smooth, vali, test = [], [], []
        for scores in rounds(booster, how, hessian, split, X, n):
            smooth.append(how.value(split.train.y, scores[0], split.train.qid, n_jobs=1))
            for values, part, s in ((vali, split.vali, scores[1]), (test, split.test, scores[2])):
                values.append(gb.evaluate(how.measure, part.y, s, part.qid, n_jobs=1)[how.measure])
        best = int(np.argmax(vali))
        row.append(
            [smooth[n // 4], smooth[-1], np.count_nonzero(np.diff(smooth) < 0), best + 1, vali[best], test[best]]
        )
    found: list[float] = np.mean(row, axis=0).tolist()
    return found


def choices(folds: list[Any], n: int) -> None:
    """Table of the choices."""
    plain: Any = HESSIANS["pushes"]
    plan = [(how, name, f) for how in (gb.SoftRank(GAP), gb.ApproxRank(GAP)) for name, f in HESSIANS.items()]
    betas = [(gb.ApproxRank(GAP, beta=beta), "pushes", plain) for beta in BETAS]
    rows = []
    for booster in BOOSTERS:
        for how, name, hessian in plan + (betas if booster == BOOSTERS[0] else []):
            row = trained(booster, how, hessian, folds, n)
            rows.append([booster, repr(how), name, *(f"{v:.4f}" for v in row[:2])])
            rows[-1] += [f"{row[2]:.1f}", f"{row[3]:.0f}", f"{row[4]:.4f}", f"{row[5]:.4f}"]
    head = ["booster", "objective", "hessian", f"smooth GAP, round {n // 4 + 1}", f"round {n}"]
    print(conditions("lightgbm", "xgboost"), f"\nmeans over {len(folds)} folds of OHSUMED, {n} rounds\n")
    print(table([*head, "rounds that fell", "best round", "GAP on validation", "on test"], rows))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="one fold, a few rounds")
    parser.add_argument("--data", type=Path, default=DATA / "ohsumed", help="folder that holds Fold1..Fold5")
    arguments = parser.parse_args()
    folds = []
    for number in FOLDS[:1] if arguments.quick else FOLDS:
        split = load_letor_fold(arguments.data / f"Fold{number}")
        folds.append((split, [per_query_range(part) for part in split]))
    n = 20 if arguments.quick else 50
    choices(folds, n)


if __name__ == "__main__":
    main()
