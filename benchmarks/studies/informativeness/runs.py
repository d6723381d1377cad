"""The trainings: one for each collection, resplit, size and training measure, tested in all measures."""

from functools import lru_cache, partial
from pathlib import Path

import numpy as np

from benchmarks.studies.boosters import Competitor, Fold, Trees, train
from benchmarks.studies.informativeness.data import CASCADES, JUDGES, MEASURES, PRIMARY, RESPLITS, Source, split
from benchmarks.studies.records import Records, Row, Tasks, finish
from gapboost._kernels import Array

RESULTS = Records(Path(__file__).parent / "results" / "values.csv", ("collection", "resplit", "size", "trained"))
ROUNDS, STEP = 100, 10
TREES = Trees(leaves=15, learning_rate=0.1, features=1.0, penalty=0.0, min_data=20, min_hessian=0.0, drawn=False)


@lru_cache(maxsize=1)
def fold(source: Source, resplit: int, size: int) -> Fold:
    """Rows of one split, binned once."""
    return Fold(split(source, resplit, size), 2)


def task(source: Source, resplit: int, size: int, trained: str) -> list[Row]:
    """Means over the test queries, each with the number of trees that is the best by the same measure on validation queries."""
    data, wanted = fold(source, resplit, size), MEASURES | CASCADES
    course: list[list[float]] = []
    calls = 0

    def watch(scores: Array) -> bool:
        nonlocal calls
        calls += 1
        if calls % STEP == 0:
            course.append([float(values.mean()) for values in data.vali.values(list(wanted.values()), scores)])
        return True

    competitor = Competitor(trained, "LightGBM", measure=str(wanted[trained]))
    predict = train(competitor, data, TREES, ROUNDS, 1, watch)
    best = (np.argmax(course, axis=0) + 1) * STEP
    row: dict[str, object] = {"trees": int(best[list(wanted).index(trained)])}
    found: dict[str, float] = {}
    for trees in np.unique(best):
        names = [name for name, n in zip(wanted, best, strict=True) if n == trees]
        values = data.test.values([wanted[name] for name in names], predict(data.test.X, int(trees)))
        found.update({name: float(v.mean()) for name, v in zip(names, values, strict=True)})
    return [{**row, **{name: found[name] for name in wanted}}]


def tasks() -> Tasks:
    """All trainings in an order in which a study that is cut short holds whole resplits."""
    first, second = RESPLITS[:5], RESPLITS[5:]
    order = [(r, PRIMARY) for r in first] + [(r, (JUDGES,)) for r in first] + [(r, PRIMARY) for r in second]
    return {
        (source.name, str(resplit), str(size), trained): partial(task, source, resplit, size, trained)
        for resplit, sources in order
        for source in sources
        if source.collection.there
        for size in source.sizes
        for trained in MEASURES
    }


def run() -> None:
    """Train what is missing."""
    finish(RESULTS, tasks())
