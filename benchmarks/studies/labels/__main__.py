"""Train on labels that are drawn around a collection's grades, test on the grades: ``python -m benchmarks.studies.labels``.

The grades of MQ2007, 0 to 2, are taken as the truth. A judge gives the truth plus noise of standard deviation 0.7, rounded to a
grade of the scale; a model gives the truth plus noise of 0.6, held within the scale. Nobody who trains sees the truth.

=================  ===========================================================
mean of three      of the judges, in thirds
rounded mean       the nearest whole grade
one judge          the first of them
score              of the model, another one for nearly every document
rounded score      the nearest whole grade
=================  ===========================================================

On each `LGBMGAPRanker` trains with its defaults for ``GAP(g=(0.5, 0.5), levels=(1, 2))``, and on rounded means `LGBMRanker` with
its own too. Values are means over the test queries of five folds, by three draws of labels.
"""

import argparse
import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import lightgbm
import numpy as np

import gapboost as gb
from benchmarks.studies import DATA
from benchmarks.studies.records import Key, Records, Row, finish
from gapboost._kernels import Array
from gapboost.analysis.estimates import Estimate, clustered
from gapboost.datasets import RankingData, load_letor
from gapboost.lightgbm import LGBMGAPRanker

SOURCE = DATA / "mq2007" / "mq2007.txt.gz"
RESULTS = Records(Path(__file__).parent / "results" / "folds.csv", ("draw", "fold", "labels", "ranker"))
FOLDS, DRAWS = 5, 3
JUDGE, MODEL = 0.7, 0.6
MEASURE = gb.GAP(g=(0.5, 0.5), levels=(1, 2))
TESTED = {"GAP": MEASURE, "nDCG@10": gb.nDCG(k=10), "AP": gb.AP()}

# What the tutorial tells: labels and ranker, beside others.
COMPARED = (
    (("mean of three", "gap"), ("rounded mean", "gap")),
    (("mean of three", "gap"), ("one judge", "gap")),
    (("rounded mean", "gap"), ("rounded mean", "lambdarank")),
    (("score", "gap"), ("rounded score", "gap")),
)


def drawn(y: Array, draw: int) -> Mapping[str, Array]:
    """Labels of each kind for the true grades `y`."""
    rng = np.random.default_rng([29, draw])
    judges = np.clip(np.rint(y + rng.normal(scale=JUDGE, size=(3, len(y)))), 0, y.max())
    score = np.clip(y + rng.normal(scale=MODEL, size=len(y)), 0, y.max())
    mean = judges.mean(axis=0)
    return {
        "mean of three": mean,
        "rounded mean": np.rint(mean),
        "one judge": judges[0],
        "score": score,
        "rounded score": np.rint(score),
    }


def trained(data: RankingData, labels: Array, train: Array, ranker: str) -> Any:
    """A ranker trained on some rows."""
    X, y, qid = data.X[train], labels[train], data.qid[train]
    if ranker == "gap":
        return LGBMGAPRanker(measure=MEASURE, n_jobs=1, verbose=-1).fit(X, y, qid)
    sizes = np.diff(np.flatnonzero(np.append(True, np.append(qid[1:] != qid[:-1], True))))
    return lightgbm.LGBMRanker(n_jobs=1, verbose=-1).fit(X, y, group=sizes)


def task(data: RankingData, draw: int, fold: int, labels: str, ranker: str) -> list[Row]:
    """Mean values for the test queries of a fold."""
    queries = np.unique(data.qid)
    part = np.random.default_rng(7).permutation(len(queries)) % FOLDS
    tested = part[np.searchsorted(queries, data.qid)] == fold
    model = trained(data, drawn(data.y, draw)[labels], np.flatnonzero(~tested), ranker)
    scores = model.predict(data.X[tested])
    values = gb.evaluate(list(TESTED.values()), data.y[tested], scores, data.qid[tested], n_jobs=1)
    return [{name: values[measure] for name, measure in TESTED.items()}]


def tasks(data: RankingData) -> Mapping[Key, Callable[[], list[Row]]]:
    """All trainings."""
    ways = dict.fromkeys(way for pair in COMPARED for way in pair)
    return {
        (str(draw), str(fold), *way): partial(task, data, draw, fold, *way)
        for draw in range(DRAWS)
        for fold in range(FOLDS)
        for way in ways
    }


def difference(one: Key, other: Key, measure: str) -> Estimate:
    """The mean difference of two ways over folds, whose draws share their test queries."""
    values = {tuple(row[name] for name in RESULTS.key): float(row[measure]) for row in RESULTS}
    return clustered(
        [
            np.array([values[str(d), str(f), *one] - values[str(d), str(f), *other] for d in range(DRAWS)])
            for f in range(FOLDS)
        ]
    )


def mean_of(way: Key, measure: str) -> float:
    """The mean of one way over folds and draws."""
    return float(np.mean([float(row[measure]) for row in RESULTS if (row["labels"], row["ranker"]) == way]))


def main() -> None:
    """Train what is missing, and print the differences."""
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    if SOURCE.exists():
        finish(RESULTS, tasks(load_letor(SOURCE)))
    for one, other in COMPARED:
        for measure in TESTED:
            found = difference(one, other, measure)
            low, high = found.interval()
            print(f"{measure:8} {one} - {other}: {found.mean:+.4f} ({low:+.4f} ... {high:+.4f}), p {found.p:.3f}")
    for way in dict.fromkeys(way for pair in COMPARED for way in pair):
        print(way, {measure: round(mean_of(way, measure), 4) for measure in TESTED})


if __name__ == "__main__":
    sys.exit(main())
