"""Fifty resplits of each collection: trainings on disjoint queries, draws of candidates and seeds, tested on the same queries."""

from functools import partial
from pathlib import Path

import numpy as np
from scipy import stats

from benchmarks.studies.boosters import Competitor, Fold, Predict, Watch, train
from benchmarks.studies.effectiveness.comparisons import MEAN
from benchmarks.studies.effectiveness.competitors import COMPETITORS
from benchmarks.studies.effectiveness.data import LAST, Collection, collections, rows
from benchmarks.studies.effectiveness.runs import Trained, candidates, measures, watched
from benchmarks.studies.records import Records, Row, Tasks, finish
from benchmarks.studies.variance.components import TOP
from gapboost._kernels import Array
from gapboost.datasets import RankingSplit

RESULTS = Records(Path(__file__).parent / "results" / "resplits.csv", ("collection", "resplit"))
LOCKS = Path(__file__).parents[2] / ".cache" / "variance"
RESPLITS, HALVES, DRAWS, SEEDS = 50, 2, 2, 2
CANDIDATES, ROUNDS = 4, 300
FIRST, SECOND = (c for c in COMPETITORS if c.name in ("LightGBM GAP", "LightGBM lambdarank"))
LEVELS = ("training queries", "tuning", "seed")


def halves(source: Collection, resplit: int) -> list[RankingSplit]:
    """A fifth of the queries to test, the same for both; of each half of the others a quarter to validate, three to train."""
    data = source.data
    queries = np.random.default_rng([67, resplit, *source.name.encode()]).permutation(np.unique(data.qid))
    test, *others = np.split(queries, [len(queries) // 5, len(queries) * 3 // 5])
    cut = [np.split(half, [len(half) // 4]) for half in others]
    return [RankingSplit(rows(data, learn), rows(data, vali), rows(data, test)) for vali, learn in cut]


def chosen(competitor: Competitor, source: str, fold: Fold, number: int) -> list[Trained]:
    """The candidate with the best validation value of one draw, trained with each seed."""
    drawn = candidates(source, number, CANDIDATES)

    def fit(candidate: int, seed: int) -> Trained:
        def with_trees(watch: Watch, seed: int) -> Predict:
            return train(competitor, fold, drawn[candidate], ROUNDS, seed, watch)

        return watched(with_trees, fold, candidate, "", seed)

    first = [fit(candidate, 1) for candidate in range(CANDIDATES)]
    best = int(np.argmax([t.best[TOP].value for t in first]))
    return [first[best], *(fit(best, seed) for seed in range(2, SEEDS + 1))]


def tested(fold: Fold, model: Trained) -> Array:
    """Of shape (2, Q): nDCG@10 and the mean of six."""
    wanted = measures(fold.n_grades)
    values = fold.test.values(list(wanted.values()), model.predict(fold.test.X, model.best[TOP].trees))
    return np.stack((values[list(wanted).index(TOP)], np.mean(values, axis=0)))


def differences(source: Collection, resplit: int) -> Array:
    """Of shape (2, halves, draws, seeds, Q): GAP less lambdarank."""
    of_halves = []
    for half, split in enumerate(halves(source, resplit)):
        fold = Fold(split, source.n_grades)
        numbers = [(resplit * HALVES + half) * DRAWS + draw for draw in range(DRAWS)]
        first, second = (
            np.array([[tested(fold, t) for t in chosen(c, source.name, fold, 1000 + number)] for number in numbers])
            for c in (FIRST, SECOND)
        )
        of_halves.append(first - second)
    return np.moveaxis(np.array(of_halves), 3, 0)


def contrasts(d: Array) -> dict[str, Array]:
    """Differences of two cells that are apart by one level, of shape (cells, Q): d has the shape (halves, draws, seeds, Q)."""
    return {
        "training queries": d.mean(axis=(1, 2))[None, 0] - d.mean(axis=(1, 2))[None, 1],
        "tuning": d.mean(axis=2)[:, 0] - d.mean(axis=2)[:, 1],
        "seed": (d[:, :, 0] - d[:, :, 1]).reshape(-1, d.shape[-1]),
    }


def squared(contrast: Array) -> float:
    """What the square of a contrast's mean over all queries is expected to be, without what these queries make of it."""
    return float(np.mean(contrast.mean(axis=1) ** 2 - contrast.var(axis=1, ddof=1) / contrast.shape[1]))


def summary(d: Array) -> Row:
    """What the components are made of, of one resplit and measure: d has the shape (halves, draws, seeds, Q)."""
    return {
        "queries": d.shape[-1],
        "means": " ".join(f"{v:.5f}" for v in d.mean(axis=3).ravel()),
        "p": " ".join(f"{stats.ttest_1samp(half, 0).pvalue:.4f}" for half in d[:, 0, 0]),
        "query": float(d.var(axis=3, ddof=1).mean()),
        **{name: squared(contrast) for name, contrast in contrasts(d).items()},
    }


def task(source: Collection, resplit: int) -> list[Row]:
    """One row a measure."""
    by_measure = zip((TOP, MEAN), differences(source, resplit), strict=True)
    return [{"measure": measure, **summary(d)} for measure, d in by_measure]


def tasks() -> Tasks:
    """In an order in which a study that is cut short holds as many resplits of each collection."""
    there = sorted((c for c in collections() if c.there), key=lambda c: c.name == LAST)
    return {(c.name, str(resplit)): partial(task, c, resplit) for resplit in range(RESPLITS) for c in there}


def run() -> None:
    """Train what is missing; several processes share the work."""
    finish(RESULTS, tasks(), LOCKS)
