"""Fifty resplits of each collection.

The trainings of a resplit have disjoint queries, draws of candidates and seeds, and the same test
queries.
"""

from functools import partial
from pathlib import Path

import numpy as np
from scipy import stats

from benchmarks.studies.boosters import Competitor, Fold
from benchmarks.studies.effectiveness.comparisons import MEAN
from benchmarks.studies.effectiveness.competitors import COMPETITORS
from benchmarks.studies.effectiveness.data import LAST, Collection, collections, rows
from benchmarks.studies.effectiveness.results import MEASURES
from benchmarks.studies.effectiveness.runs import Trained, candidates, tested, trained_candidate
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
    """Return two splits with the same test queries, a fifth of all.

    Each half of the other queries has a quarter to validate and three quarters to train.
    """
    data = source.data
    rng = np.random.default_rng([67, resplit, *source.name.encode()])
    queries = rng.permutation(np.unique(data.qid))
    test, *others = np.split(queries, [len(queries) // 5, len(queries) * 3 // 5])
    cut = (np.split(half, [len(half) // 4]) for half in others)
    parts = ((learn, vali, test) for vali, learn in cut)
    return [RankingSplit(*(rows(data, part) for part in of_half)) for of_half in parts]


def chosen(competitor: Competitor, source: str, fold: Fold, number: int) -> list[Trained]:
    """Train the candidate with the best validation value of one draw with each seed."""
    drawn = candidates(source, number, CANDIDATES)

    def fit(candidate: int, seed: int) -> Trained:
        return trained_candidate(competitor, fold, ROUNDS, candidate, drawn[candidate], seed)

    first = [fit(candidate, 1) for candidate in range(CANDIDATES)]
    best = int(np.argmax([t.best[TOP].value for t in first]))
    return [first[best], *(fit(best, seed) for seed in range(2, SEEDS + 1))]


def of_draw(competitor: Competitor, source: str, fold: Fold, number: int) -> Array:
    """Return nDCG@10 and the mean of six of one draw, of shape (2, seeds, Q)."""
    values = np.array(tested(fold, {TOP: chosen(competitor, source, fold, number)})[TOP])
    return np.stack((values[:, MEASURES.index(TOP)], values.mean(axis=1)))


def of_resplit(source: Collection, resplit: int) -> Array:
    """Return GAP less lambdarank, of shape (2, halves, draws, seeds, Q)."""
    of_halves = []
    for half, split in enumerate(halves(source, resplit)):
        fold = Fold(split, source.n_grades)
        # Other draws than those of the study's three folds.
        numbers = [1000 + (resplit * HALVES + half) * DRAWS + draw for draw in range(DRAWS)]
        first, second = (
            np.stack([of_draw(c, source.name, fold, number) for number in numbers], axis=1) for c in (FIRST, SECOND)
        )
        of_halves.append(first - second)
    return np.stack(of_halves, axis=1)


def contrasts(d: Array) -> dict[str, Array]:
    """Return differences of two cells that one level sets apart, of shape (cells, Q).

    d has the shape (halves, draws, seeds, Q).
    """
    means = d.mean(axis=(1, 2)), d.mean(axis=2), d
    apart = [np.diff(mean, axis=level).reshape(-1, d.shape[-1]) for level, mean in enumerate(means)]
    return dict(zip(LEVELS, apart, strict=True))


def squared(contrast: Array) -> float:
    """Estimate the square of a contrast's mean over all queries, without bias."""
    noise = contrast.var(axis=1, ddof=1) / contrast.shape[1]
    return float(np.mean(contrast.mean(axis=1) ** 2 - noise))


def summary(d: Array) -> Row:
    """Return the saved values of one resplit and measure.

    d has the shape (halves, draws, seeds, Q).
    """
    return {
        "queries": d.shape[-1],
        "means": " ".join(f"{v:.5f}" for v in d.mean(axis=3).ravel()),
        "p": " ".join(f"{stats.ttest_1samp(half, 0).pvalue:.4f}" for half in d[:, 0, 0]),
        "query": float(d.var(axis=3, ddof=1).mean()),
        **{name: squared(contrast) for name, contrast in contrasts(d).items()},
    }


def task(source: Collection, resplit: int) -> list[Row]:
    """Return one row for each measure."""
    by_measure = zip((TOP, MEAN), of_resplit(source, resplit), strict=True)
    return [{"measure": measure, **summary(d)} for measure, d in by_measure]


def tasks() -> Tasks:
    """Return all tasks, resplit by resplit, so that a part of them has all collections."""
    there = sorted((c for c in collections() if c.there), key=lambda c: c.name == LAST)
    every = ((c, resplit) for resplit in range(RESPLITS) for c in there)
    return {(c.name, str(resplit)): partial(task, c, resplit) for c, resplit in every}


def run() -> None:
    """Train what is missing; several processes share the work."""
    finish(RESULTS, tasks(), LOCKS)
