"""Two smaller studies of `PROTOCOL.md`: training with less data, and the choice of g, with LightGBM and fixed settings."""

from collections.abc import Sequence
from functools import partial

import numpy as np

import gapboost as gb
from benchmarks.studies.boosters import Fold, Predict, Trees, Watch, train_lightgbm
from benchmarks.studies.effectiveness.data import FOLDS, Collection, rows
from benchmarks.studies.effectiveness.results import Task
from benchmarks.studies.effectiveness.runs import Done, Trained, tested, version, watched
from gapboost.analysis import most_informative_g, ranked_lists
from gapboost.datasets import RankingSplit

TREES = Trees(leaves=16, learning_rate=0.05, features=0.5, penalty=1.0, min_data=10, min_hessian=1.0, drawn=False)
ROUNDS = 1000

SIZES = (12, 25, 50, 100, 200, 400, 800)
MEASURES = {"GAP": "gap", "nDCG": "ndcg", "AP": "ap", "P@10": gb.Precision(k=10)}
N_TEST, N_VALI, ORDERS = 592, 300, 10

TENTHS = tuple((k / 10, 1 - k / 10) for k in range(11))
INFORMATIVE, FREQUENCIES = "most informative g", "g from frequencies"
G_SEEDS = (1, 2)
# Lists of validation queries from which the most informative g is found, each with so many documents of every grade.
LISTS, MINIMUM = 40, 3


def fitted(fold: Fold, measure: gb.Measure, number: int, setting: str, seed: int) -> Trained:
    """One fit with the fixed settings."""

    def fit(watch: Watch, seed: int) -> Predict:
        return train_lightgbm({}, gb.LambdaRank(measure), fold, TREES, ROUNDS, seed, watch)

    return watched(fit, fold, number, setting, seed)


def done(fits: Sequence[Trained], folds: Sequence[Fold]) -> Done:
    """Rows of the fits, and their test values with the number of trees by the mean of the measures."""
    values = [tested(fold, {"mean": [fit]})["mean"][0] for fit, fold in zip(fits, folds, strict=True)]
    return [fit.row(["mean"]) for fit in fits], {"mean": values}


def less_data_tasks() -> list[Task]:
    """Few queries first."""
    return [
        Task("less data", "mq2007", 0, f"{name} from {n} queries", version("less data", name))
        for n in SIZES
        for name in MEASURES
    ]


def less_data(task: Task, source: Collection) -> Done:
    """Train for one measure on the first queries of each order."""
    name, n = task.competitor.removesuffix(" queries").split(" from ")
    g = (1 / source.n_grades,) * source.n_grades if name == "GAP" else None
    measure = gb.measures.as_measure(MEASURES[name], g)
    rng = source.generator()
    queries = rng.permutation(np.unique(source.data.qid))
    test, vali, pool = queries[:N_TEST], queries[N_TEST : N_TEST + N_VALI], queries[N_TEST + N_VALI :]
    test_rows, vali_rows = rows(source.data, test), rows(source.data, vali)
    folds = [
        Fold(RankingSplit(rows(source.data, rng.permutation(pool)[: int(n)]), vali_rows, test_rows), source.n_grades)
        for _ in range(ORDERS)
    ]
    return done([fitted(fold, measure, number, n, seed=number) for number, fold in enumerate(folds)], folds)


def g_tasks(data: str) -> list[Task]:
    """Every g in tenths, and two that the data give."""
    names = [f"g = {first:.1f} {second:.1f}" for first, second in TENTHS]
    return [
        Task("g", data, fold, name, version("g", name)) for fold in FOLDS for name in [*names, INFORMATIVE, FREQUENCIES]
    ]


def choice_of_g(task: Task, fold: Fold) -> Done:
    """Train for GAP with one g."""
    if task.competitor == INFORMATIVE:
        g = informative(fold)
    elif task.competitor == FREQUENCIES:
        g = frequencies(fold)
    else:
        first, second = (float(x) for x in task.competitor.removeprefix("g = ").split())
        g = (first, second)
    fit = partial(fitted, fold, gb.GAP(g=g), 0, " ".join(f"{x:g}" for x in g))
    return done([fit(seed=seed) for seed in G_SEEDS], [fold] * len(G_SEEDS))


def informative(fold: Fold) -> tuple[float, ...]:
    """By the validation queries, as a ranker trained for GAP with uniform g ranks them."""
    uniform = fitted(fold, gb.GAP(g=(0.5, 0.5)), 0, "", seed=1)
    part = fold.vali
    lists = ranked_lists(part.y, uniform.predict(part.X, uniform.best["mean"].trees), part.qid)
    enough = [found for found in lists if (found.counts[1:] >= MINIMUM).all()]
    return most_informative_g(enough[:LISTS], grid=TENTHS, minimum=MINIMUM, n_jobs=1)


def frequencies(fold: Fold) -> tuple[float, ...]:
    """Each grade's share of the relevant documents, to the nearest tenth."""
    counts = np.bincount(fold.train.y, minlength=3)[1:]
    return TENTHS[round(10 * counts[0] / counts.sum())]
